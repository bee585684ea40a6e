"""WebDriver's actions and Appium's `mobile:` gestures, in pixels of the screen.

One finger is a tap, a long press, a swipe or a drag, by what it does in between; two fingers are a pinch or a
turn where they move symmetrically. Elements of a WebDriver session are not known here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from handrail.dialects.frame import FINGER, Conversation, Fields, number_from, required_field
from handrail.dialects.gestures import direction_of, drag_through, press_action
from handrail.dialects.table import (
    ActionOutcome,
    Dialect,
    ParsedOutput,
    ReadActions,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
)
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.device import Drag, DragPath, LongPress, Swipe, Tap, TypeText
from handrail.protocol.target import Point

NO_ELEMENT = "elements of a WebDriver session are not known here"
SWIPE_SPEED, DRAG_SPEED, FLING_SPEED, PINCH_SPEED = 5_000, 2_500, 7_500, 2_500
"""Pixels in a second for a density of 1; the driver multiplies them by the screen's."""
W3C_POINTS = {
    "\ue002": "KEYCODE_HELP", "\ue003": "delete", "\ue004": "tab", "\ue006": "enter", "\ue007": "enter",
    "\ue008": "shift", "\ue009": "ctrl", "\ue00a": "alt", "\ue00c": "back", "\ue00d": "space",
    "\ue00e": "page_up", "\ue00f": "page_down", "\ue010": "move_end", "\ue011": "move_home", "\ue012": "left",
    "\ue013": "up", "\ue014": "right", "\ue015": "down", "\ue016": "KEYCODE_INSERT",
    "\ue017": "forward_delete", "\ue03d": "meta",
}  # fmt: skip
"""WebDriver's code points for keys without a character."""
_XY = {"target": ("x", "y")}
_OUT = {"elementId": NO_ELEMENT, "locator": NO_ELEMENT}


def _area_from(arguments: Fields) -> tuple[float, float, float, float]:
    if arguments.get("elementId") or arguments.get("locator"):
        raise Unsupported.at("elementId", f"{NO_ELEMENT}", hint="Give left, top, width and height.")
    left, top, width, height = (
        number_from(required_field(arguments, name), name) for name in ("left", "top", "width", "height")
    )
    if width <= 0 or height <= 0:
        raise InvalidAction.at("width", "the area is empty")
    return left, top, width, height


def _percent_of_area(arguments: Fields) -> float:
    share = number_from(arguments.get("percent", 1), "percent")
    if not 0 < share <= 1:
        raise InvalidAction.at("percent", "should be above 0 and at most 1")
    return share


def _duration_at_speed(arguments: Fields, distance: float, speed: float) -> int:
    chosen = number_from(arguments.get("speed", speed), "speed")
    if chosen <= 0:
        raise InvalidAction.at("speed", "should be above 0")
    return min(60_000, round(distance / chosen * 1000))


def _swipe(arguments: Fields, talk: Conversation, *, scrolls: bool, speed: float) -> WordMeaning:
    """`swipe` says where the finger goes, `scroll` and `fling` where the content goes on."""
    left, top, width, height = _area_from(arguments)
    word = direction_of(arguments)
    finger = FINGER[word] if scrolls else word
    share, cx, cy = _percent_of_area(arguments), left + width / 2, top + height / 2
    along = (width if finger in ("left", "right") else height) * share
    forward = 1 if finger in ("right", "down") else -1
    dx, dy = (along * forward, 0.0) if finger in ("left", "right") else (0.0, along * forward)
    start = talk.frame.to_device(cx - dx / 2, cy - dy / 2, "left")
    end = talk.frame.to_device(cx + dx / 2, cy + dy / 2, "left")
    lasts = _duration_at_speed(arguments, math.hypot(dx, dy), speed)
    return WordMeaning(({"type": "swipe", "from": start, "to": end, "duration_ms": lasts},))


def _pinch(arguments: Fields, talk: Conversation, *, opens: bool) -> WordMeaning:
    left, top, width, height = _area_from(arguments)
    far = max(2, round(width / 2 * _percent_of_area(arguments)))
    near = max(1, far // 10)
    centre = talk.frame.to_device(left + width / 2, top + height / 2, "left")
    radii = (near, far) if opens else (far, near)
    pinch: dict[str, Any] = {"type": "pinch", "cx": centre["x"], "cy": centre["y"]}
    pinch |= {"start_radius": radii[0], "end_radius": radii[1]}
    return WordMeaning(({**pinch, "duration_ms": _duration_at_speed(arguments, far - near, PINCH_SPEED)},))


def _drag(arguments: Fields, talk: Conversation) -> WordMeaning:
    if arguments.get("elementId"):
        raise Unsupported.at("elementId", f"{NO_ELEMENT}", hint="Give startX and startY.")
    names = ("startX", "startY", "endX", "endY")
    x1, y1, x2, y2 = (number_from(required_field(arguments, name), name) for name in names)
    start, end = talk.frame.to_device(x1, y1, "startX"), talk.frame.to_device(x2, y2, "endX")
    lasts = _duration_at_speed(arguments, math.dist((x1, y1), (x2, y2)), DRAG_SPEED)
    return WordMeaning(({"type": "drag", "from": start, "to": end, "duration_ms": lasts},))


MOBILE: dict[str, TableRow] = {
    "mobile: clickGesture": WordRule("tap", pairs=_XY, required="x y", refused=_OUT),
    "mobile: doubleClickGesture": WordRule("double_tap", pairs=_XY, required="x y", refused=_OUT),
    "mobile: longClickGesture": SpecialWord(
        "`long_press`, half a second",
        lambda arguments, talk: WordRule(
            "long_press", {"duration": "duration_ms"}, "x y", pairs=_XY, refused=_OUT
        ).read("mobile: longClickGesture", {"duration": 500, **arguments}, talk),
    ),
    "mobile: dragGesture": SpecialWord("`drag`", _drag),
    "mobile: swipeGesture": SpecialWord(
        "`swipe`, the finger's direction", partial(_swipe, scrolls=False, speed=SWIPE_SPEED)
    ),
    "mobile: scrollGesture": SpecialWord(
        "`swipe` the other way", partial(_swipe, scrolls=True, speed=SWIPE_SPEED)
    ),
    "mobile: flingGesture": SpecialWord(
        "`swipe` the other way, fast", partial(_swipe, scrolls=True, speed=FLING_SPEED)
    ),
    "mobile: pinchOpenGesture": SpecialWord("`pinch`", partial(_pinch, opens=True)),
    "mobile: pinchCloseGesture": SpecialWord("`pinch`", partial(_pinch, opens=False)),
}
LONG_MS = 500
"""A finger that stays down so long without moving presses long."""
PICKS_UP_MS = 400
"""One that waits so long before it moves drags."""
MOST_STEPS = 1_000
Spot = tuple[float, float]


@dataclass(slots=True)
class _Finger:
    """One pointer's way."""

    at: Spot = (0.0, 0.0)
    way: list[Spot] = field(default_factory=list)
    down: bool = False
    held_ms: float = 0.0
    """Down before it first moved."""
    moved_ms: float = 0.0
    done: list[dict[str, Any]] = field(default_factory=list)
    strokes: list[tuple[list[Spot], float]] = field(default_factory=list)


def _read_input_sources(arguments: Fields, talk: Conversation) -> WordMeaning:
    sources = required_field(arguments, "actions")
    if (
        not isinstance(sources, list)
        or not all(isinstance(entry, Mapping) for entry in sources)
        or not sources
    ):
        raise InvalidAction.at("actions", "should be a list of input sources")
    fingers, actions = [], list[dict[str, Any]]()
    for number, source in enumerate(sources):
        path = f"actions[{number}]"
        match source.get("type"):
            case "pointer":
                fingers.append(_follow_finger(_steps_of_source(source, path), path))
            case "key":
                actions += _actions_of_keys(_steps_of_source(source, path))
            case "none":
                actions += [_wait_action(step) for step in _steps_of_source(source, path)]
            case other:
                raise Unsupported.at(
                    f"{path}.type",
                    f"{str(other)[:20]!r} has no meaning on a phone",
                    hint="Send a pointer, a key or a none source.",
                )
    if len(fingers) == 1:
        actions = fingers[0].done + actions
    elif fingers:
        actions = [_two_finger_gesture(fingers), *actions]
    return WordMeaning(tuple(_scale_to_screen(entry, talk) for entry in actions))


def _steps_of_source(source: Mapping[str, Any], path: str) -> list[Mapping[str, Any]]:
    steps = source.get("actions")
    if (
        not isinstance(steps, list)
        or len(steps) > MOST_STEPS
        or not all(isinstance(step, Mapping) for step in steps)
    ):
        raise InvalidAction.at(f"{path}.actions", "should be a list")
    return steps


def _follow_finger(steps: Sequence[Mapping[str, Any]], path: str) -> _Finger:
    finger = _Finger()
    for step in steps:
        lasts = number_from(step.get("duration", 0) or 0, f"{path}.duration")
        match step.get("type"):
            case "pointerMove":
                _move_finger(finger, step, lasts, path)
            case "pointerDown":
                finger.down, finger.way, finger.held_ms, finger.moved_ms = True, [finger.at], 0.0, 0.0
            case "pause":
                if finger.down and len(finger.way) == 1:
                    finger.held_ms += lasts
            case "pointerUp":
                if finger.down:
                    finger.done.append(_action_of_finger(finger))
                    finger.strokes.append((finger.way, finger.moved_ms))
                finger.down = False
            case "pointerCancel":
                finger.down = False
            case other:
                raise InvalidAction.at(path, f"{str(other)[:20]!r} is not a step of a pointer")
    if finger.down:
        raise InvalidAction.at(path, "the finger is never lifted", hint="End with pointerUp.")
    return finger


def _move_finger(finger: _Finger, step: Mapping[str, Any], lasts: float, path: str) -> None:
    origin = step.get("origin", "viewport")
    x, y = number_from(step.get("x", 0), f"{path}.x"), number_from(step.get("y", 0), f"{path}.y")
    if origin == "pointer":
        x, y = finger.at[0] + x, finger.at[1] + y
    elif origin not in ("viewport", None):
        raise Unsupported.at("origin", f"{NO_ELEMENT}", hint="Use the viewport's coordinates.")
    finger.at = (x, y)
    if finger.down and finger.at != finger.way[-1]:
        finger.way.append(finger.at)
        finger.moved_ms += lasts


def _action_of_finger(finger: _Finger) -> dict[str, Any]:
    way: list[dict[str, Any]] = [{"x": x, "y": y} for x, y in finger.way]
    if len(way) == 1:
        if finger.held_ms >= LONG_MS:
            return {"type": "long_press", "target": way[0], "duration_ms": round(finger.held_ms)}
        return {"type": "tap", "target": way[0]}
    lasts = round(min(finger.moved_ms, 60_000))
    if len(way) == 2 and finger.held_ms < PICKS_UP_MS:
        return {"type": "swipe", "from": way[0], "to": way[1], "duration_ms": lasts}
    return drag_through(way, duration_ms=lasts)


def _two_finger_gesture(fingers: Sequence[_Finger]) -> dict[str, Any]:
    """Two fingers around one centre: towards or away from it, or around it."""
    if len(fingers) != 2 or any(
        len(finger.strokes) != 1 or len(finger.strokes[0][0]) != 2 for finger in fingers
    ):
        raise Unsupported.at(
            "actions",
            "only two fingers that each make one straight move are a gesture here",
            hint="Send a pinch or a turn with two pointers, or one pointer.",
        )
    (first, lasts), (second, _) = fingers[0].strokes[0], fingers[1].strokes[0]
    cx, cy = _middle(first[0], second[0])
    before, after = (math.dist(first[at], second[at]) / 2 for at in (0, 1))
    if math.dist((cx, cy), _middle(first[1], second[1])) > 2 or not before or not after:
        raise Unsupported.at(
            "actions", "the fingers do not move around one centre", hint="Keep the centre in place."
        )
    around = {"cx": cx, "cy": cy, "duration_ms": round(lasts)}
    turn = math.degrees(_angle(first[1], (cx, cy)) - _angle(first[0], (cx, cy)))
    if abs(turn) < 1:
        return {"type": "pinch", "start_radius": round(before), "end_radius": round(after), **around}
    if abs(before - after) > 2:
        raise Unsupported.at("actions", "a pinch that also turns is not supported", hint="Do one of the two.")
    start = math.degrees(_angle(first[0], (cx, cy)))
    angles = {"start_angle_deg": round(start, 3), "end_angle_deg": round(start + turn, 3)}
    return {"type": "rotate", "radius": round(before), **angles, **around}


def _middle(first: Spot, other: Spot) -> Spot:
    return (first[0] + other[0]) / 2, (first[1] + other[1]) / 2


def _angle(point: Spot, centre: Spot) -> float:
    return math.atan2(point[1] - centre[1], point[0] - centre[0])


def _wait_action(step: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "wait", "duration_ms": round(number_from(step.get("duration", 0) or 0, "duration"))}


def _actions_of_keys(steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Characters are typed together; keys that are held while another is struck are a chord."""
    actions: list[dict[str, Any]] = []
    held: list[str] = []
    for step in steps:
        value = str(step.get("value", ""))
        if step.get("type") == "keyDown" and value in W3C_POINTS:
            held.append(W3C_POINTS[value])
            if W3C_POINTS[value] not in ("shift", "ctrl", "alt", "meta"):
                actions.append(press_action(held, "value"))
                held = held[:-1]
        elif step.get("type") == "keyDown" and held:
            actions.append(press_action([*held, value], "value"))
        elif step.get("type") == "keyDown" and value:
            if actions and actions[-1]["type"] == "type_text":
                actions[-1]["text"] += value
            else:
                actions.append({"type": "type_text", "text": value})
        elif step.get("type") == "keyUp":
            held = [key for key in held if key != W3C_POINTS.get(value)]
        elif step.get("type") == "pause":
            actions.append(_wait_action(step))
    return actions


def _scale_to_screen(action: dict[str, Any], talk: Conversation) -> dict[str, Any]:
    placed = dict(action)
    for name in ("target", "from", "to"):
        if name in placed:
            placed[name] = talk.frame.to_device(placed[name]["x"], placed[name]["y"], name)
    if "points" in placed:
        placed["points"] = [
            talk.frame.to_device(point["x"], point["y"], "points") for point in placed["points"]
        ]
    if "cx" in placed:
        centre = talk.frame.to_device(placed["cx"], placed["cy"], "cx")
        placed |= {"cx": centre["x"], "cy": centre["y"]}
    return placed


def _write_actions(action: Act, talk: Conversation) -> Fields | None:
    if action.expect is not None:
        return None
    if isinstance(action, TypeText) and not (action.target or action.clear or action.submit):
        typed = [{"type": kind, "value": char} for char in action.text for kind in ("keyDown", "keyUp")]
        plain = not any(char in W3C_POINTS for char in action.text) and action.text
        return {"actions": [{"type": "key", "id": "keyboard", "actions": typed}]} if plain else None
    way = _points_and_times(action)
    if way is None:
        return None
    points, held_ms, lasts = way
    own = [tuple(round(char) for char in talk.frame.from_device(point.x, point.y)) for point in points]
    steps: list[dict[str, Any]] = [_pointer_move(own[0], 0), {"type": "pointerDown", "button": 0}]
    steps += [{"type": "pause", "duration": held_ms}] if held_ms else []
    steps += [_pointer_move(char, lasts // max(1, len(own) - 1)) for char in own[1:]]
    finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}
    return {"actions": [{**finger, "actions": [*steps, {"type": "pointerUp", "button": 0}]}]}


def _pointer_move(point: Sequence[int], lasts: int) -> dict[str, Any]:
    return {"type": "pointerMove", "duration": lasts, "x": point[0], "y": point[1], "origin": "viewport"}


def _points_and_times(action: Act) -> tuple[list[Point], int, int] | None:
    match action:
        case Tap(target=Point() as target):
            return [target], 0, 0
        case LongPress(target=Point() as target) if action.duration_ms >= LONG_MS:
            return [target], action.duration_ms, 0
        case Swipe(from_=Point() as start, to=Point() as end) if start != end:
            return [start, end], 0, action.duration_ms
        case Drag(from_=Point() as start, to=Point() as end) if start != end:
            return [start, end], LONG_MS, action.duration_ms
        case DragPath() if not action.duration_ms % max(1, len(action.points) - 1) and len(action.points) > 2:
            return list(action.points), LONG_MS, action.duration_ms
    return None


ROWS: dict[str, TableRow] = {
    "actions": SpecialWord(
        "`tap`, `long_press`, `swipe`, `drag`, `drag_path`, `pinch`, `rotate`, `type_text`, keys, `wait`",
        _read_input_sources,
        _write_actions,
        takes="actions",
    ),
    **MOBILE,
}


def hear(output: Any) -> ParsedOutput:
    """The body of POST /session/{id}/actions, or of execute with a `mobile:` script."""
    if not isinstance(output, Mapping):
        raise InvalidAction("should be an object", path="", hint='Send {"actions": […]}.')
    if "script" not in output:
        return ParsedOutput((WordCall("actions", dict(output)),))
    args = output.get("args") or [{}]
    if not isinstance(args, list) or len(args) != 1 or not isinstance(args[0], Mapping):
        raise InvalidAction.at("args", "should be a list of one object")
    return ParsedOutput((WordCall(str(output["script"]), dict(args[0])),))


def form(word: str, fields: Fields) -> dict[str, Any]:
    return dict(fields) if word == "actions" else {"script": word, "args": [dict(fields)]}


def answer(reading: ReadActions, outcome: ActionOutcome) -> dict[str, Any]:
    """WebDriver's: null, or an error with its own words."""
    if outcome.success:
        return {"value": None}
    values = {
        "INVALID_ACTION": "invalid argument",
        "UNSUPPORTED": "unsupported operation",
        "TIMEOUT": "timeout",
    }
    notes = "; ".join(reading.notes)
    message = " ".join(
        part for part in (f"{outcome.code}: {outcome.text}", outcome.hint or "", notes) if part
    )
    error = values.get(outcome.code or "", "unknown error")
    return {"value": {"error": error, "message": message, "stacktrace": ""}}


DIALECT = Dialect("w3c_actions", "WebDriver actions, Appium gestures", "device", ROWS, hear, form, answer)
