"""Example → JSON → model → JSON is the identity, over the whole union and in both spellings."""

import json
from functools import cache

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.protocol.actions import ACTION, ACTIONS
from handrail.protocol.read import read_action
from tests.cases import each
from tests.unit.protocol.strategies import one_action, spelled, vocabulary


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(vocabulary())


@each("kind", ACTIONS)
def test_the_example_survives_the_way_there_and_back(kind: str) -> None:
    example = ACTIONS[kind].example
    action = read_action(json.dumps(example))
    assert type(action) is ACTIONS[kind]
    assert json.loads(action.to_json()) == action.to_dict() == example


@pytest.mark.parametrize("examples", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_any_action_survives_the_way_there_and_back_in_both_spellings(examples: int) -> None:
    for kind in ACTIONS:
        settings(max_examples=examples)(given(kind=st.just(kind), data=st.data())(_there_and_back))()


def _there_and_back(kind: str, data: st.DataObject) -> None:
    action = ACTION.validate_python(data.draw(one_action(kind)))
    written = action.to_json()
    again = read_action(written)
    assert again == action
    assert again.to_json() == written
    assert validator().is_valid(json.loads(written))
    assert ACTION.validate_python(spelled(action, camel_case=True)) == action
    assert ACTION.validate_python(spelled(action, camel_case=False)) == action


@each("kind", ACTIONS)
def test_an_unknown_field_is_an_error(kind: str) -> None:
    with pytest.raises(ValueError, match="colour"):
        ACTION.validate_python({**ACTIONS[kind].example, "colour": "red"})


@each("kind", ACTIONS)
def test_an_action_can_not_be_changed(kind: str) -> None:
    action = ACTION.validate_python(ACTIONS[kind].example)
    with pytest.raises(ValueError, match="frozen"):
        action.reason = "because"


@each("kind", ACTIONS)
def test_every_class_has_its_words_and_traits(kind: str) -> None:
    cls = ACTIONS[kind]
    assert cls.__doc__
    assert cls.traits.shorthand is None or cls.traits.shorthand in cls.model_fields
    assert {"reason", "device", "expect"} <= cls.model_fields.keys()
