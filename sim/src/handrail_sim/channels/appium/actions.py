"""W3C actions: fingers and keys, tick by tick, on the phone's clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from handrail_sim.channels.appium.elements import SESSION, words
from handrail_sim.channels.appium.routes import number, route
from handrail_sim.channels.appium.server import Refused, Server, reference
from handrail_sim.input.keys import NoKeyFor

MOVE_MS = 10.0
LEAST_MS = 50.0
"""A finger that goes down and up in one breath stays this long, so that it is a tap."""
CODES = {0xE003: 67, 0xE004: 61, 0xE006: 66, 0xE007: 66, 0xE00C: 111}
CODES |= {0xE011: 122, 0xE010: 123, 0xE012: 21, 0xE013: 19, 0xE014: 22, 0xE015: 20, 0xE017: 112, 0xE00D: 62}
"""The protocol's own characters for keys: backspace, tab, return, enter, escape, home, end, arrows."""


@dataclass(slots=True)
class Source:
    """One finger, keyboard or wait, with what it is to do in each tick."""

    kind: str
    steps: list[dict[str, Any]]
    finger: int = 0
    x: float = 0.0
    y: float = 0.0
    goal: tuple[float, float] | None = None
    is_down: bool = field(default=False)


@route("POST", f"{SESSION}/actions")
async def _perform(server: Server, body: dict[str, Any]) -> None:
    sources = _sources(body)
    try:
        for tick in range(max((len(one.steps) for one in sources), default=0)):
            now = [(one, one.steps[tick]) for one in sources if tick < len(one.steps)]
            await _tick(server, now)
    finally:
        for source in sources:
            if source.is_down:
                server.phone.pointer("up", source.x, source.y, source.finger)
    await server.automator.until(server.phone.is_idle, 3000, 20.0)


@route("DELETE", f"{SESSION}/actions")
async def _release(_server: Server, _: dict[str, Any]) -> None:
    """Nothing is held between two commands."""


def _sources(body: dict[str, Any]) -> list[Source]:
    given = body.get("actions")
    if not isinstance(given, list) or not given:
        raise Refused("invalid argument", "There are no actions")
    found: list[Source] = []
    for one in given:
        steps = one.get("actions") if isinstance(one, dict) else None
        if not isinstance(steps, list) or one.get("type") not in {"pointer", "key", "none"}:
            raise Refused("invalid argument", f"Unknown source of actions: {one!r}")
        fingers = sum(source.kind == "pointer" for source in found)
        found.append(Source(str(one["type"]), steps, fingers))
    return found


async def _tick(server: Server, now: list[tuple[Source, dict[str, Any]]]) -> None:
    """What happens at once; the tick lasts as long as its longest part."""
    lasts = 0.0
    for source, step in now:
        source.goal = None
        lasts = max(lasts, number(step, "duration", 0.0) if _lasts(step) else 0.0)
        if step.get("type") == "pointerMove":
            source.goal = _goal(server, source, step)
        else:
            lasts = max(lasts, _at_once(server, source, step))
    moving = [(source, source.x, source.y) for source, _ in now if source.goal is not None]
    steps = max(1, int(lasts / MOVE_MS))
    for turn in range(1, steps + 1):
        if lasts > 0:
            await server.phone.clock.sleep_ms(lasts / steps)
        for source, x, y in moving:
            _move(server, source, x, y, turn / steps)


def _lasts(step: dict[str, Any]) -> bool:
    return step.get("type") in {"pause", "pointerMove"}


def _goal(server: Server, source: Source, step: dict[str, Any]) -> tuple[float, float]:
    x, y = number(step, "x", 0.0), number(step, "y", 0.0)
    origin = step.get("origin", "viewport")
    if origin == "pointer":
        return source.x + x, source.y + y
    if origin == "viewport":
        return x, y
    middle = server.node(reference(origin)).center
    return middle[0] + x, middle[1] + y


def _move(server: Server, source: Source, x: float, y: float, share: float) -> None:
    goal = source.goal or (x, y)
    source.x, source.y = x + (goal[0] - x) * share, y + (goal[1] - y) * share
    if source.is_down:
        server.phone.pointer("move", source.x, source.y, source.finger)


def _at_once(server: Server, source: Source, step: dict[str, Any]) -> float:
    """Down, up, a key; the ms that it takes at least."""
    kind = step.get("type")
    if kind == "pointerDown":
        source.is_down = True
        server.phone.pointer("down", source.x, source.y, source.finger)
        return LEAST_MS
    if kind in {"pointerUp", "pointerCancel"} and source.is_down:
        source.is_down = False
        server.phone.pointer("up", source.x, source.y, source.finger)
    elif kind == "keyDown":
        strike(server, str(step.get("value", "")))
    elif kind not in {"pause", "keyUp", "pointerUp", "pointerCancel"}:
        raise Refused("invalid argument", f"Unknown action '{kind}'")
    return 0.0


@route("POST", f"{SESSION}/keys")
async def _keys(server: Server, body: dict[str, Any]) -> None:
    """Text by key events, to whatever has the focus."""
    for character in words(body):
        strike(server, character)
    await server.idle()


def strike(server: Server, character: str) -> None:
    """One key."""
    code = CODES.get(ord(character)) if len(character) == 1 else None
    if code is not None:
        server.phone.key(code)
        return
    try:
        server.phone.type_ascii(character)
    except NoKeyFor:
        raise Refused(
            "unknown error", f"Cannot generate key events for the character '{character}'"
        ) from None
