"""Everything that may be sent: one list of names, each with the values it may have. The rest is dropped here.

A value is a word of a closed list, a number, yes or no, or an id that was drawn at random. So nothing that a
screen, a person, a model, a file or a device has said can be in what is sent, whoever put it into an event.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from handrail.engine.events import Actor
from handrail.errors import ERRORS
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import (
    Approval,
    Delivery,
    Envelope,
    SettleReport,
    Verification,
    VerificationMode,
)
from handrail.protocol.model import Model
from handrail.protocol.traits import Effect, Semantic

Value = str | int | float | bool
Attributes = dict[str, Value]
LARGEST = 2**53
OTHER = "_OTHER"
"""Stands for a word that is not on the list, as the semantic conventions have it."""
PHASES = (
    "queue",
    "permit",
    "approval",
    "look",
    "resolve",
    "journal",
    "dispatch",
    "work",
    "watch",
    "expect",
    "settle",
    "waiting",
    "verify",
    "diff",
    "other",
)
"""In the order in which an action goes through them; each once, with all the time that went into it."""
_RUN_OUT = frozenset({"out_of_steps", "out_of_time", "out_of_tokens", "out_of_cost"})
AGENT_ENDS = frozenset({"finished", "failed", "refused", "stuck", "stopped"}) | _RUN_OUT
FLOW_ENDS = frozenset({"passed", "failed", "skipped", "warned", "stopped"})
OUTCOMES = frozenset({"verified", "unverified", "failed"})
_RANDOM = re.compile(r"[0-9a-f]{16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AllowedName:
    """One attribute: what it may be, and what it means."""

    name: str
    meaning: str
    values: type[int] | type[float] | type[bool] | frozenset[str] | re.Pattern[str]
    shown: str = ""
    """Its values in words, where there are too many to list."""

    def keeps(self, value: object) -> bool:
        if isinstance(self.values, re.Pattern):
            return isinstance(value, str) and self.values.fullmatch(value) is not None
        if isinstance(self.values, frozenset):
            return isinstance(value, str) and value in self.values
        if self.values is bool:
            return isinstance(value, bool)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return isinstance(value, self.values | int) and math.isfinite(value) and 0 <= value <= LARGEST


def _words(model: type[Model], field: str) -> frozenset[str]:
    return frozenset(get_args(model.model_fields[field].annotation))


def _some(*words: str) -> frozenset[str]:
    return frozenset(words)


ALLOWED = {
    one.name: one
    for one in (
        AllowedName(
            "gen_ai.operation.name",
            "an action, an agent's run, a call of a model",
            _some("execute_tool", "invoke_agent", "chat"),
        ),
        AllowedName(
            "gen_ai.tool.name",
            "the type of the action",
            frozenset([*ACTIONS, OTHER]),
            "[an action's type](actions.md)",
        ),
        AllowedName(
            "gen_ai.provider.name",
            "who made the model; its name is yours, and is not sent",
            _some("openai", "anthropic", OTHER),
        ),
        AllowedName("gen_ai.token.type", "of the metric of tokens", _some("input", "output")),
        AllowedName("gen_ai.usage.input_tokens", "what the model was sent", int),
        AllowedName("gen_ai.usage.output_tokens", "what the model answered", int),
        AllowedName(
            "error.type", "why it failed", frozenset([*ERRORS, OTHER]), "[an error's code](errors.md)"
        ),
        AllowedName("handrail.outcome", "how an action ended", OUTCOMES),
        AllowedName("handrail.flow.outcome", "how a flow ended", FLOW_ENDS),
        AllowedName("handrail.agent.outcome", "how an agent's run ended", AGENT_ENDS),
        AllowedName("handrail.phase", "a part of an action's time", frozenset(PHASES)),
        AllowedName("handrail.actor", "who acts", frozenset(get_args(Actor))),
        AllowedName("handrail.surface", "what is acted on", _some("android", "web", "desk")),
        AllowedName(
            "handrail.session.id",
            "the same for all actions of one session; drawn at random",
            _RANDOM,
            "16 hexadecimal digits",
        ),
        AllowedName("handrail.effect", "what kind of effect it has", frozenset(get_args(Effect))),
        AllowedName("handrail.semantic", "what kind of act it is", frozenset(get_args(Semantic))),
        AllowedName("handrail.delivery", "whether it reached the device", frozenset(get_args(Delivery))),
        AllowedName("handrail.retryable", "of a failure: whether it may be tried again", bool),
        AllowedName(
            "handrail.verification.mode", "how it was checked", frozenset(get_args(VerificationMode))
        ),
        AllowedName("handrail.verification.outcome", "what that said", _words(Verification, "outcome")),
        AllowedName("handrail.settle.reason", "why the wait for rest ended", _words(SettleReport, "reason")),
        AllowedName("handrail.settle.ms", "how long the screen took to rest", float),
        AllowedName("handrail.settle.reads", "how often it was read meanwhile", int),
        AllowedName("handrail.changes", "how many changes of the screen were told", int),
        AllowedName("handrail.approval.decision", "what a person answered", _words(Approval, "decision")),
        AllowedName("handrail.approval.remembered", "whether an earlier answer counted", bool),
    )
}
"""By name. `docs/telemetry.md` prints it."""

_OPEN = frozenset({"gen_ai.tool.name", "gen_ai.provider.name", "error.type"})
"""Whose unknown words are counted as another one, so that a failure of a new kind is still a failure."""


def allowed(given: Mapping[str, Any]) -> Attributes:
    """What of this may be sent. The one way by which attributes come into spans and metrics."""
    kept: Attributes = {}
    for name, value in given.items():
        known = ALLOWED.get(name)
        if known is None or value is None:
            continue
        if known.keeps(value):
            kept[known.name] = value
        elif name in _OPEN:
            kept[known.name] = OTHER
    return kept


def outcome(envelope: Envelope) -> str:
    """Proved, not proved, or failed."""
    return {"verified": "verified", "pending_verification": "unverified"}.get(
        envelope.lifecycle_state, "failed"
    )
