"""Android's key codes as the DevTools protocol wants keys. Pure."""

from __future__ import annotations

from typing import Any

from handrail_sim.input.keys import CHARACTERS, CTRL_MASK, SHIFT_MASK

_NAMED: dict[int, tuple[str, int, str]] = {
    19: ("ArrowUp", 38, ""),
    20: ("ArrowDown", 40, ""),
    21: ("ArrowLeft", 37, ""),
    22: ("ArrowRight", 39, ""),
    61: ("Tab", 9, ""),
    66: ("Enter", 13, "\r"),
    67: ("Backspace", 8, ""),
    92: ("PageUp", 33, ""),
    93: ("PageDown", 34, ""),
    111: ("Escape", 27, ""),
    112: ("Delete", 46, ""),
    122: ("Home", 36, ""),
    123: ("End", 35, ""),
    160: ("Enter", 13, "\r"),
}
"""Key, Windows' number of it, and the text that it types."""
_COMMANDS = {29: "selectAll", 31: "copy", 50: "paste", 52: "cut"}
SHIFT, CONTROL = 8, 2


def events_of(code: int, meta: int = 0) -> list[dict[str, Any]]:
    """Down and up of a key; nothing for one that a page has no use for."""
    shifted, controlled = bool(meta & SHIFT_MASK), bool(meta & CTRL_MASK)
    modifiers = (SHIFT if shifted else 0) | (CONTROL if controlled else 0)
    if code in CHARACTERS:
        character = CHARACTERS[code][shifted]
        return typed(character, modifiers, _COMMANDS.get(code, "") if controlled else "")
    if code not in _NAMED:
        return []
    key, number, text = _NAMED[code]
    return _both(key, number, text, modifiers)


def typed(character: str, modifiers: int = 0, command: str = "") -> list[dict[str, Any]]:
    """One character as its key."""
    number = ord(character.upper()) if character.isalnum() and character.isascii() else 0
    events = _both(character, number, "" if modifiers & CONTROL else character, modifiers)
    if command:
        events[0]["commands"] = [command]
    return events


def _both(key: str, number: int, text: str, modifiers: int) -> list[dict[str, Any]]:
    event: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": number, "modifiers": modifiers}
    down = {"type": "keyDown" if text else "rawKeyDown", **event, **({"text": text} if text else {})}
    return [down, {"type": "keyUp", **event}]
