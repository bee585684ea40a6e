"""What policy says of one act."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from handrail.errors import ActionRejected

Kind = Literal["allow", "ask", "deny"]
Span = Literal["never", "session", "always"]
"""How long an answer to `ask` may count: for this once, until the session ends, or until it is revoked."""

SPANS: tuple[Span, ...] = ("never", "session", "always")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`rule` names who decided: a rule of the file, or the built-in table."""

    kind: Kind
    rule: str
    why: str = ""
    remember: Span = "never"

    def rejection(self) -> ActionRejected:
        """The failure of an act that this verdict denies."""
        why = f": {self.why}" if self.why else ""
        return ActionRejected(
            f"{self.rule} denies it{why}",
            hint="Choose another way; only the person who owns the policy can change it.",
            rule=self.rule,
            why=self.why,
        )
