"""Everything that may be sent: attributes, each with its possible values, and metrics. The rest is dropped.

A value is a word of a closed list, a number, yes or no, or an id that was drawn at random. Text of a screen,
a person, a model, a file or a device can't be sent, whatever an event holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from handrail.errors import ERRORS
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import Approval, Delivery, SettleReport, Verification, VerificationMode
from handrail.protocol.model import Model
from handrail.protocol.traits import Effect, Semantic
from handrail.safety.caller import Actor

Attributes = dict[str, str | int | float | bool]
MAX_NUMBER = 2**53
OTHER = "_OTHER"  # what OpenTelemetry's conventions call a word that is not on a list
PHASES = (
    *("queue", "permit", "approval", "look", "resolve", "journal", "dispatch", "work", "picture"),
    *("watch", "expect", "settle", "waiting", "verify", "diff", "other"),
)
"""In the order in which an action goes through them."""
_LIMITS = frozenset({"out_of_steps", "out_of_time", "out_of_tokens", "out_of_cost"})
AGENT_OUTCOMES = frozenset({"finished", "failed", "refused", "stuck", "stopped"}) | _LIMITS
FLOW_OUTCOMES = frozenset({"passed", "failed", "skipped", "warned", "stopped"})


class AllowedAttribute(NamedTuple):
    """What an attribute means, and which values it may have."""

    meaning: str
    values: type[int] | type[float] | type[bool] | frozenset[str] | re.Pattern[str]
    documented_values: str = ""
    """Where there are too many to list."""

    def allows(self, candidate: object) -> bool:
        if isinstance(self.values, re.Pattern):
            return isinstance(candidate, str) and self.values.fullmatch(candidate) is not None
        if isinstance(self.values, frozenset):
            return isinstance(candidate, str) and candidate in self.values
        if self.values is bool or isinstance(candidate, bool):
            return self.values is bool and isinstance(candidate, bool)
        if not isinstance(candidate, int | float):
            return False
        return (
            isinstance(candidate, self.values | int)
            and 0 <= candidate <= MAX_NUMBER
            and math.isfinite(candidate)
        )


def _literal_values(source: Any, field: str = "") -> frozenset[str]:
    """The words of a `Literal`, or of a model's field that has one."""
    if isinstance(source, type) and issubclass(source, Model):
        source = source.model_fields[field].annotation
    return frozenset(get_args(source))


_Row = AllowedAttribute
ALLOWED = {
    "gen_ai.operation.name": _Row(
        "an action, an agent's run, a call of a model", frozenset({"execute_tool", "invoke_agent", "chat"})
    ),
    "gen_ai.tool.name": _Row(
        "the type of the action", frozenset([*ACTIONS, OTHER]), "[an action's type](actions.md)"
    ),
    "gen_ai.provider.name": _Row(
        "who made the model; its name is yours, and is not sent", frozenset({"openai", "anthropic", OTHER})
    ),
    "gen_ai.token.type": _Row("of the metric of tokens", frozenset({"input", "output"})),
    "gen_ai.usage.input_tokens": _Row("what the model was sent", int),
    "gen_ai.usage.output_tokens": _Row("what the model answered", int),
    "error.type": _Row("why it failed", frozenset([*ERRORS, OTHER]), "[an error's code](errors.md)"),
    "handrail.outcome": _Row("how an action ended", frozenset({"verified", "unverified", "failed"})),
    "handrail.flow.outcome": _Row("how a flow ended", FLOW_OUTCOMES),
    "handrail.agent.outcome": _Row("how an agent's run ended", AGENT_OUTCOMES),
    "handrail.phase": _Row("a part of an action's time", frozenset(PHASES)),
    "handrail.actor": _Row("who acts", _literal_values(Actor)),
    "handrail.surface": _Row("what is acted on", frozenset({"android", "ios", "web", "desk"})),
    "handrail.session.id": _Row(
        "the same for all actions of one session; drawn at random",
        re.compile(r"[0-9a-f]{16}", re.ASCII),
        "16 hexadecimal digits",
    ),
    "handrail.effect": _Row("what kind of effect it has", _literal_values(Effect)),
    "handrail.semantic": _Row("what kind of act it is", _literal_values(Semantic)),
    "handrail.delivery": _Row("whether it reached the device", _literal_values(Delivery)),
    "handrail.retryable": _Row("of a failure: whether it may be tried again", bool),
    "handrail.verification.mode": _Row("how it was checked", _literal_values(VerificationMode)),
    "handrail.verification.outcome": _Row("what that said", _literal_values(Verification, "outcome")),
    "handrail.settle.reason": _Row("why the wait for rest ended", _literal_values(SettleReport, "reason")),
    "handrail.settle.ms": _Row("how long the screen took to rest", float),
    "handrail.settle.reads": _Row("how often it was read meanwhile", int),
    "handrail.changes": _Row("how many changes of the screen were reported", int),
    "handrail.approval.decision": _Row("what a person answered", _literal_values(Approval, "decision")),
    "handrail.approval.remembered": _Row("whether an earlier answer counted", bool),
}
"""By name. `docs/telemetry.md` prints it."""

_OPEN = frozenset({"gen_ai.tool.name", "gen_ai.provider.name", "error.type"})
"""Their unknown words are sent as `_OTHER`, so that a failure of a new kind is still a failure."""


def keep_allowed(attributes: Mapping[str, Any]) -> Attributes:
    """The attributes that may be sent. Spans and metrics get theirs through this function alone."""
    passed: Attributes = {}
    for name, candidate in attributes.items():
        attribute = ALLOWED.get(name)
        if attribute is None or candidate is None:
            continue
        if attribute.allows(candidate):
            passed[name] = candidate
        elif name in _OPEN:
            passed[name] = OTHER
    return passed


SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
TOKENS = tuple(float(4**power) for power in range(14))
"""The bounds that the semantic conventions ask for."""


class Metric(NamedTuple):
    """One metric. A histogram has bounds, a counter has none."""

    meaning: str
    unit: str
    attributes: tuple[str, ...]
    bounds: tuple[float, ...] = ()

    @property
    def kind(self) -> str:
        return "histogram" if self.bounds else "counter"


_TOOL, _CODE, _OPERATION = "gen_ai.tool.name", "error.type", "gen_ai.operation.name"
_REST = "how long the screen took to rest"
_ENDED = "questions to a person that have ended, by how; expired and withdrawn ones were not answered"
METRICS = {
    "handrail.actions": Metric("actions", "{action}", (_TOOL, "handrail.outcome", "handrail.surface")),
    "handrail.failures": Metric("actions that failed", "{action}", (_TOOL, _CODE)),
    "handrail.action.duration": Metric("an action's whole time", "s", (_TOOL,), SECONDS),
    "handrail.settle.duration": Metric(_REST, "s", ("handrail.settle.reason",), SECONDS),
    "handrail.approvals": Metric(_ENDED, "{approval}", ("handrail.approval.decision",)),
    "handrail.agent.runs": Metric("runs of agents", "{run}", ("handrail.agent.outcome",)),
    "handrail.flow.runs": Metric("runs of flows", "{run}", ("handrail.flow.outcome",)),
    "gen_ai.client.operation.duration": Metric(
        "a model's call", "s", (_OPERATION, "gen_ai.provider.name", _CODE), SECONDS
    ),
    "gen_ai.client.token.usage": Metric(
        "tokens of a model's call",
        "{token}",
        (_OPERATION, "gen_ai.provider.name", "gen_ai.token.type"),
        TOKENS,
    ),
}
"""By name. `docs/telemetry.md` prints it."""
