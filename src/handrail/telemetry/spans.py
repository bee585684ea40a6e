"""From what was heard to spans: an action with its phases, an agent's run, a flow, a model's call. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from handrail.engine.events import Event
from handrail.engine.work import TracedWork, TracePlace
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import Envelope
from handrail.telemetry.allowed import OTHER, PHASES, Attributes, allowed, outcome

NS = 1_000_000
"""Nanoseconds of a millisecond."""


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of time in a trace. Times are nanoseconds since 1970."""

    name: str
    place: TracePlace
    parent: TracePlace | None
    start_ns: int
    end_ns: int
    attributes: Attributes
    kind: Literal["internal", "client"] = "internal"

    @property
    def has_failed(self) -> bool:
        told = self.attributes
        is_bad = told.get("handrail.agent.outcome", "finished") != "finished"
        return is_bad or "error.type" in told or told.get("handrail.flow.outcome") == "failed"


def facts_of(event: Event, envelope: Envelope) -> Attributes:
    """What is told of an action."""
    known = ACTIONS.get(event.action_type)
    told: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.action_type,
        "error.type": envelope.failure_code,
        "handrail.outcome": outcome(envelope),
        "handrail.actor": event.actor,
        "handrail.surface": envelope.device.platform if envelope.device else "desk",
        "handrail.effect": known.traits.effect if known else None,
        "handrail.semantic": envelope.semantic,
        "handrail.delivery": envelope.delivery,
        "handrail.retryable": envelope.retryable,
        "handrail.changes": len(envelope.changes) if envelope.changes is not None else None,
    }
    if checked := envelope.verification:
        told |= {
            "handrail.verification.mode": checked.mode,
            "handrail.verification.outcome": checked.outcome,
        }
    if rest := envelope.settle:
        told |= {
            "handrail.settle.reason": rest.reason,
            "handrail.settle.ms": rest.ms,
            "handrail.settle.reads": rest.reads,
        }
    if asked := envelope.approval:
        told |= {
            "handrail.approval.decision": asked.decision,
            "handrail.approval.remembered": bool(asked.remembered),
        }
    return allowed(told)


def spans_of_action(
    facts: Attributes, timings: dict[str, float], began_ms: int, parent: TracePlace | None, session: str
) -> Iterator[Span]:
    """The action, then its phases one after another: an envelope says how long each took, not when."""
    start = began_ms * NS
    place = parent.child() if parent else TracePlace()
    name = f"execute_tool {facts.get('gen_ai.tool.name', OTHER)}"
    total = _ns(timings.get("total", 0.0))
    yield Span(name, place, parent, start, start + total, facts | allowed({"handrail.session.id": session}))
    for phase, took in _phases(timings):
        end = start + _ns(took)
        if end > start:
            told = allowed({"handrail.phase": phase})
            yield Span(f"phase {phase}", place.child(), place, start, end, told)
        start = end


def _phases(timings: dict[str, float]) -> Iterator[tuple[str, float]]:
    """In their order; what has a name that is not known here counts as other."""
    known = set(PHASES) - {"other"}
    for phase in PHASES[:-1]:
        yield phase, timings.get(phase, 0.0)
    yield "other", sum(ms for name, ms in timings.items() if name not in known and name != "total")


def _ns(ms: float) -> int:
    return max(0, round(ms * NS))


WORKS: dict[str, str] = {"agent": "invoke_agent", "flow": "flow", "model": "chat"}
"""The names of their spans."""


def span_of_work(work: TracedWork) -> Span:
    """An agent's run, a flow or a call of a model."""
    name = WORKS.get(work.kind, OTHER)
    told: dict[str, Any] = {"error.type": work.code, "gen_ai.operation.name": name}
    match work.kind:
        case "agent":
            told["handrail.agent.outcome"] = work.outcome
        case "flow":
            told["handrail.flow.outcome"] = work.outcome
        case "model":
            told |= {
                "gen_ai.provider.name": work.maker,
                "gen_ai.usage.input_tokens": work.input_tokens,
                "gen_ai.usage.output_tokens": work.output_tokens,
            }
    start = work.began_ms * NS
    kind: Literal["internal", "client"] = "client" if work.kind == "model" else "internal"
    return Span(name, work.place, work.parent, start, start + _ns(work.ms), allowed(told), kind)
