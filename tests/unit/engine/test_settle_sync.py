"""The tail of a wait: the app's own framework has the last word, for a while, and never fails anything."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from handrail.engine.settle import SYNC_MS, Settled
from handrail.screen.node import Screen
from handrail.surface.values import Synced
from handrail_sim.clock import ManualClock
from tests.unit.engine.scripted import Shows, Stand, page, steps, still

BUSY_MS = 700.0


class ScriptedSync:
    """An app that is busy until a moment; None: for ever."""

    def __init__(self, clock: ManualClock, until_ms: float | None, *, refreshes: bool = False) -> None:
        self.clock = clock
        self.until_ms = until_ms
        self.refreshes = refreshes
        self.asked: list[float] = []
        self.noticed: list[Screen] = []

    def notice(self, seen: Screen) -> None:
        self.noticed.append(seen)

    async def refresh(self, _: Screen) -> bool:
        return False

    async def labels(self, _: Screen) -> Mapping[str, str] | None:
        return None

    async def wait(self, _: Screen, timeout_ms: float) -> Synced | None:
        began = self.clock.monotonic_ms()
        self.asked.append(began)
        left = timeout_ms if self.until_ms is None else max(0.0, self.until_ms - began)
        await self.clock.sleep_ms(min(left, timeout_ms))
        took = self.clock.monotonic_ms() - began
        refreshed, self.refreshes = self.refreshes, False
        waited = ("fetch GET /feed",) if left else ()
        return Synced("react_native", ("hermes",), took, left < timeout_ms, waited, refreshed)


FEED, NEW = page(), page(title="Another page")
STILL = still(FEED)


def settled(until_ms: float | None, shows: Shows = STILL, **options: Any) -> tuple[Settled, ScriptedSync]:
    async def story() -> tuple[Settled, ScriptedSync]:
        stand = Stand(shows)
        before = await stand.look()
        sync = ScriptedSync(stand.clock, until_ms, **options)
        stand.driver.app = sync
        return await stand.settle(before), sync

    return asyncio.run(story())


def test_an_app_at_rest_is_asked_once_and_read_no_more_often() -> None:
    done, sync = settled(0.0)
    assert len(sync.asked) == 1
    assert (done.report.sync.idle, done.report.sync.waited_for) == (True, None)
    assert sync.noticed


def test_work_that_ends_with_a_change_is_waited_for_and_the_change_is_seen() -> None:
    done, _ = settled(BUSY_MS, steps((0, FEED), (BUSY_MS, NEW)))
    assert done.snapshot.screen is NEW
    assert done.report.sync.waited_for == ("fetch GET /feed",)
    assert done.report.ms < BUSY_MS + 300


def test_work_without_end_is_left_after_its_budget_and_said_so() -> None:
    done, _ = settled(None)
    assert done.report.sync.idle is False
    assert SYNC_MS <= done.report.sync.ms < SYNC_MS + 100
    assert done.report.reason == "quiet"


def test_a_screen_that_got_its_semantics_is_read_again() -> None:
    done, sync = settled(0.0, refreshes=True)
    assert len(sync.asked) == 2
    assert done.report.sync.waited_for is None


def test_without_a_framework_there_is_no_report() -> None:
    async def story() -> Settled:
        stand = Stand(still(FEED))
        return await stand.settle(await stand.look())

    assert asyncio.run(story()).report.sync is None
