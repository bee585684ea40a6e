"""The fingers and keys of one action: whatever one of them would press is judged first, then it moves once.

There is no other way from the engine to a surface's fingers, keys and text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from handrail.engine.look.looks import sure
from handrail.engine.pressed import (
    Felt,
    Stroke,
    Way,
    by_chord,
    by_fingers,
    by_key,
    by_text,
    pinched,
    stroke_of,
    turned,
)
from handrail.protocol.traits import Capability
from handrail.surface.capabilities import (
    KeysCapability,
    TextCapability,
    TouchCapability,
    ValuesCapability,
    has,
)
from handrail.surface.values import SetControl, Typed
from handrail.tree.mention import receiver
from handrail.tree.node import Node, ScreenPoint
from handrail.tree.reach import element_at

if TYPE_CHECKING:
    from handrail.engine.run import Stage

T = TypeVar("T")
MOST_POINTS = 32
"""Of one finger's way as it is told."""


class Hands:
    """`TouchCapability`, `KeysCapability` and `TextCapability` of a stage. Raises `ActionRejected` too."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    # fingers

    async def tap(self, x: int, y: int) -> None:
        await self._touch("tap", [(ScreenPoint(x, y),)], lambda touch: touch.tap(x, y))

    async def double_tap(self, x: int, y: int) -> None:
        """What takes single taps may turn the page with the first one: the second is judged by itself."""
        under = element_at(sure(self._stage.looks.last).screen, x, y)
        taker = receiver(under) if under is not None else None
        if taker is None or taker.role == "text_field":
            await self._touch("double tap", [(ScreenPoint(x, y),)], lambda touch: touch.double_tap(x, y))
            return
        await self.tap(x, y)
        await self._stage.look()
        await self.tap(x, y)

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        await self._touch(
            "long press", [(ScreenPoint(x, y),)], lambda touch: touch.long_press(x, y, duration_ms)
        )

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        stroke = stroke_of((x1, y1, x2, y2))
        await self._touch("swipe", [stroke], lambda touch: touch.swipe(x1, y1, x2, y2, duration_ms))

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        stroke = stroke_of((x1, y1, x2, y2))
        await self._touch("drag", [stroke], lambda touch: touch.drag(x1, y1, x2, y2, duration_ms))

    async def path(self, points: Sequence[tuple[int, int]], duration_ms: int) -> None:
        stroke = [ScreenPoint(*point) for point in points]
        await self._touch("drag", [stroke], lambda touch: touch.path(points, duration_ms))

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        await self._touch(
            "pinch",
            pinched(cx, cy, start_radius, end_radius),
            lambda touch: touch.pinch(cx, cy, start_radius, end_radius, duration_ms),
        )

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None:
        await self._touch(
            "turn",
            turned(cx, cy, radius, start_angle_deg, end_angle_deg),
            lambda touch: touch.rotate(cx, cy, radius, start_angle_deg, end_angle_deg, duration_ms),
        )

    def free_ways(self, ways: Sequence[Way]) -> Sequence[Way]:
        """Those on which a finger would press nothing that somebody must be asked about; all, if none is."""
        stage = self._stage
        free = (one for one in ways if stage.guard.may_press(stage, by_fingers([stroke_of(one)])))
        return list(free) or ways

    async def _touch(
        self, what: str, strokes: Sequence[Stroke], send: Callable[[TouchCapability], Awaitable[T]]
    ) -> T:
        touch = cast("TouchCapability", self._stage.surface.capability(Capability.TOUCH))
        done = await self._do(what, by_fingers(strokes), lambda: send(touch))
        if moves := [_legs(one) for one in strokes if len(one) > 1]:
            self._stage.run.details["strokes"] = moves  # of several touches, the last
        return done

    # keys and text

    async def key(self, key: str) -> None:
        keys = cast("KeysCapability", self._stage.surface.capability(Capability.KEYS))
        await self._do("key", by_key(key), lambda: keys.key(key))

    async def keys(self, keys: Sequence[str]) -> None:
        """Together."""
        board = cast("KeysCapability", self._stage.surface.capability(Capability.KEYS))
        await self._do("chord", by_chord(keys), lambda: board.chord(keys))

    async def type_text(self, text: str) -> Typed:
        return await self._do("text", by_text(text), lambda: self._text.type_text(text))

    async def require_way(self, text: str) -> None:
        await self._text.require_way(text)

    async def clear_text(self) -> Typed:
        return await self._do("clearing", by_text(""), self._text.clear_text)

    async def set_value(self, node: Node, value: str) -> SetControl | None:
        """Of a control that the surface sets by itself; None where fingers have to."""
        if not node.native_id or not has(self._stage.surface, Capability.VALUES):
            return None
        values = cast("ValuesCapability", self._stage.surface.capability(Capability.VALUES))
        return await self._do("value", lambda _: [node], lambda: values.set_value(node.native_id, value))

    def reads_back_as(self, text: str) -> str:
        return self._text.reads_back_as(text)

    @property
    def _text(self) -> TextCapability:
        return cast("TextCapability", self._stage.surface.capability(Capability.TEXT))

    async def _do(self, what: str, felt: Felt, send: Callable[[], Awaitable[T]]) -> T:
        stage = self._stage
        await stage.guard.permit_press(stage, felt)
        async with stage.run.dispatching(what):
            return await send()


def _legs(stroke: Stroke) -> list[list[int]]:
    """A finger's way as it is told: for reports and films, which draw it."""
    every = -(-len(stroke) // MOST_POINTS)
    return [list(point) for point in (*stroke[:-1:every], stroke[-1])]
