"""The phones of one host: simulated ones in this process, or those that are connected; who uses which."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.engine.session import Session
from handrail.errors import DeviceError, HandrailError, InvalidAction
from handrail.protocol.device import PressKey
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.simulator import simulated_phones
from handrail.waiting import Background
from handrail_fleet.ledger import FleetPhone

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

MOST_SIMULATED = 1_000
_START = "before the unit"
RESETTER = Caller("fleet", "flow", "flow")


@dataclass(slots=True)
class HostPhone:
    """One phone. `used_by` is the unit that has it."""

    name: str
    session: Session
    labels: Mapping[str, Any]
    simulated: Phone | None = None
    used_by: str = ""
    needs_reset: bool = True
    """Nobody knows how it was left: by a process that was killed, or by an attempt that was stopped."""
    is_away: bool = False

    def told(self) -> FleetPhone:
        state = "away" if self.is_away else "busy" if self.used_by else "free"
        return FleetPhone(self.name, dict(self.labels), state)

    def renew(self) -> None:
        """Every attempt begins on a simulated phone that nobody has used."""
        if self.simulated is not None:
            self.simulated.restore(_START)

    async def reset(self) -> None:
        """The first act on a phone that was taken back. Raises what it fails with."""
        self.renew()
        if self.simulated is None:
            why = "the phone was left in the middle of something: back to its home screen"
            envelope = await self.session.run(PressKey(key="home"), reason=why, caller=RESETTER)
            if not envelope.success and envelope.delivery == "not_delivered":
                raise DeviceError(envelope.message or f"{self.name} does not answer")
        self.needs_reset = False


@dataclass(slots=True)
class HostPhones:
    """All of one host's."""

    phones: dict[str, HostPhone] = field(default_factory=dict)

    def told(self) -> list[FleetPhone]:
        return [phone.told() for phone in self.phones.values()]

    def free(self) -> list[FleetPhone]:
        return [phone.told() for phone in self.phones.values() if not phone.used_by and not phone.is_away]

    def take(self, names: Iterable[str], unit: str) -> list[HostPhone]:
        """Raises `InvalidAction` where one is not there or not free: the head has chosen from an old list."""
        chosen = [self.phones.get(name) for name in names]
        found = [one for one in chosen if one is not None and not one.used_by and not one.is_away]
        if len(found) != len(chosen):
            raise InvalidAction(f"{unit}: a phone that it was given is not free")
        for one in found:
            one.used_by = unit
        return found

    def give_back(self, phones: Sequence[HostPhone], *, in_the_middle: bool) -> None:
        for phone in phones:
            phone.used_by = ""
            phone.needs_reset |= in_the_middle

    async def look(self) -> None:
        """Whether phones that were away have come back. Simulated ones do not go away."""
        for one in [phone for phone in self.phones.values() if phone.is_away]:
            try:
                await one.session.surface.facts()
            except HandrailError:
                continue
            one.is_away, one.needs_reset = False, True


@asynccontextmanager
async def simulated_host(count: int, runtime: Runtime, tags: Sequence[str] = ()) -> AsyncIterator[HostPhones]:
    """Phones in this process, reached by ADB over sockets; called sim-1, sim-2, …"""
    if not 1 <= count <= MOST_SIMULATED:
        raise InvalidAction(f"--phones {count}: between 1 and {MOST_SIMULATED}", path="phones")
    config, clock = runtime.config, runtime.clock
    phones = simulated_phones(count, clock=clock, seed=config.sim_seed, apps=config.sim_apps)
    async with phones as served, AsyncExitStack() as stack:
        found = HostPhones()
        for number, one in enumerate(served, 1):
            device = AdbDevice(Direct(one.host, one.port, clock=clock), clock)
            stack.push_async_callback(device.close)
            session = await runtime.session_on(device, helper="none")
            one.phone.snapshot(_START)
            labels = _labels(session, True, tags)
            found.phones[f"sim-{number}"] = HostPhone(f"sim-{number}", session, labels, one.phone)
        yield found
        await runtime.close_sessions()


async def connected_host(serials: Sequence[str], runtime: Runtime, tags: Sequence[str] = ()) -> HostPhones:
    """Those that were named, else every usable one. A phone needs seconds: they are opened side by side."""
    names = list(serials) or [device.serial for device in (await runtime.devices()).devices if device.usable]
    if not names:
        raise InvalidAction("No phone is connected here", path="devices", hint="`handrail doctor` says why.")
    async with Background() as opening:
        tasks = [opening.start(runtime.session(one), f"opening {one}", log_failure=False) for one in names]
        sessions = await asyncio.gather(*tasks)
    return HostPhones({one.serial: HostPhone(one.serial, one, _labels(one, False, tags)) for one in sessions})


def _labels(session: Session, simulated: bool, tags: Sequence[str]) -> dict[str, Any]:
    facts = session.facts
    return {
        "model": facts.model,
        "manufacturer": facts.manufacturer,
        "android": facts.android,
        "sdk": facts.api_level,
        "platform": facts.platform,
        "simulated": simulated,
        "tags": list(tags),
    }
