"""A runtime, a phone and a desk whose methods return when they are done. They decide nothing of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from handrail.android.discovery import Listing
from handrail.android.routing import Helper
from handrail.awaited import Misused, in_words
from handrail.desk.desk import Desk
from handrail.engine.desk_runner import DeskRunner
from handrail.engine.session import Session
from handrail.flow.document import load
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope, ScreenSnapshot
from handrail.runtime import Runtime
from handrail.surface.values import Facts
from handrail.sync.loop import KeptBlock
from handrail.sync.short_forms import BlockingDeskForms, BlockingForms

if TYPE_CHECKING:
    from handrail_sim.phone import Phone


class _Closing:
    """Closed by hand, at the end of a `with` block, or with the program."""

    def __init__(self, kept: KeptBlock[Any]) -> None:
        self._kept = kept

    def close(self) -> None:
        """End what is in flight and give everything back; as often as one likes."""
        self._kept.close()

    def __enter__(self) -> Self:
        return self

    async def __aenter__(self) -> NoReturn:
        self.close()
        raise Misused(
            "What handrail.sync opens is not awaited",
            hint="Write `with` and no `await`, or use `async with Runtime.open() as runtime:`.",
        )

    async def __aexit__(self, *_: object) -> None:
        """Never reached; without it `async with` would not ask for `__aenter__`."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@in_words("phone", is_blocking=True)
class BlockingPhone(BlockingForms, _Closing):
    """One device: a phone, a simulated one, a browser."""

    def __init__(
        self, kept: KeptBlock[Any], session: Session, runtime: Runtime, simulated: Phone | None = None
    ) -> None:
        _Closing.__init__(self, kept)
        self.session = session
        """Its other face, which is awaited, on the loop of `handrail.sync`."""
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
        """What the device says of itself."""
        return self.session.facts

    def run(self, action: AnyAction | Mapping[str, Any], *, reason: str | None = None) -> Envelope:
        """Do one action, from permission to proof."""
        return self._kept.loop.call(self.session.run(action, reason=reason))

    def stop(self) -> int:
        """End everything in flight on this device, from another thread; how much that was."""
        return self._kept.loop.call(self.session.stop())

    def snapshot(self) -> ScreenSnapshot:
        """The screen as a picture with what stands beside it."""
        return self._kept.loop.call(self.session.snapshot())

    def flow(self, path: str | Path, *, env: Mapping[str, str] | None = None) -> FlowRecord:
        """Run a flow's file on this device."""
        runner = FlowRunner(
            {"phone": self.session}, self._runtime.clock, own_phones=self.simulated is not None
        )
        record = self._kept.loop.call(runner.run(load(Path(path)), env))
        return record.or_raise() if self.session.caller.raises else record


@in_words("desk", is_blocking=True)
class BlockingDesk(BlockingDeskForms, _Closing):
    """A desk of this process."""

    def __init__(self, kept: KeptBlock[Any], desk: Desk, runner: DeskRunner) -> None:
        _Closing.__init__(self, kept)
        self._desk = desk
        self._runner = runner

    def __repr__(self) -> str:
        return "<desk>"

    @property
    def state(self) -> dict[str, Any]:
        """Windows, monitors and the rest, as browsers have it."""

        async def seen() -> dict[str, Any]:
            return self._desk.snapshot()

        return self._kept.loop.call(seen())

    def run(self, action: AnyAction | Mapping[str, Any], *, reason: str | None = None) -> Envelope:
        """Do one action of the desk."""
        return self._kept.loop.call(self._runner.run(action, reason=reason))

    def run_all(self, actions: Sequence[AnyAction | Mapping[str, Any]]) -> list[Envelope]:
        """Several as one change: all of them or, when one is wrong, none."""
        return self._kept.loop.call(self._runner.run_all(actions))


@in_words("runtime", is_blocking=True)
class BlockingRuntime(_Closing):
    """One home in one process: a session per device."""

    def __init__(self, kept: KeptBlock[Runtime]) -> None:
        super().__init__(kept)
        self._runtime = kept.value
        """Its other face, which is awaited, on the loop of `handrail.sync`."""

    def devices(self) -> Listing:
        """Every device there is, usable or not."""
        return self._kept.loop.call(self._runtime.devices())

    def session(self, serial: str | None = None, *, helper: Helper | None = None) -> BlockingPhone:
        """The named device, else the only usable one. It is closed with the runtime."""
        session = self._kept.loop.call(self._runtime.session(serial, helper=helper))
        return BlockingPhone(self._kept, session, self._runtime)

    def stop(self) -> int:
        """End everything that is in flight, from another thread; how much that was."""
        return self._kept.loop.call(self._runtime.stop())
