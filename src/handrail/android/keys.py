"""Every key by each of its names: short (`back`), Android's (`KEYCODE_BACK`, 4), the web's (`GoBack`).

The vocabulary has the short names and the numbers; this file adds what browsers call them.
"""

from __future__ import annotations

from difflib import get_close_matches

from handrail.errors import InvalidAction
from handrail.protocol.keys import CODES, KEYS, NAMES, code_of

W3C: dict[str, str] = {
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
    "KEYCODE_MENU": "ContextMenu",
    "KEYCODE_SEARCH": "BrowserSearch",
    "KEYCODE_CAMERA": "Camera",
    "KEYCODE_CUT": "Cut",
    "KEYCODE_COPY": "Copy",
    "KEYCODE_PASTE": "Paste",
    "KEYCODE_INSERT": "Insert",
    "KEYCODE_HELP": "Help",
    "KEYCODE_SLEEP": "Standby",
    "KEYCODE_WAKEUP": "WakeUp",
    "KEYCODE_NOTIFICATION": "Notification",
    "KEYCODE_CALL": "Call",
    "KEYCODE_ENDCALL": "EndCall",
    "KEYCODE_VOLUME_UP": "AudioVolumeUp",
    "KEYCODE_VOLUME_DOWN": "AudioVolumeDown",
    "KEYCODE_VOLUME_MUTE": "AudioVolumeMute",
    "KEYCODE_MEDIA_PLAY_PAUSE": "MediaPlayPause",
    "KEYCODE_MEDIA_STOP": "MediaStop",
    "KEYCODE_MEDIA_NEXT": "MediaTrackNext",
    "KEYCODE_MEDIA_PREVIOUS": "MediaTrackPrevious",
    "KEYCODE_BRIGHTNESS_UP": "BrightnessUp",
    "KEYCODE_BRIGHTNESS_DOWN": "BrightnessDown",
    **{f"KEYCODE_F{number}": f"F{number}" for number in range(1, 13)},
}
"""`KeyboardEvent.key` values; the first eighteen are seed 003's."""

_FROM_W3C = {name: constant for constant, name in W3C.items()} | {"Space": "KEYCODE_SPACE"}


def key_code(key: str | int) -> int:
    """The number behind any spelling; raises `InvalidAction` for what is no key."""
    text = str(key)
    code = code_of(_FROM_W3C.get(text, text))
    if code is None:
        near = get_close_matches(text, [*KEYS, *CODES, *_FROM_W3C], n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "Use a name such as back, or a key code."
        raise InvalidAction(f"unknown key {text[:60]!r}", hint=hint, path="key", delivery="not_delivered")
    return code


def key_name(key: str | int) -> str:
    """The KEYCODE_* constant, or the bare number of a key that Android has no name for."""
    code = key_code(key)
    return NAMES.get(code, str(code))


def w3c_name(key: str | int) -> str | None:
    """What browsers call it, letters and digits included; None where they have no word."""
    name = key_name(key)
    if name in W3C:
        return W3C[name]
    character = name.removeprefix("KEYCODE_").lower()
    return character if len(character) == 1 and character.isascii() and name.startswith("KEYCODE_") else None
