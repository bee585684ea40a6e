"""Every parameter that a seed's tool declares: it changes what is done or told, or is refused by its name.

One row of `OTHERS` for each optional parameter: what the call is without it, and a value that is not its
default. A parameter that is declared and not in the table fails the walk.
"""

from __future__ import annotations

from typing import Any

import pytest

from handrail.dialects import agentest, interaction, mobile_debug
from handrail.errors import HandrailError, InvalidAction
from handrail.mcp_server.tools import Tool, tools_of_profile
from tests.cases import each

SEEDS = ("interaction", "mobile_debug", "agentest")
TEXT = {"text": "Save"}
LEAST: dict[str, Any] = {
    "x": 1, "y": 2, "x1": 1, "y1": 2, "x2": 3, "y2": 4, "startX": 1, "startY": 2, "endX": 3, "endY": 4,
    "elementId": "el_1", "text": "Ada", "appId": "com.example.app", "packageName": "com.example.app",
    "appPath": "app.apk", "selector": TEXT, "targetValue": 5, "property": "checked", "expected": True,
    "steps": [{"action": "wait", "timeoutMs": 1}], "file": "settings", "database": "notes.db",
    "query": "select 1", "key": "back", "reason": "I try it",
}  # fmt: skip
"""For what a tool requires."""
AND: dict[str, dict[str, Any]] = {
    "swipe": {"duration": 300},
    "expect_screen": {"fingerprint": "k3x9qa"},
    "agentest_set_network": {"preset": "lte"},
}
OTHERS: dict[str, Any] = {
    "x": 9, "y": 9, "x1": 9, "y1": 9, "x2": 9, "y2": 9, "startX": 9, "startY": 9, "endX": 9, "endY": 9,
    "elementId": "el_9", "text": "Bob", "appId": "com.example.other", "packageName": "com.example.other",
    "appPath": "other.apk", "selector": {"text": "Send"}, "targetValue": 9, "property": "enabled",
    "expected": False, "steps": [{"action": "wait", "timeoutMs": 9}], "file": "other",
    "database": "other.db", "query": "select 2", "key": "home", "reason": "I try something else",
    "duration": 777, "deviceId": "another", "direction": "up", "maxScrolls": 3, "scrollAmount": 0.3,
    "tolerance": 2.5, "maxAttempts": 2, "level": "error", "limit": 7, "condition": "clickable",
    "timeout_ms": 777, "timeoutMs": 777, "poll_interval_ms": 777, "match": {"index": 1},
    "fingerprint": "aaaaaa", "format": "full", "depth": 2, "onlyInteractive": True, "maxLines": 7,
    "preset": "edge", "speed": "edge", "delay": "gprs", "wifi": False, "airplaneMode": True,
}  # fmt: skip
REFUSED = {"platform": "tvos", "screen": ".Main"}
"""Another platform, always; a second way to name the screen, beside a fingerprint."""
AT_THE_DOOR = {"backend": "grpc", "verbose": True, "retry": {"max_attempts": 3}}
"""What the door does with an action and not the action itself: `connect_options`, `wait_tries`."""


def read(profile: str, name: str, arguments: dict[str, Any]) -> Any:
    match profile:
        case "interaction":
            return interaction.read_tool(name, arguments)
        case "mobile_debug":
            return mobile_debug.read_tool(name, arguments)
        case _:
            return agentest.read_tool(name, arguments, package="com.example.connected")


def least_of(tool: Tool) -> dict[str, Any]:
    given = {name: LEAST[name] for name in tool.input_schema.get("required", ()) if name in LEAST}
    return {**given, **AND.get(tool.name, {})}


def door_of(arguments: dict[str, Any]) -> Any:
    return agentest.connect_options(arguments), mobile_debug.wait_tries(arguments.get("retry"))


def taken(profile: str, name: str, arguments: dict[str, Any]) -> Any:
    return read(profile, name, arguments), door_of(arguments)


WALK = [
    (profile, tool, name)
    for profile in SEEDS
    for tool in tools_of_profile(profile)
    for name in tool.input_schema["properties"]
]
IDS = [f"{tool.name}.{name}" for _, tool, name in WALK]


@each(("profile", "tool", "name"), WALK, ids=IDS)
def test_a_declared_parameter_changes_something_or_is_refused_by_its_name(
    profile: str, tool: Tool, name: str
) -> None:
    least = least_of(tool)
    before = read(profile, tool.name, least)
    if name in AT_THE_DOOR:
        other = {**least, name: AT_THE_DOOR[name]}
        assert read(profile, tool.name, other) == before
        assert door_of(other) != door_of(least)
        return
    if name in REFUSED:
        with pytest.raises(HandrailError) as caught:
            read(profile, tool.name, {**least, name: REFUSED[name]})
        assert name in caught.value.message or "activity" in caught.value.message
        return
    other = {**least, name: OTHERS[name]}
    if tool.name == "adjust_control" and name == "property":  # it sets values, and nothing else
        with pytest.raises(InvalidAction, match=r"^property: "):
            read(profile, tool.name, other)
        return
    assert read(profile, tool.name, other) != before


EACH = [(profile, tool) for profile in SEEDS for tool in tools_of_profile(profile)]
TOOL_IDS = [tool.name for _, tool in EACH]


@each(("profile", "tool"), EACH, ids=TOOL_IDS)
def test_a_parameter_of_a_wrong_kind_is_named(profile: str, tool: Tool) -> None:
    for name in tool.input_schema["properties"]:
        given = {**least_of(tool), name: ["wrong"]}
        with pytest.raises(HandrailError) as caught:
            taken(profile, tool.name, given)
        assert name in caught.value.message, (name, caught.value.message)


@each(("profile", "tool"), EACH, ids=TOOL_IDS)
@each("name", ["nonsense", "retries", "element_ids", "scale"])
def test_a_parameter_that_is_not_declared_is_never_dropped_silently(
    profile: str, tool: Tool, name: str
) -> None:
    with pytest.raises(InvalidAction, match=name):
        read(profile, tool.name, {**least_of(tool), name: 1})


@each(("profile", "tool"), EACH, ids=TOOL_IDS)
def test_a_parameter_of_another_tool_is_declared_has_a_meaning_or_is_refused(
    profile: str, tool: Tool
) -> None:
    """`element_id`, `deviceId` and `reason` are taken by tools that do not list them, and mean the same."""
    least = least_of(tool)
    before = read(profile, tool.name, least)
    for name, value in {**OTHERS, "element_id": "el_9"}.items():
        if name in tool.input_schema["properties"]:
            continue
        try:
            after = read(profile, tool.name, {**least, name: value})
        except InvalidAction as error:
            assert name in error.message, (name, error.message)
        else:
            assert after != before, name
