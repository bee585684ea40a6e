"""A phone, a browser, a desk and a runtime whose methods block; each is closed with its `with` block.

They run on one thread with one event loop. It lives while something is kept open on it, and ends with the
last of that, and with the program.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar

from handrail.clock import SystemClock
from handrail.config import Config, Helper
from handrail.engine.desk_runner import DeskRunner
from handrail.engine.session import Session
from handrail.engine.short_forms import BlockingDeskForms, BlockingForms
from handrail.errors import Cancelled, HandrailError, Misused
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope, ScreenSnapshot
from handrail.runtime import Runtime
from handrail.safety.approvals import Notify
from handrail.simulator import simulated_phones
from handrail.surface.listing import Listing
from handrail.surface.values import Facts

if TYPE_CHECKING:
    from handrail.desk.desk import Desk
    from handrail.flow.run_record import FlowRecord
    from handrail_sim.adbd.server import Served
    from handrail_sim.phone import Phone

T = TypeVar("T")


def runtime(
    config: Config | None = None,
    *,
    env: Mapping[str, str] | None = None,
    notify: Notify | None = None,
    raise_on_failure: bool = True,
) -> BlockingRuntime:
    """As `Runtime.open`, open at once: for several devices in one program."""
    opened = Runtime.open(config, env=env, notify=notify, raise_on_failure=raise_on_failure)
    return BlockingRuntime(OpenBlock(opened))


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
        hint = "Give one of them: phone(sim=True)."
        raise Misused("phone() got a serial and sim=True, which are two phones", hint=hint)
    home = Runtime.open(config, notify=notify, raise_on_failure=raise_on_failure)
    phones = simulated_phones(clock=SystemClock(), seed=seed, apps=apps, faults=faults) if sim else None
    return blocking_phone(open_phone(home, serial, phones, helper or ("none" if sim else None)))


def blocking_phone(block: AbstractAsyncContextManager[OpenedPhone]) -> BlockingPhone:
    """Enters the block and wraps its phone in blocking methods; closing it leaves the block."""
    open_block = OpenBlock(block)
    opened = open_block.value
    return BlockingPhone(open_block, opened.session, opened.runtime, opened.simulated)


@dataclass(frozen=True, slots=True)
class OpenedPhone:
    """A session, the runtime that has it, and the phone itself where it is a simulated one."""

    runtime: Runtime
    session: Session
    simulated: Phone | None = None


@asynccontextmanager
async def open_phone(
    home: AbstractAsyncContextManager[Runtime],
    serial: str | None,
    phones: AbstractAsyncContextManager[list[Served]] | None,
    helper: Helper | None,
) -> AsyncIterator[OpenedPhone]:
    """The phone of this serial, or the one that is made for the block."""
    async with AsyncExitStack() as stack:
        simulated = None
        if phones is not None:
            [served] = await stack.enter_async_context(phones)
            serial, simulated = served.address, served.phone
        runtime = await stack.enter_async_context(home)
        yield OpenedPhone(runtime, await runtime.session(serial, helper=helper), simulated)


@asynccontextmanager
async def open_new_browser(
    home: AbstractAsyncContextManager[Runtime], name: str, profile: Path
) -> AsyncIterator[OpenedPhone]:
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
    """A browser, open at once: the default one or one by its name; both keep their profile between programs.

    With `profile`, a folder, it is a new one that ends with its block.
    """
    home = Runtime.open(config, notify=notify, raise_on_failure=raise_on_failure)
    if profile is None:
        return blocking_phone(open_phone(home, f"browser:{name}" if name else "browser", None, None))
    return blocking_phone(open_new_browser(home, f"browser:{name or 'new'}", profile))


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
            from handrail.desk.desk import Desk  # noqa: PLC0415 - only those who open one pay for it

            desk = await Desk.open(inside.store, inside.clock)
            stack.push_async_callback(desk.close)
            inside.attach_desk(desk)
            yield inside

    open_block = OpenBlock(opened())
    assert open_block.value.desk is not None  # noqa: S101 - it was attached
    return BlockingDesk(open_block, open_block.value.desk, open_block.value.desk_session())


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


__tracebackhide__ = True  # pytest shows the caller's line


class _Closable:
    """Closed by hand, at the end of a `with` block, or with the program."""

    def __init__(self, block: OpenBlock[Any]) -> None:
        self._block = block

    def close(self) -> None:
        """End what is in flight and give everything back; as often as one likes."""
        self._block.close()

    def __enter__(self) -> Self:
        return self

    async def __aenter__(self) -> NoReturn:
        self.close()
        hint = "Write `with` and no `await`, or use `async with Runtime.open() as runtime:`."
        raise Misused("What handrail.sync opens is not awaited", hint=hint)

    async def __aexit__(self, *_: object) -> None:
        """Never reached; without it `async with` would not ask for `__aenter__`."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class BlockingPhone(BlockingForms, _Closable):
    """One device: a phone, a simulated one, a browser."""

    def __init__(
        self, block: OpenBlock[Any], session: Session, runtime: Runtime, simulated: Phone | None = None
    ) -> None:
        _Closable.__init__(self, block)
        self.session = session
        """The same phone with methods that are awaited, on the loop of `handrail.sync`."""
        self._runtime = runtime
        self.simulated = simulated
        """The phone itself where it is a simulated one: what it was really sent is its `input_log`."""

    def __repr__(self) -> str:
        return f"<phone {self.serial}>"

    @property
    def serial(self) -> str:
        return self.session.serial

    @property
    def facts(self) -> Facts:
        return self.session.facts

    def run(self, action: AnyAction | Mapping[str, Any], *, reason: str | None = None) -> Envelope:
        """Do one action, from permission to proof."""
        return self._block.loop.call(self.session.run(action, reason=reason))

    def stop(self) -> int:
        """End everything in flight on this device, from another thread, and hold it; how much that was."""
        return self._block.loop.call(self.session.stop())

    def hand_back(self) -> None:
        """End a stop, or a person's take-over, so that this device can be acted on again."""
        self._block.loop.call(self.session.hand_back())

    def snapshot(self) -> ScreenSnapshot:
        """The screen as a picture with what stands beside it."""
        return self._block.loop.call(self.session.snapshot())

    def flow(self, path: str | Path, *, env: Mapping[str, str] | None = None) -> FlowRecord:
        """Run a flow's file on this device."""
        from handrail.flow.document import load  # noqa: PLC0415 - most programs run none
        from handrail.flow.run import FlowRunner  # noqa: PLC0415

        runner = FlowRunner(
            {"phone": self.session}, self._runtime.clock, own_phones=self.simulated is not None
        )
        record = self._block.loop.call(runner.run(load(Path(path)), env))
        return record.or_raise() if self.session.caller.raises else record


class BlockingDesk(BlockingDeskForms, _Closable):
    """A desk of this process."""

    def __init__(self, block: OpenBlock[Any], desk: Desk, runner: DeskRunner) -> None:
        _Closable.__init__(self, block)
        self._desk = desk
        self._runner = runner

    def __repr__(self) -> str:
        return "<desk>"

    @property
    def state(self) -> dict[str, Any]:
        """Windows, monitors and the rest, as browsers have it."""

        async def snapshot() -> dict[str, Any]:
            return self._desk.snapshot()

        return self._block.loop.call(snapshot())

    def run(self, action: AnyAction | Mapping[str, Any], *, reason: str | None = None) -> Envelope:
        """Do one action of the desk."""
        return self._block.loop.call(self._runner.run(action, reason=reason))

    def run_all(self, actions: Sequence[AnyAction | Mapping[str, Any]]) -> list[Envelope]:
        """Several as one change: all of them or, when one is wrong, none."""
        return self._block.loop.call(self._runner.run_all(actions))


class BlockingRuntime(_Closable):
    """One home in one process: a session per device."""

    def __init__(self, block: OpenBlock[Runtime]) -> None:
        super().__init__(block)
        self._runtime = block.value

    def devices(self) -> Listing:
        """Every device there is, usable or not."""
        return self._block.loop.call(self._runtime.devices())

    def session(self, serial: str | None = None, *, helper: Helper | None = None) -> BlockingPhone:
        """The named device, else the only usable one. It is closed with the runtime."""
        session = self._block.loop.call(self._runtime.session(serial, helper=helper))
        return BlockingPhone(self._block, session, self._runtime)

    def stop(self) -> int:
        """End everything that is in flight, from another thread, and hold all devices; how much that was."""
        return self._block.loop.call(self._runtime.stop())

    def hand_back(self, device: str | None = None) -> None:
        """End the stop of one device, or of all."""
        self._block.loop.call(self._runtime.hand_back(device))


class LoopThread:
    """The thread with the event loop, and the blocks that are open on it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.blocks: list[OpenBlock[Any]] = []
        self._ready = threading.Event()
        stay = (self._run_until_left(),)
        self._thread = threading.Thread(target=asyncio.run, args=stay, name="handrail.sync", daemon=True)
        self._thread.start()
        self._ready.wait()

    async def _run_until_left(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._leave = asyncio.Event()
        self._ready.set()
        await self._leave.wait()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it to its end; the calling thread waits, whatever loop runs there.

        Ctrl-C, or any other exception that a signal brings, cancels the work and waits until that has ended:
        what the phone was doing is stopped. A second one is not waited for.
        """
        __tracebackhide__ = True
        self._check(work)
        begun: list[asyncio.Task[T]] = []
        ended = threading.Event()

        def begin() -> None:
            begun.append(self._loop.create_task(work))
            begun[0].add_done_callback(lambda _: ended.set())

        self._loop.call_soon_threadsafe(begin)
        try:
            ended.wait()
        except BaseException:
            self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in begun])  # it has begun by then
            ended.wait()
            raise
        try:
            return begun[0].result()
        except HandrailError as error:  # without the frames of the loop's thread
            raise error.with_traceback(None) from None
        except asyncio.CancelledError:
            raise Cancelled("It was stopped: what it ran on was closed") from None

    def _check(self, work: Coroutine[Any, Any, Any]) -> None:
        why = ""
        if threading.current_thread() is self._thread:
            why = "This was called by code that Handrail itself runs, which would wait for itself"
        elif os.getpid() != self.pid:
            why = "This was opened in another process, before the fork"
        elif not self._thread.is_alive():
            why = "This is closed"
        if why:
            work.close()
            raise Misused(f"{why}; nothing was done", hint="Open another one here: `with phone() as p:`.")

    def end(self) -> None:
        """Stop the loop: no block is open on it any more."""
        self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join()


class OpenBlock(Generic[T]):
    """A block that is open on the loop until it is closed: one task enters it and leaves it."""

    def __init__(self, block: AbstractAsyncContextManager[T]) -> None:
        self._block = block
        self.loop = _loop_for(self)
        try:
            self.value: T = self.loop.call(self._open())
        except BaseException:
            _release_loop(self)
            raise
        self._is_open = True

    async def _open(self) -> T:
        self._leave = asyncio.Event()
        entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run_until_left(entered), name="a block of handrail.sync")
        try:
            await asyncio.wait({self._task, entered}, return_when=asyncio.FIRST_COMPLETED)
            return self._task.result() if self._task.done() else entered.result()
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise

    async def _run_until_left(self, entered: asyncio.Future[T]) -> T:
        async with self._block as value:
            entered.set_result(value)
            await self._leave.wait()
            return value

    def close(self) -> None:
        """Leave the block. Closing it again does nothing."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            self.loop.call(self._leave_and_wait())
        finally:
            _release_loop(self)

    async def _leave_and_wait(self) -> None:
        self._leave.set()
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise


_lock = threading.Lock()
_running: list[LoopThread] = []


def _loop_for(block: OpenBlock[Any]) -> LoopThread:
    """The loop of this process: one that a fork has left behind is another process's."""
    with _lock:
        if not _running or _running[0].pid != os.getpid():
            _running[:] = [LoopThread()]
        _running[0].blocks.append(block)
        return _running[0]


def _release_loop(block: OpenBlock[Any]) -> None:
    """The last block that closes ends the loop."""
    with _lock:
        block.loop.blocks.remove(block)
        is_last = not block.loop.blocks
        if is_last and block.loop in _running:
            _running.remove(block.loop)
    if is_last:
        block.loop.end()


def _close_everything() -> None:
    """Closes everything at the end of the program, newest first."""
    for loop in _running.copy():
        if loop.pid == os.getpid():
            for block in reversed(loop.blocks.copy()):
                block.close()


# Before threads are joined and executors refuse work, as `concurrent.futures` does it; `atexit` is too late.
getattr(threading, "_register_atexit", atexit.register)(_close_everything)
