"""One step of a flow as a row that opens: what was asked, what was seen, what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handrail.flow.records import FlowRecord, Outcome, StepRecord
from handrail.flow.report.facts import facts
from handrail.flow.report.listings import given, log, screen_diff
from handrail.flow.report.markup import Content, Html, tag
from handrail.flow.report.pictures import Album
from handrail.flow.report.shot import shots
from handrail.flow.report.table import complaint
from handrail.flow.report.tally import NOTABLE, blamed, is_quiet, number
from handrail.flow.report.timeline import track
from handrail.flow.report.times import duration

_SIGNS: dict[Outcome, str] = {
    "passed": "✓",
    "failed": "✕",
    "skipped": "–",
    "warned": "!",
    "stopped": "■",
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """What all rows of one flow share."""

    record: FlowRecord
    album: Album
    many: bool
    """More than one device took part, so that rows say which."""


def sign(outcome: Outcome) -> Html:
    """A shape and a word: colour is never the only difference."""
    return tag(
        "span",
        tag("span", _SIGNS[outcome], aria_hidden="true"),
        tag("span", f"{outcome}: ", class_="unseen"),
        class_=f"sign {outcome}",
    )


def step_list(sheet: Sheet, steps: list[StepRecord], prefix: str) -> Html:
    """Rows in the order in which they ran; inner steps inside the one that holds them."""
    rows = (_row(sheet, step, f"{prefix}-{index + 1}") for index, step in enumerate(steps))
    return tag("ol", rows, class_="steps")


def _row(sheet: Sheet, step: StepRecord, anchor: str) -> Html:
    quiet = is_quiet([step])
    body = tag("div", _body(sheet, step, anchor), class_="body")
    details = tag("details", tag("summary", _head(sheet, step)), body, open=not quiet, id=anchor)
    return tag("li", details, class_=f"step {step.outcome}{' quiet' if quiet else ''}")


def _head(sheet: Sheet, step: StepRecord) -> list[Content]:
    notes = [tag("span", step.code, class_=f"code {step.outcome}")] if step.code else []
    plain = [
        step.device if sheet.many else "",
        f"{step.tries} tries" if step.tries > 1 else "",
        f"line {step.line}" if step.line is not None else "",
    ]
    notes += [tag("span", words, class_="note") for words in plain if words]
    return [
        sign(step.outcome),
        tag("span", number(step), class_="number"),
        tag("bdi", step.label, class_="label"),
        tag("span", notes, class_="notes"),
        track(sheet.record, step),
        tag("span", duration(step.duration_ms), class_="took"),
    ]


def _body(sheet: Sheet, step: StepRecord, anchor: str) -> Iterator[Content]:
    if (step.error or step.code) and blamed([step], NOTABLE) is step:
        yield trouble(complaint(step), step.hint, step.outcome)
    told = [facts(step)]
    if step.given.keys() != {"device"}:  # a device's share of a parallel step stands nowhere by itself
        told.append(given(step.given))
    if step.diff:
        told.append(screen_diff(step.diff))
    yield tag("div", shots(step, sheet.album), tag("div", told, class_="told"), class_="sides")
    if step.log:
        yield log(step.log)
    if step.children:
        yield step_list(sheet, step.children, anchor)


def trouble(message: str, hint: str | None, outcome: Outcome) -> Html:
    """What went wrong and what to do next."""
    advice = tag("p", tag("b", "Hint "), tag("bdi", hint), class_="hint") if hint else None
    return tag("div", tag("p", tag("bdi", message)), advice, class_=f"trouble {outcome}")
