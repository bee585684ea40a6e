"""JUnit XML as CI systems read it. The schema's rules (Jenkins' junit-10.xsd) stand here as assertions."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from handrail.flow.report.summary import junit_xml
from handrail.flow.run_record import FlowRecord
from tests.unit.flow.records_made import everything, failing_contact, not_run, passing, two_phones

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
    "testcase": {"time", "classname"}, "failure": {"type", "message"}, "error": {"type", "message"},
    "rerunFailure": {"message"}, "flakyFailure": {"message"}, "skipped": {"type", "message"},
}  # fmt: skip


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


def test_the_log_of_a_failure_is_kept_beside_it() -> None:
    assert "no account to save to" in (case_of([failing_contact()]).findtext("system-err") or "")


def test_a_second_attempt_that_passes_is_flaky_and_passed() -> None:
    again = passing("A new contact", "flows/contact.yaml", attempt=2)
    root = parsed([failing_contact(), again])
    assert root.get("tests") == "1"
    assert root.get("failures") == "0"
    case = case_of([failing_contact(), again])
    assert case.find("failure") is None
    flaky = case.find("flakyFailure")
    assert flaky.get("type") == "ELEMENT_NOT_FOUND"


def test_attempts_that_all_fail_are_one_failure_with_reruns() -> None:
    case = case_of([failing_contact(attempt=number) for number in (1, 2, 3)])
    assert [child.tag for child in case] == ["failure", "rerunFailure", "rerunFailure", "system-err"]


def test_on_two_phones_the_one_that_failed_is_blamed_not_the_one_it_stopped() -> None:
    failure = case_of([two_phones()]).find("failure")
    assert failure.get("type") == "TIMEOUT"


def test_a_skipped_flow_says_why() -> None:
    skipped = case_of([not_run()]).find("skipped")
    assert skipped.get("message") == "needs a tag that was excluded"


def test_a_run_of_nothing_is_still_a_file() -> None:
    assert parsed([]).get("tests") == "0"
