"""One key, three names."""

from __future__ import annotations

import pytest

from handrail.android.input import W3C, key_code, key_name, w3c_name
from handrail.errors import InvalidAction
from handrail.protocol.keys import CODES, KEYS, NAMES
from tests.cases import each

SEED_003 = {
    "KEYCODE_BACK": "GoBack",
    "KEYCODE_HOME": "GoHome",
    "KEYCODE_APP_SWITCH": "AppSwitch",
    "KEYCODE_ENTER": "Enter",
    "KEYCODE_DEL": "Backspace",
    "KEYCODE_FORWARD_DEL": "Delete",
    "KEYCODE_TAB": "Tab",
    "KEYCODE_ESCAPE": "Escape",
    "KEYCODE_SPACE": " ",
    "KEYCODE_DPAD_UP": "ArrowUp",
    "KEYCODE_DPAD_DOWN": "ArrowDown",
    "KEYCODE_DPAD_LEFT": "ArrowLeft",
    "KEYCODE_DPAD_RIGHT": "ArrowRight",
    "KEYCODE_MOVE_HOME": "Home",
    "KEYCODE_MOVE_END": "End",
    "KEYCODE_PAGE_UP": "PageUp",
    "KEYCODE_PAGE_DOWN": "PageDown",
    "KEYCODE_POWER": "Power",
}
LANDMARKS = {
    "KEYCODE_UNKNOWN": 0,
    "KEYCODE_HOME": 3,
    "KEYCODE_0": 7,
    "KEYCODE_A": 29,
    "KEYCODE_ENTER": 66,
    "KEYCODE_BUTTON_A": 96,
    "KEYCODE_F1": 131,
    "KEYCODE_NUMPAD_0": 144,
    "KEYCODE_VOLUME_MUTE": 164,
    "KEYCODE_APP_SWITCH": 187,
    "KEYCODE_ASSIST": 219,
    "KEYCODE_WAKEUP": 224,
    "KEYCODE_VOICE_ASSIST": 231,
    "KEYCODE_TV_INPUT_HDMI_1": 243,
    "KEYCODE_HELP": 259,
    "KEYCODE_STEM_PRIMARY": 264,
    "KEYCODE_MEDIA_SKIP_FORWARD": 272,
    "KEYCODE_PASTE": 279,
    "KEYCODE_ALL_APPS": 284,
    "KEYCODE_PROFILE_SWITCH": 288,
    "KEYCODE_KEYBOARD_BACKLIGHT_DOWN": 305,
    "KEYCODE_RECENT_APPS": 312,
    "KEYCODE_EMOJI_PICKER": 317,
    "KEYCODE_SCREENSHOT": 318,
}


def test_the_table_has_androids_numbers_without_a_gap() -> None:
    assert {name: CODES[name] for name in LANDMARKS} == LANDMARKS
    assert sorted(CODES.values()) == list(range(319))
    assert len(NAMES) == len(CODES)


@each("spelling", ["back", "KEYCODE_BACK", "GoBack", "4", 4])
def test_every_spelling_is_the_same_key(spelling: str | int) -> None:
    assert (key_code(spelling), key_name(spelling), w3c_name(spelling)) == (4, "KEYCODE_BACK", "GoBack")


def test_every_short_name_of_the_vocabulary_is_a_key() -> None:
    assert all(key_name(short) == constant for short, constant in KEYS.items())


def test_seed_003s_eighteen_names_are_there() -> None:
    assert SEED_003.items() <= W3C.items()
    assert all(key_name(web) == constant for constant, web in SEED_003.items() if web != " ")
    assert key_name("Space") == "KEYCODE_SPACE"


def test_letters_and_digits_are_their_own_web_names() -> None:
    assert (w3c_name("KEYCODE_Q"), w3c_name("KEYCODE_7")) == ("q", "7")
    assert w3c_name("KEYCODE_TV_ZOOM_MODE") is None


def test_a_vendors_key_goes_by_its_number() -> None:
    assert (key_code(700), key_name("700"), w3c_name(700)) == (700, "700", None)


@each("wrong", ["bakc", "KEYCODE_BAKC", "", "-1", "1001", "4; reboot", "٤"])
def test_what_is_no_key_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidAction) as refusal:
        key_code(wrong)
    assert refusal.value.details["path"] == "key"


def test_a_slip_of_the_finger_gets_a_hint() -> None:
    with pytest.raises(InvalidAction) as refusal:
        key_code("KEYCODE_BAKC")
    assert "KEYCODE_BACK" in refusal.value.hint
