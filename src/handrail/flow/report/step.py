"""One step of a flow as a row that opens: what was asked, what was seen, what came of it.

Owns the facts of its envelope in words, and the blocks that are read line by line (diffs, logs, trees).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from handrail.flow.report.markup import Content, Html, tag
from handrail.flow.report.pictures import ReportAlbum, shots
from handrail.flow.report.summary import NOTABLE, blamed, complaint, duration, is_quiet, moment, number
from handrail.flow.report.time_parts import step_words
from handrail.flow.report.timeline import track
from handrail.flow.run_record import FlowRecord, Outcome, StepRecord
from handrail.protocol.envelope import Envelope, ResolvedElement, SettleReport, Verification
from handrail.tree.node import Bounds
from handrail.tree.quote import cut

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
    album: ReportAlbum
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
    if step.spent and (words := step_words(step)):
        yield "Time", words
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


LOG_LINES = 200
"""The end of a log; what led to the failure stands there."""
_LINE = 600
"""Characters of one line."""
_BLOCK = 150_000
_LEVEL = re.compile(r"(?:\S+\s+){1,2}\d+\s+\d+\s+[EF]\s|[EF]/")
"""Errors: a moment of one or two words, process, thread and level; or logcat's `brief` form."""
_SECTIONS = {"Elements added:": "added", "Elements removed:": "removed", "Elements changed:": "changed"}


def listing(title: str, text: str, line_class: Callable[[str], str | None] = lambda _: None) -> Html:
    """A titled block that scrolls by itself and can be reached with the keyboard."""
    short = "\n".join(cut(line, _LINE) for line in text.splitlines())
    lines = [tag("span", line, "\n", class_=line_class(line)) for line in cut(short, _BLOCK).splitlines()]
    block = tag("pre", lines, tabindex=0, role="region", aria_label=title)
    return tag("div", tag("h3", title), block, class_="listing")


def given(step: Mapping[str, Any]) -> Html:
    """The step as a person would write it, without the steps inside it: they have rows of their own."""
    plain = json.loads(json.dumps(_outline(step), ensure_ascii=False, default=str))
    return listing("Step", yaml.safe_dump(plain, allow_unicode=True, sort_keys=False).rstrip())


def screen_diff(text: str) -> Html:
    """What changed on the screen; each line is coloured by the section it stands in."""
    section: list[str] = [""]

    def kind(line: str) -> str | None:
        section[0] = _SECTIONS.get(line, section[0])
        return "head" if line in _SECTIONS else section[0] or None

    return listing("What changed on the screen", text, kind)


def file_diff(title: str, text: str) -> Html:
    """An edit of a file."""
    signs = {"+": "added", "-": "removed", "@": "head"}
    return listing(title, text, lambda line: signs.get(line[:1]))


def log(lines: Sequence[str]) -> Html:
    """The device's log, its errors marked."""
    shown = lines[-LOG_LINES:]
    title = f"Device log ({len(shown)} of {len(lines)} lines)" if len(shown) < len(lines) else "Device log"
    return listing(title, "\n".join(shown), lambda line: "removed" if _LEVEL.match(line) else None)


def _outline(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _outline(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple) and value and all(isinstance(one, Mapping) for one in value):
        return "1 step" if len(value) == 1 else f"{len(value)} steps"
    return value
