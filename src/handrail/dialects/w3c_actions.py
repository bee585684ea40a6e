"""WebDriver's actions and Appium's `mobile:` gestures, in pixels of the screen.

One finger is a tap, a long press, a swipe or a drag, by what it does in between; two fingers are a pinch or a
turn where they move symmetrically. Elements of a WebDriver session are not known here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from handrail.dialects.frame import number_from
from handrail.dialects.gestures import read_path
from handrail.dialects.key_names import W3C_POINTS, pressed
from handrail.dialects.parts import Conversation, Fields, needed, only
from handrail.dialects.table import Dialect, Heard, Meaning, Said, SpecialWord, TableRow, WordsRead, WordsTold
from handrail.dialects.w3c_gestures import MOBILE
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.device import Drag, DragPath, LongPress, Swipe, Tap, TypeText
from handrail.protocol.target import Point

LONG_MS = 500
"""A finger that stays down so long without moving presses long."""
PICKS_UP_MS = 400
"""One that waits so long before it moves drags."""
NO_ELEMENTS = "elements of a WebDriver session are not known here"
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


def _actions(given: Fields, talk: Conversation) -> Meaning:
    only(given, ("actions",), "actions")
    sources = needed(given, "actions")
    if not isinstance(sources, list) or not all(isinstance(one, Mapping) for one in sources) or not sources:
        raise InvalidAction("actions: should be a list of input sources", path="actions")
    fingers, made = [], list[dict[str, Any]]()
    for number, source in enumerate(sources):
        path = f"actions[{number}]"
        match source.get("type"):
            case "pointer":
                fingers.append(_finger(_steps(source, path), path))
            case "key":
                made += _typed(_steps(source, path))
            case "none":
                made += [_pause(step) for step in _steps(source, path)]
            case other:
                raise Unsupported(
                    f"{path}.type: {str(other)[:20]!r} has no meaning on a phone",
                    hint="Send a pointer, a key or a none source.",
                    path=f"{path}.type",
                )
    if len(fingers) == 1:
        made = fingers[0].done + made
    elif fingers:
        made = [_together(fingers), *made]
    return Meaning(tuple(_on_screen(one, talk) for one in made))


def _steps(source: Mapping[str, Any], path: str) -> list[Mapping[str, Any]]:
    steps = source.get("actions")
    if (
        not isinstance(steps, list)
        or len(steps) > MOST_STEPS
        or not all(isinstance(one, Mapping) for one in steps)
    ):
        raise InvalidAction(f"{path}.actions: should be a list", path=f"{path}.actions")
    return steps


def _finger(steps: Sequence[Mapping[str, Any]], path: str) -> _Finger:
    one = _Finger()
    for step in steps:
        lasts = number_from(step.get("duration", 0) or 0, f"{path}.duration")
        match step.get("type"):
            case "pointerMove":
                _moved(one, step, lasts, path)
            case "pointerDown":
                one.down, one.way, one.held_ms, one.moved_ms = True, [one.at], 0.0, 0.0
            case "pause":
                if one.down and len(one.way) == 1:
                    one.held_ms += lasts
            case "pointerUp":
                if one.down:
                    one.done.append(_stroke(one))
                    one.strokes.append((one.way, one.moved_ms))
                one.down = False
            case "pointerCancel":
                one.down = False
            case other:
                raise InvalidAction(f"{path}: {str(other)[:20]!r} is no step of a pointer", path=path)
    if one.down:
        raise InvalidAction(f"{path}: the finger is never lifted", path=path, hint="End with pointerUp.")
    return one


def _moved(one: _Finger, step: Mapping[str, Any], lasts: float, path: str) -> None:
    origin = step.get("origin", "viewport")
    x, y = number_from(step.get("x", 0), f"{path}.x"), number_from(step.get("y", 0), f"{path}.y")
    if origin == "pointer":
        x, y = one.at[0] + x, one.at[1] + y
    elif origin not in ("viewport", None):
        raise Unsupported(f"origin: {NO_ELEMENTS}", hint="Use the viewport's coordinates.", path="origin")
    one.at = (x, y)
    if one.down and one.at != one.way[-1]:
        one.way.append(one.at)
        one.moved_ms += lasts


def _stroke(one: _Finger) -> dict[str, Any]:
    way: list[dict[str, Any]] = [{"x": x, "y": y} for x, y in one.way]
    if len(way) == 1:
        if one.held_ms >= LONG_MS:
            return {"type": "long_press", "target": way[0], "duration_ms": round(one.held_ms)}
        return {"type": "tap", "target": way[0]}
    lasts = round(min(one.moved_ms, 60_000))
    if len(way) == 2 and one.held_ms < PICKS_UP_MS:
        return {"type": "swipe", "from": way[0], "to": way[1], "duration_ms": lasts}
    return read_path(way, duration_ms=lasts)


def _together(fingers: Sequence[_Finger]) -> dict[str, Any]:
    """Two fingers around one centre: towards or away from it, or around it."""
    if len(fingers) != 2 or any(len(one.strokes) != 1 or len(one.strokes[0][0]) != 2 for one in fingers):
        raise Unsupported(
            "actions: only two fingers that each make one straight move are a gesture here",
            hint="Send a pinch or a turn with two pointers, or one pointer.",
            path="actions",
        )
    (first, lasts), (second, _) = fingers[0].strokes[0], fingers[1].strokes[0]
    cx, cy = _middle(first[0], second[0])
    before, after = (math.dist(first[at], second[at]) / 2 for at in (0, 1))
    if math.dist((cx, cy), _middle(first[1], second[1])) > 2 or not before or not after:
        raise Unsupported(
            "actions: the fingers do not move around one centre",
            hint="Keep the centre in place.",
            path="actions",
        )
    around = {"cx": cx, "cy": cy, "duration_ms": round(lasts)}
    turn = math.degrees(_angle(first[1], (cx, cy)) - _angle(first[0], (cx, cy)))
    if abs(turn) < 1:
        return {"type": "pinch", "start_radius": round(before), "end_radius": round(after), **around}
    if abs(before - after) > 2:
        raise Unsupported(
            "actions: a pinch that turns is no gesture here", hint="Do one of both.", path="actions"
        )
    start = math.degrees(_angle(first[0], (cx, cy)))
    angles = {"start_angle_deg": round(start, 3), "end_angle_deg": round(start + turn, 3)}
    return {"type": "rotate", "radius": round(before), **angles, **around}


def _middle(one: Spot, other: Spot) -> Spot:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def _angle(point: Spot, centre: Spot) -> float:
    return math.atan2(point[1] - centre[1], point[0] - centre[0])


def _pause(step: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "wait", "duration_ms": round(number_from(step.get("duration", 0) or 0, "duration"))}


def _typed(steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Characters are typed together; keys that are held while another is struck are a chord."""
    made: list[dict[str, Any]] = []
    held: list[str] = []
    for step in steps:
        value = str(step.get("value", ""))
        if step.get("type") == "keyDown" and value in W3C_POINTS:
            held.append(W3C_POINTS[value])
            if W3C_POINTS[value] not in ("shift", "ctrl", "alt", "meta"):
                made.append(pressed(held, "value"))
                held = held[:-1]
        elif step.get("type") == "keyDown" and held:
            made.append(pressed([*held, value], "value"))
        elif step.get("type") == "keyDown" and value:
            if made and made[-1]["type"] == "type_text":
                made[-1]["text"] += value
            else:
                made.append({"type": "type_text", "text": value})
        elif step.get("type") == "keyUp":
            held = [one for one in held if one != W3C_POINTS.get(value)]
        elif step.get("type") == "pause":
            made.append(_pause(step))
    return made


def _on_screen(action: dict[str, Any], talk: Conversation) -> dict[str, Any]:
    """Places as whole pixels."""
    placed = dict(action)
    for name in ("target", "from", "to"):
        if name in placed:
            placed[name] = talk.frame.to_device(placed[name]["x"], placed[name]["y"], name)
    if "points" in placed:
        placed["points"] = [talk.frame.to_device(one["x"], one["y"], "points") for one in placed["points"]]
    if "cx" in placed:
        centre = talk.frame.to_device(placed["cx"], placed["cy"], "cx")
        placed |= {"cx": centre["x"], "cy": centre["y"]}
    return placed


def _write(action: Act, talk: Conversation) -> Fields | None:
    if action.expect is not None:
        return None
    if isinstance(action, TypeText) and not (action.target or action.clear or action.submit):
        typed = [{"type": kind, "value": one} for one in action.text for kind in ("keyDown", "keyUp")]
        plain = not any(one in W3C_POINTS for one in action.text) and action.text
        return {"actions": [{"type": "key", "id": "keyboard", "actions": typed}]} if plain else None
    way = _way(action)
    if way is None:
        return None
    points, held_ms, lasts = way
    own = [tuple(round(one) for one in talk.frame.from_device(point.x, point.y)) for point in points]
    steps: list[dict[str, Any]] = [_step(own[0], 0), {"type": "pointerDown", "button": 0}]
    steps += [{"type": "pause", "duration": held_ms}] if held_ms else []
    steps += [_step(one, lasts // max(1, len(own) - 1)) for one in own[1:]]
    finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}
    return {"actions": [{**finger, "actions": [*steps, {"type": "pointerUp", "button": 0}]}]}


def _step(point: Sequence[int], lasts: int) -> dict[str, Any]:
    return {"type": "pointerMove", "duration": lasts, "x": point[0], "y": point[1], "origin": "viewport"}


def _way(action: Act) -> tuple[list[Point], int, int] | None:
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
        _actions,
        _write,
    ),
    **MOBILE,
}


def hear(given: Any) -> Heard:
    """The body of POST /session/{id}/actions, or of execute with a `mobile:` script."""
    if not isinstance(given, Mapping):
        raise InvalidAction("should be an object", path="", hint='Send {"actions": […]}.')
    if "script" not in given:
        return Heard((Said("actions", dict(given)),))
    args = given.get("args") or [{}]
    if not isinstance(args, list) or len(args) != 1 or not isinstance(args[0], Mapping):
        raise InvalidAction("args: should be a list of one object", path="args")
    return Heard((Said(str(given["script"]), dict(args[0])),))


def form(word: str, fields: Fields) -> dict[str, Any]:
    """The body of the request."""
    return dict(fields) if word == "actions" else {"script": word, "args": [dict(fields)]}


def answer(reading: WordsRead, told: WordsTold) -> dict[str, Any]:
    """WebDriver's: null, or an error with its own words."""
    if told.success:
        return {"value": None}
    known = {
        "INVALID_ACTION": "invalid argument",
        "UNSUPPORTED": "unsupported operation",
        "TIMEOUT": "timeout",
    }
    notes = "; ".join(reading.notes)
    message = " ".join(part for part in (f"{told.code}: {told.text}", told.hint or "", notes) if part)
    error = known.get(told.code or "", "unknown error")
    return {"value": {"error": error, "message": message, "stacktrace": ""}}


DIALECT = Dialect("w3c_actions", "WebDriver actions, Appium gestures", "device", ROWS, hear, form, answer)
