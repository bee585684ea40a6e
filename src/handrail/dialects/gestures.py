"""What wheels, drags and keyboards do, as a finger and a phone's keys do it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.dialects.frame import (
    FINGER,
    Conversation,
    Fields,
    place_from,
    required_field,
    without_zero_fraction,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import PressKey, PressKeys, Swipe
from handrail.protocol.keys import CODES, KEYS, key_for_code, name_of_key, number_of_key
from handrail.protocol.read import nearest

CLICK = 0.1
"""Of the screen's height or width: what one click of a wheel scrolls."""
LONGEST = 0.6
"""Of the same: a longer way is made of several strokes."""
MARGIN = 0.05
"""Near the edges Android takes a finger for its own gestures."""
STROKE_MS = 500
"""Slow enough not to fling: what was asked for is what is scrolled."""
MOST_STROKES = 20
LONG_PRESS = "a phone has no right button: it was a long press"
_ALONG = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def scroll_strokes(at: Mapping[str, int], dx: float, dy: float, talk: Conversation) -> list[dict[str, Any]]:
    """Swipes that move a finger by so many pixels in all, around this place and within the screen."""
    width, height = talk.frame.device_size
    count = max(1, math.ceil(max(abs(dx) / (width * LONGEST), abs(dy) / (height * LONGEST)) - 1e-9))
    if count > MOST_STROKES:
        why = f"scroll: {count} strokes are too many; at most {MOST_STROKES} are made"
        raise InvalidAction(why, path="scroll_amount", hint="Scroll less at a time.")
    x1, x2 = _stroke_ends(at["x"], dx / count, width)
    y1, y2 = _stroke_ends(at["y"], dy / count, height)
    if (x1, y1) == (x2, y2):
        return []
    stroke = {"from": {"x": x1, "y": y1}, "to": {"x": x2, "y": y2}, "duration_ms": STROKE_MS}
    return [{"type": "swipe", **stroke}] * count


def _stroke_ends(at: float, length: float, size: int) -> tuple[int, int]:
    """Around the place; moved, never shortened, where an edge is too near."""
    if not length:
        return round(at), round(at)
    low, high = at - abs(length) / 2, at + abs(length) / 2
    shift = max(0.0, size * MARGIN - low) - max(0.0, high - size * (1 - MARGIN))
    low, high = round(low + shift), round(high + shift)
    return (low, high) if length > 0 else (high, low)


def wheel_strokes(
    direction: str, clicks: float, at: Mapping[str, int], talk: Conversation
) -> list[dict[str, Any]]:
    """So many clicks of a wheel; the content goes on in this direction, the finger the other way."""
    width, height = talk.frame.device_size
    along_x, along_y = _ALONG[FINGER[direction]]
    return scroll_strokes(at, along_x * clicks * CLICK * width, along_y * clicks * CLICK * height, talk)


def wheel_of_swipe(action: Act, talk: Conversation) -> tuple[list[float | int], str, int] | None:
    """Place, direction and clicks that make this one stroke; None where none do."""
    stroke = straight_swipe_ends(action)
    if stroke is None or not isinstance(action, Swipe) or action.duration_ms != STROKE_MS:
        return None
    x1, y1, x2, y2 = stroke
    sizes = talk.frame.device_size
    finger = ("left" if x2 < x1 else "right") if y1 == y2 else ("up" if y2 < y1 else "down")
    clicks = max(abs(x2 - x1) / (sizes[0] * CLICK), abs(y2 - y1) / (sizes[1] * CLICK))
    middle = {"x": (x1 + x2) // 2, "y": (y1 + y2) // 2}
    wheel_swipe = wheel_strokes(FINGER[finger], round(clicks), middle, talk)
    if wheel_swipe != [action.to_dict()]:
        return None
    place = list(map(without_zero_fraction, talk.frame.from_device(middle["x"], middle["y"])))
    return place, FINGER[finger], round(clicks)


def straight_swipe_ends(action: Act) -> tuple[int, int, int, int] | None:
    """Returns x, y to x, y of a swipe along one axis, None for anything else."""
    if not isinstance(action, Swipe) or action.from_ is None or action.to is None:
        return None
    x1, y1, x2, y2 = action.from_.x, action.from_.y, action.to.x, action.to.y
    return (x1, y1, x2, y2) if (x1 == x2) != (y1 == y2) else None


def point_or_middle(arguments: Fields, talk: Conversation, name: str = "point") -> Mapping[str, int]:
    """The place that a word names, else the middle of the screen."""
    if name in arguments:
        return place_from(arguments[name], name, talk)
    width, height = talk.frame.device_size
    return {"x": width // 2, "y": height // 2}


def direction_of(arguments: Fields, name: str = "direction") -> str:
    word = str(required_field(arguments, name)).lower()
    if word not in FINGER:
        raise InvalidAction.at(name, f"must be one of: {', '.join(FINGER)}")
    return word


def drag_through(points: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """Two places are a drag, more are a path."""
    if len(points) == 2:
        return {"type": "drag", "from": points[0], "to": points[1], **more}
    return {"type": "drag_path", "points": list(points), **more}


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


def key_from_word(word: str, path: str) -> str:
    """Our name of a key. Raises `InvalidAction`."""
    text = word.strip()
    low = text.lower()
    if low in _ELSEWHERE:
        return _ELSEWHERE[low]
    if text in _SIGNS:
        return _SIGNS[text]
    if len(text) == 1 and text.isascii() and text.isalnum():
        return key_for_code(CODES[f"KEYCODE_{text.upper()}"])
    for name in (low, text.upper(), f"KEYCODE_{text.upper()}"):
        if not name.isdigit() and (name in KEYS or number_of_key(name) is not None):
            return name_of_key(name)
    close = nearest(low, [*_ELSEWHERE, *KEYS])
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(KEYS)}."
    raise InvalidAction.at(path, f"unknown key {text[:40]!r}", hint=hint)


def press_action(words: Sequence[str], path: str) -> dict[str, Any]:
    """One key, or several together."""
    keys = [key_from_word(word, path) for word in words if word.strip()]
    if not keys:
        raise InvalidAction.at(path, "names no key")
    if len(keys) == 1:
        return {"type": "press_key", "key": keys[0]}
    return {"type": "press_keys", "keys": keys}


def split_chord(text: str) -> list[str]:
    """`ctrl+a`, `ctrl a`; a plus of its own is a key."""
    parts = [part for part in re.split(r"[+\s]+", text.strip()) if part]
    return ["plus" if part == "+" else part for part in parts] or (["plus"] if "+" in text else [])


def x_key_name(key: str) -> str:
    """X's name of a key; letters stand for themselves."""
    name = name_of_key(key)
    if name in _WRITTEN:
        return _WRITTEN[name]
    bare = name.removeprefix("KEYCODE_")
    return bare.lower() if name.startswith("KEYCODE_") else name


def x_key_names(action: Act) -> list[str] | None:
    """X's names of what is pressed; None where they would be read as something else."""
    if isinstance(action, PressKey):
        keys: tuple[str, ...] = (action.name,)
    elif isinstance(action, PressKeys):
        keys = action.names
    else:
        return None
    words = [x_key_name(key) for key in keys]
    try:
        same = [name_of_key(key_from_word(word, "")) for word in words] == list(keys)
    except InvalidAction:
        return None
    return words if same and action.expect is None else None
