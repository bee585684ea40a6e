"""Limits of one answer: what it has to be, where a server can hold it to a schema, and how long it may be."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from packages.agent.tests.hosted.anthropic_wire import message, text
from packages.agent.tests.hosted.asking import ANTHROPIC, OPENAI, PROMPT, ask, opened
from packages.agent.tests.hosted.openai_wire import error, says
from packages.agent.tests.hosted.server import Answer

from handrail.errors import ModelUnavailable
from handrail_agent.tools import DEFAULT, answer_schema
from tests.cases import each

SCHEMA = answer_schema()


def test_a_server_that_can_is_told_what_an_answer_has_to_be() -> None:
    written = json.dumps({"thought": "It is there.", "action": {"type": "tap", "target": "@b1"}})
    asked = ask(OPENAI, says(written), prompt=replace(PROMPT, schema=SCHEMA), mode="text")
    form = asked.body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == SCHEMA
    assert asked.reply.action == {"type": "tap", "target": "@b1"}
    assert asked.reply.notice == ""


@each(
    ("action", "fits"),
    [
        ({"type": "tap", "target": "@b1"}, True),
        ({"type": "type_text", "text": "Ada", "target": "@f1"}, True),
        ({"type": "finish", "message": "Done.", "status": "done"}, True),
        ({"type": "tap"}, False),
        ({"type": "fly"}, False),
        ({}, False),
    ],
)
def test_the_schema_takes_the_actions_that_are_told_and_nothing_else(
    action: dict[str, Any], fits: bool
) -> None:
    judge = jsonschema.Draft202012Validator(SCHEMA)
    assert judge.is_valid({"thought": "why", "action": action}) == fits
    assert not judge.is_valid({"action": action})


def test_every_action_that_is_told_is_in_the_schema() -> None:
    forms = SCHEMA["properties"]["action"]["anyOf"]
    assert [form["properties"]["type"]["const"] for form in forms] == list(DEFAULT)


async def test_a_server_that_can_not_is_asked_without_and_that_is_said_once() -> None:
    written = says('{"thought": "x", "action": {"type": "tap", "target": "@b1"}}')
    prompt = replace(PROMPT, schema=SCHEMA)
    async with opened(OPENAI, error(400, "no response_format"), written, mode="text") as (model, server):
        first, second = await model.step(prompt), await model.step(prompt)
    assert ["response_format" in got.body for got in server.got] == [True, False, False]
    assert "does not take a schema" in first.notice
    assert second.notice == ""
    assert first.action == second.action == {"type": "tap", "target": "@b1"}


async def test_a_server_that_refuses_for_another_reason_is_told_as_that() -> None:
    prompt = replace(PROMPT, schema=SCHEMA)
    async with opened(OPENAI, error(400, "the context is too long"), mode="text") as (model, server):
        with pytest.raises(ModelUnavailable, match="context is too long"):
            await model.step(prompt)
        assert len(server.got) == 2


@pytest.mark.parametrize("wishes", [{}, {"tools": "computer"}])
def test_an_answer_that_never_ends_is_counted(wishes: dict[str, Any]) -> None:
    endless = Answer(200, (b" " * 100_000 for _ in range(100)))
    asked = ask(OPENAI, endless, **wishes)
    assert "longer than" in asked.reply.problem
    assert asked.reply.usage.input_tokens > 100
    assert asked.reply.usage.output_tokens >= 10_000


@pytest.mark.parametrize(("spec", "answer", "name"), [
    (OPENAI, says("x"), "max_completion_tokens"),
    (ANTHROPIC, message(text("x"), stop="end_turn"), "max_tokens"),
])  # fmt: skip
def test_no_answer_may_be_longer_than_what_is_left(spec: str, answer: Answer, name: str) -> None:
    assert ask(spec, answer, prompt=replace(PROMPT, max_tokens=321)).body[name] == 321
    assert ask(spec, answer).body.get(name) in (None, 4_096)
