"""A run as JUnit XML: a suite per file, a case per flow, attempts as reruns. What CI systems read.

Elements and attributes are those of Jenkins' junit-10.xsd, the form that most of them agree on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from handrail.flow.report.summary import BAD, attempts, blamed, complaint, place, step_table, timestamp, walk
from handrail.flow.run_record import FlowRecord

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 can't hold, not even escaped."""
_UNNAMED = "UNKNOWN"
Run = Sequence[FlowRecord]
"""The attempts of one flow."""


def write(records: Sequence[FlowRecord]) -> str:
    """The whole file, with its XML declaration."""
    runs = attempts(records)
    files: dict[str, list[Run]] = {}
    for run in runs:
        files.setdefault(run[0].file, []).append(run)
    root = ET.Element("testsuites", {"name": "handrail", **_totals(runs)})
    for file, cases in files.items():
        root.append(_suite(file, cases))
    ET.indent(root)
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + ET.tostring(root, encoding="unicode") + "\n"


def _suite(file: str, runs: Sequence[Run]) -> ET.Element:
    started = min(record.started_ms for run in runs for record in run)
    suite = ET.Element("testsuite", {"name": _xml(file), **_totals(runs), "timestamp": timestamp(started)})
    properties = ET.SubElement(suite, "properties")
    for name, value in _facts(runs):
        ET.SubElement(properties, "property", name=name, value=_xml(value))
    suite.extend(_case(run) for run in runs)
    return suite


def _totals(runs: Sequence[Run]) -> dict[str, str]:
    ends = [run[-1].outcome for run in runs]
    return {
        "tests": str(len(runs)),
        "failures": str(ends.count("failed")),
        "errors": str(ends.count("stopped")),
        "skipped": str(ends.count("skipped")),
        "time": _seconds(sum(record.duration_ms for run in runs for record in run)),
    }


def _facts(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Once each, in order. They stand in the suite: the schema knows no properties of a case."""
    facts: dict[tuple[str, str], None] = {}
    for record in (record for run in runs for record in run):
        tags = (("tag", tag) for tag in record.tags)
        facts |= dict.fromkeys([("device", record.device), *tags, ("journal_head", record.journal_head)])
    known = [fact for fact in facts if fact[1]]
    return [*known, ("attempts", str(max(map(len, runs))))]


def _case(run: Run) -> ET.Element:
    last = run[-1]
    case = ET.Element("testcase", name=_xml(last.name), classname=_xml(_class_name(last.file)))
    case.set("time", _seconds(last.duration_ms))
    if last.outcome == "skipped":
        ET.SubElement(case, "skipped", message=_xml(last.error or "skipped"))
    elif last.outcome in BAD:
        # A stop by a person says nothing about the app: an error, not a failure.
        case.append(_trouble("error" if last.outcome == "stopped" else "failure", last))
        case.extend(_trouble("rerunFailure", record) for record in run[:-1])
        _text(case, "system-err", _log(last))
    else:
        case.extend(_trouble("flakyFailure", record) for record in run[:-1])
        _text(case, "system-out", step_table(last.steps))
    return case


def _trouble(name: str, record: FlowRecord) -> ET.Element:
    """A failure, an error or one of their kin: they have the same parts."""
    step = blamed(record.steps)
    message = complaint(step) if step else record.error or f"the flow {record.outcome}"
    code = (step.code if step else None) or ("CANCELLED" if record.outcome == "stopped" else _UNNAMED)
    element = ET.Element(name, message=_xml(message), type=_xml(code))
    lines = [place(record, step) if step else record.file, message]
    if step and step.hint:
        lines.append(f"Hint: {step.hint}")
    element.text = _xml("\n".join([*lines, "", step_table(record.steps)]))
    return element


def _log(record: FlowRecord) -> str:
    """The device's log beside the steps that failed."""
    return "\n".join(line for step in walk(record.steps) for line in step.log)


def _text(parent: ET.Element, name: str, text: str) -> None:
    if text:
        ET.SubElement(parent, name).text = _xml(text)


def _class_name(file: str) -> str:
    """ "flows/shop/pay.yaml" → "flows.shop.pay": CI systems make a tree of the dots."""
    return re.sub(r"\.(ya?ml|json)$", "", file).strip("./").replace("/", ".") or "flow"


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.3f}"


def _xml(text: str) -> str:
    return _NOT_XML.sub("", text)
