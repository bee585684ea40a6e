"""The phones that `handrail run` uses: named ones, or simulated ones that are new for every flow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from handrail.cli.options import DeviceOptions, session_from
from handrail.errors import DeviceError, InvalidAction

if TYPE_CHECKING:
    from handrail.adb.device import AdbDevice
    from handrail.config import Config
    from handrail.engine.session import Session
    from handrail.runtime import Runtime
    from handrail_sim.phone import Phone

MOST = 64
_START = "before the flow"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line said: names and serials, or how many simulated phones."""

    devices: tuple[tuple[str | None, str], ...] = ()
    sim: int | None = None

    @classmethod
    def parse(cls, devices: Sequence[str], sim: int | None) -> Wanted:
        if devices and sim is not None:
            raise InvalidAction(
                "--sim and --device name different phones", hint="Give one of them.", path="sim"
            )
        if sim is not None and not 0 <= sim <= MOST:
            raise InvalidAction(f"--sim {sim}: between 1 and {MOST} phones", path="sim")
        return cls(tuple(_named(one) for one in devices), sim)

    def check(self, flow: str, names: Sequence[str]) -> None:
        """Every device of a flow must have a phone; one alone takes the first there is."""
        if self.sim is not None or len(names) <= 1:
            return
        given = [name for name, _ in self.devices]
        missing = [name for name in names if name not in given]
        if len(missing) > given.count(None):
            raise InvalidAction(
                f"{flow}: no phone was given for {' and '.join(missing)}",
                hint=f"Give --device {missing[0]}=SERIAL, or --sim.",
                path="device",
            )


def _named(text: str) -> tuple[str | None, str]:
    """`alice=emulator-5554`, or a serial alone."""
    name, mark, serial = text.partition("=")
    if mark and name and serial:
        return name, serial
    if mark:
        raise InvalidAction(f"--device {text} is not NAME=SERIAL", hint="For example alice=emulator-5554.")
    return None, text


@dataclass(slots=True)
class Pool:
    """Open sessions, in the order in which they were asked for."""

    sessions: list[tuple[str | None, Session]] = field(default_factory=list)
    phones: list[Phone] = field(default_factory=list)

    def for_flow(self, names: Sequence[str]) -> dict[str, Session]:
        """By name where one was given; devices without a name fill the other places in order."""
        named = {name: session for name, session in self.sessions if name is not None}
        others = [session for name, session in self.sessions if name is None]
        if len(names) <= 1:
            name = names[0] if names else (self.sessions[0][0] or "device")
            return {name: named.get(name, self.sessions[0][1])}
        spare = iter(others)
        chosen = {name: named.get(name) or next(spare, None) for name in names}
        return {name: session for name, session in chosen.items() if session is not None}

    def renew(self) -> None:
        """Every flow starts on phones that nobody has used."""
        for phone in self.phones:
            phone.restore(_START)

    async def is_there(self) -> bool:
        """Whether all phones still answer."""
        try:
            for _, session in self.sessions:
                await session.surface.facts()
        except DeviceError:
            return False
        return True


@asynccontextmanager
async def open_pool(
    wanted: Wanted, needed: int, config: Config, runtime: Runtime, stack: AsyncExitStack
) -> AsyncIterator[Pool]:
    """Devices are entered on `stack`, which must end after the runtime: sessions close first."""
    pool = Pool()
    if wanted.sim is not None:
        devices = await stack.enter_async_context(_simulated(max(wanted.sim, needed), config, pool))
        pool.sessions = [(None, await runtime.session_on(one, helper="none")) for one in devices]
        for phone in pool.phones:
            phone.snapshot(_START)
    else:
        for name, serial in wanted.devices or ((None, None),):
            session = await session_from(DeviceOptions(serial), config, runtime, stack)
            pool.sessions.append((name, session))
    yield pool


@asynccontextmanager
async def _simulated(count: int, config: Config, pool: Pool) -> AsyncIterator[list[AdbDevice]]:
    """Phones in this process that can send one another messages, reached by ADB over sockets."""
    from handrail.adb.device import AdbDevice  # noqa: PLC0415
    from handrail.adb.direct import Direct  # noqa: PLC0415
    from handrail.clock import SystemClock  # noqa: PLC0415
    from handrail.simulator import simulated_phones  # noqa: PLC0415

    clock = SystemClock()
    phones = simulated_phones(count, clock=clock, seed=config.sim_seed, apps=config.sim_apps)
    async with phones as served, AsyncExitStack() as stack:
        pool.phones = [one.phone for one in served]
        devices = [AdbDevice(Direct(one.host, one.port, clock=clock), clock) for one in served]
        for device in devices:
            stack.push_async_callback(device.close)
        yield devices
