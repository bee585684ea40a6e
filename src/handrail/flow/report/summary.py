"""A run in plain text: what it comes to, what failed, where in the file, and what to do next.

Owns the counts, the words and the durations that the HTML page, JUnit and the terminal have in common.

HTML can't be broken from inside: every text is escaped here, only `Html` passes as it is. Screen text, labels
and logs are a stranger's. Nothing else in the report writes a tag or an attribute.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from xml.etree import ElementTree as ET

from handrail.flow.run_record import FlowRecord, Outcome, StepRecord
from handrail.screen.text import clean, cut


def summary(records: Sequence[FlowRecord]) -> str:
    """Plain text without colours. Passed flows are only counted."""
    lines: list[str] = []
    for run in attempts(records):
        lines += _lines_of_flow(run)
    total = duration(sum(record.duration_ms for record in records))
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in count_outcomes(records).items())
    last = f"{verdict(records)} in {total}" + (f" ({outcomes})." if outcomes else ".")
    return "\n".join([*lines, *([""] if lines else []), last])


def _lines_of_flow(run: Sequence[FlowRecord]) -> Iterator[str]:
    last = run[-1]
    troubled = list(innermost_failures(last.steps, NOTABLE))
    unplayed = last.outcome == "skipped" and last.error
    if last.outcome in BAD or troubled or last.proposals or unplayed:
        yield f"{WORDS[last.outcome]:<8}{short_label(last.name)}  {last.file}  {_time_and_attempts(run)}"
    elif len(run) > 1:
        yield f"{'flaky':<8}{short_label(last.name)}  {last.file}  {_time_and_attempts(run)}"
    if last.error and step_to_blame(last.steps) is None:
        yield f"        {clean(last.error)}"
    for step in troubled:
        yield f"  step {step.number}  {short_label(step.label)}  ({file_and_line(last, step)})"
        yield f"        {clean(failure_message(step))}"
        if step.hint:
            yield f"        Hint: {clean(step.hint)}"
    for proposal in last.proposals:
        yield f"        {repair_words(last)}:"
        yield from (f"        {escape_invisible(line)}" for line in proposal.splitlines())


def _time_and_attempts(run: Sequence[FlowRecord]) -> str:
    took = duration(sum(record.duration_ms for record in run))
    return f"({took}, {len(run)} attempts)" if len(run) > 1 else f"({took})"


WORDS: dict[Outcome, str] = {
    "passed": "ok",
    "failed": "FAILED",
    "skipped": "skipped",
    "warned": "warning",
    "stopped": "stopped",
}
_LABEL = 60
"""Characters of a label in a table; a label can be what somebody typed."""


def step_table(steps: Sequence[StepRecord]) -> str:
    """One line per step, inner ones indented."""
    return "\n".join(_step_lines(steps, 0))


def file_and_line(record: FlowRecord, step: StepRecord) -> str:
    """ "checkout.yaml:14", as editors and terminals can open it."""
    # Steps that `run_flow` brought in stand in another file, named relative to the one that names it.
    file, steps = record.file, record.steps
    for depth in range(1, len(step.path)):
        holder = next((above for above in steps if above.path == step.path[:depth]), None)
        if holder is None:
            break
        named = holder.source.get("run_flow")
        inner = named.get("file") if isinstance(named, Mapping) else named
        file = str(PurePath(file).parent / inner) if isinstance(inner, str) else file
        steps = holder.children
    return file if step.line is None else f"{file}:{step.line}"


def failure_message(step: StepRecord) -> str:
    message = step.error or (step.envelope.message if step.envelope else None) or f"the step {step.outcome}"
    return f"{step.code}: {message}" if step.code and not message.startswith(step.code) else message


def repair_words(record: FlowRecord) -> str:
    """Says what a repaired selector means for the flow's file."""
    return "The file was repaired" if record.outcome == "passed" else "A repair of the file is proposed"


def short_label(label: str) -> str:
    """A label on one line, cut to the width of a table's column."""
    return cut(clean(label), _LABEL)


def _step_lines(steps: Sequence[StepRecord], depth: int) -> Iterator[str]:
    for step in steps:
        head = f"{WORDS[step.outcome]:<8}{'  ' * depth}{step.number:<4} {short_label(step.words)}"
        notes = [duration(step.duration_ms), f"{step.tries} tries" if step.tries > 1 else "", step.code or ""]
        yield f"{head}  ({', '.join(filter(None, notes))})"
        yield from _step_lines(step.children, depth + 1)


BAD: frozenset[Outcome] = frozenset({"failed", "stopped"})
NOTABLE: frozenset[Outcome] = BAD | {"warned"}
WORST_FIRST: tuple[Outcome, ...] = ("failed", "stopped", "warned", "skipped", "passed")


def attempts(records: Sequence[FlowRecord]) -> list[list[FlowRecord]]:
    """Records of the same flow on the same device, in order; the last one counts."""
    runs: dict[tuple[str, str, str], list[FlowRecord]] = {}
    for record in records:
        runs.setdefault((record.file, record.name, record.device), []).append(record)
    return list(runs.values())


def worst_first(records: Sequence[FlowRecord]) -> list[list[FlowRecord]]:
    """As `attempts`, with those first that went wrong: whoever opens a report looks for them."""
    worse = {outcome: place for place, outcome in enumerate(WORST_FIRST) if outcome in BAD}
    return sorted(attempts(records), key=lambda run: worse.get(run[-1].outcome, len(worse)))


def final_attempts(records: Sequence[FlowRecord]) -> list[FlowRecord]:
    return [run[-1] for run in attempts(records)]


def count_outcomes(records: Sequence[FlowRecord]) -> dict[Outcome, int]:
    """Of the final attempts, the worst first; outcomes that nothing had are left out."""
    by_outcome = Counter(record.outcome for record in final_attempts(records))
    return {outcome: by_outcome[outcome] for outcome in WORST_FIRST if by_outcome[outcome]}


def overall_outcome(records: Sequence[FlowRecord]) -> Outcome:
    """The outcome of the whole run; skipped flows alone are no success and no failure."""
    return next(iter(count_outcomes(records)), "skipped") if records else "skipped"


def verdict(records: Sequence[FlowRecord]) -> str:
    """The run in one sentence: "1 of 3 flows failed"."""
    by_outcome, total = count_outcomes(records), len(final_attempts(records))
    if not total:
        return "No flow was run"
    flows = "flow" if total == 1 else "flows"
    for outcome in ("failed", "stopped"):
        if by_outcome.get(outcome):
            verb = "was stopped" if outcome == "stopped" and by_outcome[outcome] == 1 else outcome
            return f"{by_outcome[outcome]} of {total} {flows} {verb}"
    if by_outcome.get("skipped") == total:
        return f"{total} {flows} skipped"
    passed = total - by_outcome.get("skipped", 0)
    return f"All {passed} flows passed" if passed > 1 else "The flow passed"


def all_steps(steps: Sequence[StepRecord]) -> Iterator[StepRecord]:
    """Yields every step, its inner ones after it."""
    for step in steps:
        yield step
        yield from all_steps(step.children)


def innermost_failures(
    steps: Sequence[StepRecord], outcomes: frozenset[Outcome] = BAD
) -> Iterator[StepRecord]:
    """The innermost steps that went wrong: what holds them only failed because of them."""
    for step in steps:
        if step.outcome in outcomes:
            inner = list(innermost_failures(step.children, outcomes))
            yield from inner or [step]


def step_to_blame(steps: Sequence[StepRecord], outcomes: frozenset[Outcome] = BAD) -> StepRecord | None:
    """The step that explains the outcome; on several devices, one that failed before those it stopped."""
    return min(
        innermost_failures(steps, outcomes), key=lambda step: WORST_FIRST.index(step.outcome), default=None
    )


def duration(ms: float) -> str:
    """ "38 ms", "1.24 s", "2 min 05 s"."""
    if ms < 999.5:
        return f"{ms:.0f} ms"
    if ms < 9_995:
        return f"{ms / 1000:.2f} s"
    if ms < 59_950:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    return f"{minutes} min {seconds:02d} s"


def moment(ms: int) -> str:
    """ "2026-03-14 15:09:26 UTC"."""
    return _utc_datetime(ms).strftime("%Y-%m-%d %H:%M:%S UTC")


def timestamp(ms: int) -> str:
    """ISO 8601 without a zone, as JUnit wants it; UTC."""
    return _utc_datetime(ms).strftime("%Y-%m-%dT%H:%M:%S")


def _utc_datetime(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 can't hold, not even escaped."""
_UNNAMED = "UNKNOWN"
Run = Sequence[FlowRecord]
"""The attempts of one flow."""


def junit_xml(records: Sequence[FlowRecord], attached: Mapping[int, Sequence[str]] | None = None) -> str:
    """`attached`: by the `id` of a record, files with what was kept of its failure."""
    runs = attempts(records)
    files: dict[str, list[Run]] = {}
    for run in runs:
        files.setdefault(run[0].file, []).append(run)
    root = ET.Element("testsuites", {"name": "handrail", **_totals(runs)})
    for file, cases in files.items():
        started = min(record.started_ms for run in cases for record in run)
        suite = ET.Element(
            "testsuite", {"name": _xml(file), **_totals(cases), "timestamp": timestamp(started)}
        )
        properties = ET.SubElement(suite, "properties")
        for name, value in _suite_properties(cases):
            ET.SubElement(properties, "property", name=name, value=_xml(value))
        suite.extend(_junit_case(run, (attached or {}).get(id(run[-1]), ())) for run in cases)
        root.append(suite)
    ET.indent(root)
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + ET.tostring(root, encoding="unicode") + "\n"


def _totals(runs: Sequence[Run]) -> dict[str, str]:
    ends = [run[-1].outcome for run in runs]
    return {
        "tests": str(len(runs)),
        "failures": str(ends.count("failed")),
        "errors": str(ends.count("stopped")),
        "skipped": str(ends.count("skipped")),
        "time": _seconds(sum(record.duration_ms for run in runs for record in run)),
    }


def _suite_properties(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Once each, in order. They stand in the suite: the schema knows no properties of a case."""
    facts: dict[tuple[str, str], None] = {}
    for record in (record for run in runs for record in run):
        tags = (("tag", tag) for tag in record.tags)
        facts |= dict.fromkeys([("device", record.device), *tags, ("journal_head", record.journal_head)])
    filled = [fact for fact in facts if fact[1]]
    return [*filled, ("attempts", str(max(map(len, runs))))]


def _junit_case(run: Run, attached: Sequence[str]) -> ET.Element:
    last = run[-1]
    # "flows/shop/pay.yaml" → "flows.shop.pay": CI systems make a tree of the dots.
    case = ET.Element(
        "testcase",
        name=_xml(last.name),
        classname=_xml(re.sub(r"\.(ya?ml|json)$", "", last.file).strip("./").replace("/", ".") or "flow"),
    )
    case.set("time", _seconds(last.duration_ms))
    if last.outcome == "skipped":
        ET.SubElement(case, "skipped", message=_xml(last.error or "skipped"))
    elif last.outcome in BAD:
        # A stop by a person says nothing about the app: an error, not a failure.
        case.append(_junit_failure("error" if last.outcome == "stopped" else "failure", last))
        case.extend(_junit_failure("rerunFailure", record) for record in run[:-1])
        # The form that Jenkins, GitLab and Azure read.
        _add_text_element(case, "system-out", "\n".join(f"[[ATTACHMENT|{file}]]" for file in attached))
        _add_text_element(
            case, "system-err", "\n".join(line for step in all_steps(last.steps) for line in step.log)
        )
    else:
        case.extend(_junit_failure("flakyFailure", record) for record in run[:-1])
        _add_text_element(case, "system-out", step_table(last.steps))
    return case


def _junit_failure(name: str, record: FlowRecord) -> ET.Element:
    """An element `failure`, `error`, `rerunFailure` or `flakyFailure`: all have the same parts."""
    step = step_to_blame(record.steps)
    message = failure_message(step) if step else record.error or f"the flow {record.outcome}"
    code = (step.code if step else None) or ("CANCELLED" if record.outcome == "stopped" else _UNNAMED)
    element = ET.Element(name, message=_xml(message), type=_xml(code))
    lines = [file_and_line(record, step) if step else record.file, message]
    if step and step.hint:
        lines.append(f"Hint: {step.hint}")
    element.text = _xml("\n".join([*lines, "", step_table(record.steps)]))
    return element


def _add_text_element(parent: ET.Element, name: str, text: str) -> None:
    if text:
        ET.SubElement(parent, name).text = _xml(text)


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.3f}"


def _xml(text: str) -> str:
    return _NOT_XML.sub("", text)


_VOID = frozenset({"meta", "br", "input"})
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Controls, and marks that turn the direction of what follows; a lone surrogate has no bytes in UTF-8."""


class Html(str):
    """Markup that `tag` made. A plain `str` is never taken for it."""

    __slots__ = ()


Content = str | Iterable["Content"] | None
Attribute = str | int | float | bool | None


def escape_invisible(text: str) -> str:
    """What can't be seen, or would turn the text around, as its code: `\\u202e`."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def escape(text: str) -> str:
    """The text is safe as content and in attributes with double quotes."""
    return html.escape(escape_invisible(text), quote=True)


def tag(name: str, /, *content: Content, **attributes: Attribute) -> Html:
    """`tag("a", label, href="#s1")`. `class_` is class, `aria_label` aria-label; None, False are left out."""
    opened = "".join([name, *(_attribute(key, value) for key, value in attributes.items())])
    if name in _VOID:
        return Html(f"<{opened}>")
    return Html(f"<{opened}>{join(content)}</{name}>")


def join(content: Content) -> Html:
    if content is None:
        return Html()
    if isinstance(content, Html):
        return content
    if isinstance(content, str):
        return Html(escape(content))
    return Html("".join(map(join, content)))


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
