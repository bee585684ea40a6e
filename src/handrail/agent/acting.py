"""The hands of a run: every action of it goes through here, under the run's name, and none is lost.

Knows which actions a step has run, also those that a stop has cut short.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from handrail.engine.desk_session import DeskRunner
from handrail.engine.events import Caller, Listener
from handrail.engine.session import Session
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope

REASON = 1_000
"""Characters of a reason in the journal."""


@dataclass(slots=True)
class Hands:
    """One run's way to the phone and, where there is one, to the desk."""

    session: Session
    caller: Caller
    desk: DeskRunner | None = None
    ids: list[str] = field(default_factory=list)
    """Of everything since `begin_step`."""

    def begin_step(self) -> None:
        self.ids = []

    async def act(self, action: AnyAction, reason: str = "") -> Envelope:
        """One action; whoever stops it still finds its id."""
        why = (action.reason or reason).strip()[:REASON] or None
        if isinstance(action, DeskAct) and self.desk is not None:
            return self._keep(await self.desk.run(action, reason=why, caller=self.caller))
        # Nothing is awaited between these two: the first that `life` hears of is this action.
        life = self.session.events()
        try:
            return self._keep(await self.session.run(action, reason=why, caller=self.caller))
        except asyncio.CancelledError:
            self.ids.append(await _first(life))
            raise

    def _keep(self, envelope: Envelope) -> Envelope:
        self.ids.append(envelope.action_id)
        return envelope


async def _first(life: Listener) -> str:
    return (await anext(life)).action_id
