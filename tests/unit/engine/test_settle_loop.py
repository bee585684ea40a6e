"""The loop of a wait: when it sleeps, whom it asks, and what it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from handrail.engine.settle import FULL_MS, HELPER_MS, LOADING_WAIT_MS, Settled, SettleLoop, no_proof
from handrail.engine.snapshot import UiSnapshot
from handrail.screen.node import Screen
from handrail.surface.capabilities import ScreenReader
from handrail.surface.values import IdleResult, Synced
from tests.unit.engine.scripted import Stand, frames, page, steps, still
from tests.unit.screen.drawn import node

OTHER = page(title="Another page")
SPINNER = node("ProgressBar", box=(500, 1200, 580, 1280), resource_id="app:id/spinner")
QUIET_AT = 102.05
"""A read of 2 ms, a hundred of quiet, and the moment that a sleeper is given to wake."""


def waited(stand: Stand, *, after: bool = False, **options: Any) -> tuple[Settled, SettleLoop]:
    """One whole wait; `after` an action that changed nothing."""

    async def story() -> tuple[Settled, SettleLoop]:
        before = await stand.look() if after else None
        stand.driver.screens.clear()
        settling = SettleLoop(stand.screens, stand.clock, before, **options)
        return await stand.passing(settling.wait()), settling

    return asyncio.run(story())


def asked(stand: Stand) -> list[float]:
    """How long the helper was given, each time."""
    given: list[float] = []
    answer = stand.driver.wait_idle

    async def wait_idle(timeout_ms: float) -> IdleResult | None:
        given.append(timeout_ms)
        return await answer(timeout_ms)

    stand.driver.wait_idle = wait_idle  # type: ignore[method-assign]
    return given


class App:
    """A framework that answers what it is told to."""

    def __init__(self, *probes: Synced | None) -> None:
        self.probes = list(probes)
        self.given: list[float] = []
        self.labelled: list[Screen] = []

    def notice(self, _: Screen) -> None:
        pass

    async def refresh(self, _: Screen) -> bool:
        return False

    async def labels(self, seen: Screen) -> Mapping[str, str] | None:
        self.labelled.append(seen)
        return {}

    async def wait(self, _: Screen, timeout_ms: float) -> Synced | None:
        self.given.append(timeout_ms)
        return self.probes.pop(0)


def probe(ms: float, *waited_for: str, refreshed: bool = False) -> Synced:
    return Synced("react_native", ("hermes",), ms, True, waited_for, refreshed)


def test_the_budgets_of_a_wait() -> None:
    assert (FULL_MS, LOADING_WAIT_MS, HELPER_MS) == (10_000, 8_000, 250)


def test_looks_come_at_growing_gaps_and_at_the_moment_that_decides() -> None:
    stand = Stand(still(page()))
    settled, settling = waited(stand)
    assert stand.driver.screens == pytest.approx([0, 22.05, 64.1, QUIET_AT])
    assert settled.report.reads == 4
    assert settled.report.ms == 104.0  # one digit is told
    assert settling.waited_ms == pytest.approx(QUIET_AT - 3 * 2)


def test_a_wait_for_no_proof_is_not_patient_and_one_for_a_proof_is() -> None:
    stand = Stand(still(page()))
    assert waited(stand, met=lambda _: False)[0].report.ms < 110
    assert waited(stand, met=lambda _: False, patience_ms=700)[0].report.ms >= 700


def test_the_proof_is_asked_for_once_for_each_screen() -> None:
    judged: list[Screen] = []

    def met(seen: UiSnapshot) -> bool:
        judged.append(seen.screen)
        return False

    first = page()
    waited(Stand(steps((0, first), (30, OTHER))), met=met)
    assert [one is OTHER for one in judged] == [False, True]
    assert no_proof(UiSnapshot(None, 0, 0)) is False  # type: ignore[arg-type]


def test_a_second_look_at_the_same_is_prepared_and_the_first_is_not() -> None:
    stand = Stand(still(page()))
    prepared: list[float] = []
    stand.screens.prepare = lambda _: prepared.append(stand.clock.monotonic_ms())  # type: ignore[method-assign]
    waited(stand)
    assert prepared == pytest.approx([24.05, 66.1])


def test_grace_is_given_up_to_its_last_millisecond() -> None:
    stand = Stand(still(page()))
    settled, _ = waited(stand, after=True)
    assert stand.driver.screens[-1] - stand.driver.screens[0] == pytest.approx(150.05)
    assert settled.report.reason == "quiet"


# a helper


def test_a_helper_is_asked_first_and_its_time_counts_as_waiting() -> None:
    stand = Stand(still(page()))
    given = asked(stand)
    stand.driver.idle = [True]
    settled, settling = waited(stand)
    assert given == [250]
    assert (settled.report.reads, settling.waited_ms) == (1, pytest.approx(100))


def test_where_there_is_no_helper_nothing_was_waited_for_it() -> None:
    stand = Stand(still(page()))
    given = asked(stand)
    _, settling = waited(stand)
    assert given == [250]  # asked once, and never again
    assert settling.waited_ms == pytest.approx(QUIET_AT - 3 * 2)


def test_a_helper_that_vouches_for_a_screen_without_its_proof_is_asked_again() -> None:
    """Patience is left: the helper tells when it is worth looking."""
    stand = Stand(steps((0, page()), (150, OTHER)))
    stand.driver.idle = [True] * 9
    settled, settling = waited(stand, met=lambda seen: seen.screen is OTHER, patience_ms=2_000)
    assert settled.report.reason == "quiet"
    assert settled.snapshot.screen is OTHER
    assert stand.driver.screens == pytest.approx([0, 102, 204])
    assert settling.waited_ms == pytest.approx(200)


async def test_a_helper_is_not_asked_about_a_screen_that_never_rests() -> None:
    stand = Stand(frames(100, lambda number: page(ticker=f"Step {number}")))
    learned = await stand.settle(await stand.look())
    given = asked(stand)
    await stand.settle(learned.snapshot)
    assert given == []


def test_a_helper_that_hears_events_is_not_asked_again() -> None:
    stand = Stand(still(page()))
    given = asked(stand)
    stand.driver.idle = [False]
    _, settling = waited(stand)
    assert given == [250]
    assert settling.waited_ms == pytest.approx(250 + QUIET_AT - 3 * 2)


# the app's framework


def test_what_a_framework_waited_for_is_added_up_and_names_come_once() -> None:
    stand = Stand(still(page()))
    app = stand.driver.app = App(probe(0.04, "fetch"), probe(700.03, "fetch", "timer"), probe(5.04))
    settled, settling = waited(stand)
    assert app.given == pytest.approx([3_000, 2_999.96, 2_299.93])
    told = settled.report.sync
    assert (told.framework, told.channels, told.idle) == ("react_native", ("hermes",), True)
    assert (told.ms, told.waited_for) == (705.1, ("fetch", "timer"))
    assert app.labelled == [settled.snapshot.screen]
    assert settling.waited_ms == pytest.approx(705.11 + 3 * (QUIET_AT - 6))


def test_after_a_framework_nothing_is_vouched_for() -> None:
    stand = Stand(still(page()))
    stand.driver.idle = [True, False]
    stand.driver.app = App(probe(10, "fetch"), probe(0))
    settled, _ = waited(stand)
    assert settled.report.reads > 2


def test_a_framework_that_has_no_answer_ends_the_wait() -> None:
    stand = Stand(still(page()))
    app = stand.driver.app = App(None)
    settled, _ = waited(stand)
    assert app.given == [3_000]
    assert settled.report.sync is None


def test_a_wait_that_ran_out_asks_no_framework() -> None:
    stand = Stand(still(page(extra=SPINNER)))
    app = stand.driver.app = App()
    settled, _ = waited(stand, budget_ms=300)
    assert settled.report.reason == "loading"
    assert app.given == []


def test_where_nothing_tells_of_rest_there_are_only_looks() -> None:
    stand = Stand(still(page()))
    stand.driver.can = {ScreenReader}
    settled, _ = waited(stand)
    assert (settled.report.reason, settled.report.reads) == ("quiet", 4)


# what never ends


def test_only_what_moved_of_late_must_move_for_ever() -> None:
    """The title came once, 900 ms before the end; the ticker goes on: it alone is learned."""
    stand = Stand(
        frames(100, lambda number: page(title="Late" if number > 3 else "Page", ticker=f"Step {number}"))
    )
    settled, _ = waited(stand, after=True)
    assert settled.report.reason == "volatile"
    assert settled.report.ms < 1_400
    known = stand.screens.volatile.nodes(settled.snapshot.screen)
    assert [one.id_tail for one in known] == ["ticker"]
