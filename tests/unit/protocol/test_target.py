"""Targets and conditions: short strings, handles, points, and exactly one meaning."""

from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.protocol.read import action_from
from tests.cases import each


def target_of(value: Any) -> Any:
    return action_from({"type": "tap", "target": value}).to_dict()["target"]


def condition_of(value: Any) -> Any:
    return action_from({"type": "wait_for", "condition": value}).to_dict()["condition"]


@each(
    ("short", "meaning"),
    [
        ("@b1", {"ref": "@b1"}), ("@i44", {"ref": "@i44"}), ("el_123", {"ref": "el_123"}),
        ("540,750", {"x": 540, "y": 750}), (" 540 , -1 ", {"x": 540, "y": -1}), ("Save", {"text": "Save"}),
        ("@b", {"text": "@b"}), ("@B1", {"text": "@B1"}), ("@b1 Save", {"text": "@b1 Save"}),
        ("1,5 kg", {"text": "1,5 kg"}), ("٣,٤", {"text": "٣,٤"}),
    ],
)  # fmt: skip
def test_a_short_string_is_a_ref_a_point_or_a_text(short: str, meaning: dict[str, Any]) -> None:
    assert target_of(short) == meaning


def test_a_text_that_looks_like_a_ref_can_still_be_meant() -> None:
    assert target_of({"text": "@b1"}) == {"text": "@b1"}


def test_an_element_id_is_accepted_beside_a_ref() -> None:
    assert target_of({"elementId": "el_9f"}) == {"element_id": "el_9f"}


def test_a_selector_measures_against_others() -> None:
    selector = {"role": "switch", "right_of": "Wi-Fi", "within": {"id": "list", "within": "@s1"}, "index": 1}
    assert target_of(selector) == {
        "role": "switch",
        "right_of": {"text": "Wi-Fi"},
        "within": {"id": "list", "within": {"ref": "@s1"}},
        "index": 1,
    }


@each(
    ("value", "path"),
    [
        ("", "target"), ({}, "target"), ({"index": 0}, "target"), ({"text": None}, "target"),
        ({"x": 1}, "target.y"), ({"x": 1, "y": 2, "text": "a"}, "target.text"),
        ({"ref": "b1"}, "target.ref"), ({"role": "btn"}, "target.role"),
        ({"text": "a", "index": -1}, "target.index"), ({"text": "a", "txet": "b"}, "target.txet"),
        (5, "target"), (["Save"], "target"),
    ],
)  # fmt: skip
def test_what_aims_at_nothing_is_refused(value: Any, path: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        target_of(value)
    assert caught.value.details["path"] == path


@each(
    ("given", "meaning"),
    [
        ("Saved", {"visible": {"text": "Saved"}}),
        ({"absent": "@b1"}, {"absent": {"ref": "@b1"}}),
        (
            {"text": {"target": "Total", "contains": "12"}},
            {"text": {"target": {"text": "Total"}, "contains": "12"}},
        ),
        (
            {"state": {"target": "Wi-Fi", "property": "checked", "value": True}},
            {"state": {"target": {"text": "Wi-Fi"}, "property": "checked", "value": True}},
        ),
        ({"app": "com.google.android.contacts"}, {"app": "com.google.android.contacts"}),
        ({"screenChanged": True}, {"screen_changed": True}),
        ({"fingerprint": "k3x9qa"}, {"fingerprint": "k3x9qa"}),
        (
            {"any": ["A", {"all": [{"absent": "B"}, {"app": "x.y"}]}]},
            {"any": [{"visible": {"text": "A"}}, {"all": [{"absent": {"text": "B"}}, {"app": "x.y"}]}]},
        ),
    ],
)
def test_a_condition_says_one_thing(given: Any, meaning: dict[str, Any]) -> None:
    assert condition_of(given) == meaning


@each(
    "given",
    [
        {}, {"visible": "a", "absent": "b"}, {"screen_changed": False}, {"text": {"target": "a"}},
        {"text": {"target": "a", "equals": "b", "contains": "c"}},
        {"state": {"target": "a", "property": "colour", "value": "red"}}, {"any": []},
    ],
)  # fmt: skip
def test_a_condition_that_says_nothing_or_two_things_is_refused(given: Any) -> None:
    with pytest.raises(InvalidAction):
        condition_of(given)
