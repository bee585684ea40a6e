"""What an agent's model is told of the actions, and what it costs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from rs_bpe import openai

from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS
from handrail.protocol.describe import vocabulary_text
from handrail.protocol.read import action_from
from handrail_agent.tools import DEFAULT, Tool, kind_of, tool_schemas
from tests.cases import each

TOOL_TOKENS = 1_500
TEXT_TOKENS = 700


def test_the_actions_cost_no_more_than_a_screen_or_two() -> None:
    wire = json.dumps([dict(tool) for tool in tool_schemas()], separators=(",", ":"))
    assert _tokens(wire) <= TOOL_TOKENS
    assert _tokens(vocabulary_text(DEFAULT)) <= TEXT_TOKENS


def test_what_a_task_needs_is_there_and_the_shell_only_where_it_is_asked_for() -> None:
    assert [tool["name"] for tool in tool_schemas()] == list(DEFAULT)
    assert {"tap", "type_text", "finish", "request_human_auth", "run_script"} <= set(DEFAULT)
    assert "shell" not in DEFAULT
    assert tool_schemas(("shell",))[0]["name"] == "shell"


@each("tool", tool_schemas(ACTIONS), ids=lambda tool: tool["name"])
def test_every_action_can_be_told_slimly_and_says_why_it_is_done(tool: Tool) -> None:
    text = json.dumps(dict(tool))
    assert not any(word in text for word in ("$defs", "$ref", 'default"'))
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool["name"])  # what OpenAI and Anthropic accept
    assert kind_of(tool["name"]) in ACTIONS
    schema = tool["input_schema"]
    assert set(schema["required"]) <= set(schema["properties"])
    assert ("reason" in schema["required"]) == (tool["name"] != "finish")
    assert 0 < len(tool["description"]) < 200


def test_short_forms_as_the_schema_tells_them_are_actions() -> None:
    told: dict[str, dict[str, Any]] = {
        "tap": {"target": "540,750", "expect": "Saved"},
        "swipe": {"from": "1,2", "to": "3,4"},
        "scroll_to": {"target": "About", "direction": "down"},
        "press_key": {"key": "back"},
        "finish": {"message": "Done."},
    }
    for kind, fields in told.items():
        [tool] = tool_schemas((kind,))
        assert set(fields) <= set(tool["input_schema"]["properties"])
        assert action_from({"type": kind, **fields}).type == kind


def test_an_action_that_does_not_exist_can_not_be_offered() -> None:
    with pytest.raises(InvalidAction, match="'tapp' is not known"):
        tool_schemas(("tapp",))


def test_as_text_every_action_has_a_line_that_marks_what_may_be_left_out() -> None:
    lines = vocabulary_text(DEFAULT).splitlines()
    assert len(lines) == len(DEFAULT)
    [typed] = [line for line in lines if line.startswith("- type_text ")]
    assert "text: string;" in typed
    assert "target?: string, default: the focused one" in typed
    assert "reason" not in vocabulary_text(DEFAULT)


def _tokens(text: str) -> int:
    return len(openai.o200k_base().encode(text))
