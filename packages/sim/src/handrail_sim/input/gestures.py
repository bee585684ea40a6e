"""Whole gestures as an injector sends them: down, moves every few ms of the phone's clock, up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, radians, sin
from typing import Literal, Protocol

from handrail_sim.clock import Clock

STEP_MS = 16.0  # one frame at 60 Hz
Point = tuple[float, float]
Path = Callable[[float], Sequence[Point]]  # from the done share (0..1) to a point per finger


class TouchTarget(Protocol):
    """What a gesture needs of a phone."""

    clock: Clock

    def chances(self) -> int: ...
    def pointer(
        self, action: Literal["down", "move", "up", "cancel"], x: float, y: float, pointer: int = 0
    ) -> None: ...


async def tap(phone: TouchTarget, x: float, y: float) -> None:
    """Down and up at the same moment, as `input tap` sends them."""
    for _ in range(phone.chances()):
        phone.pointer("down", x, y)
        phone.pointer("up", x, y)


async def swipe(phone: TouchTarget, start: Point, end: Point, duration_ms: float) -> None:
    def along(share: float) -> Sequence[Point]:
        return [(start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)]

    await play(phone, along, duration_ms)


async def long_press(phone: TouchTarget, x: float, y: float, duration_ms: float) -> None:
    for _ in range(phone.chances()):
        phone.pointer("down", x, y)
        await phone.clock.sleep_ms(duration_ms)
        phone.pointer("up", x, y)


async def drag(
    phone: TouchTarget, start: Point, end: Point, duration_ms: float, hold_ms: float = 600.0
) -> None:
    """Press and hold, then move: what drag and drop needs."""
    for _ in range(phone.chances()):
        phone.pointer("down", *start)
        await phone.clock.sleep_ms(hold_ms)
        steps = max(1, int(duration_ms / STEP_MS))
        for number in range(1, steps + 1):
            await phone.clock.sleep_ms(duration_ms / steps)
            share = number / steps
            x, y = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
            phone.pointer("move", x, y)
        phone.pointer("up", *end)


async def pinch(
    phone: TouchTarget, centre: Point, start_radius: float, end_radius: float, duration_ms: float
) -> None:
    def along(share: float) -> Sequence[Point]:
        radius = start_radius + (end_radius - start_radius) * share
        return [(centre[0] - radius, centre[1]), (centre[0] + radius, centre[1])]

    await play(phone, along, duration_ms)


async def rotate(phone: TouchTarget, centre: Point, radius: float, angle: float, duration_ms: float) -> None:
    def along(share: float) -> Sequence[Point]:
        turned = radians(angle * share)
        across, down = radius * cos(turned), radius * sin(turned)
        return [(centre[0] - across, centre[1] - down), (centre[0] + across, centre[1] + down)]

    await play(phone, along, duration_ms)


async def play(phone: TouchTarget, path: Path, duration_ms: float) -> None:
    """Any number of fingers along their paths; the number of steps depends on the duration alone."""
    for _ in range(phone.chances()):
        for finger, (x, y) in enumerate(path(0.0)):
            phone.pointer("down", x, y, finger)
        steps = max(1, int(duration_ms / STEP_MS))
        for number in range(1, steps + 1):
            if duration_ms > 0:
                await phone.clock.sleep_ms(duration_ms / steps)
            for finger, (x, y) in enumerate(path(number / steps)):
                phone.pointer("move", x, y, finger)
        for finger, (x, y) in enumerate(path(1.0)):
            phone.pointer("up", x, y, finger)
