"""What came of a question: a yes or a no by somebody, or nobody in time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from handrail.engine.approval.row import Approval, State
from handrail.engine.policy.verdict import Span
from handrail.errors import ActionRejected


@dataclass(frozen=True, slots=True)
class Answer:
    """`data` holds placeholders where the capability is secret."""

    id: str
    decision: State
    by: str = ""
    note: str = ""
    data: Any = None
    remember: Span | None = None
    """How long the person wants it to count."""

    @classmethod
    def of(cls, one: Approval) -> Answer:
        return cls(one.id, one.state, one.answered_by or "", one.note or "", one.data, one.remember)

    @property
    def approved(self) -> bool:
        return self.decision == "approved"

    def to_dict(self) -> dict[str, Any]:
        """For the envelope and the journal."""
        return {key: value for key, value in asdict(self).items() if value not in ("", None)}

    def rejection(self) -> ActionRejected:
        """The failure of the act that was asked about; nothing was dispatched."""
        match self.decision:
            case "denied":
                note = f": {self.note}" if self.note else ""
                return ActionRejected(f"{self.by} said no{note}", approval=self.id, decision=self.decision)
            case "expired":
                return ActionRejected(
                    "Nobody answered in time",
                    hint="Ask the person to be there, then send the action again.",
                    approval=self.id,
                    decision=self.decision,
                )
        return ActionRejected(f"The request was {self.decision}", approval=self.id, decision=self.decision)
