"""Keys by every name that a caller may use, as one closed table, and what each can press.

Spellings are kept as they came; whoever decides, or sends one to a device, goes by `name_of_key`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from handrail.protocol.target import OrShort

KEYS: dict[str, str] = {
    "back": "KEYCODE_BACK", "home": "KEYCODE_HOME", "recents": "KEYCODE_APP_SWITCH",
    "enter": "KEYCODE_ENTER", "delete": "KEYCODE_DEL", "forward_delete": "KEYCODE_FORWARD_DEL",
    "tab": "KEYCODE_TAB", "space": "KEYCODE_SPACE", "escape": "KEYCODE_ESCAPE", "up": "KEYCODE_DPAD_UP",
    "down": "KEYCODE_DPAD_DOWN", "left": "KEYCODE_DPAD_LEFT", "right": "KEYCODE_DPAD_RIGHT",
    "center": "KEYCODE_DPAD_CENTER", "move_home": "KEYCODE_MOVE_HOME", "move_end": "KEYCODE_MOVE_END",
    "page_up": "KEYCODE_PAGE_UP", "page_down": "KEYCODE_PAGE_DOWN", "cut": "KEYCODE_CUT",
    "copy": "KEYCODE_COPY", "paste": "KEYCODE_PASTE", "menu": "KEYCODE_MENU", "search": "KEYCODE_SEARCH",
    "power": "KEYCODE_POWER", "wakeup": "KEYCODE_WAKEUP", "sleep": "KEYCODE_SLEEP",
    "volume_up": "KEYCODE_VOLUME_UP", "volume_down": "KEYCODE_VOLUME_DOWN", "mute": "KEYCODE_VOLUME_MUTE",
    "camera": "KEYCODE_CAMERA", "notification": "KEYCODE_NOTIFICATION",
    "play_pause": "KEYCODE_MEDIA_PLAY_PAUSE", "ctrl": "KEYCODE_CTRL_LEFT", "shift": "KEYCODE_SHIFT_LEFT",
    "alt": "KEYCODE_ALT_LEFT", "meta": "KEYCODE_META_LEFT",
}  # fmt: skip
"""Short names; every KEYCODE_* constant and every number works as well."""

_IN_ORDER = """
UNKNOWN SOFT_LEFT SOFT_RIGHT HOME BACK CALL ENDCALL 0 1 2 3 4 5 6 7 8 9 STAR POUND DPAD_UP DPAD_DOWN
DPAD_LEFT DPAD_RIGHT DPAD_CENTER VOLUME_UP VOLUME_DOWN POWER CAMERA CLEAR A B C D E F G H I J K L M N O P Q
R S T U V W X Y Z COMMA PERIOD ALT_LEFT ALT_RIGHT SHIFT_LEFT SHIFT_RIGHT TAB SPACE SYM EXPLORER ENVELOPE
ENTER DEL GRAVE MINUS EQUALS LEFT_BRACKET RIGHT_BRACKET BACKSLASH SEMICOLON APOSTROPHE SLASH AT NUM
HEADSETHOOK FOCUS PLUS MENU NOTIFICATION SEARCH MEDIA_PLAY_PAUSE MEDIA_STOP MEDIA_NEXT MEDIA_PREVIOUS
MEDIA_REWIND MEDIA_FAST_FORWARD MUTE PAGE_UP PAGE_DOWN PICTSYMBOLS SWITCH_CHARSET BUTTON_A BUTTON_B BUTTON_C
BUTTON_X BUTTON_Y BUTTON_Z BUTTON_L1 BUTTON_R1 BUTTON_L2 BUTTON_R2 BUTTON_THUMBL BUTTON_THUMBR BUTTON_START
BUTTON_SELECT BUTTON_MODE ESCAPE FORWARD_DEL CTRL_LEFT CTRL_RIGHT CAPS_LOCK SCROLL_LOCK META_LEFT META_RIGHT
FUNCTION SYSRQ BREAK MOVE_HOME MOVE_END INSERT FORWARD MEDIA_PLAY MEDIA_PAUSE MEDIA_CLOSE MEDIA_EJECT
MEDIA_RECORD F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 NUM_LOCK NUMPAD_0 NUMPAD_1 NUMPAD_2 NUMPAD_3 NUMPAD_4
NUMPAD_5 NUMPAD_6 NUMPAD_7 NUMPAD_8 NUMPAD_9 NUMPAD_DIVIDE NUMPAD_MULTIPLY NUMPAD_SUBTRACT NUMPAD_ADD
NUMPAD_DOT NUMPAD_COMMA NUMPAD_ENTER NUMPAD_EQUALS NUMPAD_LEFT_PAREN NUMPAD_RIGHT_PAREN VOLUME_MUTE INFO
CHANNEL_UP CHANNEL_DOWN ZOOM_IN ZOOM_OUT TV WINDOW GUIDE DVR BOOKMARK CAPTIONS SETTINGS TV_POWER TV_INPUT
STB_POWER STB_INPUT AVR_POWER AVR_INPUT PROG_RED PROG_GREEN PROG_YELLOW PROG_BLUE APP_SWITCH BUTTON_1
BUTTON_2 BUTTON_3 BUTTON_4 BUTTON_5 BUTTON_6 BUTTON_7 BUTTON_8 BUTTON_9 BUTTON_10 BUTTON_11 BUTTON_12
BUTTON_13 BUTTON_14 BUTTON_15 BUTTON_16 LANGUAGE_SWITCH MANNER_MODE 3D_MODE CONTACTS CALENDAR MUSIC
CALCULATOR ZENKAKU_HANKAKU EISU MUHENKAN HENKAN KATAKANA_HIRAGANA YEN RO KANA ASSIST BRIGHTNESS_DOWN
BRIGHTNESS_UP MEDIA_AUDIO_TRACK SLEEP WAKEUP PAIRING MEDIA_TOP_MENU 11 12 LAST_CHANNEL TV_DATA_SERVICE
VOICE_ASSIST TV_RADIO_SERVICE TV_TELETEXT TV_NUMBER_ENTRY TV_TERRESTRIAL_ANALOG TV_TERRESTRIAL_DIGITAL
TV_SATELLITE TV_SATELLITE_BS TV_SATELLITE_CS TV_SATELLITE_SERVICE TV_NETWORK TV_ANTENNA_CABLE
TV_INPUT_HDMI_1 TV_INPUT_HDMI_2 TV_INPUT_HDMI_3 TV_INPUT_HDMI_4 TV_INPUT_COMPOSITE_1 TV_INPUT_COMPOSITE_2
TV_INPUT_COMPONENT_1 TV_INPUT_COMPONENT_2 TV_INPUT_VGA_1 TV_AUDIO_DESCRIPTION TV_AUDIO_DESCRIPTION_MIX_UP
TV_AUDIO_DESCRIPTION_MIX_DOWN TV_ZOOM_MODE TV_CONTENTS_MENU TV_MEDIA_CONTEXT_MENU TV_TIMER_PROGRAMMING HELP
NAVIGATE_PREVIOUS NAVIGATE_NEXT NAVIGATE_IN NAVIGATE_OUT STEM_PRIMARY STEM_1 STEM_2 STEM_3 DPAD_UP_LEFT
DPAD_DOWN_LEFT DPAD_UP_RIGHT DPAD_DOWN_RIGHT MEDIA_SKIP_FORWARD MEDIA_SKIP_BACKWARD MEDIA_STEP_FORWARD
MEDIA_STEP_BACKWARD SOFT_SLEEP CUT COPY PASTE SYSTEM_NAVIGATION_UP SYSTEM_NAVIGATION_DOWN
SYSTEM_NAVIGATION_LEFT SYSTEM_NAVIGATION_RIGHT ALL_APPS REFRESH THUMBS_UP THUMBS_DOWN PROFILE_SWITCH
VIDEO_APP_1 VIDEO_APP_2 VIDEO_APP_3 VIDEO_APP_4 VIDEO_APP_5 VIDEO_APP_6 VIDEO_APP_7 VIDEO_APP_8
FEATURED_APP_1 FEATURED_APP_2 FEATURED_APP_3 FEATURED_APP_4 DEMO_APP_1 DEMO_APP_2 DEMO_APP_3 DEMO_APP_4
KEYBOARD_BACKLIGHT_DOWN KEYBOARD_BACKLIGHT_UP KEYBOARD_BACKLIGHT_TOGGLE STYLUS_BUTTON_PRIMARY
STYLUS_BUTTON_SECONDARY STYLUS_BUTTON_TERTIARY STYLUS_BUTTON_TAIL RECENT_APPS MACRO_1 MACRO_2 MACRO_3 MACRO_4
EMOJI_PICKER SCREENSHOT
"""

CODES: dict[str, int] = {f"KEYCODE_{name}": number for number, name in enumerate(_IN_ORDER.split())}
"""Android's constants up to API 35; their numbers run from 0 to 318 without a gap."""

NAMES: dict[int, str] = {number: name for name, number in CODES.items()}

_WEB = {
    "arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right", "end": "move_end",
    "pageup": "page_up", "pagedown": "page_down", "backspace": "delete", "esc": "escape", "return": "enter",
    "control": "ctrl", "cmd": "meta", "command": "meta", "option": "alt", "contextmenu": "menu",
}  # fmt: skip
"""What web pages and keyboards call some keys; `home` stays the button of a phone."""
_HIGHEST_CODE = 1_000
"""Vendors have keys of their own above Android's."""
_SHORT = {constant: name for name, constant in KEYS.items()}


def number_of_key(key: str | int) -> int | None:
    """The number that a device reads, whatever the spelling; None for what is not a key."""
    text = str(key)
    if re.fullmatch(r"[0-9]{1,4}", text) and int(text) <= _HIGHEST_CODE:
        return int(text)
    if len(text) == 1 and text.isascii() and text.isalpha():
        return CODES[f"KEYCODE_{text.upper()}"]
    low = text.lower().replace(" ", "_")
    short = KEYS.get(text) or KEYS.get(_WEB.get(low, low))
    return CODES.get(short or text, CODES.get(f"KEYCODE_{text.upper()}"))


def key_for_code(code: int) -> str:
    """Returns its short name, else its constant, else the bare number."""
    constant = NAMES.get(code, str(code))
    return _SHORT.get(constant, constant)


def name_of_key(key: str | int) -> str:
    """The canonical name of a key. Raises `ValueError`."""
    code = number_of_key(key)
    if code is None:
        raise ValueError(f"{key!r} is not a key")
    return key_for_code(code)


def _check_key(key: Any) -> str | int:
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise ValueError("a key is a name, a KEYCODE_* constant or a number")
    text = str(key)
    if number_of_key(key) is not None:
        return str(int(text)) if isinstance(key, str) and text.isdigit() else key
    nearest = get_close_matches(text.lower(), KEYS, n=3, cutoff=0.5)
    if text.startswith("KEYCODE_"):
        nearest = get_close_matches(text, CODES, n=3) or nearest
    names = f"did you mean {' or '.join(nearest)}?" if nearest else f"known names: {', '.join(KEYS)}"
    raise ValueError(f"unknown key {text[:40]!r}; {names}")


Key = Annotated[
    str | int,
    BeforeValidator(_check_key),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": list(KEYS)},
                {"type": "string", "pattern": r"^(KEYCODE_[A-Z0-9_]+|[0-9]{1,4}|[A-Za-z])$"},
                {"type": "integer", "minimum": 0, "maximum": _HIGHEST_CODE},
            ]
        }
    ),
]
"""A short name (back, home, enter, recents, …), a KEYCODE_* constant, or a key code."""
_SINGLE_KEY = f"({'|'.join(KEYS)}|[A-Za-z]|[0-9]{{1,3}})"

Chord = Annotated[
    tuple[Key, ...],
    Field(min_length=2, max_length=4),
    BeforeValidator(lambda keys: [k.strip() for k in keys.split("+")] if isinstance(keys, str) else keys),
    OrShort('"ctrl+a"', rf"^{_SINGLE_KEY}(\+{_SINGLE_KEY}){{1,3}}$"),
]
"""Keys that are down together; those that are held come first. `+` itself is KEYCODE_PLUS."""
NAVIGATION = frozenset({"back", "home", "recents"})
"""Keys that leave a screen."""
LEAVING = frozenset({"home", "recents"})
"""Keys that put another app in front."""


def _keys(names: str) -> frozenset[str]:
    return frozenset(key_for_code(CODES[f"KEYCODE_{name}"]) for name in names.split())


_PRESS_NOTHING = _keys("""
HOME BACK APP_SWITCH RECENT_APPS ALL_APPS ESCAPE NOTIFICATION SETTINGS ASSIST VOICE_ASSIST
VOLUME_UP VOLUME_DOWN VOLUME_MUTE MUTE BRIGHTNESS_UP BRIGHTNESS_DOWN
POWER SLEEP WAKEUP SOFT_SLEEP SHIFT_LEFT SHIFT_RIGHT CTRL_LEFT CTRL_RIGHT ALT_LEFT ALT_RIGHT META_LEFT
META_RIGHT CAPS_LOCK NUM_LOCK SCROLL_LOCK FUNCTION SYM LANGUAGE_SWITCH SWITCH_CHARSET SCREENSHOT SYSRQ
SYSTEM_NAVIGATION_UP SYSTEM_NAVIGATION_DOWN SYSTEM_NAVIGATION_LEFT SYSTEM_NAVIGATION_RIGHT
""")
ANYWHERE = _keys("CALL ENDCALL HEADSETHOOK MEDIA_PLAY_PAUSE CAMERA")
"""Keys that do what a button of the screen does, such as answering a call, whatever has the focus."""
_MOVE = _keys("TAB DPAD_UP DPAD_DOWN DPAD_LEFT DPAD_RIGHT PAGE_UP PAGE_DOWN MOVE_HOME MOVE_END")
_TYPE = _keys("""
DEL FORWARD_DEL CLEAR CUT COPY PASTE INSERT MENU
0 1 2 3 4 5 6 7 8 9 STAR POUND A B C D E F G H I J K L M N O P Q R S T U V W X Y Z COMMA PERIOD GRAVE MINUS
EQUALS LEFT_BRACKET RIGHT_BRACKET BACKSLASH SEMICOLON APOSTROPHE SLASH AT PLUS
NUMPAD_0 NUMPAD_1 NUMPAD_2 NUMPAD_3 NUMPAD_4 NUMPAD_5 NUMPAD_6 NUMPAD_7 NUMPAD_8 NUMPAD_9
NUMPAD_DIVIDE NUMPAD_MULTIPLY NUMPAD_SUBTRACT NUMPAD_ADD NUMPAD_DOT NUMPAD_COMMA NUMPAD_EQUALS
NUMPAD_LEFT_PAREN NUMPAD_RIGHT_PAREN YEN
""")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What some way of typing sends as a key."""


def types_only(text: str) -> bool:
    """Whether no part of it can be a key that presses something."""
    return _CONTROL.search(text) is None


class KeyEffect(Enum):
    """What a key can do to what has the focus. A key that no list knows presses it."""

    NOTHING = "nothing"
    MOVES = "moves"
    """It goes elsewhere, and a slider or a picker is moved by it."""
    TYPES = "types"
    """A field gets or loses characters; on anything else nobody can tell."""
    PRESSES = "presses"


def effect_of_key(key: str) -> KeyEffect:
    """What a key does in a text field; `key` is its canonical name."""
    if key in _MOVE:
        return KeyEffect.MOVES
    if key in _TYPE:
        return KeyEffect.TYPES
    return KeyEffect.NOTHING if key in _PRESS_NOTHING else KeyEffect.PRESSES


HELD = _keys("CTRL_LEFT CTRL_RIGHT SHIFT_LEFT SHIFT_RIGHT ALT_LEFT ALT_RIGHT META_LEFT META_RIGHT FUNCTION")
"""Keys that do nothing by themselves."""
_EDITING = _keys("A C V X Z Y")
_CTRL = _keys("CTRL_LEFT CTRL_RIGHT")
_SHIFT = _keys("SHIFT_LEFT SHIFT_RIGHT")
ALT = _keys("ALT_LEFT ALT_RIGHT")
"""Held for a shortcut that is nobody's own: a page gives such keys to whatever it likes."""


def is_editing(keys: Sequence[str]) -> bool:
    """True for a shortcut that every field understands, such as ctrl+a."""
    held = set(keys) & HELD
    return bool(held) and held <= _CTRL and _EDITING.issuperset(set(keys) - HELD)


def effect_of_chord(keys: Sequence[str]) -> KeyEffect:
    """By canonical names. A shortcut that every field understands edits it; any other may press anything."""
    held, struck = set(keys) & HELD, [key for key in keys if key not in HELD]
    if not struck:
        return KeyEffect.NOTHING
    first = next(at for at, key in enumerate(keys) if key not in HELD)
    if not held or HELD & set(keys[first:]):  # struck before anything is held, it is the key that it is
        # The strongest effect of keys one after another.
        effects = {effect_of_key(key) for key in struck}
        order = (KeyEffect.PRESSES, KeyEffect.TYPES, KeyEffect.MOVES, KeyEffect.NOTHING)
        return next(effect for effect in order if effect in effects)
    if is_editing(keys):
        return KeyEffect.TYPES
    if held <= _CTRL | _SHIFT and _MOVE.issuperset(struck):
        return KeyEffect.MOVES
    if held <= _SHIFT and _TYPE.issuperset(struck):
        return KeyEffect.TYPES
    return KeyEffect.PRESSES
