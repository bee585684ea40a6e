"""A step while it is being made, and how it is written down: what nobody may read is masked here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from handrail.agent.asking import Asked
from handrail.agent.history import is_hidden
from handrail.agent.look import View
from handrail.agent.step import Came, Step
from handrail.engine.approval.request import MASKED
from handrail.protocol.actions import AnyAction
from handrail.protocol.device import TypeText
from handrail.protocol.envelope import Envelope

RAW = 20_000
"""Characters of an answer that are kept."""


@dataclass(slots=True)
class Draft:
    """What is known of a step so far."""

    number: int
    at: str
    began_ms: float
    view: View = field(default_factory=lambda: View(""))
    picture: str | None = None
    asked: Asked | None = None
    action: AnyAction | None = None

    @property
    def thought(self) -> str:
        """The model's own; a tool call may have it as the action's reason alone."""
        said = self.asked.reply.thought if self.asked else ""
        return said.strip() or ((self.action.reason or "") if self.action else "")

    def step(
        self,
        outcome: Came,
        told: str,
        *,
        ids: list[str],
        ms: float,
        envelope: Envelope | None = None,
        code: str | None = None,
    ) -> Step:
        usages = self.asked.usages if self.asked else ()
        costs = [one.cost_usd for one in usages if one.cost_usd is not None]
        thought, action, raw = self._words(envelope)
        return Step(
            number=self.number,
            thought=thought,
            action=action,
            outcome=outcome,
            told=told,
            raw=raw,
            code=code,
            action_id=envelope.action_id if envelope else None,
            action_ids=tuple(ids),
            app=self.view.app,
            fingerprint=self.view.fingerprint,
            revision=self.view.revision,
            picture=self.picture,
            asks=len(usages),
            input_tokens=sum(one.input_tokens for one in usages),
            output_tokens=sum(one.output_tokens for one in usages),
            cost_usd=sum(costs) if costs else None,
            at=self.at,
            ms=ms,
        )

    def _words(self, envelope: Envelope | None) -> tuple[str, dict[str, Any] | None, str]:
        """Thought, action and answer, without what was typed into a password field."""
        raw = self.asked.reply.raw[:RAW] if self.asked else ""
        if self.action is None:
            return self.thought, None, raw
        written = self.action.to_dict()
        if isinstance(self.action, TypeText) and (envelope is None or is_hidden(self.action, envelope)):
            typed = self.action.text
            masked = self.thought.replace(typed, MASKED) if typed else self.thought
            return masked, {**written, "text": MASKED}, ""
        return self.thought, written, raw
