"""What a model is told of the tools, and what it costs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rs_bpe import openai

from handrail.dialects import agentest, interaction, mobile_debug
from handrail.errors import InvalidAction
from handrail.mcp_server.server import listed_tool
from handrail.mcp_server.tools import PROFILES, SEEDS, Tool, tools_of_profile
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from tests.cases import each

CORE_TOKENS = 2_400
ISSUE_CORE = (
    "connect devices get_ui_tree what_changed screenshot get_state tap long_press swipe type_text press_key"
    " scroll_to start_app restart_app stop_app wait_for expect run_flow request_human_auth"
)


def test_core_has_what_was_promised_and_costs_no_more_than_was_promised() -> None:
    core = tools_of_profile("core")
    assert {tool.name for tool in core} == set(ISSUE_CORE.split())
    assert tokens(core) <= CORE_TOKENS


def test_the_web_has_core_and_what_a_page_needs_for_two_thousand_tokens() -> None:
    web = tools_of_profile("web")
    assert [tool.name for tool in web[: len(tools_of_profile("core"))]] == [
        tool.name for tool in tools_of_profile("core")
    ]
    assert {tool.name for tool in web} - {tool.name for tool in tools_of_profile("core")} == {
        "double_tap", "drag", "hover", "open_url", "set_value", "press_keys",
    }  # fmt: skip
    assert tokens(web) <= 2_000


def tokens(listing: list[Tool]) -> int:
    """Of the list as it goes over the wire."""
    wire = {
        "tools": [
            listed_tool(one).model_dump(by_alias=True, exclude_none=True, mode="json") for one in listing
        ]
    }
    return len(openai.o200k_base().encode(json.dumps(wire, ensure_ascii=False, separators=(",", ":"))))


@each("profile", [*PROFILES, *SEEDS])
def test_schemas_are_slim(profile: str) -> None:
    for tool in tools_of_profile(profile):
        text = json.dumps(tool.to_dict())
        assert not any(word in text for word in ("$defs", "$ref", '"title"', "outputSchema", 'default"'))
        assert tool.input_schema["type"] == "object"
        assert set(tool.input_schema.get("required", ())) <= set(tool.input_schema["properties"])
        assert 0 < len(tool.description) < 200, tool.name


def test_every_native_tool_that_touches_something_demands_a_reason_and_no_other_does() -> None:
    for tool in tools_of_profile("all"):
        effect = (
            "sensitive" if tool.name == "run_flow" else "desk" if tool.name == "desk" else effect_of_key(tool)
        )
        assert ("reason" in tool.input_schema.get("required", ())) == (effect != "read"), tool.name


def effect_of_key(tool: Tool) -> str:
    return ACTIONS[tool.name].traits.effect if tool.name in ACTIONS else "read"


def test_annotations_say_what_the_traits_say() -> None:
    notes = {tool.name: tool.annotations for tool in tools_of_profile("all")}
    assert notes["get_ui_tree"] == {"readOnlyHint": True}
    assert notes["tap"] == {"destructiveHint": False}
    assert notes["reset_app"] == {"destructiveHint": True}
    assert notes["run_flow"] == {"destructiveHint": True}


def test_every_action_has_a_tool_in_all() -> None:
    names = {tool.name for tool in tools_of_profile("all")}
    checks = {kind for kind in ACTIONS if kind.startswith("expect_")}
    assert set(ACTIONS) - set(DESK_ACTIONS) - checks <= names
    assert {"expect", "desk", "run_flow", "connect", "devices"} <= names
    [desk] = [tool for tool in tools_of_profile("all") if tool.name == "desk"]
    assert set(desk.input_schema["properties"]["type"]["enum"]) == {*DESK_ACTIONS, "events"}


def test_profiles_add_up() -> None:
    names = [tool.name for tool in tools_of_profile("flow,desk")]
    assert names[: len(PROFILES["flow"])] == list(PROFILES["flow"])
    assert "desk" in names
    assert len(names) == len(set(names))


def test_an_unknown_profile_is_told_with_what_may_be_meant() -> None:
    with pytest.raises(InvalidAction, match="'debgu' is not known") as caught:
        tools_of_profile("core,debgu")
    assert "debug" in caught.value.hint


@each(
    ("profile", "rules", "prefix", "more"),
    [
        ("interaction", interaction.TOOLS, "", set()),
        ("mobile_debug", mobile_debug.TOOLS, "", {"wait_for_ui"}),
        ("agentest", agentest.TOOLS, "agentest_", {"run_flow"}),
    ],
)
def test_a_seeds_profile_is_its_tools_and_their_parameters(
    profile: str, rules: dict[str, Any], prefix: str, more: set[str]
) -> None:
    made = {tool.name.removeprefix(prefix): tool for tool in tools_of_profile(profile)}
    assert set(made) == set(rules) | more
    for name, rule in rules.items():
        shown = made[name].input_schema
        assert set(rule.fields) - {"reason", "deviceId"} <= set(shown["properties"]), name
        assert set(rule.required) <= set(shown.get("required", ())) | {"packageName"}, name
