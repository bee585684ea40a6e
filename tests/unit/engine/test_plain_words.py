"""No message shows how Python writes things: targets, conditions, values and every wrong field."""

from __future__ import annotations

import re
from typing import Any

import pytest

from handrail.engine.conditions import NO_ELEMENT, ConditionResult
from handrail.errors import ERRORS, InvalidAction
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.read import action_from
from handrail.protocol.target import Point, Selector, value_in_words
from tests.cases import each

OF_PYTHON = re.compile(
    r"\{'|\['|\('|': |=None|\bNone\b|\bTrue\b|\bFalse\b|<class |<\w+ object|\b(Selector|Point|Condition)\("
    r"|dict_|\\x|Decimal\(|NoneType|\bstr\b|\bint\b"
)
INNER = {"text": "Inner", "role": "button"}
VALUES: dict[str, Any] = {"ref": "@b1", "element_id": "el_b1", "role": "switch", "index": 2}
SELECTORS = [
    {
        name: VALUES.get(
            name, INNER if name in ("within", "near", "left_of", "right_of", "above", "below") else "It's"
        )
    }
    for name in Selector.model_fields
    if name != "index"
]
CONDITIONS: list[Any] = [
    "Saved", {"absent": INNER}, {"visible": {"x": 1, "y": 2}},
    {"text": {"target": INNER, "equals": "a 'quoted' text"}}, {"text": {"target": INNER, "contains": ""}},
    {"state": {"target": INNER, "property": "checked", "value": True}},
    {"state": {"target": INNER, "property": "value", "value": 1.5}}, {"app": "com.example"},
    {"screen_changed": True}, {"fingerprint": "abc"}, {"all": ["A", {"any": ["B", {"absent": "C"}]}]},
]  # fmt: skip
HOSTILE: list[Any] = [None, True, 7, -1.5, "", "  ", [], {}, ["x"], {"foo": None}, {"text": None}]


def test_every_field_of_a_selector_is_said_in_words() -> None:
    assert len(SELECTORS) == len(Selector.model_fields) - 1
    for given in SELECTORS:
        whole = Selector.model_validate(given | {"index": 2})
        assert not OF_PYTHON.search(str(whole)), str(whole)
        [(name, value)] = given.items()
        word = value["text"] if isinstance(value, dict) else value
        assert word in str(whole), (name, str(whole))
    assert str(Selector(text="Save")) == '"Save"'
    assert str(Selector(id="save", role="button", within=Selector(text="Account"), index=1)) == (
        'id "save", role "button", within "Account", index 1'
    )
    assert f"{Point(x=1, y=2)}" == "1,2"


@each("given", CONDITIONS, ids=str)
def test_every_condition_is_said_in_words(given: Any) -> None:
    action = action_from({"type": "wait_for", "condition": given})
    told = str(action.condition)  # type: ignore[union-attr]
    assert told
    assert not OF_PYTHON.search(told), told


def test_what_was_found_is_said_in_words() -> None:
    for seen in [*HOSTILE, "visible", NO_ELEMENT, ["visible", "not visible"], {"checked": True}]:
        told = ConditionResult(False, None, seen).observed_text
        assert not OF_PYTHON.search(told), told
    assert (
        ConditionResult(False, None, ["Save", True, NO_ELEMENT]).observed_text
        == '"Save"; true; no such element'
    )
    assert value_in_words({"checked": True, "value": None}) == "checked true, value nothing"


def test_every_wrong_field_of_every_action_is_refused_in_words_with_its_path() -> None:
    """Each field with each hostile value. What is not refused is none of this test's business."""
    told = 0
    for kind in sorted(ACTIONS.keys() - DESK_ACTIONS):
        cls = ACTIONS[kind]
        for name in cls.model_fields.keys() - {"type"}:
            for value in HOSTILE:
                try:
                    action_from({**cls.example, name.rstrip("_"): value})
                except InvalidAction as error:
                    told += 1
                    words = f"{error.message} {error.hint}"
                    assert not OF_PYTHON.search(words), (kind, name, value, words)
                    assert error.details["path"], (kind, name, value, words)
    assert told > 1_000


def test_an_empty_action_does_something_or_is_refused_at_a_field() -> None:
    """By itself, and with blank words in each of its fields."""
    may_be_bare = {
        "hide_keyboard", "get_ui_tree", "get_state", "list_apps", "what_changed", "screenshot", "get_logs",
        "wait", "wait_for_stable", "finish", "desktop.refreshApps",
    }  # fmt: skip
    for kind, cls in ACTIONS.items():
        try:
            action_from({"type": kind})
            assert kind in may_be_bare, kind
        except InvalidAction as error:
            assert kind not in may_be_bare
            assert error.details["path"] in {name.rstrip("_") for name in cls.example} | {
                "package",
                "direction",
            }
    texts = {"text", "equals", "value", "message"}  # an empty text can be typed, expected and told
    for kind in sorted(ACTIONS.keys() - DESK_ACTIONS):
        cls = ACTIONS[kind]
        for name in cls.example.keys() - texts - {"type"}:
            if isinstance(cls.example[name], str):
                with pytest.raises(InvalidAction) as refused:
                    action_from({**cls.example, name: "  "})
                assert refused.value.details["path"].partition(".")[0] == name


@each("code", ERRORS)
def test_the_hint_of_every_code_is_a_sentence_in_plain_words(code: str) -> None:
    assert ERRORS[code].hint
    assert not OF_PYTHON.search(ERRORS[code].hint)
