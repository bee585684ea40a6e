"""Seed 002 at the MCP door, on the simulated phone: every answer is an envelope, and says one thing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from handrail.dialects.mobile_debug import read_tool
from handrail.engine.conditions import check_condition, check_state_is
from handrail.engine.snapshot import ScreenAnalysis, UiSnapshot
from handrail.mcp_server.tools import tools_of_profile
from handrail.protocol.target import Selector, StateIs
from handrail.screen.select import NO_HANDLES
from handrail_sim.phone import Phone
from tests.cases import each
from tests.scenario.test_control import _DialsApp as DialsApp
from tests.scenario.test_mcp_answers import Door, door
from tests.scenario.world import FastClock, play
from tests.unit.screen.drawn import node, row, screen

ASYNC_RUNNER = play

CONDITIONS = ("exists", "visible", "clickable", "not_exists")
LAB = "com.handrail.composelab"
ENVELOPE = {
    "action_id", "timestamp", "action_type", "lifecycle_state", "source_module", "target", "success",
    "failure_code", "retryable", "ui_fingerprint_before", "ui_fingerprint_after",
}  # fmt: skip


async def told(ask: Door, name: str, *, fails: bool = False, **arguments: Any) -> dict[str, Any]:
    answer = await ask(name, **arguments)
    written: dict[str, Any] = json.loads(answer.text)
    assert answer.is_error is fails, written
    assert written["success"] is not fails, written
    return written


def keys_pressed(ask: Door) -> int:
    return sum("key" in str(one) for one in ask.world.inputs())


async def test_a_disabled_button_exists_and_is_visible_and_is_not_clickable(tmp_path: Path) -> None:
    async with door(tmp_path, "mobile_debug") as ask:
        await told(ask, "start_app", appId=LAB)
        least: dict[str, Any] = {"selector": {"text": "Decrease"}, "timeout_ms": 100}
        await told(ask, "wait_for_ui", condition="exists", **least)
        await told(ask, "wait_for_ui", condition="visible", **least)
        failed = await told(ask, "wait_for_ui", condition="clickable", fails=True, **least)
        assert (failed["failure_code"], failed["target"]["resolved"]) == ("TIMEOUT", None)
        await ask.world.session.tap("Increase")
        await told(ask, "wait_for_ui", condition="clickable", **least)


@each(
    ("place", "flags", "visible", "clickable"),
    [
        (row(1), "clickable", True, True),
        (row(1), "", True, False),
        (row(1), "clickable disabled", True, False),
        ((0, 2600, 1080, 2700), "clickable", False, False),
    ],
    ids=["a button", "a mere text", "a disabled button", "below the screen"],
)
def test_exists_visible_and_clickable_are_three_conditions(
    place: Any, flags: str, visible: bool, clickable: bool
) -> None:
    drawn = screen(node("FrameLayout", node("Button", text="Save", box=place, flags=flags)))
    asked: list[Any] = [
        read_tool("wait_for_ui", {"selector": {"text": "Save"}, "condition": one}) for one in CONDITIONS
    ]
    met = [
        check_condition(one.condition, UiSnapshot(ScreenAnalysis(drawn), 0.0, 2.0), NO_HANDLES, None).met
        for one in asked
    ]
    assert met == [True, visible, clickable, False]


def test_clickable_is_not_put_together_from_two_elements() -> None:
    two = [
        node("Button", text="Save", box=row(1), flags="clickable disabled"),
        node("TextView", text="Save", box=row(3)),
    ]
    wish = StateIs(target=Selector(text="Save"), property="interactable", value=True)
    assert not check_state_is(screen(node("FrameLayout", *two)), wish, NO_HANDLES).met


async def test_the_element_that_was_waited_for_is_told_with_text_and_id(tmp_path: Path) -> None:
    async with door(tmp_path, "mobile_debug") as ask:
        await told(ask, "start_app", appId="com.google.android.contacts")
        waited = await told(ask, "wait_for_ui", selector={"text": "Alba Thornquill"})
        found = waited["target"]["resolved"]
        assert waited["target"]["selector"] == {"text": "Alba Thornquill"}
        assert "Alba Thornquill" in found["text"]
        assert waited["element"]["elementId"] == found["elementId"]
        several = await told(ask, "wait_for_ui", selector={"text": "o", "contains": True})
        assert "o" in (several["target"]["resolved"]["text"] or "").lower()
        second = await told(ask, "wait_for_ui", selector={"text": "o", "contains": True}, match={"index": 1})
        assert second["target"]["resolved"]["index"] > several["target"]["resolved"]["index"]
        checked = await told(ask, "expect_element_visible", selector={"text": "Anselm Foxglove"})
        assert "Anselm Foxglove" in checked["target"]["resolved"]["text"]
        tapped = await told(ask, "tap_element", elementId=found["elementId"])
        assert tapped["target"]["resolved"] == found, "one id has one description"
        gone = await told(ask, "wait_for_ui", selector={"text": "Anselm Foxglove"}, condition="not_exists")
        assert gone["target"]["resolved"] is None


async def test_retry_waits_again_and_poll_interval_ms_sets_the_pace(tmp_path: Path) -> None:
    async with door(tmp_path, "mobile_debug") as ask:
        least: dict[str, Any] = {"selector": {"text": "Nothing"}, "timeout_ms": 40}
        retry = {"max_attempts": 3, "backoff_ms": 1}
        await told(ask, "wait_for_ui", fails=True, retry=retry, **least)
        waits = {one["action_id"] for one in ask.world.events() if "wait_for" in str(one.get("action_id"))}
        assert len(waits) == 3
        before = ask.world.session.screens.reads
        await told(ask, "wait_for_ui", fails=True, poll_interval_ms=2_000, **least)
        assert ask.world.session.screens.reads - before <= 2  # at the beginning, and when time is up


async def test_back_at_home_was_delivered_and_is_no_error_and_home_at_home_is_there(tmp_path: Path) -> None:
    async with door(tmp_path, "mobile_debug") as ask:
        back = await told(ask, "press_back")
        assert back["lifecycle_state"] == "pending_verification"
        assert "changed" in back["message"]
        assert "failure_code" not in back
        assert keys_pressed(ask) == 1
        home = await ask.world.session.press_key("home")
        assert home.success, home.to_json()
        assert (home.verification and home.verification.observed) == "the home screen"
        assert keys_pressed(ask) == 2


async def test_scroll_amount_is_how_far_a_finger_goes(tmp_path: Path) -> None:
    async with door(tmp_path, "mobile_debug") as ask:
        await told(ask, "start_app", appId="com.google.android.contacts")
        far = []
        for amount in (0.2, 0.6):
            given = {"selector": {"text": "Nobody"}, "maxScrolls": 1, "scrollAmount": amount}
            before = len(ask.world.inputs())
            await told(ask, "scroll_to_element", fails=True, **given)
            first = ask.world.inputs()[before:]
            end = next(index for index, one in enumerate(first) if one["action"] == "up")
            far.append(first[0]["y"] - first[end]["y"])
        assert 2.5 < far[1] / far[0] < 3.5


async def test_max_attempts_is_how_often_a_slider_is_moved(tmp_path: Path) -> None:
    clock = FastClock(10)
    phone = Phone(clock=clock, apps=[DialsApp])
    async with door(tmp_path, "mobile_debug", clock=clock, phone=phone) as ask:
        await told(ask, "start_app", appId=DialsApp.package)
        given = {"selector": {"text": "Step"}, "targetValue": 10}
        tried = []
        for more in ({"maxAttempts": 1}, {}):
            answer = await ask("adjust_control", **given, **more)
            assert answer.envelope
            assert answer.envelope.failure_code == "CONTROL_CONVERGENCE_FAILED"
            tried.append(len((answer.envelope.details or {})["tried"]))
        assert tried[0] == 1 < tried[1]


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "selector"),
    [
        ("tap", {"x": 1}, "INVALID_ACTION", {"x": 1}),
        ("tap", {"x": 1, "y": 2, "z": 3}, "INVALID_ACTION", {"x": 1, "y": 2}),
        ("tap_element", {"elementId": 5}, "INVALID_ACTION", {"elementId": 5}),
        ("scroll_to_element", {"selector": 5}, "INVALID_ACTION", None),
        ("wait_for_ui", {"selector": {"text": "a"}, "condition": "near"}, "INVALID_ACTION", {"text": "a"}),
        ("press_back", {"platform": "tvos"}, "UNSUPPORTED", {"key": "back"}),
        ("get_ui_tree", {"platform": "tvos"}, "UNSUPPORTED", None),
        ("press_back", {"deviceId": "nowhere"}, "ADB_CONNECTION_ERROR", {"key": "back"}),
        ("get_logs", {"deviceId": "nowhere"}, "ADB_CONNECTION_ERROR", None),
        ("tap_elment", {}, "INVALID_ACTION", None),
    ],
)
async def test_a_call_that_never_became_an_action_answers_with_an_envelope(
    tmp_path: Path, tool: str, arguments: dict[str, Any], code: str, selector: Any
) -> None:
    async with door(tmp_path, "mobile_debug") as ask:
        written = await told(ask, tool, fails=True, **arguments)
        assert written.keys() >= ENVELOPE
        assert (written["action_type"], written["lifecycle_state"]) == (tool, "failed")
        assert (written["failure_code"], written["code"]) == ("ACTION_REJECTED", code)
        assert written["target"] == {"selector": selector, "resolved": None}
        assert written["message"]
        assert written["hint"]
        assert not ask.world.inputs()


def test_the_platforms_are_in_the_schema() -> None:
    given = [tool.input_schema["properties"].get("platform") for tool in tools_of_profile("mobile_debug")]
    assert {json.dumps(one) for one in given if one} == {
        json.dumps({"type": "string", "enum": ["android", "ios"], "description": "iOS is experimental"})
    }


async def test_rejected_calls_have_ids_of_their_own(tmp_path: Path) -> None:
    async with door(tmp_path, "mobile_debug") as ask:
        ids = {(await told(ask, "tap_element", fails=True))["action_id"] for _ in range(40)}
        assert len(ids) == 40
        assert all(re.fullmatch(r"tap_element_\d+_0\d+", action_id) for action_id in ids)


async def test_each_action_of_the_document_leaves_its_envelope(tmp_path: Path) -> None:
    contacts, new = "com.google.android.contacts", "Create new contact"
    ends = {"x1": 540, "y1": 1800, "x2": 540, "y2": 900, "duration": 300}
    async with door(tmp_path, "mobile_debug") as ask:
        await told(ask, "start_app", appId=contacts)
        waited = await told(ask, "wait_for_ui", selector={"text": new})
        steps: list[tuple[str, dict[str, Any], Any]] = [
            ("restart_app", {"appId": contacts}, None),
            ("swipe", ends, None),
            ("scroll_to_element", {"selector": {"text": "Alba Thornquill"}, "direction": "up"}, None),
            ("tap_element", {"elementId": waited["element"]["elementId"]}, None),
            ("tap", {"x": 540, "y": 700}, None),
            ("type_text", {"text": "Ada"}, None),
            ("press_back", {}, {"key": "back"}),
        ]
        for name, arguments, selector in steps:
            written = await told(ask, name, **arguments)
            assert re.fullmatch(rf"{name}_\d{{13}}_\d+", written["action_id"])
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", written["timestamp"])
            assert (written["action_type"], written["lifecycle_state"]) == (name, "pending_verification")
            assert written["source_module"] == ("interact" if name == "tap_element" else "server")
            shown = arguments["selector"] if name == "scroll_to_element" else selector or arguments
            assert written["target"]["selector"] == shown
            assert len(written["ui_fingerprint_before"]) == len(written["ui_fingerprint_after"]) == 6
            has_target = name in ("tap_element", "scroll_to_element")
            assert (written["target"]["resolved"] is not None) is has_target, name
            if has_target:
                left, top, right, bottom = written["target"]["resolved"]["bounds"]
                assert left < right
                assert top < bottom
            if name == "tap_element":
                touched = next(one for one in reversed(ask.world.inputs()) if one["action"] == "down")
                assert (touched["x"], touched["y"]) == ((left + right) // 2, (top + bottom) // 2)
                assert written["ui_fingerprint_before"] != written["ui_fingerprint_after"]
        started = await told(ask, "start_app", appId=contacts)
        assert started["device"]["id"] == ask.world.serial
