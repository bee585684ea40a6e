"""One tool call on its way: who calls what, and how an action of it is done."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail.engine.events import Caller
    from handrail.engine.session import Session
    from handrail.mcp.state import CallerState, DoorState, Progress
    from handrail.protocol.act import Settle
    from handrail.protocol.actions import AnyAction
    from handrail.protocol.envelope import Envelope


@dataclass(frozen=True, slots=True)
class Call:
    """The same for every profile."""

    state: DoorState
    caller: Caller
    name: str
    arguments: dict[str, Any]
    progress: Progress | None = None

    @property
    def known(self) -> CallerState:
        return self.state.of(self.caller)

    async def session(self, wanted: str | None = None) -> Session:
        return await self.state.session(self.caller, wanted)

    async def perform(self, action: AnyAction, session: Session, settle: Settle | None = None) -> Envelope:
        """Do one action; whoever goes away stops it."""
        async with self.progress.watching(session) if self.progress else nullcontext():
            return await session.run(action, caller=self.caller, settle=settle)
