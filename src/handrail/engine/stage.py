"""Everything a single action may use while it is executed. Handed to `execute` and to the loops behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from handrail.adb.device import AdbDevice
from handrail.android.driver import Driver
from handrail.clock import Clock
from handrail.engine.approval import Answer
from handrail.engine.resolve import Aim, aim
from handrail.engine.run import Run
from handrail.engine.secrets import Secrets
from handrail.engine.settle import Settled, Settling, never
from handrail.engine.sight import Seen, Sight
from handrail.engine.sure import sure
from handrail.engine.turn import Turn
from handrail.engine.verify import Proof
from handrail.errors import Unsupported
from handrail.protocol.act import Act
from handrail.protocol.observe import RequestHumanAuth

if TYPE_CHECKING:
    from handrail.engine.script import ScriptExecutor


class Inbox(Protocol):
    """What people did on the desk, for one agent."""

    def take(self) -> list[dict[str, Any]]: ...

    async def wait(self, timeout_ms: float) -> None: ...


class DeskSurface(Protocol):
    """The other surface that can be acted upon: the web desktop."""

    async def apply(self, action: Act, by: str, is_person: bool) -> dict[str, Any]: ...

    async def apply_batch(self, actions: Sequence[Act], by: str, is_person: bool) -> list[dict[str, Any]]: ...

    def inbox(self, agent_id: str) -> Inbox: ...

    def snapshot(self) -> dict[str, Any]: ...

    def end_agent(self, agent_id: str) -> None: ...


@dataclass(slots=True)
class Stage:
    """One action's tools."""

    run: Run
    driver: Driver
    device: AdbDevice
    sight: Sight
    clock: Clock
    secrets: Secrets
    scripts: ScriptExecutor
    ask_person: Callable[[RequestHumanAuth], Awaitable[Answer]]
    turn: Turn
    script_shell: bool = False
    """Policy lets scripts have a real shell."""
    desk: DeskSurface | None = None

    @property
    def before(self) -> Seen:
        """The screen on which the targets were found."""
        return sure(self.run.before)

    def aim(self, name: str = "target") -> Aim:
        return self.run.aims[name]

    async def look(self) -> Seen:
        """A fresh look that becomes the session's present."""
        with self.run.phase("look"):
            return await self.sight.look_and_take()

    def find(self, target: Any) -> Aim:
        """A target on the present screen."""
        return aim(self.sight, target)

    async def settle(self, before: Seen, proof: Proof | None = None, **budgets: float) -> Settled:
        """Until the screen rests; the screen is taken."""
        with self.run.phase("settle"):
            settling = Settling(
                self.sight,
                self.driver,
                self.clock,
                before,
                met=proof.met if proof and proof.decides else never,
                patience_ms=proof.patience_ms if proof else 0.0,
                **budgets,
            )
            settled = await settling.wait()
        waited = self.run.timings.get("waiting", 0.0) + settling.waited_ms
        self.run.timings["waiting"] = waited
        self.sight.take(settled.seen)
        return settled

    def desk_surface(self) -> DeskSurface:
        if self.desk is None:
            raise Unsupported("This session has no desk", hint="Start `handrail serve` to get one.")
        return self.desk
