"""What a terminal says after a run."""

from __future__ import annotations

from handrail.flow.report.summary import duration, summary, verdict
from tests.unit.flow.records_made import (
    everything,
    failing_contact,
    interrupted,
    not_run,
    passing,
    two_phones,
    warned,
)


def test_a_failed_step_is_told_with_its_code_hint_and_line() -> None:
    told = summary([failing_contact()]).splitlines()
    assert told[0].startswith("FAILED  A new contact  flows/contact.yaml")
    assert told[1] == "  step 5  Tap Save contact  (flows/contact.yaml:14)"
    assert told[2].strip().startswith("ELEMENT_NOT_FOUND: nothing on the screen")
    assert told[3].strip().startswith('Hint: Tap "Save"')
    assert told[-1] == "1 of 1 flow failed in 4.45 s (1 failed)."


def test_passed_flows_are_only_counted() -> None:
    assert summary([passing(), passing("Two")]) == "All 2 flows passed in 1.68 s (2 passed)."


def test_a_failing_inner_step_is_named_not_what_holds_it() -> None:
    told = summary([two_phones()])
    assert "step 1.2.1  Wait for Hello" in told
    assert "step 1.2  " not in told


def test_a_warning_is_told_though_the_flow_passed() -> None:
    told = summary([warned()])
    assert "ok      Look at photos" in told
    assert "ELEMENT_NOT_FOUND: not there" in told


def test_a_flow_that_passed_at_last_is_called_flaky() -> None:
    again = passing("A new contact", "flows/contact.yaml", attempt=2)
    told = summary([failing_contact(), again]).splitlines()
    assert told[0].startswith("flaky   A new contact")
    assert "2 attempts" in told[0]
    assert told[-1].startswith("The flow passed")


def test_a_flow_that_could_not_begin_says_why() -> None:
    record = passing()
    record.steps, record.outcome, record.error = [], "failed", "com.example could not be started"
    assert "com.example could not be started" in summary([record])


def test_a_flow_that_was_skipped_says_why() -> None:
    told = summary([not_run()]).splitlines()
    assert told[0].startswith("skipped Pay")
    assert told[1].strip() == "needs a tag that was excluded"


REPAIR = "--- contact.yaml\n+++ contact.yaml\n-  - tap: Save contact\n+  - tap: {id: save}   # found\x1b[2J"


def test_a_proposed_repair_is_printed_as_it_would_be_applied() -> None:
    record = failing_contact()
    record.proposals = [REPAIR]
    told = summary([record]).splitlines()
    assert "        A repair of the file is proposed:" in told
    assert "        +  - tap: {id: save}   # found\\u001b[2J" in told


def test_a_repair_that_was_made_is_printed_though_the_flow_passed() -> None:
    record = passing()
    record.proposals = [REPAIR]
    told = summary([record]).splitlines()
    assert told[0].startswith("ok      Read the news")
    assert told[1] == "        The file was repaired:"


def test_verdicts_read_like_sentences() -> None:
    assert verdict([]) == "No flow was run"
    assert verdict([passing()]) == "The flow passed"
    assert verdict([interrupted()]) == "1 of 1 flow was stopped"
    assert verdict([not_run()]) == "1 flow skipped"
    assert verdict(everything()) == "2 of 6 flows failed"


def test_durations_are_short() -> None:
    told = [duration(ms) for ms in (0, 38.4, 999.6, 1_240, 12_345, 59_960, 125_000)]
    assert told == ["0 ms", "38 ms", "1.00 s", "1.24 s", "12.3 s", "1 min 00 s", "2 min 05 s"]
