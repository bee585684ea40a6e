"""What a run does about an element that is not where its flow says: proposes, and goes on only if allowed."""

from __future__ import annotations

from pathlib import Path

from handrail.engine.session import Session
from handrail.errors import InvalidAction
from handrail.flow.heal import Healed, heal_action
from handrail.flow.plan import Planned
from handrail.flow.propose import Repair
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope

_LOST = frozenset({"ELEMENT_NOT_FOUND", "AMBIGUOUS_TARGET"})


class Mending:
    """The repairs of one run, by file."""

    def __init__(self, *, allowed: bool = False) -> None:
        self.allowed = allowed
        self.proposals: list[str] = []
        self._repairs: dict[Path | None, Repair] = {}

    def known(self, one: Planned, action: AnyAction) -> AnyAction:
        """The action as it was healed earlier in this run: a step that is repeated is healed once."""
        repair = self._repairs.get(one.document.path)
        return repair.mended(one.at, action) if repair and self.allowed else action

    def heal(self, one: Planned, action: AnyAction, envelope: Envelope, session: Session) -> Healed | None:
        """A successor of the lost element; the edit of the file that follows from it is kept."""
        if envelope.failure_code not in _LOST or envelope.delivery != "not_delivered":
            return None
        recorded, last = one.document.element(one.at), session.sight.last
        if recorded is None or last is None:
            return None
        healed = heal_action(action, recorded, last.screen, session.sight.registry)
        if healed is not None:
            path = one.document.path
            repair = self._repairs.setdefault(path, Repair(one.document))
            self.proposals.append(repair.add(one.at, healed))
        return healed

    def save(self) -> None:
        """Into the files, once the flow has passed with it."""
        for repair in self._repairs.values() if self.allowed else ():
            try:
                repair.save()
            except InvalidAction as error:
                self.proposals.append(error.message)
