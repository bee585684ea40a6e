"""Waits until a page is idle: loaded, without requests in flight, without changes."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.browser.page import STALE_MS, WebPage
from handrail.browser.screen_reader import unless_dialog
from handrail.browser.tabs import Tabs
from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.screen.node import Screen
from handrail.surface.values import IdleResult, Synced

QUIET_MS = 200.0
POLL_MS = 40.0
POLLS_MS = 1_000.0
"""A request of a page that has loaded no longer counts after this time: it waits for news."""
HOVER_MS = 450.0
"""Menus that open under a pointer, and lists that filter what is offered, wait for more at first."""
LOAD_CAP_MS = 3_000.0
"""A document that is still loading this long after it became readable is taken as it is."""


class PageIdle:
    """`IdleDetection` of a browser."""

    def __init__(self, tabs: Tabs, clock: Clock) -> None:
        self._tabs = tabs
        self._clock = clock
        self._acted_ms = 0.0
        self._vouched_ms = -1.0
        self._quiet_ms = QUIET_MS

    def acted(self, quiet_ms: float = QUIET_MS) -> None:
        """Marks the start of an action: what already runs does not count."""
        self._quiet_ms = quiet_ms
        self._acted_ms = self._clock.monotonic_ms()

    def is_rested(self) -> bool:
        return False

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        if self._vouched_ms == self._acted_ms:
            # Asked again: the caller waits for something other than idleness and would poll without a pause.
            await self._clock.sleep_ms(POLL_MS)
        held = await self._wait(timeout_ms)
        self._vouched_ms = self._acted_ms
        return IdleResult(True, not held, "timeout" if held else "events_quiet", tuple(held))

    async def _wait(self, timeout_ms: float) -> list[str]:
        """What is still going on at the end; empty once the page is idle."""
        end = self._clock.monotonic_ms() + timeout_ms
        while True:
            await self._tabs.settled()
            held, left_ms = await self._holds(self._tabs.front)
            now = self._clock.monotonic_ms()
            if not held and left_ms <= 0:
                return []
            pause = POLL_MS if held else max(1.0, min(left_ms, POLL_MS * 3))
            if now + pause > end:
                return held or ["changes"]
            await self._clock.sleep_ms(pause)

    async def _holds(self, page: WebPage) -> tuple[list[str], float]:
        """What goes on, and how long the page must stay quiet."""
        if page.dialog is not None or page.crashed:
            return [], 0.0
        try:
            reply = await unless_dialog(page, page.evaluate("handrail.rest()", timeout_ms=1_000.0))
        except HandrailError:
            return ["a busy page"], self._quiet_ms
        if reply is None:
            return [], 0.0
        state, changed_ms, moving, _ = reply
        now = self._clock.monotonic_ms()
        began = self._acted_ms
        stale_ms = POLLS_MS if page.loaded_ms >= began and state == "complete" else STALE_MS
        reasons = {
            "network": any(at >= began and now - at < stale_ms for at in page.requests.values()),
            "loading": state != "complete" and now - max(page.loaded_ms, began) < LOAD_CAP_MS,
            "animation": bool(moving),
        }
        held = [name for name, holds in reasons.items() if holds]
        quiet_ms = min(float(changed_ms), now - page.last_request_ms, now - began)
        return held, self._quiet_ms - quiet_ms

    def notice(self, screen: Screen) -> None:
        """A page needs no preparation."""

    async def sync(self, screen: Screen, timeout_ms: float) -> Synced | None:
        """Asks the page itself, once the screen looks stable."""
        del screen
        began = self._clock.monotonic_ms()
        held, _ = await self._holds(self._tabs.front)
        if not held:  # the looks have shown that nothing changes
            return Synced("web", ("network", "dom"), self._clock.monotonic_ms() - began, True)
        waited_for = tuple(held)
        still = await self._wait(timeout_ms)
        took = self._clock.monotonic_ms() - began
        return Synced("web", ("network", "dom"), took, not still, waited_for)

    async def labels(self, screen: Screen) -> Mapping[str, str] | None:
        del screen
        return None

    async def refresh(self, screen: Screen) -> bool:
        del screen
        return False
