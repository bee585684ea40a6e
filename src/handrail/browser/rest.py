"""Whether a page has come to rest: its network, its document, its animations.

Quiet is 200 ms without a change outside of what changes all the time, without the start or end of a request
that began after the action, and without an animation that will end. A long poll, an endless spinner and a
clock hold nothing up.
"""

from __future__ import annotations

from collections.abc import Mapping

from handrail.browser.eyes import unless_dialog
from handrail.browser.page import STALE_MS, WebPage
from handrail.browser.tabs import Tabs
from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.surface.values import IdleResult, Synced
from handrail.tree.node import Screen

QUIET_MS = 200.0
POLL_MS = 40.0
LOAD_CAP_MS = 3_000.0
"""A document that is not complete so long after it could be read is taken as it is."""


class PageRest:
    """`RestCapability` of a browser."""

    def __init__(self, tabs: Tabs, clock: Clock) -> None:
        self._tabs = tabs
        self._clock = clock
        self._acted_ms = 0.0
        self._vouched_ms = -1.0

    def acted(self) -> None:
        """Something is about to be done: what runs already is not its doing."""
        self._acted_ms = self._clock.monotonic_ms()

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        if self._vouched_ms == self._acted_ms:
            # Asked again: somebody waits for something else than quiet, and would ask without a pause.
            await self._clock.sleep_ms(POLL_MS)
        held = await self._wait(timeout_ms)
        self._vouched_ms = self._acted_ms
        return IdleResult(True, not held, "timeout" if held else "events_quiet", tuple(held))

    async def _wait(self, timeout_ms: float) -> list[str]:
        """What still goes on at the end; nothing once it is quiet."""
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
        """What goes on, and how long nothing may yet for it to be quiet."""
        if page.dialog is not None or page.crashed:
            return [], 0.0
        try:
            told = await unless_dialog(page, page.evaluate("handrail.rest()", timeout_ms=1_000.0))
        except HandrailError:
            return ["a busy page"], QUIET_MS
        if told is None:
            return [], 0.0
        state, changed_ms, moving, _ = told
        now = self._clock.monotonic_ms()
        held = [name for name, is_so in self._reasons(page, str(state), int(moving), now).items() if is_so]
        quiet_ms = min(float(changed_ms), now - page.last_request_ms, now - self._acted_ms)
        return held, QUIET_MS - quiet_ms

    def _reasons(self, page: WebPage, state: str, moving: int, now: float) -> Mapping[str, bool]:
        began = self._acted_ms
        running = [at for at in page.requests.values() if at >= began and now - at < STALE_MS]
        is_loading = state != "complete" and now - max(page.loaded_ms, began) < LOAD_CAP_MS
        return {"network": bool(running), "loading": is_loading, "animation": bool(moving)}

    def notice(self, screen: Screen) -> None:
        """A page tells of itself without being got ready."""

    async def sync(self, screen: Screen, timeout_ms: float) -> Synced | None:
        """The page itself, asked once the screen looks quiet."""
        del screen
        began = self._clock.monotonic_ms()
        held, _ = await self._holds(self._tabs.front)
        if not held:  # the looks themselves have seen that nothing changes
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
