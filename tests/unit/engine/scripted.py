"""A phone that shows what a script says, on a manual clock: for waits whose every millisecond matters."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from handrail.engine.settle import Settled, SettleLoop
from handrail.engine.snapshot import ScreenTracker, UiSnapshot
from handrail.errors import DeviceError, Unsupported
from handrail.screen.node import Screen
from handrail.screen.refs import Registry
from handrail.surface.capabilities import IdleDetection, ScreenReader
from handrail.surface.values import Facts, IdleResult, Synced
from handrail_sim.clock import ManualClock
from tests.unit.screen.drawn import node, row, screen

T = TypeVar("T")
Shows = Callable[[float], Screen]


class ScriptedSurface:
    """Looks take `read_ms` and show the screen of their last moment. It can look and tell of rest."""

    name = "scripted"
    is_exclusive = True
    entry = ""
    app: Any = None
    """What the app's framework tells, where there is one."""

    def __init__(
        self, clock: ManualClock, shows: Shows, *, read_ms: float = 2.0, patient: bool = False
    ) -> None:
        self.clock = clock
        self.shows = shows
        self.read_ms = read_ms
        self.waits_for_idle = patient
        self.boot_id = "first"
        self.screens: list[float] = []
        self.idle: list[bool] | None = None
        """What a helper answers, one after the other; None where there is no helper."""
        self.picture: bytes | None = None
        """None where nobody may take one."""
        self.can: set[type] = {ScreenReader, IdleDetection}

    def need(self, kind: type[Any]) -> Any:
        if kind in self.can:
            return self
        raise Unsupported(f"a script has no {kind.__name__}")

    def notice(self, seen: Screen) -> None:
        if self.app is not None:
            self.app.notice(seen)

    async def sync(self, seen: Screen, timeout_ms: float) -> Synced | None:
        return await self.app.wait(seen, timeout_ms) if self.app is not None else None

    async def labels(self, seen: Screen) -> Mapping[str, str] | None:
        return await self.app.labels(seen) if self.app is not None else None

    async def refresh(self, seen: Screen) -> bool:
        return self.app is not None and await self.app.refresh(seen)

    async def look(self) -> Screen:
        self.screens.append(self.clock.monotonic_ms())
        await self.clock.sleep_ms(self.read_ms)
        return self.shows(self.clock.monotonic_ms())

    async def screenshot(self) -> bytes:
        if self.picture is None:
            raise DeviceError("this screen may not be shown", hint="")
        return self.picture

    async def facts(self) -> Facts:
        return Facts("scripted", "Model", "Maker", "15", 35, self.boot_id)

    def is_rested(self) -> bool:
        return False

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        if self.idle is None:
            return None
        answer = self.idle.pop(0)
        await self.clock.sleep_ms(100.0 if answer else timeout_ms)
        return IdleResult(True, answer, "events_quiet" if answer else "timeout")


class Stand:
    """One scripted phone and one session's eyes on it."""

    def __init__(self, shows: Shows, **options: Any) -> None:
        self.clock = ManualClock()
        self.driver = ScriptedSurface(self.clock, shows, **options)
        self.screens = ScreenTracker(self.driver, self.clock, Registry())  # type: ignore[arg-type]

    async def look(self) -> UiSnapshot:
        """A look that is taken."""
        return await self.passing(self.screens.refresh())

    async def settle(self, before: UiSnapshot | None, **options: Any) -> Settled:
        if before is not None:
            self.screens.mark_input()
        settling = SettleLoop(self.screens, self.clock, before, **options)
        settled = await self.passing(settling.wait())
        self.screens.adopt(settled.snapshot)
        return settled

    async def passing(self, work: Coroutine[Any, Any, T]) -> T:
        """Let time pass, a fifth of a millisecond at a time, until the work is done."""
        task = asyncio.ensure_future(work)
        await asyncio.sleep(0)
        while not task.done():
            await self.clock.advance(0.2)
        return task.result()


def still(drawn: Screen) -> Shows:
    return lambda _: drawn


def steps(*parts: tuple[float, Screen]) -> Shows:
    """Each screen from its time on."""
    times = [at for at, _ in parts]
    return lambda now: parts[bisect_right(times, now) - 1][1]


def frames(
    every_ms: float, draw: Callable[[int], Screen], *, start: float = 0.0, last: int | None = None
) -> Shows:
    """A new frame again and again, up to the last one; equal frames are one object, as equal dumps are."""
    drawn: dict[int, Screen] = {}

    def shows(now: float) -> Screen:
        number = max(0, int((now - start) // every_ms))
        number = number if last is None else min(number, last)
        return drawn.setdefault(number, draw(number))

    return shows


def page(
    *, title: str = "Page", ticker: str = "", on: bool = False, ball: int = 0, extra: str = ""
) -> Screen:
    """A title, a ticker, a switch and a ball: everything that may change."""
    return screen(
        node("TextView", box=row(0), text=title, resource_id="app:id/title"),
        node("TextView", box=row(1), text=ticker, resource_id="app:id/ticker"),
        node(
            "Switch",
            box=row(2),
            text="Wireless",
            resource_id="app:id/switch",
            flags=f"checkable clickable {'checked' if on else ''}",
        ),
        node("View", box=(ball, 900, ball + 50, 950), resource_id="app:id/ball"),
        extra,
    )
