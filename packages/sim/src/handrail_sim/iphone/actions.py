"""Fingers and keys on an iPhone: W3C actions on one time line, and the whole gestures of XCTest.

Everything takes the time that it says, on the phone's clock. Points come in, pixels go to the phone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, cos, hypot, radians, sin
from typing import Any, Literal

from handrail_sim.input.gestures import STEP_MS
from handrail_sim.input.keys import DELETE, FORWARD_DELETE
from handrail_sim.iphone.tree import TEXT_INPUTS, Element
from handrail_sim.iphone.wda import ELEMENT, Refused, Wda, refusal

Point = tuple[float, float]
TAP_MS = 60.0
DOUBLE_TAP_PAUSE_MS = 80.0
DRAG_SPEED = 1000.0
"""Points per second of a drag that names no speed."""
NO_FOCUS_MS = 1000.0
_TYPES = ("pointerMove", "pointerDown", "pointerUp", "pause")


@dataclass(frozen=True, slots=True)
class TouchEvent:
    """What one finger does at one time of a gesture, in points."""

    ms: float
    action: Literal["down", "move", "up"]
    x: float
    y: float
    finger: int = 0


# W3C


def read_actions(server: Wda, actions: Any) -> tuple[list[TouchEvent], list[tuple[float, str]]]:
    """All sources on one line: what fingers do, and which characters are typed when."""
    if not isinstance(actions, list) or not actions:
        raise Refused("unknown error", "Actions list cannot be empty")
    events: list[TouchEvent] = []
    keys: list[tuple[float, str]] = []
    names: set[str] = set()
    for finger, source in enumerate(actions):
        name = str(source.get("id") or "")
        if not name or name in names:
            why = "is not unique" if name else "field is missing or empty"
            raise Refused("unknown error", f"The mandatory action id '{name}' {why} for '{source}'")
        names.add(name)
        items = source.get("actions") or []
        if not items:
            raise refusal("no-items", name)
        if source.get("type") == "key":
            keys += _key_events(items)
        elif source.get("type") == "pointer":
            events += _pointer(server, source, items, finger)
        else:
            raise refusal("no-such-source", source.get("type"), name)
    return sorted(events, key=lambda event: event.ms), sorted(keys)


def _pointer(
    server: Wda, source: dict[str, Any], items: list[dict[str, Any]], finger: int
) -> list[TouchEvent]:
    kind = (source.get("parameters") or {}).get("pointerType", "touch")
    if kind != "touch":
        raise refusal("no-touch-pointer", kind, source["id"])
    events: list[TouchEvent] = []
    at: Point | None = None
    now, is_down = 0.0, False
    for item in items:
        duration = float(item.get("duration") or 0.0)
        match item.get("type"):
            case "pointerMove":
                goal = _destination(server, item, at)
                events += _moves(now, duration, at, goal, finger) if is_down and at is not None else []
                at = goal
            case "pointerDown" | "pointerUp" if at is None:
                first = (
                    "Pointer Up must not be the first action"
                    if item["type"] == "pointerUp"
                    else "must be preceded"
                )
                raise Refused("unknown error", f"The '{item}' action item {first} by pointerMove item")
            case "pointerDown" if at is not None:
                events.append(TouchEvent(now, "down", *at, finger))
                is_down = True
            case "pointerUp" if at is not None:
                events.append(TouchEvent(now, "up", *at, finger))
                is_down = False
            case "pause" | "pointerCancel":
                pass
            case other:
                raise refusal("no-such-item", source["id"], other, ", ".join(_TYPES))
        now += duration
    return [*events, TouchEvent(now, "up", *at, finger)] if is_down and at is not None else events


def _destination(server: Wda, item: dict[str, Any], at: Point | None) -> Point:
    x, y, origin = item.get("x"), item.get("y"), item.get("origin") or "viewport"
    if (x is None) != (y is None) or (origin == "viewport" and x is None):
        raise Refused("unknown error", f"Both 'x' and 'y' options should be set for '{item}' action item")
    across, down = float(x or 0.0), float(y or 0.0)
    if isinstance(origin, dict):
        element = server.element(str(origin.get(ELEMENT) or origin.get("ELEMENT") or ""))
        middle = element.center
        return middle[0] + across, middle[1] + down
    if origin == "pointer":
        if at is None:
            raise Refused("unknown error", f"There is no previous item for '{item}' action item")
        return at[0] + across, at[1] + down
    if origin != "viewport":
        raise Refused("unknown error", f"Unsupported origin type '{origin}' is set for '{item}' action item")
    return across, down


def _moves(now: float, duration: float, start: Point, goal: Point, finger: int) -> list[TouchEvent]:
    steps = max(1, ceil(duration / STEP_MS))
    return [
        TouchEvent(
            now + duration * number / steps,
            "move",
            start[0] + (goal[0] - start[0]) * number / steps,
            start[1] + (goal[1] - start[1]) * number / steps,
            finger,
        )
        for number in range(1, steps + 1)
    ]


def _key_events(items: list[dict[str, Any]]) -> list[tuple[float, str]]:
    keys: list[tuple[float, str]] = []
    now, down = 0.0, 0
    for item in items:
        match item.get("type"):
            case "keyDown":
                down += 1
                keys.append((now, str(item.get("value", ""))))
            case "keyUp":
                down -= 1
            case "pause":
                now += float(item.get("duration") or 0.0)
            case other:
                raise Refused("unknown error", f"action item type '{other}' is not supported")
    if down:
        raise Refused("unknown error", "Every Key Down action must have a closing Key Up successor")
    return keys


async def perform(server: Wda, events: Sequence[TouchEvent], keys: Sequence[tuple[float, str]] = ()) -> None:
    """Play a time line; a fault may lose it or play it twice."""
    phone = server.phone
    for _ in range(phone.chances()):
        await _play(server, events)
    for _, character in keys:
        await press_key(server, character)


async def _play(server: Wda, events: Sequence[TouchEvent]) -> None:
    phone, now = server.phone, 0.0
    for event in events:
        if event.ms > now:
            await phone.clock.sleep_ms(event.ms - now)
            now = event.ms
        phone.pointer(event.action, *server.pixels(event.x, event.y), event.finger)


# whole gestures


def _touch(start_ms: float, at: Point, hold_ms: float, finger: int = 0) -> list[TouchEvent]:
    return [TouchEvent(start_ms, "down", *at, finger), TouchEvent(start_ms + hold_ms, "up", *at, finger)]


async def tap(server: Wda, at: Point, *, times: int = 1, fingers: int = 1, hold_ms: float = TAP_MS) -> None:
    events: list[TouchEvent] = []
    for time in range(times):
        for finger in range(fingers):
            place = (at[0] + 30.0 * finger, at[1])
            events += _touch(time * (hold_ms + DOUBLE_TAP_PAUSE_MS), place, hold_ms, finger)
    await perform(server, sorted(events, key=lambda event: event.ms))
    await server.wait_for_animations()


async def drag(
    server: Wda,
    start: Point,
    goal: Point,
    *,
    press_ms: float,
    speed: float = DRAG_SPEED,
    hold_ms: float = 0.0,
) -> None:
    """Press, then move at a speed: the time that is named is the one before the finger moves."""
    distance = hypot(goal[0] - start[0], goal[1] - start[1])
    duration = 1000.0 * distance / max(1.0, speed)
    events = [TouchEvent(0.0, "down", *start), *_moves(press_ms, duration, start, goal, 0)]
    await perform(server, [*events, TouchEvent(press_ms + duration + hold_ms, "up", *goal)])
    await server.wait_for_animations()


async def swipe(server: Wda, element: Element, direction: str, speed: float | None) -> None:
    """From the middle of an element, half its size on, fast enough that what scrolls goes on."""
    _, _, width, height = element.frame
    across, down = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[direction]
    middle = element.center
    start = (middle[0] - across * width * 0.25, middle[1] - down * height * 0.25)
    goal = (middle[0] + across * width * 0.4, middle[1] + down * height * 0.4)
    await drag(server, start, goal, press_ms=0.0, speed=speed or 2 * DRAG_SPEED)


async def fingers_around(
    server: Wda, element: Element, shape: Callable[[float], tuple[float, float]]
) -> None:
    """Two fingers around an element's middle; `shape` gives radius and degrees by the share that is done."""
    middle, duration = element.center, 500.0
    events: list[TouchEvent] = []
    steps = ceil(duration / STEP_MS)
    for number in range(steps + 1):
        radius, turn = shape(number / steps)
        across, down = radius * cos(radians(turn)), radius * sin(radians(turn))
        action: Literal["down", "move", "up"] = "down" if number == 0 else "up" if number == steps else "move"
        for finger, way in enumerate((-1, 1)):
            place = (middle[0] + way * across, middle[1] + way * down)
            events.append(TouchEvent(duration * number / steps, action, *place, finger))
    await perform(server, events)
    await server.wait_for_animations()


# text


async def press_key(server: Wda, character: str) -> None:
    """One key of the keyboard."""
    phone = server.phone
    phone.catch_up()
    if character in "\b\u007f":
        phone.key(DELETE if character == "\b" else FORWARD_DELETE)
    elif character == "\n" and not phone.editing.has_lines():
        phone.editing.submit()
    elif phone.faults.get("ime_swallows") is None:
        phone.editing.insert(character)


async def type_text(server: Wda, text: str, frequency: float) -> None:
    """Keys at a rhythm into whatever has the focus; an error of unknown effect when nothing has."""
    phone = server.phone
    phone.catch_up()
    if phone.editing.field() is None and phone.editing.away() is None:
        await phone.clock.sleep_ms(NO_FOCUS_MS)
        raise refusal("no-keyboard")
    phone.record_input(action="text", text=text)
    pause = 1000.0 / max(1.0, frequency)
    for _ in range(phone.chances()):
        for character in text:
            await press_key(server, character)
            await phone.clock.sleep_ms(pause)


async def focus(server: Wda, element: Element) -> None:
    """Tap a field unless the keyboard types into it already."""
    if element.type in TEXT_INPUTS and element.view is not None and element.view.focused:
        return
    await tap(server, element.center)
