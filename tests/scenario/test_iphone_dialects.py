"""Tools of other servers on an iPhone, by MCP: the phone's own log and apps tell what they did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from handrail.mcp_server.calls import McpState, answer_tool_call
from tests.scenario.test_iphone import CONTACTS, SETTINGS, IPhoneWorld, iphone_world
from tests.scenario.world import play

ALLOW = '[[rule]]\nname = "all"\naction = "*"\nverdict = "allow"\n'
Call = tuple[str, dict[str, Any]]
MOBILE_MCP: Sequence[Call] = [
    ("mobile_launch_app", {"packageName": CONTACTS}),
    ("mobile_list_elements_on_screen", {}),
    ("mobile_click_on_screen_at_coordinates", {}),  # on "Create new contact"
    ("mobile_get_screen_size", {}),
    ("mobile_take_screenshot", {}),
    ("mobile_press_button", {"button": "HOME"}),
    ("mobile_set_orientation", {"orientation": "portrait"}),
    ("mobile_open_url", {"url": "https://example.com"}),
    ("mobile_terminate_app", {"packageName": CONTACTS}),
    ("mobile_swipe_on_screen", {"direction": "up"}),
]
AGENT_DEVICE: Sequence[Call] = [
    ("open", {"app": SETTINGS}),
    ("snapshot", {}),
    ("click", {"target": {"kind": "selector", "selector": "text=Display"}}),
    ("back", {}),
    ("scroll", {"direction": "down"}),
    ("screenshot", {}),
    ("home", {}),
]
MOBILE_DEBUG: Sequence[Call] = [
    ("start_app", {"appId": SETTINGS}),
    ("get_ui_tree", {}),
    ("wait_for_ui", {"selector": {"text": "Display"}, "condition": "clickable"}),
    ("tap", {"x": 400, "y": 1800}),
    ("press_back", {}),
    ("swipe", {"x1": 500, "y1": 1800, "x2": 500, "y2": 900, "duration": 300}),
    ("expect_element_visible", {"selector": {"text": "System"}}),
    ("capture_screenshot", {}),
]


async def answered(there: IPhoneWorld, profile: str, calls: Sequence[Call]) -> list[tuple[str, str]]:
    """Each call and how it ended."""
    state = McpState(there.runtime, profile, device=there.session.serial)
    state.use_session(there.session)
    ended = []
    for name, given in calls:
        arguments = dict(given)
        if "click_on" in name:
            await there.session.get_ui_tree()
            nodes = there.session.screens.registry.refs.values()
            place = next(node for node in nodes if node.description == "Create new contact").center
            arguments |= place._asdict()
        more = {"platform": "ios", "deviceId": there.session.serial} if profile == "mobile_debug" else {}
        answer = await answer_tool_call(state, name, {**arguments, **more})
        ended.append((name, answer.text[:200] if answer.is_error else "done"))
    return ended


@pytest.mark.parametrize(
    ("profile", "calls", "front"),
    [
        ("mobile_mcp", MOBILE_MCP, "com.handrail.browser"),
        ("agent_device", AGENT_DEVICE, "com.android.launcher3"),
        ("mobile_debug", MOBILE_DEBUG, "com.android.settings"),
    ],
)
def test_a_foreign_servers_tools_work_on_an_iphone(
    profile: str, calls: Sequence[Call], front: str | None, tmp_path: Path
) -> None:
    async def story() -> None:
        async with iphone_world(tmp_path, policy=ALLOW) as there:
            ended = await answered(there, profile, calls)
            assert [name for name, code in ended if code != "done"] == [], ended
            phone = there.iphone.phone
            phone.catch_up()
            assert (phone.tasks.top.app.package if phone.tasks.top else None) == front
            assert len([entry for entry in phone.input_log if entry["action"] == "down"]) >= 2

    play(story())


def test_mobile_debugs_platform_ios_means_the_iphone_with_this_udid(tmp_path: Path) -> None:
    async def story() -> None:
        async with iphone_world(tmp_path, policy=ALLOW) as there:
            state = McpState(there.runtime, "mobile_debug")
            named = {"platform": "ios", "deviceId": there.iphone.udid}
            answer = await answer_tool_call(state, "get_ui_tree", named)
            assert not answer.is_error, answer.text
            assert "iPhone" in answer.text
            other = await answer_tool_call(state, "get_ui_tree", {**named, "deviceId": "00008110-0000"})
            assert other.is_error

    play(story())
