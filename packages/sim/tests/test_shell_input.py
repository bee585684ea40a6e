"""`input`, dumps and screenshots by shell."""

from __future__ import annotations

import asyncio
import struct

import pytest

from handrail_sim.shell import capture
from tests.shell_person import new_phone, out, shell


def screenshot(command: str) -> bytes:
    """Painting happens in a thread; the phone's clock stands still meanwhile."""
    answer = asyncio.run(capture(new_phone(), command))
    assert answer.errors == ""
    return answer.stdout


def actions(command: str) -> list[str]:
    phone = new_phone()
    phone.input_log.clear()
    assert out(command, phone=phone) == ""
    return [str(entry["action"]) for entry in phone.input_log]


def test_a_tap_is_down_and_up_at_one_place() -> None:
    phone = new_phone()
    phone.input_log.clear()
    assert out("input tap 300 400.5", phone=phone) == ""
    assert [(entry["action"], entry["x"], entry["y"]) for entry in phone.input_log] == [
        ("down", 300.0, 400.5),
        ("up", 300.0, 400.5),
    ]


def test_a_swipe_takes_its_time_and_moves_in_between() -> None:
    phone = new_phone()
    phone.input_log.clear()
    assert out("input touchscreen -d 0 swipe 500 1500 500 500 320", phone=phone) == ""
    names = [entry["action"] for entry in phone.input_log]
    assert names[0] == "down"
    assert names[-1] == "up"
    assert names.count("move") > 10
    assert phone.input_log[-1]["ms"] - phone.input_log[0]["ms"] >= 320


def test_a_swipe_on_the_spot_is_a_long_press() -> None:
    assert actions("input swipe 300 300 300 300 800") == ["down", "up"]


def test_text_is_typed_with_percent_s_for_a_space() -> None:
    phone = new_phone()
    phone.input_log.clear()
    assert out("input text 'hello%sworld'", phone=phone) == ""
    assert phone.input_log[-1]["text"] == "hello world"


def test_text_that_no_key_types_is_a_null_pointer_as_on_android() -> None:
    answer = shell("input text 'größe'")
    assert answer.status == 255
    assert "java.lang.NullPointerException: Attempt to get length of null array" in answer.errors


def test_keys_go_by_number_by_name_and_by_full_name() -> None:
    phone = new_phone()
    phone.input_log.clear()
    assert out("input keyevent 4 KEYCODE_HOME enter", phone=phone) == ""
    assert [entry["code"] for entry in phone.input_log] == [4, 3, 66]


def test_a_key_combination_holds_its_modifiers() -> None:
    phone = new_phone()
    phone.input_log.clear()
    assert out("input keycombination CTRL_LEFT A", phone=phone) == ""
    assert [(entry["code"], bool(entry["meta"] & 0x1000)) for entry in phone.input_log] == [(29, True)]


def test_motion_events_come_one_by_one() -> None:
    assert actions("input motionevent DOWN 9 9; input motionevent MOVE 9 20; input motionevent UP 9 20") == [
        "down",
        "move",
        "up",
    ]


@pytest.mark.parametrize(
    "command", ["input tap 1", "input nosuch", "input tap a b", "input motionevent FLY 1 1"]
)
def test_a_wrong_call_of_input_fails_with_255(command: str) -> None:
    answer = shell(command)
    assert answer.status == 255
    assert answer.errors


def test_a_dump_goes_to_the_file_that_was_named_or_to_the_card() -> None:
    phone = new_phone()
    assert out("uiautomator dump", phone=phone) == "UI hierchary dumped to: /sdcard/window_dump.xml\n"
    assert out("cat /sdcard/window_dump.xml", phone=phone) == phone.dump()
    named = "rm -f /data/local/tmp/ui.xml; uiautomator dump /data/local/tmp/ui.xml && echo success"
    assert out(named, phone=phone) == "UI hierchary dumped to: /data/local/tmp/ui.xml\nsuccess\n"


def test_a_dump_to_the_terminal_ends_with_the_message() -> None:
    phone = new_phone()
    text = out("uiautomator dump /dev/tty", phone=phone)
    assert text == phone.dump() + "UI hierchary dumped to: /dev/tty\n"
    assert out("uiautomator dump --compressed /dev/tty | head -c 5", phone=phone) == "<?xml"


def test_faults_befall_a_dump() -> None:
    phone = new_phone()
    phone.faults.add("dump_null_root")
    failed = shell("uiautomator dump", phone=phone)
    assert failed.errors == "ERROR: null root node returned by UiTestAutomationBridge.\n"
    phone.faults.clear()
    phone.faults.add("dump_killed")
    assert shell("uiautomator dump", phone=phone).status == 137
    phone.faults.clear()
    assert shell("uiautomator dump", phone=phone).status == 0


def test_latency_holds_a_command_up() -> None:
    phone = new_phone()
    phone.faults.add("latency", command="getprop", ms=700)
    before = phone.clock.monotonic_ms()
    out("getprop ro.serialno", phone=phone)
    assert phone.clock.monotonic_ms() - before >= 700
    middle = phone.clock.monotonic_ms()
    out("echo quick", phone=phone)
    assert phone.clock.monotonic_ms() == middle


def test_a_screenshot_is_a_png_of_the_screens_size() -> None:
    data = screenshot("screencap -p")
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1080, 2400)


def test_a_raw_screenshot_has_a_header_of_sixteen_bytes() -> None:
    data = screenshot("screencap")
    assert struct.unpack("<4I", data[:16]) == (1080, 2400, 1, 1)
    assert len(data) == 16 + 1080 * 2400 * 4


def test_a_screenshot_can_be_stored_on_the_phone() -> None:
    assert screenshot("screencap -p /sdcard/s.png; head -c 4 /sdcard/s.png | tail -c 3") == b"PNG"


def test_a_recording_takes_its_time_and_leaves_a_file() -> None:
    pytest.importorskip("av")
    phone = new_phone()
    assert (
        out("screenrecord --time-limit 2 /sdcard/r.mp4; head -c 8 /sdcard/r.mp4 | tail -c 4", phone=phone)
        == "ftyp"
    )
    assert phone.clock.monotonic_ms() >= 2000


def test_the_hold_of_a_drag_is_part_of_its_duration() -> None:
    phone = new_phone()
    phone.input_log.clear()
    assert out("input draganddrop 500 1500 500 500 1300", phone=phone) == ""
    down, moved, *_, up = phone.input_log
    assert (down["action"], moved["action"], up["action"]) == ("down", "move", "up")
    assert moved["ms"] - down["ms"] >= 500
    assert 1300 <= up["ms"] - down["ms"] < 1600
