"""Keys by every name that a caller may use, as one closed table."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

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
    "play_pause": "KEYCODE_MEDIA_PLAY_PAUSE",
}  # fmt: skip
"""Short names; every KEYCODE_* constant and every number works as well."""

_NAVIGATION = {
    "back",
    "home",
    "recents",
    "KEYCODE_BACK",
    "KEYCODE_HOME",
    "KEYCODE_APP_SWITCH",
    "4",
    "3",
    "187",
}
_CONSTANT = re.compile(r"KEYCODE_[A-Z0-9_]{1,40}")
_HIGHEST_CODE = 1_000


def _check(key: Any) -> Any:
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise ValueError("a key is a name, a KEYCODE_* constant or a number")
    text = str(key)
    if re.fullmatch(r"\d{1,4}", text, re.ASCII) and int(text) <= _HIGHEST_CODE:
        return key
    if text in KEYS or _CONSTANT.fullmatch(text):
        return key
    nearest = get_close_matches(text.lower(), KEYS, n=3, cutoff=0.5)
    names = f"did you mean {' or '.join(nearest)}?" if nearest else f"known names: {', '.join(KEYS)}"
    raise ValueError(f"unknown key {text[:40]!r}; {names}")


Key = Annotated[
    str | int,
    BeforeValidator(_check),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": list(KEYS)},
                {"type": "string", "pattern": r"^(KEYCODE_[A-Z0-9_]+|[0-9]{1,4})$"},
                {"type": "integer", "minimum": 0, "maximum": _HIGHEST_CODE},
            ]
        }
    ),
]
"""A short name (back, home, enter, recents, …), a KEYCODE_* constant, or a key code."""


def android_key(key: str | int) -> str:
    """What `input keyevent` takes."""
    return KEYS.get(str(key), str(key))


def is_navigation(key: str | int) -> bool:
    """True for the keys that leave a screen."""
    return str(key) in _NAVIGATION


_CONFIRMING = frozenset(
    {"KEYCODE_ENTER", "KEYCODE_DPAD_CENTER", "KEYCODE_SPACE", "KEYCODE_NUMPAD_ENTER", "KEYCODE_BUTTON_A"}
) | {"66", "23", "62", "160", "96"}
_LEAVING = frozenset({"KEYCODE_HOME", "KEYCODE_APP_SWITCH", "3", "187"})


def confirms(key: str | int) -> bool:
    """True for the keys that press what has the focus."""
    return android_key(key) in _CONFIRMING


def leaves_app(key: str | int) -> bool:
    """True for the keys that put another app in front."""
    return android_key(key) in _LEAVING
