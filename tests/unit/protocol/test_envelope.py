"""The envelope tells one story, and an action has one life with one end."""

import json
from itertools import pairwise, product
from typing import Any, get_args

import pytest

from handrail.errors import ERRORS
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import LAST, NEXT, Envelope, Lifecycle, LifecycleState, action_id
from handrail.protocol.model import camel
from tests.cases import each

STATES: tuple[Any, ...] = get_args(LifecycleState)
WAY: list[Any] = ["accepted", "resolved", "dispatched", "pending_verification", "verified"]
LEGAL = {*pairwise(WAY), *((state, "failed") for state in WAY[:-1])}


def life(*states: Any) -> Lifecycle:
    """A life that has come through these states, a millisecond each."""
    found = Lifecycle.begin(0)
    for at_ms, state in enumerate(states, start=1):
        found = found.advance(state, at_ms)
    return found


def life_at(state: str) -> Lifecycle:
    return life("failed") if state == "failed" else life(*WAY[1 : WAY.index(state) + 1])


@each(("state", "following"), sorted(LEGAL))
def test_a_legal_step_is_taken(state: str, following: Any) -> None:
    found = life_at(state).advance(following, 9)
    assert found.state == following
    assert found.events[-1].at_ms == 9
    assert found.ended is (following in ("verified", "failed"))


@each(("state", "following"), [pair for pair in product(STATES, STATES) if pair not in LEGAL])
def test_an_illegal_step_raises_and_names_both_states(state: str, following: Any) -> None:
    with pytest.raises(ValueError, match=rf"{state}.*can't become {following}"):
        life_at(state).advance(following, 9)


def test_the_table_of_steps_is_the_one_of_the_design() -> None:
    assert {(state, following) for state, more in NEXT.items() for following in more} == LEGAL
    assert {state for state in STATES if state in LAST} == {"pending_verification", "verified", "failed"}


@each("state", ["accepted", "resolved", "dispatched", "verified", "failed"])
def test_only_a_pending_action_can_be_left_as_it_is(state: str) -> None:
    with pytest.raises(ValueError, match=f"can't end as {state}"):
        life_at(state).end()


def test_an_action_that_nobody_verifies_ends_pending() -> None:
    found = life_at("pending_verification").end()
    assert found.ended
    assert found.state == "pending_verification"
    with pytest.raises(ValueError, match="has ended"):
        found.advance("verified", 9)
    with pytest.raises(ValueError, match="can't end"):
        found.end()


@each(
    "ended",
    [
        life("failed"),
        life("resolved", "failed"),
        life("resolved", "dispatched", "failed"),
        life("resolved", "dispatched", "pending_verification", "failed"),
        life("resolved", "dispatched", "pending_verification", "verified"),
        life("resolved", "dispatched", "pending_verification").end(),
    ],
    ids=lambda ended: " ".join(event.state for event in ended.events),
)
def test_exactly_one_event_is_terminal_and_it_is_the_last(ended: Lifecycle) -> None:
    assert [event.terminal for event in ended.events] == [False] * (len(ended.events) - 1) + [True]
    assert ended.events[0].state == "accepted"


def test_no_event_is_terminal_before_the_end() -> None:
    assert not any(event.terminal for event in life("resolved", "dispatched", "pending_verification").events)


def test_time_never_goes_back_in_a_life() -> None:
    found = Lifecycle.begin(100).advance("resolved", 50)
    assert [event.at_ms for event in found.events] == [100, 100]


def test_a_life_is_not_changed_by_going_on() -> None:
    before = life("resolved")
    before.advance("dispatched", 5)
    assert before.state == "resolved"


GOOD: dict[str, Any] = {
    "action_id": "tap_1710000000000_1", "timestamp": "2026-04-23T08:00:00.000Z", "action_type": "tap",
    "semantic": "selection", "lifecycle_state": "verified", "source_module": "interact", "success": True,
    "delivery": "delivered",
}  # fmt: skip
FAILED = {"success": False, "lifecycle_state": "failed", "failure_code": "TIMEOUT"}
FULL: dict[str, Any] = {
    **GOOD,
    "reason": "I save it.",
    "device": {"id": "emulator-5554", "model": "Pixel 9", "sdk": 36, "platform": "android"},
    "target": {
        "selector": {"text": "Save"},
        "resolved": {
            "element_id": "el_1", "ref": "@b1", "text": "Save", "resource_id": "a:id/save", "class": "Button",
            "accessibility_id": "save", "bounds": [0, 0, 10, 10], "index": 0,
        },
    },
    "ui_fingerprint_before": "aaaaaa", "ui_fingerprint_after": "bbbbbb", "revision_before": "r1",
    "revision_after": "r2", "changes": [{"kind": "added"}],
    "verification": {"mode": "explicit", "expected": "Saved", "observed": "Saved", "outcome": "verified"},
    "settle": {"ms": 120.5, "reads": 3, "reason": "quiet"}, "diagnostics": ["[adb] ok"],
    "timings_ms": {"resolve": 3.5}, "approval": {"id": "a1", "decision": "approved", "by": "Ada"},
    "details": {"any": [1]},
}  # fmt: skip


@each(
    "envelope",
    [
        GOOD,
        FULL,
        {**GOOD, "lifecycle_state": "pending_verification"},
        {**GOOD, **FAILED, "message": "no answer", "retryable": False, "hint": "Look."},
    ],
)
def test_an_envelope_is_written_as_it_was_and_omits_what_does_not_apply(envelope: dict[str, Any]) -> None:
    assert Envelope.model_validate(envelope).to_dict() == envelope


@each("name", GOOD)
def test_what_every_envelope_has_is_required(name: str) -> None:
    with pytest.raises(ValueError, match=camel(name)):
        Envelope.model_validate({key: value for key, value in GOOD.items() if key != name})


@each(
    ("changed", "why"),
    [
        ({"success": False}, "success is false exactly when"),
        ({"lifecycle_state": "failed"}, "success is false exactly when"),
        ({"failure_code": "TIMEOUT"}, "failure_code is set exactly when"),
        ({**FAILED, "failure_code": None}, "failure_code is set exactly when"),
        ({**FAILED, "failure_code": "OOPS"}, "unknown failure code"),
        ({"lifecycle_state": "dispatched"}, "lifecycle_state"),
        ({"lifecycle_state": "accepted"}, "lifecycle_state"),
        ({"source_module": "engine"}, "source_module"),
        ({"delivery": "maybe"}, "delivery"),
        ({"semantic": "gesture"}, "semantic"),
        ({"action_id": "tap-1"}, "action_id"),
        ({"timestamp": "2026-04-23 08:00"}, "timestamp"),
        ({"timestamp": "2026-04-23T08:00:00Z"}, "timestamp"),
        ({"diagnostics": ["line"] * 11}, "diagnostics"),
        ({"verification": {"mode": "hope", "outcome": "verified"}}, "mode"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_an_envelope_can_not_tell_two_stories(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Envelope.model_validate({**GOOD, **changed})


@each("code", ERRORS)
def test_every_failure_code_fits_an_envelope(code: str) -> None:
    assert Envelope.model_validate({**GOOD, **FAILED, "failure_code": code}).failure_code == code


@each("kind", ACTIONS)
def test_every_action_has_an_id_of_type_time_and_number(kind: str) -> None:
    made = action_id(kind, 1_710_000_000_000, 7)
    assert made == f"{kind}_1710000000000_7"
    assert Envelope.model_validate({**GOOD, "action_id": made}).action_id == made


def test_on_a_device_a_screen_that_was_not_read_has_a_null_fingerprint() -> None:
    fields = {
        "action_id": "tap_1710000000000_1", "timestamp": "2026-04-23T08:00:00.000Z", "action_type": "tap",
        "semantic": "selection", "lifecycle_state": "pending_verification", "source_module": "server",
        "success": True, "delivery": "delivered",
    }  # fmt: skip
    assert "ui_fingerprint_before" not in Envelope(**fields).to_dict()
    written = json.loads(Envelope(**fields, device={"id": "phone"}, ui_fingerprint_after="k3x9qa").to_json())
    assert written["ui_fingerprint_before"] is None
    assert written["ui_fingerprint_after"] == "k3x9qa"


def test_a_terminal_shows_an_envelope_in_three_lines() -> None:
    changed = {"changes": [{"type": "added"}], "revision_before": "r1", "revision_after": "r2"}
    proof = {"verification": {"mode": "built_in", "outcome": "changed"}, "timings_ms": {"total": 81.4}}
    done = Envelope.model_validate(GOOD | changed | proof)
    first, second, third = str(done).splitlines()
    assert first.startswith("tap: verified")
    assert first.endswith("81 ms")
    assert (second, third) == ("screen r1 -> r2, 1 changes", "proof: built_in, changed")
    assert repr(done) == str(done)
    why = {"failure_code": "TIMEOUT", "message": "It took too long", "hint": "Wait."}
    failed = Envelope.model_validate({**GOOD, "success": False, "lifecycle_state": "failed", **why})
    assert str(failed).splitlines()[1:] == ["It took too long", "Wait."]
