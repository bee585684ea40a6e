"""What is opened by one call and closed with its `with` block: a phone, a browser, a desk, a runtime."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from handrail.android.routing import Helper
from handrail.awaited import Misused
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.desk.desk import Desk
from handrail.engine.approval import Notify
from handrail.engine.session import Session
from handrail.flow.run_record import FlowRecord
from handrail.runtime import Runtime
from handrail.simulator import simulated_phones
from handrail.sync.faces import BlockingDesk, BlockingPhone, BlockingRuntime
from handrail.sync.loop import KeptBlock

if TYPE_CHECKING:
    from handrail_sim.adbd.server import Served
    from handrail_sim.phone import Phone


def runtime(
    config: Config | None = None,
    *,
    env: Mapping[str, str] | None = None,
    notify: Notify | None = None,
    raise_on_failure: bool = True,
) -> BlockingRuntime:
    """As `Runtime.open`, open at once: for several devices in one program."""
    opened = Runtime.open(config, env=env, notify=notify, raise_on_failure=raise_on_failure)
    return BlockingRuntime(KeptBlock(opened))


def phone(  # noqa: PLR0913 - by name, each with its default
    serial: str | None = None,
    *,
    sim: bool = False,
    seed: int = 1,
    apps: Sequence[str] | None = None,
    faults: Iterable[str | Mapping[str, Any]] = (),
    helper: Helper | None = None,
    config: Config | None = None,
    notify: Notify | None = None,
    raise_on_failure: bool = True,
) -> BlockingPhone:
    """A phone, open at once: the named one, else the only usable one; with `sim` a simulated one of its own.

    `seed`, `apps` and `faults` are the simulated phone's, which works without a helper unless one is named;
    two fingers need one. A failure raises; without `raise_on_failure` it is in the envelope.
    """
    if sim and serial is not None:
        raise Misused(
            "phone() got a serial and sim=True, which are two phones",
            hint="Give one of them: phone(sim=True).",
        )
    home = Runtime.open(config, notify=notify, raise_on_failure=raise_on_failure)
    made = simulated_phones(clock=SystemClock(), seed=seed, apps=apps, faults=faults) if sim else None
    return blocking(opened_phone(home, serial, made, helper or ("none" if sim else None)))


def blocking(block: AbstractAsyncContextManager[OpenedPhone]) -> BlockingPhone:
    """The face without await of what the block opens; closing it leaves the block."""
    kept = KeptBlock(block)
    return BlockingPhone(kept, kept.value.session, kept.value.runtime, kept.value.simulated)


@dataclass(frozen=True, slots=True)
class OpenedPhone:
    """A session, the runtime that has it, and the phone itself where it is a simulated one."""

    runtime: Runtime
    session: Session
    simulated: Phone | None = None


@asynccontextmanager
async def opened_phone(
    home: AbstractAsyncContextManager[Runtime],
    serial: str | None,
    made: AbstractAsyncContextManager[list[Served]] | None,
    helper: Helper | None,
) -> AsyncIterator[OpenedPhone]:
    """The phone of this serial, or the one that is made for the block."""
    async with AsyncExitStack() as stack:
        simulated = None
        if made is not None:
            [served] = await stack.enter_async_context(made)
            serial, simulated = served.address, served.phone
        runtime = await stack.enter_async_context(home)
        yield OpenedPhone(runtime, await runtime.session(serial, helper=helper), simulated)


@asynccontextmanager
async def opened_browser(
    home: AbstractAsyncContextManager[Runtime], name: str, profile: Path
) -> AsyncIterator[OpenedPhone]:
    """A new browser with this folder as its profile."""
    async with home as runtime:
        yield OpenedPhone(runtime, await runtime.new_browser(name, profile))


def browser(
    name: str = "",
    *,
    profile: Path | None = None,
    config: Config | None = None,
    notify: Notify | None = None,
    raise_on_failure: bool = True,
) -> BlockingPhone:
    """A browser, open at once: the usual one or one by its name, which are kept between programs.

    With `profile`, a folder, it is a new one that ends with its block.
    """
    home = Runtime.open(config, notify=notify, raise_on_failure=raise_on_failure)
    if profile is None:
        return blocking(opened_phone(home, f"browser:{name}" if name else "browser", None, None))
    return blocking(opened_browser(home, f"browser:{name or 'new'}", profile))


def desk(home: Path | None = None, *, raise_on_failure: bool = True) -> BlockingDesk:
    """A desk in this process, open at once; without a home it is forgotten at the end.

    It is not the desk of `handrail serve`: a desk has one process.
    """

    @asynccontextmanager
    async def opened() -> AsyncIterator[Runtime]:
        async with AsyncExitStack() as stack:
            folder = home or Path(stack.enter_context(TemporaryDirectory(prefix="handrail-desk-")))
            config = Config.from_env({**os.environ, "HANDRAIL_HOME": str(folder)})
            inside = await stack.enter_async_context(Runtime.open(config, raise_on_failure=raise_on_failure))
            desk = await Desk.open(inside.store, inside.clock)
            stack.push_async_callback(desk.close)
            inside.attach_desk(desk)
            yield inside

    kept = KeptBlock(opened())
    assert kept.value.desk is not None  # noqa: S101 - it was attached
    return BlockingDesk(kept, kept.value.desk, kept.value.desk_session())


def flow(
    path: str | Path,
    serial: str | None = None,
    *,
    sim: bool = False,
    env: Mapping[str, str] | None = None,
    config: Config | None = None,
) -> FlowRecord:
    """Run one flow's file on a phone that is opened for it."""
    with phone(serial, sim=sim, config=config) as opened:
        return opened.flow(path, env=env)
