"""Dialects at every door: HTTP, MCP, the command line, an agent's run, a script. The phone's input tells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from handrail.cli.dialect_commands import act
from handrail.mcp_server.tools import tools_of_profile
from tests.scenario.test_mcp_answers import door as mcp_door
from tests.scenario.world import FastClock, World, live, play, world
from tests.unit.web_server.door import TOKEN
from tests.unit.web_server.door import door as http_door

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"
CLOCK = "com.google.android.deskclock"
BACK: dict[str, Any] = {
    "anthropic_computer": {"action": "key", "text": "Escape"},
    "openai_computer": {"type": "keypress", "keys": ["ESC"]},
    "androidworld": {"action_type": "navigate_back"},
    "androidcontrol": {"action_type": "navigate_back"},
    "aitw": {"results/action_type": 5},
    "ui_tars": "Action: press_back()",
    "autoglm": '<answer>do(action="Back")</answer>',
    "mobile_use": {"name": "mobile_use", "arguments": {"action": "system_button", "button": "Back"}},
    "w3c_actions": {
        "actions": [
            {
                "type": "key",
                "id": "k",
                "actions": [{"type": "keyDown", "value": "\ue00c"}, {"type": "keyUp", "value": "\ue00c"}],
            }
        ]
    },
    "mobile_mcp": {"name": "mobile_press_button", "arguments": {"button": "BACK"}},
    "agent_device": {"name": "back", "arguments": {}},
    "cogagent": "Grounded Operation: KEY_PRESS(key='Back')",
    "doubao": "<seed:tool_call><function=press_back></function></seed:tool_call>",
    "droidrun": {"action": "system_button", "button": "back"},
    "mai_ui": {"name": "mobile_use", "arguments": {"action": "system_button", "button": "back"}},
    "native": {"type": "press_key", "key": "back"},
    "openpocket": {"type": "keyevent", "keycode": "KEYCODE_BACK"},
    "agentest": {"action": "press_key", "keycode": "KEYCODE_BACK"},
    "interaction": {"name": "press_key", "arguments": {"key": "back", "reason": "I go back"}},
    "mobile_debug": {"name": "press_back", "arguments": {"platform": "android"}},
}


def _front(w: World) -> str:
    return str(w.phone.state()["front"]["package"])


def _keys(w: World) -> list[int]:
    return [one["code"] for one in w.inputs() if one["action"] == "key"]


def _body(words: Any) -> bytes:
    return words.encode() if isinstance(words, str) else json.dumps(words).encode()


@live
@pytest.mark.slow
async def test_every_dialect_and_every_seed_goes_through_http(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10)) as w, http_door(tmp_path, runtime=w.runtime) as served:
        for number, (name, words) in enumerate(BACK.items(), 1):
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            answer = await served.ask("POST", f"/api/actions?dialect={name}", headers, _body(words))
            assert answer.status in (200, 409), (name, answer.json)  # back at home changes nothing
            [envelope] = answer.json["envelopes"]
            assert (envelope["action_type"], envelope["delivery"]) == ("press_key", "delivered"), name
            assert _keys(w) == [4] * number


@live
async def test_a_conversation_by_http_knows_the_picture_that_was_sent(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10)) as w, http_door(tmp_path, runtime=w.runtime) as served:
        path = "/api/actions?dialect=anthropic_computer"
        await w.open(CONTACTS)
        click = {"action": "left_click", "coordinate": [353, 784]}
        blind = await served.send("POST", path, click)
        assert (blind.status, blind.json["code"]) == (422, "INVALID_ACTION")
        assert "picture" in blind.json["message"]
        seen = await served.send("POST", path, {"action": "screenshot"})
        assert seen.json["answer"]["content"][1]["type"] == "image"
        tapped = await served.send("POST", path, click)
        assert tapped.status == 200, tapped.json
        touched = [(one["x"], one["y"]) for one in w.inputs() if one["action"] == "down"]
        assert touched[-1] == (540, 1200)
        given = await served.send("POST", f"{path}&picture={quote('1080x2400')}", click)
        assert given.status == 200
        touched = [(one["x"], one["y"]) for one in w.inputs() if one["action"] == "down"]
        assert touched[-1] == (353, 784)


@live
async def test_by_http_each_seed_answers_in_its_own_form(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10)) as w, http_door(tmp_path, runtime=w.runtime) as served:

        async def answer(dialect: str, written: Any) -> Any:
            return (await served.send("POST", f"/api/actions?dialect={dialect}", written)).json["answer"]

        await w.open(CONTACTS)
        visible = {"action": "assert_visible", "target": {"text": "Create new contact"}}
        steps = [visible, {"action": "tap", "target": {"text": "Create new contact"}}, visible, visible]
        trace = await answer("agentest", steps)
        assert (trace["success"], trace["stepsCompleted"], trace["totalSteps"]) == (False, 3, 4)
        assert [result["success"] for result in trace["results"]] == [True, True, False]
        assert trace["results"][1]["action"] == steps[1]
        assert trace["screenChanged"] is True
        assert trace["error"] == trace["results"][2]["error"]
        assert trace["finalUiTree"]
        single = await answer("agentest", {"action": "press_key", "keycode": "KEYCODE_BACK"})
        assert single["results"][0]["action"]["action"] == "press_key"
        back = await answer("mobile_debug", {"name": "press_back", "arguments": {"platform": "android"}})
        assert back["action_type"] == "press_back"
        assert back["lifecycle_state"] in ("pending_verification", "failed")
        assert back["target"]["selector"] == {"key": "back"}
        await w.open(CONTACTS)
        tap = {"name": "tap", "arguments": {"x": 940, "y": 2000, "reason": "I add a contact"}}
        assert "\n" in (await answer("interaction", tap))["text"], "what changed"


UNREADABLE = (
    ("dialect=klingon", b"{}", "dialect"),
    ("dialect=ui_tars", b"Thought: nothing", "no action"),
    ("dialect=anthropic_computer", b'{"action": "middle_click"}', "middle"),
    ("dialect=openpocket", b'{"type": "tap"}', "coordinates"),
    ("dialect=aitw&frame=furlong", b'{"results/action_type": 5}', "frame"),
    ("dialect=aitw&colour=red", b'{"results/action_type": 5}', "colour"),
)


@live
async def test_what_can_not_be_read_touches_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10)) as w, http_door(tmp_path, runtime=w.runtime) as served:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        for query, body, told in UNREADABLE:
            answer = await served.ask("POST", f"/api/actions?{query}", headers, body)
            assert answer.status in (422, 501), answer.json
            assert told in answer.json["message"]
            assert answer.json["hint"]
        assert w.inputs() == []


async def test_openpocket_is_a_profile_of_ten_tools_and_its_snapshot(tmp_path: Path) -> None:
    async with mcp_door(tmp_path, "openpocket", clock=FastClock(10)) as ask:
        assert len(tools_of_profile("openpocket")) == 11
        started = await ask("launch_app", packageName=CONTACTS, reason="I open it")
        assert not started.is_error, started.text
        assert _front(ask.world) == CONTACTS
        assert re.search(r'"Create new contact"? \[\d+,\d+\]\[\d+,\d+\]', started.text), started.text
        looked = await ask("screen_snapshot")
        snapshot, _, listed = looked.text.partition("\n")
        described = json.loads(snapshot)
        assert (described["width"], described["height"], described["currentApp"]) == (1080, 2400, CONTACTS)
        assert 0 < described["scale"] <= 1
        assert {"deviceId", "capturedAt"} <= set(described)
        assert len(looked.images) == 1
        left, top, right, bottom = map(int, re.findall(r"\d+", listed.split("Create new contact")[1])[:4])
        await ask("tap", x=(left + right) / 2, y=(top + bottom) / 2, reason="I add a contact")
        assert "First name" in (await ask("screen_snapshot")).text
        nowhere = await ask("tap", x="left", y=3)
        assert nowhere.is_error
        assert "coordinates" in nowhere.text


async def test_a_prompt_for_mobile_mcp_works(tmp_path: Path) -> None:
    async with mcp_door(tmp_path, "mobile_mcp", clock=FastClock(10)) as ask:
        w = ask.world
        names = [one.name for one in tools_of_profile("mobile_mcp")]
        assert all(name.startswith("mobile_") for name in names)
        assert w.serial in (await ask("mobile_list_available_devices")).text
        assert "1080x2400" in (await ask("mobile_get_screen_size", device=w.serial)).text
        assert "Contacts (com.google.android.contacts)" in (await ask("mobile_list_apps")).text
        await ask("mobile_launch_app", device=w.serial, packageName=CONTACTS)
        assert _front(w) == CONTACTS
        await ask("mobile_list_elements_on_screen", device=w.serial)
        await ask("mobile_click_on_screen_at_coordinates", device=w.serial, x=540, y=1200)
        assert (540, 1200) in [(one["x"], one["y"]) for one in w.inputs() if one["action"] == "down"]
        shot = await ask("mobile_take_screenshot", device=w.serial)
        assert len(shot.images) == 1
        wrong = await ask("mobile_press_button", device=w.serial, button="SELF_DESTRUCT")
        assert wrong.is_error
        assert "must be one of" in wrong.text


async def test_a_prompt_for_agent_device_works(tmp_path: Path) -> None:
    async with mcp_door(tmp_path, "agent_device", clock=FastClock(10)) as ask:
        opened = await ask("open", app="Kontakte")
        assert not opened.is_error, opened.text
        assert _front(ask.world) == CONTACTS
        seen = await ask("snapshot")
        assert "Create new contact" in seen.text
        await ask("click", target="text=Create new contact")
        filled = await ask("fill", target={"kind": "selector", "selector": "text=First name"}, text="Ada")
        assert not filled.is_error, filled.text
        assert not (await ask("is", predicate="visible", selector="text=Save")).is_error
        assert (await ask("is", predicate="visible", selector="text=Nothing")).is_error


def _act(home: Path, words: Any, *options: str) -> Any:
    env = {"HANDRAIL_HOME": str(home), "HANDRAIL_ADB": str(home / "no-adb"), "HANDRAIL_NO_DAEMON": "1"}
    return CliRunner().invoke(act, ["--sim", *options], input=_body(words), env=env)


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("ui_tars", "Thought: I open it.\nAction: open_app(app_name='Uhr')"),
        ("androidworld", {"action_type": "open_app", "app_name": "clock"}),
        ("w3c_actions", {"script": "mobile: clickGesture", "args": [{"x": 540, "y": 1300}]}),
        ("openpocket", {"type": "launch_app", "packageName": CLOCK}),
    ],
)
def test_act_answers_as_the_maker_does(tmp_path: Path, dialect: str, words: Any) -> None:
    done = _act(tmp_path, words, "--dialect", dialect)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.output)
    if dialect == "ui_tars":
        assert [part["type"] for part in answer["content"]] == ["text", "image_url"]
    elif dialect == "androidworld":
        assert any("Stopwatch" in one["text"] for one in answer["ui_elements"])
    elif dialect == "w3c_actions":
        assert answer == {"value": None}
    else:
        assert answer["success"]


def test_act_tells_a_refusal_in_the_makers_form_and_by_its_exit_code(tmp_path: Path) -> None:
    done = _act(tmp_path, {"action": "middle_click", "coordinate": [1, 2]}, "--dialect", "anthropic_computer")
    assert done.exit_code != 0
    answer = json.loads(done.output)
    assert (answer["type"], answer["is_error"]) == ("tool_result", True)
