"""What mice and wheels do, as a finger does it: strokes for scrolling, and a pointer that is only kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from handrail.dialects.parts import FINGER, Conversation, Fields, needed, only, place_from, short
from handrail.dialects.table import Meaning
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.device import Drag, DragPath, Swipe
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
    width, height = talk.frame.whole
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
    one = {"from": {"x": x1, "y": y1}, "to": {"x": x2, "y": y2}, "duration_ms": STROKE_MS}
    return [{"type": "swipe", **one}] * count


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
    width, height = talk.frame.whole
    along_x, along_y = _ALONG[FINGER[direction]]
    return strokes(at, along_x * clicks * CLICK * width, along_y * clicks * CLICK * height, talk)


def as_wheel(action: Act, talk: Conversation) -> tuple[list[float | int], str, int] | None:
    """Place, direction and clicks that make this one stroke; None where none do."""
    stroke = straight(action)
    if stroke is None or not isinstance(action, Swipe) or action.duration_ms != STROKE_MS:
        return None
    x1, y1, x2, y2 = stroke
    sizes = talk.frame.whole
    finger = ("left" if x2 < x1 else "right") if y1 == y2 else ("up" if y2 < y1 else "down")
    clicks = max(abs(x2 - x1) / (sizes[0] * CLICK), abs(y2 - y1) / (sizes[1] * CLICK))
    middle = {"x": (x1 + x2) // 2, "y": (y1 + y2) // 2}
    made = wheel(FINGER[finger], round(clicks), middle, talk)
    if made != [{**action.to_dict()}]:
        return None
    place = [short(one) for one in talk.frame.from_device(middle["x"], middle["y"])]
    return place, FINGER[finger], round(clicks)


def straight(action: Act) -> tuple[int, int, int, int] | None:
    """From x, y to x, y of a swipe along one axis."""
    if not isinstance(action, Swipe) or action.from_ is None or action.to is None:
        return None
    x1, y1, x2, y2 = action.from_.x, action.from_.y, action.to.x, action.to.y
    return (x1, y1, x2, y2) if (x1 == x2) != (y1 == y2) else None


def at_point(given: Fields, talk: Conversation, name: str = "point") -> Mapping[str, int]:
    """The place that a word names, else the middle of the screen."""
    if name in given:
        return place_from(given[name], name, talk)
    width, height = talk.frame.whole
    return {"x": width // 2, "y": height // 2}


def direction_of(given: Fields, name: str = "direction") -> str:
    """One of four words."""
    word = str(needed(given, name)).lower()
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


def move(given: Fields, talk: Conversation) -> Meaning:
    """`mouse_move`: kept, and part of a drag while the button is down."""
    only(given, ("coordinate",), "mouse_move")
    talk.cursor = place_from(needed(given, "coordinate"), "coordinate", talk)
    if talk.held is not None:
        talk.held.append(talk.cursor)
    return Meaning(note=NO_POINTER, reply="Moved.")


def press(given: Fields, talk: Conversation) -> Meaning:
    """`left_mouse_down`: nothing is touched before the button is let go."""
    only(given, (), "left_mouse_down")
    if talk.cursor is None:
        raise InvalidAction("left_mouse_down: nothing was pointed at before", path="", hint="Move first.")
    talk.held = [talk.cursor]
    return Meaning(note="the finger comes down when the button is let go", reply="Held.")


def release(given: Fields, talk: Conversation) -> Meaning:
    """`left_mouse_up`: a tap, or a drag along all places since the button went down."""
    only(given, (), "left_mouse_up")
    if talk.held is None:
        raise Unsupported(
            "left_mouse_up: the button was not down", hint="Use left_click or left_click_drag.", path=""
        )
    way = [place for at, place in enumerate(talk.held) if not at or place != talk.held[at - 1]]
    talk.held = None
    if len(way) == 1:
        return Meaning(({"type": "tap", "target": way[0]},))
    return Meaning((read_path(way),))


def position(given: Fields, talk: Conversation) -> Meaning:
    """`cursor_position`."""
    only(given, (), "cursor_position")
    if talk.cursor is None:
        return Meaning(reply="Nothing was pointed at yet.")
    x, y = map(short, talk.frame.from_device(talk.cursor["x"], talk.cursor["y"]))
    return Meaning(reply=f"X={x},Y={y}")
