"""Appium's `mobile:` gestures of its UiAutomator2 driver, as far as they name places and not elements.

Speeds are pixels in a second; a way of so many pixels then takes its share of one.
"""

from __future__ import annotations

import math
from typing import Any

from handrail.dialects.frame import number_from
from handrail.dialects.gestures import direction_of
from handrail.dialects.parts import FINGER, Conversation, Fields, needed
from handrail.dialects.table import Meaning, SpecialWord, TableRow, WordRule
from handrail.errors import InvalidAction, Unsupported

NO_ELEMENT = "elements of a WebDriver session are not known here"
SWIPE_SPEED, DRAG_SPEED, FLING_SPEED, PINCH_SPEED = 5_000, 2_500, 7_500, 2_500
"""Pixels in a second for a density of 1; the driver multiplies them by the screen's."""
_XY = {"target": ("x", "y")}
_OUT = {"elementId": NO_ELEMENT, "locator": NO_ELEMENT}


def _area(given: Fields) -> tuple[float, float, float, float]:
    if given.get("elementId") or given.get("locator"):
        raise Unsupported(
            f"elementId: {NO_ELEMENT}", hint="Give left, top, width and height.", path="elementId"
        )
    left, top, width, height = (
        number_from(needed(given, name), name) for name in ("left", "top", "width", "height")
    )
    if width <= 0 or height <= 0:
        raise InvalidAction("width: the area is empty", path="width")
    return left, top, width, height


def _share(given: Fields) -> float:
    share = number_from(given.get("percent", 1), "percent")
    if not 0 < share <= 1:
        raise InvalidAction("percent: should be above 0 and at most 1", path="percent")
    return share


def _lasts(given: Fields, distance: float, speed: float) -> int:
    chosen = number_from(given.get("speed", speed), "speed")
    if chosen <= 0:
        raise InvalidAction("speed: should be above 0", path="speed")
    return min(60_000, round(distance / chosen * 1000))


def _swipe(given: Fields, talk: Conversation, *, scrolls: bool, speed: float) -> Meaning:
    """`swipe` says where the finger goes, `scroll` and `fling` where the content goes on."""
    left, top, width, height = _area(given)
    word = direction_of(given)
    finger = FINGER[word] if scrolls else word
    share, cx, cy = _share(given), left + width / 2, top + height / 2
    along = (width if finger in ("left", "right") else height) * share
    forward = 1 if finger in ("right", "down") else -1
    dx, dy = (along * forward, 0.0) if finger in ("left", "right") else (0.0, along * forward)
    start = talk.frame.to_device(cx - dx / 2, cy - dy / 2, "left")
    end = talk.frame.to_device(cx + dx / 2, cy + dy / 2, "left")
    lasts = _lasts(given, math.hypot(dx, dy), speed)
    return Meaning(({"type": "swipe", "from": start, "to": end, "duration_ms": lasts},))


def _pinch(given: Fields, talk: Conversation, *, opens: bool) -> Meaning:
    left, top, width, height = _area(given)
    far = max(2, round(width / 2 * _share(given)))
    near = max(1, far // 10)
    centre = talk.frame.to_device(left + width / 2, top + height / 2, "left")
    radii = (near, far) if opens else (far, near)
    pinch: dict[str, Any] = {"type": "pinch", "cx": centre["x"], "cy": centre["y"]}
    pinch |= {"start_radius": radii[0], "end_radius": radii[1]}
    return Meaning(({**pinch, "duration_ms": _lasts(given, far - near, PINCH_SPEED)},))


def _drag(given: Fields, talk: Conversation) -> Meaning:
    if given.get("elementId"):
        raise Unsupported(f"elementId: {NO_ELEMENT}", hint="Give startX and startY.", path="elementId")
    names = ("startX", "startY", "endX", "endY")
    x1, y1, x2, y2 = (number_from(needed(given, name), name) for name in names)
    start, end = talk.frame.to_device(x1, y1, "startX"), talk.frame.to_device(x2, y2, "endX")
    lasts = _lasts(given, math.dist((x1, y1), (x2, y2)), DRAG_SPEED)
    return Meaning(({"type": "drag", "from": start, "to": end, "duration_ms": lasts},))


MOBILE: dict[str, TableRow] = {
    "mobile: clickGesture": WordRule("tap", pairs=_XY, required="x y", refused=_OUT),
    "mobile: doubleClickGesture": WordRule("double_tap", pairs=_XY, required="x y", refused=_OUT),
    "mobile: longClickGesture": SpecialWord(
        "`long_press`, half a second",
        lambda given, talk: WordRule(
            "long_press", {"duration": "duration_ms"}, "x y", pairs=_XY, refused=_OUT
        ).read("mobile: longClickGesture", {"duration": 500, **given}, talk),
    ),
    "mobile: dragGesture": SpecialWord("`drag`", _drag),
    "mobile: swipeGesture": SpecialWord(
        "`swipe`, the finger's direction",
        lambda given, talk: _swipe(given, talk, scrolls=False, speed=SWIPE_SPEED),
    ),
    "mobile: scrollGesture": SpecialWord(
        "`swipe` the other way", lambda given, talk: _swipe(given, talk, scrolls=True, speed=SWIPE_SPEED)
    ),
    "mobile: flingGesture": SpecialWord(
        "`swipe` the other way, fast",
        lambda given, talk: _swipe(given, talk, scrolls=True, speed=FLING_SPEED),
    ),
    "mobile: pinchOpenGesture": SpecialWord("`pinch`", lambda given, talk: _pinch(given, talk, opens=True)),
    "mobile: pinchCloseGesture": SpecialWord("`pinch`", lambda given, talk: _pinch(given, talk, opens=False)),
}
