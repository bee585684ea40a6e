"""Prompts written for the seeds' servers: their tools, their parameters, their first block."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.scenario.test_mcp_answers import CONTACTS, door
from tests.scenario.world import play

ASYNC_RUNNER = play


async def test_interaction_answers_with_a_sentence_a_blank_line_and_the_diff(tmp_path: Path) -> None:
    async with door(tmp_path, "interaction") as ask:
        await ask.world.open(CONTACTS)
        await ask.world.session.tap("Create new contact")
        seen = await ask("get_textual_state")
        assert "EditText" in seen.text
        x, y = _middle(seen.text, "First name")
        tapped = await ask("tap", x=x, y=y, reason="I focus the name")
        assert tapped.text.startswith(f"Tapped at ({x}, {y}).\n\nElements changed:\nKeyboard appeared\n")
        typed = await ask("type_text", text="Ada", reason="I type the name")
        assert typed.text.startswith('Typed "Ada".\n\nElements changed:\n')
        keyed = await ask("press_key", key="back", reason="I close the keyboard")
        assert keyed.text == "Pressed key: back.\n\nElements changed:\nKeyboard hidden"
        assert (await ask("get_what_changed")).text == "No change on screen."
        shot = await ask("get_visual_state")
        assert (shot.text, len(shot.images)) == ("", 1)
        assert "in front" in (await ask("get_general_state")).text
        assert (await ask("tap", x=1, y=2)).text.startswith("INVALID_ACTION: reason: is required")


def _middle(text: str, words: str) -> tuple[int, int]:
    line = next(line for line in text.splitlines() if words in line)
    box = line.partition("[")[2].partition(" ")[0].replace("][", ",").rstrip("]")
    left, top, right, bottom = map(int, box.split(","))
    return (left + right) // 2, (top + bottom) // 2


async def test_mobile_debug_answers_with_its_envelope(tmp_path: Path) -> None:
    async with door(tmp_path, "mobile_debug") as ask:
        started = await _json(ask, "start_app", platform="android", appId=CONTACTS)
        assert started["action_type"] == "start_app"
        assert started["lifecycle_state"] == "pending_verification"
        assert started["target"]["selector"] == {"appId": CONTACTS}
        waited = await _json(ask, "wait_for_ui", selector={"text": "Create new contact"})
        assert waited["success"] is True
        tapped = await _json(ask, "tap_element", elementId=waited["element"]["elementId"])
        assert tapped["source_module"] == "interact"
        assert tapped["target"]["resolved"]["elementId"] == waited["element"]["elementId"]
        back = await _json(ask, "press_back")
        assert back["target"]["selector"] == {"key": "back"}
        missing = await ask("tap_element", elementId="el_nothing")
        assert missing.is_error
        assert json.loads(missing.text)["failure_code"] == "STALE_REFERENCE"
        assert json.loads(missing.text)["lifecycle_state"] == "failed"
        shot = await ask("capture_screenshot")
        assert len(shot.images) == 1
        wrong = await ask("tap", x=1)
        assert wrong.is_error
        assert json.loads(wrong.text)["error"]["message"] == "y: is required"


async def _json(ask: Any, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await ask(name, **arguments)
    assert not answer.is_error, answer.text
    found: dict[str, Any] = json.loads(answer.text)
    return found


async def test_agentest_connects_runs_flows_and_reads(tmp_path: Path) -> None:
    async with door(tmp_path, "agentest") as ask:
        connected = await ask("agentest_connect", packageName=CONTACTS)
        told = json.loads(connected.text)
        assert (told["packageName"], told["deviceId"]) == (CONTACTS, ask.world.serial)
        assert connected.more[0].startswith("screen 1080x2400")
        step = {"action": "tap", "target": {"text": "Create new contact"}}
        trace = await _json(ask, "agentest_run_flow", steps=[step])
        assert (trace["success"], trace["stepsCompleted"], trace["results"][0]["action"]) == (True, 1, step)
        assert "First name" in trace["finalUiTree"]
        compact = await ask("agentest_get_ui_tree")
        assert compact.text.startswith("screen ")
        full = await _json(ask, "agentest_get_ui_tree", format="full")
        assert full["role"] == "container"
        info = await _json(ask, "agentest_device_info")
        assert (info["screenWidth"], info["sdkVersion"]) == (1080, 34)
        assert (await _json(ask, "agentest_get_logs", maxLines=5)).keys() == {"packageName", "logs"}
        assert (await _json(ask, "agentest_set_network", wifi=False))["applied"] == {"wifi": False}
        assert (await ask("agentest_reset_app")).text.startswith("screen ")
        assert len((await ask("agentest_screenshot")).images) == 1
        gone = {"action": "tap", "target": {"ref": "@b99"}}
        failed = await ask("agentest_run_flow", steps=[gone])
        assert failed.is_error
        assert json.loads(failed.text)["success"] is False
        wrong = await ask("agentest_run_flow", steps=[{"action": "tapp"}])
        assert json.loads(wrong.text)["code"] == "INVALID_ACTION"


async def test_agentest_reads_preferences_and_databases_of_the_connected_app(tmp_path: Path) -> None:
    async with door(tmp_path, "agentest") as ask:
        await ask("agentest_connect", packageName="com.handrail.notes")
        rows = await _json(ask, "agentest_query_db", database="notes.db", query="select count(*) from notes")
        assert rows["rows"].isdigit()
        prefs = await ask("agentest_get_shared_prefs", file="nothing")
        assert prefs.is_error
        assert set(json.loads(prefs.text)) == {"error", "code"}
