"""Keys as other makers call them: X's names (xdotool), the web's, WebDriver's code points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from handrail.dialects.parts import Conversation
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import PressKey, PressKeys
from handrail.protocol.keys import CODES, KEYS, code_of, key_of, name_of_key
from handrail.protocol.read import nearest

_ELSEWHERE = {
    "return": "enter", "kp_enter": "enter", "backspace": "delete", "bs": "delete", "del": "forward_delete",
    "delete": "forward_delete", "esc": "back", "escape": "back", "xf86back": "back", "goback": "back",
    "super": "home", "super_l": "home", "win": "home", "cmd": "meta", "command": "meta", "option": "alt",
    "opt": "alt", "control": "ctrl", "control_l": "ctrl", "control_r": "ctrl", "ctrl_l": "ctrl",
    "shift_l": "shift", "shift_r": "shift", "alt_l": "alt", "alt_r": "alt", "meta_l": "meta",
    "arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
    "home": "move_home", "end": "move_end", "pageup": "page_up", "pagedown": "page_down",
    "prior": "page_up", "next": "page_down", "space": "space", "spacebar": "space", "plus": "KEYCODE_PLUS",
    "minus": "KEYCODE_MINUS", "comma": "KEYCODE_COMMA", "period": "KEYCODE_PERIOD", "slash": "KEYCODE_SLASH",
    "xf86audioraisevolume": "volume_up", "xf86audiolowervolume": "volume_down", "xf86audiomute": "mute",
    "insert": "KEYCODE_INSERT", "equal": "KEYCODE_EQUALS", "at": "KEYCODE_AT",
}  # fmt: skip
"""In small letters. Escape leaves a screen, as Back does: those tools have no other word for it."""
_SIGNS = {
    "+": "KEYCODE_PLUS", "-": "KEYCODE_MINUS", "=": "KEYCODE_EQUALS", ",": "KEYCODE_COMMA", "@": "KEYCODE_AT",
    ".": "KEYCODE_PERIOD", "/": "KEYCODE_SLASH", ";": "KEYCODE_SEMICOLON", "'": "KEYCODE_APOSTROPHE",
    "[": "KEYCODE_LEFT_BRACKET", "]": "KEYCODE_RIGHT_BRACKET", "\\": "KEYCODE_BACKSLASH",
    "`": "KEYCODE_GRAVE", "*": "KEYCODE_STAR", "#": "KEYCODE_POUND",
}  # fmt: skip
_WRITTEN = {
    "enter": "Return", "delete": "BackSpace", "forward_delete": "Delete", "back": "Escape", "home": "super",
    "move_home": "Home", "move_end": "End", "page_up": "Page_Up", "page_down": "Page_Down", "up": "Up",
    "down": "Down", "left": "Left", "right": "Right", "tab": "Tab",
}  # fmt: skip


def key_from(word: str, path: str) -> str:
    """Our name of a key. Raises `InvalidAction`."""
    text = word.strip()
    low = text.lower()
    if low in _ELSEWHERE:
        return _ELSEWHERE[low]
    if text in _SIGNS:
        return _SIGNS[text]
    if len(text) == 1 and text.isascii() and text.isalnum():
        return key_of(CODES[f"KEYCODE_{text.upper()}"])
    for name in (low, text.upper(), f"KEYCODE_{text.upper()}"):
        if not name.isdigit() and (name in KEYS or code_of(name) is not None):
            return name_of_key(name)
    close = nearest(low, [*_ELSEWHERE, *KEYS])
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(KEYS)}."
    raise InvalidAction(f"{path}: unknown key {text[:40]!r}", path=path, hint=hint)


def pressed(words: Sequence[str], path: str) -> dict[str, Any]:
    """One key, or several together."""
    keys = [key_from(word, path) for word in words if word.strip()]
    if not keys:
        raise InvalidAction(f"{path}: names no key", path=path)
    if len(keys) == 1:
        return {"type": "press_key", "key": keys[0]}
    return {"type": "press_keys", "keys": keys}


def split_chord(text: str) -> list[str]:
    """`ctrl+a`, `ctrl a`; a plus of its own is a key."""
    parts = [part for part in re.split(r"[+\s]+", text.strip()) if part]
    return ["plus" if part == "+" else part for part in parts] or (["plus"] if "+" in text else [])


def written_key(key: str) -> str:
    """X's name of a key; letters stand for themselves."""
    name = name_of_key(key)
    if name in _WRITTEN:
        return _WRITTEN[name]
    bare = name.removeprefix("KEYCODE_")
    return bare.lower() if name.startswith("KEYCODE_") else name


def written_chord(action: Act, talk: Conversation | None = None) -> list[str] | None:
    """X's names of what is pressed; None where they would be read as something else."""
    del talk
    if isinstance(action, PressKey):
        keys: tuple[str, ...] = (action.name,)
    elif isinstance(action, PressKeys):
        keys = action.names
    else:
        return None
    words = [written_key(key) for key in keys]
    try:
        same = [name_of_key(key_from(word, "")) for word in words] == list(keys)
    except InvalidAction:
        return None
    return words if same and action.expect is None else None


W3C_POINTS = {
    "\ue002": "KEYCODE_HELP", "\ue003": "delete", "\ue004": "tab", "\ue006": "enter", "\ue007": "enter",
    "\ue008": "shift", "\ue009": "ctrl", "\ue00a": "alt", "\ue00c": "back", "\ue00d": "space",
    "\ue00e": "page_up", "\ue00f": "page_down", "\ue010": "move_end", "\ue011": "move_home", "\ue012": "left",
    "\ue013": "up", "\ue014": "right", "\ue015": "down", "\ue016": "KEYCODE_INSERT",
    "\ue017": "forward_delete", "\ue03d": "meta",
}  # fmt: skip
"""WebDriver's code points for keys without a character."""
