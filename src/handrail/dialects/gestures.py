"""What mice and wheels do, as a finger does it: strokes for scrolling, and a pointer that is only kept."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.dialects.frame import FINGER, Conversation, Fields, needed, place_from, short
from handrail.dialects.table import Meaning
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.device import Drag, DragPath, PressKey, PressKeys, Swipe
from handrail.protocol.keys import CODES, KEYS, code_of, key_of, name_of_key
from handrail.protocol.read import nearest
from handrail.protocol.target import Point

CLICK = 0.1
"""Of the screen's height or width: what one click of a wheel scrolls."""
LONGEST = 0.6
"""Of the same: a longer way is made of several strokes."""
MARGIN = 0.05
"""Near the edges Android takes a finger for its own gestures."""
STROKE_MS = 500
"""Slow enough not to fling: what was asked for is what is scrolled."""
MOST_STROKES = 20
_ALONG = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def strokes(at: Mapping[str, int], dx: float, dy: float, talk: Conversation) -> list[dict[str, Any]]:
    """Swipes that move a finger by so many pixels in all, around this place and within the screen."""
    width, height = talk.frame.device_size
    count = max(1, math.ceil(max(abs(dx) / (width * LONGEST), abs(dy) / (height * LONGEST)) - 1e-9))
    if count > MOST_STROKES:
        raise InvalidAction(
            f"scroll: {count} strokes are too many; at most {MOST_STROKES} are made",
            path="scroll_amount",
            hint="Scroll less at a time.",
        )
    x1, x2 = _ends(at["x"], dx / count, width)
    y1, y2 = _ends(at["y"], dy / count, height)
    if (x1, y1) == (x2, y2):
        return []
    stroke = {"from": {"x": x1, "y": y1}, "to": {"x": x2, "y": y2}, "duration_ms": STROKE_MS}
    return [{"type": "swipe", **stroke}] * count


def _ends(at: float, length: float, size: int) -> tuple[int, int]:
    """Around the place; moved, never shortened, where an edge is too near."""
    if not length:
        return round(at), round(at)
    low, high = at - abs(length) / 2, at + abs(length) / 2
    shift = max(0.0, size * MARGIN - low) - max(0.0, high - size * (1 - MARGIN))
    low, high = round(low + shift), round(high + shift)
    return (low, high) if length > 0 else (high, low)


def wheel(direction: str, clicks: float, at: Mapping[str, int], talk: Conversation) -> list[dict[str, Any]]:
    """So many clicks of a wheel; the content goes on in this direction, the finger the other way."""
    width, height = talk.frame.device_size
    along_x, along_y = _ALONG[FINGER[direction]]
    return strokes(at, along_x * clicks * CLICK * width, along_y * clicks * CLICK * height, talk)


def as_wheel(action: Act, talk: Conversation) -> tuple[list[float | int], str, int] | None:
    """Place, direction and clicks that make this one stroke; None where none do."""
    stroke = straight(action)
    if stroke is None or not isinstance(action, Swipe) or action.duration_ms != STROKE_MS:
        return None
    x1, y1, x2, y2 = stroke
    sizes = talk.frame.device_size
    finger = ("left" if x2 < x1 else "right") if y1 == y2 else ("up" if y2 < y1 else "down")
    clicks = max(abs(x2 - x1) / (sizes[0] * CLICK), abs(y2 - y1) / (sizes[1] * CLICK))
    middle = {"x": (x1 + x2) // 2, "y": (y1 + y2) // 2}
    wheel_swipe = wheel(FINGER[finger], round(clicks), middle, talk)
    if wheel_swipe != [action.to_dict()]:
        return None
    place = [short(coordinate) for coordinate in talk.frame.from_device(middle["x"], middle["y"])]
    return place, FINGER[finger], round(clicks)


def straight(action: Act) -> tuple[int, int, int, int] | None:
    """From x, y to x, y of a swipe along one axis."""
    if not isinstance(action, Swipe) or action.from_ is None or action.to is None:
        return None
    x1, y1, x2, y2 = action.from_.x, action.from_.y, action.to.x, action.to.y
    return (x1, y1, x2, y2) if (x1 == x2) != (y1 == y2) else None


def at_point(arguments: Fields, talk: Conversation, name: str = "point") -> Mapping[str, int]:
    """The place that a word names, else the middle of the screen."""
    if name in arguments:
        return place_from(arguments[name], name, talk)
    width, height = talk.frame.device_size
    return {"x": width // 2, "y": height // 2}


def direction_of(arguments: Fields, name: str = "direction") -> str:
    word = str(needed(arguments, name)).lower()
    if word not in FINGER:
        raise InvalidAction(f"{name}: must be one of: {', '.join(FINGER)}", path=name)
    return word


def read_path(points: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """Two places are a drag, more are a path."""
    if len(points) == 2:
        return {"type": "drag", "from": points[0], "to": points[1], **more}
    return {"type": "drag_path", "points": list(points), **more}


def written_path(action: Act) -> list[Point] | None:
    """The places of a drag, with the duration that a dialect without one means."""
    if isinstance(action, DragPath) and action.duration_ms == DragPath.model_fields["duration_ms"].default:
        return list(action.points)
    if isinstance(action, Drag) and action.duration_ms == Drag.model_fields["duration_ms"].default:
        ends = [end for end in (action.from_, action.to) if isinstance(end, Point)]
        return ends if len(ends) == 2 else None
    return None


# a mouse that is not there

NO_POINTER = "a phone has no pointer: where it would stand is kept for the next click"


def move(arguments: Fields, talk: Conversation) -> Meaning:
    """`mouse_move`: moves the cursor, and extends a drag while the button is down."""
    talk.cursor = place_from(needed(arguments, "coordinate"), "coordinate", talk)
    if talk.held is not None:
        talk.held.append(talk.cursor)
    return Meaning(note=NO_POINTER, reply="Moved.")


def press(_: Fields, talk: Conversation) -> Meaning:
    """`left_mouse_down`: nothing is touched before the button is let go."""
    if talk.cursor is None:
        raise InvalidAction("left_mouse_down: nothing was pointed at before", path="", hint="Move first.")
    talk.held = [talk.cursor]
    return Meaning(note="the finger comes down when the button is let go", reply="Held.")


def release(_: Fields, talk: Conversation) -> Meaning:
    """`left_mouse_up`: a tap, or a drag along all places since the button went down."""
    if talk.held is None:
        raise Unsupported(
            "left_mouse_up: the button was not down", hint="Use left_click or left_click_drag.", path=""
        )
    way = [place for at, place in enumerate(talk.held) if not at or place != talk.held[at - 1]]
    talk.held = None
    if len(way) == 1:
        return Meaning(({"type": "tap", "target": way[0]},))
    return Meaning((read_path(way),))


def position(_: Fields, talk: Conversation) -> Meaning:
    if talk.cursor is None:
        return Meaning(reply="Nothing was pointed at yet.")
    x, y = map(short, talk.frame.from_device(talk.cursor["x"], talk.cursor["y"]))
    return Meaning(reply=f"X={x},Y={y}")


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


def written_chord(action: Act) -> list[str] | None:
    """X's names of what is pressed; None where they would be read as something else."""
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
