"""What a film is made of, and when it shows what. Values only; nothing is drawn here.

A frame is there only where picture, touch or caption change. Time in which nothing happens is shortened;
the caption says when it really was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from handrail.screen.node import Bounds, ScreenPoint

SEEN_MS = 500.0  # how long the screen is shown before it is touched
TOUCHED_MS = 650.0
SHORTEST_MS, LONGEST_MS = 700.0, 1_500.0  # how long the result of an action is shown

_LOOKS = frozenset({"observation", "control"})
"""Kinds of actions that name an element and do not touch it."""
FilmTone = Literal["good", "plain", "bad"]


@dataclass(slots=True)
class Picture:
    """A screenshot beside a step; None as `png` with the reason why there is none.

    A run goes on while it is taken, so it may be filled in later.
    """

    png: bytes | None
    width: int = 0
    height: int = 0
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class FilmTouch:
    """Where fingers were, in pixels of the screen: an element, and the ways that fingers took."""

    box: Bounds | None = None
    strokes: tuple[tuple[ScreenPoint, ...], ...] = ()
    """One for each finger; a single point is a tap."""

    def __bool__(self) -> bool:
        return self.box is not None or bool(self.strokes)


@dataclass(frozen=True, slots=True)
class FilmScene:
    """The film shows one action in it."""

    number: str
    title: str
    reason: str = ""
    verdict: str = ""
    tone: FilmTone = "plain"
    started_ms: float = 0.0
    """Since the run began."""
    duration_ms: float = 0.0
    before: Picture | None = None
    after: Picture | None = None
    """None if no picture was taken: the last one stays."""
    touch: FilmTouch = FilmTouch()
    device: str = ""


@dataclass(frozen=True, slots=True)
class FilmFrame:
    """What is shown from one moment of the film on."""

    at_ms: float
    scene: int
    picture: Picture | None
    touch: FilmTouch | None = None
    is_over: bool = False
    """The action has ended: the caption says how."""


@dataclass(frozen=True, slots=True)
class SceneTimes:
    """The film shows the scene from `at_ms` on, and from `over_ms` on what it led to."""

    number: str
    title: str
    at_ms: float
    over_ms: float


@dataclass(frozen=True, slots=True)
class FilmPlan:
    """All frames in order."""

    frames: tuple[FilmFrame, ...]
    marks: tuple[SceneTimes, ...]
    end_ms: float


def plan_film(scenes: Sequence[FilmScene]) -> FilmPlan:
    frames: list[FilmFrame] = []
    marks: list[SceneTimes] = []
    shown: dict[str, Picture | None] = {}
    at = 0.0
    for index, scene in enumerate(scenes):
        began = at
        picture = scene.before or shown.get(scene.device)
        frames.append(FilmFrame(at, index, picture))
        at += SEEN_MS
        if scene.touch:
            frames.append(FilmFrame(at, index, picture, scene.touch))
            at += TOUCHED_MS
        picture = scene.after or picture
        frames.append(FilmFrame(at, index, picture, is_over=True))
        marks.append(SceneTimes(scene.number, scene.title, began, at))
        is_last = index + 1 == len(scenes)
        lasts = scene.duration_ms if is_last else scenes[index + 1].started_ms - scene.started_ms
        at += min(max(SHORTEST_MS, lasts - (at - began)), LONGEST_MS)
        shown[scene.device] = picture
    return FilmPlan(tuple(frames), tuple(marks), at)


def has_acted(envelope: Mapping[str, Any]) -> bool:
    """False for actions that only looked or never reached the device."""
    return envelope.get("semantic") not in _LOOKS and envelope.get("delivery") != "not_delivered"


def touch_of(envelope: Mapping[str, Any]) -> FilmTouch:
    """Takes the strokes from the details, else the point of the target; empty where nothing was touched."""
    if not has_acted(envelope):
        return FilmTouch()
    target, details = envelope.get("target") or {}, envelope.get("details") or {}
    resolved, selector = target.get("resolved") or {}, target.get("selector") or {}
    bounds = resolved.get("bounds")
    strokes = tuple(
        tuple(ScreenPoint(int(x), int(y)) for x, y in stroke) for stroke in details.get("strokes") or ()
    )
    if not strokes and bounds is None and {"x", "y"} <= selector.keys():
        strokes = ((ScreenPoint(int(selector["x"]), int(selector["y"])),),)
    return FilmTouch(Bounds(*bounds) if bounds else None, strokes)


def verdict_of(envelope: Mapping[str, Any]) -> tuple[str, FilmTone]:
    if not envelope.get("success"):
        return f"failed: {envelope.get('failure_code') or 'UNKNOWN'}", "bad"
    approval = envelope.get("approval") or {}
    by = f", approved by {approval['by']}" if approval.get("by") else ""
    if envelope.get("lifecycle_state") == "verified":
        return f"verified{by}", "good"
    return f"done, not verified{by}", "plain"
