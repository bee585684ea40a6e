"""What a step's envelope knows, as words for people: element, verification, settling, times."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from handrail.flow.records import StepRecord
from handrail.flow.report.markup import Content, Html, tag
from handrail.flow.report.times import duration, moment
from handrail.protocol.envelope import Envelope, ResolvedElement, SettleReport, Verification
from handrail.tree.node import Bounds
from handrail.tree.quote import cut

_LIMIT = 2_000
"""Characters of one fact; a value can be a whole screen."""
_RESTED = {
    "verified": "the expected state was there",
    "quiet": "the screen was at rest",
    "volatile": "only restless parts still moved",
    "budget": "the time was up",
    "loading": "the app was still loading",
}
Fact = tuple[str, Content]


def facts(step: StepRecord) -> Html:
    """A list of terms and what they came to."""
    told = [*_of_step(step), *(_of_envelope(step.envelope) if step.envelope else ())]
    return tag("dl", [(tag("dt", name), tag("dd", value)) for name, value in told], class_="facts")


def _of_step(step: StepRecord) -> Iterator[Fact]:
    began = f"{moment(step.started_ms)}, took {duration(step.duration_ms)}"
    yield "When", f"{began} in {step.tries} tries" if step.tries > 1 else began
    if step.loading:
        yield "Loading", _said(step.loading)


def _of_envelope(envelope: Envelope) -> Iterator[Fact]:
    resolved = envelope.target.resolved if envelope.target else None
    if resolved is not None:
        yield "Element", _element(resolved)
    if envelope.verification is not None:
        yield from _verification(envelope.verification)
    if envelope.settle is not None:
        yield "Settled", _settle(envelope.settle)
    if not envelope.success:
        yield "Delivery", envelope.delivery.replace("_", " ")
    if envelope.approval is not None:
        by = f" by {envelope.approval.by}" if envelope.approval.by else ""
        yield "Approval", f"{envelope.approval.decision}{by} ({envelope.approval.id})"
    phases = [f"{name} {duration(ms)}" for name, ms in (envelope.timings_ms or {}).items() if ms >= 1]
    if phases:
        yield "Time in", ", ".join(phases)
    if envelope.diagnostics:
        yield "Diagnostics", tag("ul", [tag("li", _said(line)) for line in envelope.diagnostics])
    yield "Action", tag("code", envelope.action_id)


def _element(element: ResolvedElement) -> Content:
    names = [element.text or element.accessibility_id, element.resource_id, element.class_]
    shown: list[Content] = [_said(name) for name in names if name]
    if element.bounds is not None:
        shown.append(tag("code", str(Bounds(*element.bounds))))
    return [(" · " if index else "", part) for index, part in enumerate(shown)]


def _verification(verification: Verification) -> Iterator[Fact]:
    mode = verification.mode.replace("_", " ")
    outcome = verification.outcome.replace("_", " ")
    mood = {"verified": "passed", "failed": "failed"}.get(verification.outcome, "skipped")
    yield "Verification", [tag("span", outcome, class_=f"word {mood}"), f" ({mode})"]
    if verification.expected is not None:
        yield "Expected", _value(verification.expected)
    if verification.observed is not None:
        yield "Observed", _value(verification.observed)


def _settle(report: SettleReport) -> str:
    reads = "1 look" if report.reads == 1 else f"{report.reads} looks"
    words = f"after {duration(report.ms)} and {reads}: {_RESTED[report.reason]}"
    return f"{words} ({report.loading})" if report.loading else words


def _value(value: Any) -> Html:
    """Text as it is, everything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _said(text)


def _said(text: str) -> Html:
    """A stranger's words: isolated, so that another direction of writing ends where they end."""
    return tag("bdi", cut(text, _LIMIT), class_="said")
