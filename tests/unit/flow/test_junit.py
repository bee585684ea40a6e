"""JUnit XML as CI systems read it. The schema's rules (Jenkins' junit-10.xsd) stand here as assertions."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from handrail.flow.report.summary import junit_xml
from handrail.flow.run_record import FlowRecord
from tests.unit.flow.records_made import (
    HEAD,
    everything,
    failing_contact,
    interrupted,
    not_run,
    passing,
    step,
    two_phones,
    warned,
)

SECONDS = re.compile(r"\d+\.\d{3}")
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "testcase": {
        "skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError",
        "system-out", "system-err",
    },
}  # fmt: skip
REQUIRED = {
    "testsuite": {"name"},
    "testcase": {"name"},
    "property": {"name", "value"},
    "rerunFailure": {"type"},
    "flakyFailure": {"type"},
}
OPTIONAL = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testsuite": {"tests", "failures", "errors", "skipped", "time", "timestamp"},
    "testcase": {"time", "classname"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "rerunFailure": {"message"},
    "flakyFailure": {"message"},
    "skipped": {"type", "message"},
}


def parsed(records: list[FlowRecord]) -> ET.Element:
    root = ET.fromstring(junit_xml(records).encode())
    follow_schema(root)
    return root


def follow_schema(element: ET.Element) -> None:
    name = element.tag
    assert REQUIRED.get(name, set()) <= set(element.attrib), name
    assert set(element.attrib) <= REQUIRED.get(name, set()) | OPTIONAL.get(name, set()), name
    if "time" in element.attrib:
        assert SECONDS.fullmatch(element.attrib["time"])
    for count in ("tests", "failures", "errors", "skipped"):
        assert element.get(count, "0").isdigit()
    if "timestamp" in element.attrib:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", element.attrib["timestamp"])
    for child in element:
        assert child.tag in CHILDREN.get(name, set()), f"{child.tag} in {name}"
        follow_schema(child)


def case_of(records: list[FlowRecord]) -> ET.Element:
    found = parsed(records).find("testsuite/testcase")
    assert found is not None
    return found


def test_a_run_of_every_outcome_follows_the_schema_and_counts_right() -> None:
    root = parsed(everything())
    counted = {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counted == {"tests": "6", "failures": "2", "errors": "1", "skipped": "1"}
    for key in counted:
        assert sum(int(suite.get(key, "")) for suite in root) == int(root.get(key, ""))


def test_a_suite_is_a_file_and_a_case_is_a_flow() -> None:
    root = parsed([passing("One", "a/x.yaml"), passing("Two", "b.yaml"), passing("Three", "a/x.yaml")])
    assert [(suite.get("name"), [case.get("name") for case in suite.iter("testcase")]) for suite in root] == [
        ("a/x.yaml", ["One", "Three"]),
        ("b.yaml", ["Two"]),
    ]
    assert [case.get("classname") for case in root.iter("testcase")] == ["a.x", "a.x", "b"]


def test_a_failure_has_its_code_place_hint_and_all_steps() -> None:
    failure = case_of([failing_contact()]).find("failure")
    assert failure is not None
    assert failure.get("type") == "ELEMENT_NOT_FOUND"
    assert 'is called "Save contact"' in failure.get("message", "")
    text = failure.text or ""
    assert text.startswith("flows/contact.yaml:14\n")
    assert "Hint: Tap" in text
    assert [line.split()[:2] for line in text.splitlines()[-5:]] == [
        ["ok", "1"], ["ok", "2"], ["ok", "3"], ["ok", "4"], ["FAILED", "5"],
    ]  # fmt: skip


def test_the_log_of_a_failure_is_kept_beside_it() -> None:
    assert "no account to save to" in (case_of([failing_contact()]).findtext("system-err") or "")


def test_device_tags_and_journal_head_are_properties() -> None:
    found = parsed([failing_contact()]).iter("property")
    facts = [(one.get("name"), one.get("value")) for one in found]
    assert ("tag", "contacts") in facts
    assert ("tag", "smoke") in facts
    assert ("journal_head", HEAD) in facts
    assert any(name == "device" and "Handrail One" in str(value) for name, value in facts)


def test_a_second_attempt_that_passes_is_flaky_and_passed() -> None:
    again = passing("A new contact", "flows/contact.yaml", attempt=2)
    root = parsed([failing_contact(), again])
    assert root.get("tests") == "1"
    assert root.get("failures") == "0"
    case = case_of([failing_contact(), again])
    assert case.find("failure") is None
    flaky = case.find("flakyFailure")
    assert flaky is not None
    assert flaky.get("type") == "ELEMENT_NOT_FOUND"


def test_attempts_that_all_fail_are_one_failure_with_reruns() -> None:
    case = case_of([failing_contact(attempt=number) for number in (1, 2, 3)])
    assert [child.tag for child in case] == ["failure", "rerunFailure", "rerunFailure", "system-err"]


def test_a_stopped_flow_is_an_error_and_complete_up_to_there() -> None:
    error = case_of([interrupted()]).find("error")
    assert error is not None
    assert error.get("type") == "CANCELLED"
    assert "ok      1" in (error.text or "")
    assert "stopped 2" in (error.text or "")


def test_on_two_phones_the_one_that_failed_is_blamed_not_the_one_it_stopped() -> None:
    failure = case_of([two_phones()]).find("failure")
    assert failure is not None
    assert failure.get("type") == "TIMEOUT"


def test_a_flow_stopped_after_a_warning_is_not_blamed_on_the_warning() -> None:
    record = warned()
    record.outcome, record.error = "stopped", "It was stopped"
    error = case_of([record]).find("error")
    assert error is not None
    assert (error.get("type"), error.get("message")) == ("CANCELLED", "It was stopped")


def test_a_skipped_flow_says_why() -> None:
    skipped = case_of([not_run()]).find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "needs a tag that was excluded"


def test_an_optional_step_that_fails_leaves_the_case_passed() -> None:
    case = case_of([warned()])
    assert [child.tag for child in case] == ["system-out"]
    assert "warning 1" in (case.findtext("system-out") or "")


def test_characters_that_xml_cannot_hold_are_removed() -> None:
    record = passing()
    record.name = "bell\x07 null\x00 half\ud83d <&\"'> 🚀 ￾"
    record.outcome = "failed"
    record.steps = [step(0, "x", "tap", outcome="failed", error="]]> \x1b[31mred\x0b", code="TIMEOUT")]
    case = case_of([record])
    assert case.get("name") == "bell null half <&\"'> 🚀 "
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "TIMEOUT: ]]> [31mred"


def test_a_run_of_nothing_is_still_a_file() -> None:
    assert parsed([]).get("tests") == "0"
