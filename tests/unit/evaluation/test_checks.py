"""The verdict on a task: paths into a phone's state, conditions, and what a model's last words must say."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from handrail.evaluation.checks import TaskEvidence, differences, find, problems, without
from handrail.evaluation.task import Condition

STATE: dict[str, Any] = {
    "clipboard": "Lamp Oil",
    "apps": {
        "com.handrail.notes": {
            "notes": [
                {"id": 1, "title": "Code", "body": "482913"},
                {"id": 2, "title": "Shopping", "body": "Oats"},
            ]
        },
        "com.handrail": {"notes": "a shorter package name"},
        "com.handrail.gallery": {"last_viewed": -1, "favourites": []},
    },
    "settings": {"system": {"screen_brightness": "204"}},
}
NOTES = "apps.com.handrail.notes.notes"


def holds(condition: dict[str, Any], **more: Any) -> bool:
    read: Condition = TypeAdapter(Condition).validate_python(condition)
    return not problems([read], TaskEvidence(**{"before": STATE, "after": STATE, **more}))


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("clipboard", ["Lamp Oil"]),
        (f"{NOTES}.0.title", ["Code"]),
        (f"{NOTES}.-1.title", ["Shopping"]),
        (f"{NOTES}.*.title", ["Code", "Shopping"]),
        (f"{NOTES}.7.title", []),
        (f"{NOTES}.first", []),
        ("apps.com.handrail.gallery.last_viewed", [-1]),
        ("clipboard.more", []),
        ("nothing", []),
    ],
)
def test_paths_lead_through_names_with_dots_and_through_lists(path: str, found: list[Any]) -> None:
    assert find(STATE, path) == found


def test_what_a_path_leads_to_can_be_left_out_and_nothing_else_is() -> None:
    less = without(STATE, f"{NOTES}.*.body")
    assert find(less, f"{NOTES}.*.title") == ["Code", "Shopping"]
    assert find(less, f"{NOTES}.*.body") == []
    assert without(STATE, f"{NOTES}.0")["apps"]["com.handrail.notes"]["notes"][0]["title"] == "Shopping"
    assert without(STATE, "nothing.here") == STATE


def test_differences_are_told_as_paths() -> None:
    assert differences(STATE, STATE) == []
    assert differences({"a": [1, {"b": 2}], "c": 1}, {"a": [1, {"b": 3}], "d": 1}) == ["a.1.b", "c", "d"]
    assert differences({"a": [1]}, {"a": [1, 2]}) == ["a"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"state": "clipboard", "equals": "Lamp Oil"}, True),
        ({"state": "clipboard", "equals": "lamp oil"}, False),
        ({"state": "clipboard", "contains": "lamp"}, True),
        ({"state": "clipboard", "contains": "wick"}, False),
        ({"state": NOTES, "has": {"title": "Code"}}, True),
        ({"state": NOTES, "has": {"title": "Code", "body": "999"}}, False),
        ({"state": NOTES, "has": {"body": {"contains": "829"}}}, True),
        ({"state": NOTES, "has": {"colour": None}}, False),
        ({"state": NOTES, "lacks": {"title": "Code"}}, False),
        ({"state": NOTES, "lacks": {"title": "Gone"}}, True),
        ({"state": "clipboard", "lacks": {"title": "Gone"}}, False),
        ({"state": NOTES, "count": 2}, True),
        ({"state": NOTES, "equals": [{"title": "Code"}, {"title": "Shopping"}]}, True),
        ({"state": NOTES, "equals": [{"title": "Code"}]}, False),
        ({"state": f"{NOTES}.*.title", "contains": "Shopping"}, True),
        ({"state": "settings.system.screen_brightness", "between": [200, 210]}, True),
        ({"state": "settings.system.screen_brightness", "between": [0, 100]}, False),
        ({"state": "clipboard", "between": [0, 100]}, False),
        ({"state": "nothing", "exists": False}, True),
        ({"state": "nothing", "exists": True}, False),
        ({"state": "nothing", "equals": None}, False),
    ],
)
def test_a_state_is_tested_as_the_condition_says(condition: dict[str, Any], expected: bool) -> None:
    assert holds(condition) is expected


def test_a_change_that_nobody_asked_for_is_named() -> None:
    changed = {**STATE, "settings": {"system": {"screen_brightness": "1"}}}
    read: Condition = TypeAdapter(Condition).validate_python({"unchanged_except": [NOTES]})
    [why] = problems([read], TaskEvidence(before=STATE, after=changed))
    assert why == "changed without need: settings.system.screen_brightness"
    assert holds({"unchanged_except": ["settings.system"]}, after=changed)


def test_looking_at_something_is_no_change() -> None:
    apps = {**STATE["apps"], "com.handrail.gallery": {"last_viewed": 4, "favourites": []}}
    assert holds({"unchanged_except": []}, after={**STATE, "apps": apps, "clipboard": "other"})


@pytest.mark.parametrize(
    ("words", "answer", "expected"),
    [
        ({"contains": ["14"]}, "It lies on shelf 14.", True),
        ({"contains": ["14", "15"]}, "It lies on shelf 14.", False),
        ({"any_of": ["22", "10 pm"]}, "Until 10 PM.", True),
        ({"any_of": ["22", "10 pm"]}, "Until nine.", False),
        ({"lacks": ["99"]}, "Shelf 99", False),
        ({"denies": True}, "There is no such contact.", True),
        ({"denies": True}, "I couldn't find it.", True),
        ({"denies": True}, "I couldn’t find it.", True),
        ({"denies": True}, "The payment was declined", True),
        ({"denies": True}, "Task finished.", False),
        ({"denies": True}, "Nothing was done.", False),
        ({"denies": True}, "I noted it.", False),
        ({"denies": True}, "", False),
    ],
)
def test_last_words_are_read_whatever_their_case(words: dict[str, Any], answer: str, expected: bool) -> None:
    assert holds({"answer": words}, answer=answer) is expected


def test_an_answer_without_a_look_is_a_guess() -> None:
    visited = {"visited": ["com.handrail.notes"]}
    assert not holds(visited, apps=("com.android.launcher3",))
    assert holds(visited, apps=("com.android.launcher3", "com.handrail.notes"))
    assert not holds({"steps": 3}, apps=("a", "b"))
    assert holds({"steps": 2}, apps=("a", "b"))


def test_a_person_who_was_never_asked_has_not_agreed() -> None:
    assert not holds({"asked": 1})
    assert holds({"asked": 1}, asked=2)
