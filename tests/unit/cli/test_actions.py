"""`handrail actions`: the vocabulary for people, and as one JSON Schema for programs."""

import json
from typing import Any

import jsonschema
import pytest

from handrail.protocol.actions import ACTIONS
from tests.cases import each
from tests.unit.cli.command import Handrail


def schema(handrail: Handrail, *names: str) -> Any:
    done = handrail("actions", "--json", *names)
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_the_list_has_one_line_per_action(handrail: Handrail) -> None:
    done = handrail("actions")
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [row[0] for row in rows] == list(ACTIONS)
    assert {len(row) for row in rows} == {4}
    assert rows[0] == ["tap", "input", "selection", "Tap an element or a point."]


def test_the_schema_is_valid_and_accepts_every_example(handrail: Handrail) -> None:
    document = schema(handrail)
    jsonschema.Draft202012Validator.check_schema(document)
    validator = jsonschema.Draft202012Validator(document)
    assert [kind for kind, cls in ACTIONS.items() if not validator.is_valid(cls.example)] == []


@pytest.mark.parametrize(
    "action",
    [
        {}, {"type": "nope"}, {"type": "tap"}, {"type": "tap", "target": {"text": "a"}, "colour": "red"},
        {"type": "wait", "duration_ms": -1}, {"type": "wait", "duration_ms": "5"},
        {"type": "tap", "target": {"x": 40_000, "y": 1}}, {"type": "window.close"},
        {"type": "request_human_auth", "capability": "money"},
    ],
)  # fmt: skip
def test_the_schema_refuses_what_is_no_action(handrail: Handrail, action: dict[str, Any]) -> None:
    assert not jsonschema.Draft202012Validator(schema(handrail)).is_valid(action)


def test_a_schema_of_some_actions_accepts_only_those(handrail: Handrail) -> None:
    validator = jsonschema.Draft202012Validator(schema(handrail, "tap", "window.close"))
    accepted = [kind for kind, cls in ACTIONS.items() if validator.is_valid(cls.example)]
    assert accepted == ["tap", "window.close"]


@each("kind", ACTIONS)
def test_an_action_is_shown_with_its_fields_and_an_example(handrail: Handrail, kind: str) -> None:
    done = handrail("actions", kind)
    first, *fields, example, blank = done.out.split("\n")[:-1]
    assert (done.code, blank) == (0, "")
    assert first.startswith(f"{kind}: ")
    assert json.loads(example.removeprefix("example: ")) == ACTIONS[kind].example
    shown = {line.split("\t")[0] for line in fields}
    assert ACTIONS[kind].example.keys() - {"type"} <= shown
    assert {"reason", "device", "expect"} <= shown


def test_a_default_and_a_requirement_are_shown(handrail: Handrail) -> None:
    lines = {
        line.split("\t")[0]: line.split("\t") for line in handrail("actions", "long_press").out.splitlines()
    }
    assert lines["target"][2] == "required"
    assert lines["duration_ms"][1:3] == ["integer 0…60000", "default 1000"]


def test_an_unknown_name_is_refused_with_what_was_meant(handrail: Handrail) -> None:
    done = handrail("actions", "tapp")
    assert (done.code, done.out) == (2, "")
    assert "Did you mean tap" in done.err
