"""The vocabulary is closed, has the design's names, and checks its numbers."""

import subprocess
import sys
from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS, json_schema
from handrail.protocol.describe import describe, kind_of
from handrail.protocol.device import PressKey
from handrail.protocol.keys import CODES, KEYS
from handrail.protocol.read import action_from
from tests.cases import each

DEVICE_KINDS = """tap hover double_tap long_press swipe drag drag_path pinch rotate scroll_to set_value
type_text
clear_text hide_keyboard press_key press_keys start_app stop_app restart_app reset_app install_app
uninstall_app add_media open_url set_network set_orientation set_appearance set_location
set_clipboard grant_permission revoke_permission shell run_script get_ui_tree read_text get_state list_apps
what_changed
screenshot get_logs get_shared_prefs query_db wait wait_for wait_for_stable expect_visible expect_absent
expect_text expect_state expect_screen expect_app request_human_auth give_answer finish""".split()


def refused_at(path: str, **fields: Any) -> InvalidAction:
    with pytest.raises(InvalidAction) as caught:
        action_from(fields)
    assert caught.value.details["path"] == path
    return caught.value


def test_the_kinds_are_those_of_the_design() -> None:
    assert [kind for kind in ACTIONS if kind not in DESK_ACTIONS] == DEVICE_KINDS
    assert len(DESK_ACTIONS) == 24


@each(
    ("fields", "defaults"),
    [
        ({"type": "long_press", "target": "a"}, {"duration_ms": 1000}),
        ({"type": "swipe", "direction": "up"}, {"duration_ms": 300}),
        ({"type": "drag", "from": "a", "to": "b"}, {"duration_ms": 800}),
        ({"type": "pinch", "cx": 1, "cy": 1, "start_radius": 1, "end_radius": 2}, {"duration_ms": 300}),
        (
            {"type": "rotate", "cx": 1, "cy": 1, "radius": 1, "start_angle_deg": 0, "end_angle_deg": 90},
            {"duration_ms": 400},
        ),
        ({"type": "scroll_to", "target": "a"}, {"direction": "down", "max_scrolls": 10}),
        ({"type": "type_text", "text": "a"}, {"clear": False, "submit": False}),
        ({"type": "run_script", "script": "ls"}, {"timeout_sec": 60}),
        (
            {"type": "get_ui_tree"},
            {"format": "compact", "depth": 0, "max_lines": 200, "only_interactive": False},
        ),
        ({"type": "screenshot"}, {"marks": False}),
        ({"type": "get_logs"}, {"max_lines": 200}),
        ({"type": "query_db", "package": "a.b", "database": "d", "query": "q"}, {"write": False}),
        ({"type": "wait"}, {"duration_ms": 1000}),
        ({"type": "wait_for", "condition": "a"}, {"timeout_ms": 10_000}),
        ({"type": "wait_for_stable"}, {"timeout_ms": 8_000}),
        ({"type": "expect_visible", "target": "a"}, {"timeout_ms": 1_000}),
        (
            {"type": "request_human_auth", "instruction": "Help."},
            {"capability": "unknown", "timeout_sec": 300},
        ),
        ({"type": "finish"}, {"message": "Task finished."}),
    ],
    ids=lambda value: value.get("type", "") if isinstance(value, dict) else "",
)
def test_defaults_are_those_of_the_design(fields: dict[str, Any], defaults: dict[str, Any]) -> None:
    written = action_from(fields).to_dict()
    assert {key: written[key] for key in defaults} == defaults


@each("x", [32_768, -32_768, 1.5, "5", True, None, float("nan"), float("inf")])
def test_a_pixel_is_an_integer_within_its_range(x: Any) -> None:
    refused_at("target.x", type="tap", target={"x": x, "y": 0})


@each("x", [32_767, -32_767, 0])
def test_the_ends_of_the_range_are_pixels(x: int) -> None:
    assert action_from({"type": "tap", "target": {"x": x, "y": x}}).to_dict()["target"] == {"x": x, "y": x}


@each(
    ("path", "fields"),
    [
        ("duration_ms", {"type": "swipe", "direction": "up", "duration_ms": 60_001}),
        ("duration_ms", {"type": "long_press", "target": "a", "duration_ms": -1}),
        ("duration_ms", {"type": "wait", "duration_ms": 600_001}),
        ("timeout_ms", {"type": "wait_for", "condition": "a", "timeout_ms": 600_001}),
        ("timeout_sec", {"type": "run_script", "script": "ls", "timeout_sec": 0}),
        ("timeout_sec", {"type": "run_script", "script": "ls", "timeout_sec": 86_401}),
        ("start_angle_deg", {"type": "rotate", "cx": 1, "cy": 1, "radius": 1, "start_angle_deg": float("nan"),
                             "end_angle_deg": 1}),
        ("max_scrolls", {"type": "scroll_to", "target": "a", "max_scrolls": 0}),
        ("package", {"type": "start_app", "package": "a; rm -rf /"}),
        ("package", {"type": "start_app", "package": ""}),
        ("permission", {"type": "grant_permission", "package": "a.b", "permission": "$(id)"}),
        ("file", {"type": "get_shared_prefs", "package": "a.b", "file": "../x"}),
        ("database", {"type": "query_db", "package": "a.b", "database": "a/b", "query": "q"}),
        ("url", {"type": "open_url", "url": "no scheme"}),
        ("since", {"type": "what_changed", "since": "12"}),
        ("preset", {"type": "set_network", "preset": "5g"}),
        ("speed", {"type": "set_network", "speed": "fast"}),
        ("delay", {"type": "set_network", "delay": "1:"}),
        ("capability", {"type": "request_human_auth", "capability": "money", "instruction": "Pay."}),
        ("instruction", {"type": "request_human_auth"}),
        ("instruction", {"type": "request_human_auth", "instruction": "  "}),
        ("orientation", {"type": "set_orientation", "orientation": "up"}),
        ("command", {"type": "shell", "command": "echo 'open"}),
        ("command", {"type": "shell", "command": []}),
        ("reason", {"type": "tap", "target": "a", "reason": ""}),
        ("expect.all", {"type": "tap", "target": "a", "expect": {"all": []}}),
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused_at_their_field(path: str, fields: dict[str, Any]) -> None:
    refused_at(path, **fields)


@each(
    "fields",
    [
        {"type": "swipe"}, {"type": "swipe", "direction": "up", "from": "1,2", "to": "3,4"},
        {"type": "swipe", "from": "1,2"}, {"type": "swipe", "from": "1,2", "to": "3,4", "target": "a"},
        {"type": "set_network"}, {"type": "expect_text", "target": "a"},
        {"type": "expect_text", "target": "a", "equals": "b", "contains": "c"}, {"type": "expect_screen"},
        {"type": "shell", "command": ["ls"], "raw": True}, {"type": "shell", "command": "  "},
    ],
)  # fmt: skip
def test_fields_that_do_not_go_together_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidAction):
        action_from(fields)


@each("key", [*KEYS, "KEYCODE_BACK", "KEYCODE_VOLUME_UP", 4, "66", 0])
def test_keys_have_many_names(key: str | int) -> None:
    assert action_from({"type": "press_key", "key": key}).to_dict()["key"] == key


@each("key", ["", "keycode_back", "KEYCODE_", "-1", 5000, 1.5, True, "4; reboot"])
def test_other_words_are_no_keys(key: Any) -> None:
    refused_at("key", type="press_key", key=key)


def test_a_misspelt_key_gets_a_suggestion() -> None:
    assert "recents" in refused_at("key", type="press_key", key="recent").message


@each("name", list(CODES))
def test_every_spelling_of_a_key_is_one_key(name: str) -> None:
    """`066` once was another key than 66 for policy, and the same one for the phone."""
    code = CODES[name]
    spelt = [name, code, str(code), f"{code:03}", f"{code:04}", *(one for one in KEYS if KEYS[one] == name)]
    read = [action_from({"type": "press_key", "key": one}) for one in spelt]
    assert len({one.name for one in read if isinstance(one, PressKey)}) == 1
    assert len({(one.presses, one.only_types, one.leaves_app, one.semantic) for one in read}) == 1


@each("key", ["KEYCODE_NO_SUCH", "+66", " 66", "66 ", "0x42", "6_6", "٦٦", "00066", 1001, -1])
def test_what_only_looks_like_a_key_is_refused(key: str | int) -> None:
    refused_at("key", type="press_key", key=key)


def test_a_key_of_a_vendor_keeps_its_number() -> None:
    read = action_from({"type": "press_key", "key": "0700"})
    assert isinstance(read, PressKey)
    assert (read.key, read.name) == ("700", "700")


@each(
    ("fields", "semantic"),
    [
        ({"type": "press_key", "key": "back"}, "navigation"),
        ({"type": "press_key", "key": "KEYCODE_HOME"}, "navigation"),
        ({"type": "press_key", "key": 187}, "navigation"),
        ({"type": "press_key", "key": "enter"}, "input"),
        ({"type": "tap", "target": "a"}, "selection"),
        ({"type": "scroll_to", "target": "a"}, "navigation"),
        ({"type": "start_app", "package": "a.b"}, "system"),
        ({"type": "expect_app", "package": "a.b"}, "observation"),
        ({"type": "window.close", "windowId": "w"}, "control"),
    ],
)
def test_the_meaning_of_an_action_is_known(fields: dict[str, Any], semantic: str) -> None:
    assert action_from(fields).semantic == semantic


@each(
    ("fields", "effect"),
    [
        ({"type": "shell", "command": "ls"}, "system"),
        ({"type": "shell", "command": "ls | wc", "raw": True}, "sensitive"),
        ({"type": "query_db", "package": "a.b", "database": "d", "query": "q"}, "read"),
        ({"type": "query_db", "package": "a.b", "database": "d", "query": "q", "write": True}, "sensitive"),
        ({"type": "toast.dismiss", "id": "t"}, "desk"),
    ],
)
def test_the_effect_follows_what_the_fields_ask_for(fields: dict[str, Any], effect: str) -> None:
    assert action_from(fields).effect == effect


def test_what_touches_the_device_settles_and_what_reads_does_not() -> None:
    assert ACTIONS["tap"].traits.waits == "full"
    assert ACTIONS["get_ui_tree"].traits.waits == "none"
    assert ACTIONS["window.create"].traits.waits == "none"


@each("flag", ["yes", "true", 1, 0, None, []])
def test_only_true_and_false_are_flags(flag: Any) -> None:
    refused_at("clear", type="type_text", text="a", clear=flag)


def test_a_command_is_split_into_tokens_once() -> None:
    action: Any = action_from({"type": "shell", "command": "am start -n 'a b'"})
    assert action.tokens == ["am", "start", "-n", "a b"]


def test_an_action_is_described_alone_as_in_the_whole_vocabulary() -> None:
    defs = json_schema()["$defs"]
    for cls in ACTIONS.values():
        whole = defs[cls.__name__]["properties"]
        told = {one.name: (one.kind, one.text) for one in describe(cls).fields}
        assert told == {
            name: (kind_of(one), one.get("description", "")) for name, one in whole.items() if name != "type"
        }


READS_A_FLOW = """
from handrail.flow.document import loads
from handrail.protocol.actions import ACTION, ACTIONS
loads("env: {MS: 5}\\nsteps:\\n- tap: Save\\n- wait: {duration_ms: '${MS}'}")
print(ACTION.pydantic_complete, sum(cls.__pydantic_complete__ for cls in ACTIONS.values()))
"""


def test_a_flow_builds_only_the_actions_it_has() -> None:
    told = subprocess.run([sys.executable, "-c", READS_A_FLOW], capture_output=True, text=True, check=True)
    whole, built = told.stdout.split()
    assert whole == "False"
    assert int(built) <= 4
