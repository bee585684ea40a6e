"""Every tool's schema can be said in strict mode, by the rules that its makers publish.

HANDRAIL_OPENAI_AGENTS names a Python that has `openai-agents`: it then talks to the real server and converts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail.dialects.arguments import action_of_tool, expectation_of
from handrail.errors import InvalidAction
from handrail.mcp_server.tools import PROFILES, SEEDS, tools_of_profile
from handrail.protocol.actions import ACTIONS
from handrail_agent.tools import tool_schemas
from tests.cases import each

OPEN = {"desk", "agentest_run_flow"}
"""Take objects of any shape: one for every action of the desk, the other as its design has it."""
WORDS = {"type", "properties", "required", "items", "enum", "anyOf", "description", "additionalProperties"}
"""Of the keywords that strict mode knows, those in use here."""
KINDS = {"string", "number", "integer", "boolean", "object", "array"}
Schema = dict[str, Any]


def faults(schema: Schema, path: str = "", depth: int = 1) -> Iterator[str]:
    """What strict mode would not take, even after every property was made required."""
    if depth > 5:
        yield f"{path}: nested too deeply"
    for word in schema.keys() - WORDS:
        yield f"{path}: {word} is not known"
    if "anyOf" in schema and not path:
        yield "the root is a choice"
    kind = schema.get("type")
    if "anyOf" not in schema and not ({*kind} if isinstance(kind, list) else {kind}) <= KINDS:
        yield f"{path}: has no type"
    if schema.get("additionalProperties", False) is not False:
        yield f"{path}: takes anything besides"
    if schema.get("type") == "object":
        if "properties" not in schema:
            yield f"{path}: names no properties"
        elif not schema["properties"] and "additionalProperties" not in schema:
            yield f"{path}: an object of any shape"
    if schema.get("type") == "array" and not isinstance(schema.get("items"), dict):
        yield f"{path}: a list of anything"
    inside = {**schema.get("properties", {}), "[]": schema.get("items")}
    inside |= {f"|{number}": one for number, one in enumerate(schema.get("anyOf", ()))}
    for name, one in inside.items():
        if one is not None:
            yield from faults(one, f"{path}.{name}", depth + 1)


@each("profile", [*PROFILES, *SEEDS])
def test_every_tool_can_be_said_in_strict_mode(profile: str) -> None:
    found = {one.name: list(faults(one.input_schema)) for one in tools_of_profile(profile)}
    assert {name: said for name, said in found.items() if said and name not in OPEN} == {}
    assert all(found[name] for name in OPEN & found.keys()), "no longer open: take it off the list"


def test_the_agents_own_tools_can_be_said_in_strict_mode() -> None:
    listed = tool_schemas()
    assert len(listed) > 10
    assert [fault for one in listed for fault in faults(one["input_schema"])] == []


def test_the_rules_find_what_they_are_for() -> None:
    assert list(faults({"type": "object", "properties": {}}))
    assert list(faults({"type": "object", "properties": {"a": {"type": "object"}}}))
    assert list(faults({"type": "object", "properties": {"a": {}}}))
    assert list(faults({"type": "object", "properties": {"a": {"type": "string", "oneOf": []}}}))
    assert not list(faults({"type": "object", "properties": {}, "additionalProperties": False}))


@each("kind", [one.name for one in tools_of_profile("all") if one.name in ACTIONS])
def test_what_strict_mode_makes_a_model_fill_in_emptily_is_as_good_as_left_out(kind: str) -> None:
    """There every field is required, and a model has nothing but "" for one that it would leave out."""
    [tool] = [one for one in tools_of_profile("all") if one.name == kind]
    fields, needed = tool.input_schema["properties"], tool.input_schema.get("required", ())
    example = {"reason": "I try", **ACTIONS[kind].example}
    said = {name: value for name, value in example.items() if name in fields}
    if kind == "wait_for":
        said["visible"] = "Save"
    texts = [name for name in fields if name not in said and name not in needed]
    filled = {
        name: "" for name in texts if fields[name].get("type") == "string" and "enum" not in fields[name]
    }
    assert action_of_tool(kind, {**said, **filled}) == action_of_tool(kind, said)


def test_expect_knows_an_empty_field_from_one_that_was_filled_in_emptily() -> None:
    empty = dict.fromkeys(
        ("visible", "absent", "app", "target", "equals", "contains", "property", "value"), ""
    )
    assert expectation_of({**empty, "visible": "Save"}) == expectation_of({"visible": "Save"})
    assert expectation_of({**empty, "absent": "Save"}) == expectation_of({"absent": "Save"})
    checked = {"target": "Wi-Fi", "property": "checked", "value": "true"}
    assert expectation_of({**empty, **checked}) == expectation_of(checked)
    blank = {"target": "Name", "equals": ""}
    assert expectation_of({**empty, "target": "Name"}) == expectation_of(blank)
    assert expectation_of(blank).type == "expect_text"
    with pytest.raises(InvalidAction):
        expectation_of(empty)


CONVERT = """
import asyncio, json, sys
from agents import Agent
from agents.mcp import MCPServerStdio, MCPUtil
from agents.run_context import RunContextWrapper

async def main():
    params = {"command": sys.argv[1], "args": ["-m", "handrail.cli.main", "mcp", "--tools", sys.argv[2]],
              "env": json.loads(sys.argv[3])}
    async with MCPServerStdio(params=params, client_session_timeout_seconds=60) as server:
        made = await MCPUtil.get_function_tools(
            server, convert_schemas_to_strict=True, run_context=RunContextWrapper(None),
            agent=Agent(name="a"))
    print(json.dumps({one.name: one.strict_json_schema for one in made}))

asyncio.run(main())
"""


@pytest.mark.skipif("HANDRAIL_OPENAI_AGENTS" not in os.environ, reason="names a Python with openai-agents")
@pytest.mark.parametrize("profile", [*PROFILES, *SEEDS])
def test_openai_agents_converts_every_tool(tmp_path: Path, profile: str) -> None:
    env = json.dumps({**os.environ, "HANDRAIL_HOME": str(tmp_path)})
    command = [os.environ["HANDRAIL_OPENAI_AGENTS"], "-c", CONVERT, sys.executable, profile, env]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    strict = json.loads(done.stdout)
    assert set(strict) == {one.name for one in tools_of_profile(profile)}
    assert {name for name, is_strict in strict.items() if not is_strict} == OPEN & set(strict)
