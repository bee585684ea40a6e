"""The `Driver` over plain adb: what every Android can do without anything installed on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from inspect import iscoroutinefunction
from typing import NoReturn

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell
from handrail.android import input as touch
from handrail.android.asleep import told_if_dark
from handrail.android.display import read_display
from handrail.android.facts import ask_facts
from handrail.android.fallbacks import collect_fallbacks
from handrail.android.foreground import read_foreground
from handrail.android.input import read_again
from handrail.android.keys import key_code
from handrail.android.picture import take_picture
from handrail.android.screen import Dumper
from handrail.android.text.typist import Typist
from handrail.clock import Clock
from handrail.errors import Unsupported
from handrail.surface.values import Display, Facts, Foreground, IdleResult, Typed
from handrail.tree.node import Screen

TWO_FINGERS = "none: adb's `input` has one finger"
NO_EVENTS = "none: adb has no event stream"
RARE_CLIPBOARD = "adb where the phone's build has `cmd clipboard`, else none"
PATH_STEP_MS = 1_000
"""How long `input` may need to start, once for each point."""

Primitive = Callable[..., Awaitable[object]]


class AdbDriver:
    """One phone by adb alone."""

    waits_for_idle = True
    syncs = None
    webs = None

    def __init__(self, device: AdbDevice, clock: Clock) -> None:
        self.device = device
        self.shell: DeviceShell = device.shell
        self.serial = device.link.serial
        self._clock = clock
        self._dumper = Dumper(self.shell)
        self._dumping = asyncio.Lock()
        self._typist = Typist(self.shell, self.look, clock)

    async def facts(self) -> Facts:
        return await ask_facts(self.device, self._clock)

    async def display(self) -> Display:
        return await read_again(lambda left: read_display(self.shell, left), self._clock)

    async def foreground(self) -> Foreground:
        return await read_again(lambda left: read_foreground(self.shell, left), self._clock)

    async def look(self) -> Screen:
        async with self._dumping:
            return await told_if_dark(self.shell, lambda: read_again(self._dumper.read, self._clock))

    async def screenshot(self) -> bytes:
        return await told_if_dark(
            self.shell, lambda: read_again(lambda left: take_picture(self.shell, left), self._clock)
        )

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        """adb has no event stream."""
        _ = timeout_ms
        return None

    async def tap(self, x: int, y: int) -> None:
        await touch.send(self.shell, touch.tap(x, y))

    async def double_tap(self, x: int, y: int) -> None:
        await touch.send(self.shell, touch.double_tap(x, y))

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        await touch.send(self.shell, touch.swipe(x, y, x, y, duration_ms), duration_ms)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await touch.send(self.shell, touch.swipe(x1, y1, x2, y2, duration_ms), duration_ms)

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await touch.send(self.shell, touch.drag(x1, y1, x2, y2, duration_ms), duration_ms)

    async def path(self, points: Sequence[tuple[int, int]], duration_ms: int) -> None:
        await touch.send(
            self.shell, touch.path(points, duration_ms), duration_ms + PATH_STEP_MS * len(points)
        )

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        self._one_finger(self.pinch, cx, cy, start_radius, end_radius, duration_ms)

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None:
        self._one_finger(self.rotate, cx, cy, radius, start_angle_deg, end_angle_deg, duration_ms)

    async def key(self, key: str | int) -> None:
        await touch.send(self.shell, touch.key(key_code(key)))

    async def chord(self, keys: Sequence[str]) -> None:
        await touch.send(self.shell, touch.chord([key_code(key) for key in keys]))

    async def type_text(self, text: str, *, blind: bool = False) -> Typed:
        return await self._typist.type_text(text, blind=blind)

    async def require_way(self, text: str) -> None:
        await self._typist.require_way(text)

    async def clear_text(self) -> Typed:
        return await self._typist.clear_text()

    async def get_clipboard(self) -> str:
        return await self._typist.get_clipboard()

    async def set_clipboard(self, text: str) -> None:
        await self._typist.set_clipboard(text)

    def channels(self) -> dict[str, str]:
        limits: dict[Primitive, str] = {
            self.pinch: TWO_FINGERS,
            self.rotate: TWO_FINGERS,
            self.wait_idle: NO_EVENTS,
            self.get_clipboard: RARE_CLIPBOARD,
            self.set_clipboard: RARE_CLIPBOARD,
        }
        return dict.fromkeys(_primitives(), "adb") | {one.__name__: why for one, why in limits.items()}

    def diagnostics(self) -> list[str]:
        return collect_fallbacks(self.shell)

    async def close(self) -> None:
        await self._dumper.tidy()
        await self.device.close()

    def _one_finger(self, gesture: Primitive, *_: object) -> NoReturn:
        raise Unsupported(
            f"{gesture.__name__} needs two fingers, and adb's `input` has one",
            hint="Use an emulator (gRPC), or the u2 helper for a pinch.",
            channel="adb",
            delivery="not_delivered",
        )


def _primitives() -> list[str]:
    """What is done with the screen, fingers, keys and text; facts are no primitives."""
    found = [name for name, one in vars(AdbDriver).items() if iscoroutinefunction(one)]
    return [name for name in found if name not in ("facts", "display", "require_way", "close")]
