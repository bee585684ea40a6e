"""Settle on scripted phones: when a wait ends, why, and with how many looks."""

from __future__ import annotations

import asyncio

from handrail.engine.snapshot import UiSnapshot
from handrail.screen.node import Screen
from tests.cases import each
from tests.unit.engine.scripted import Stand, frames, page, steps, still
from tests.unit.screen.drawn import node, row

SPINNER = node("ProgressBar", box=(500, 1200, 580, 1280), resource_id="app:id/spinner")
OTHER = page(title="Another page")


def has_moved_on(seen: UiSnapshot) -> bool:
    return any(one.text == "Another page" for one in seen.screen.nodes)


async def test_a_proof_that_holds_at_once_needs_one_repeat_twenty_milliseconds_later() -> None:
    stand = Stand(still(OTHER))
    before = await stand.look()
    settled = await stand.settle(before, met=has_moved_on)
    assert settled.report.reason == "verified"
    assert settled.report.reads == 2
    assert stand.driver.screens[-1] - stand.driver.screens[-2] >= 20
    assert settled.report.ms < 30


async def test_a_proof_that_does_not_last_proves_nothing() -> None:
    stand = Stand(still(page()))
    before = await stand.look()
    flash = stand.clock.monotonic_ms()
    stand.driver.shows = steps((0, page()), (flash, OTHER), (flash + 12, page()))
    settled = await stand.settle(before, met=has_moved_on)
    assert settled.report.reason == "quiet"
    assert not has_moved_on(settled.snapshot)


async def test_a_changed_screen_is_settled_after_a_hundred_milliseconds_of_quiet() -> None:
    stand = Stand(still(page()))
    before = await stand.look()
    changes_at = stand.clock.monotonic_ms() + 40
    stand.driver.shows = steps((0, page()), (changes_at, OTHER))
    settled = await stand.settle(before)
    assert settled.report.reason == "quiet"
    assert has_moved_on(settled.snapshot)
    assert 100 <= settled.snapshot.began_ms - changes_at <= 160


async def test_an_unchanged_screen_gets_time_to_react() -> None:
    stand = Stand(still(page()))
    before = await stand.look()
    start = stand.clock.monotonic_ms()
    settled = await stand.settle(before)
    assert settled.report.reason == "quiet"
    assert settled.snapshot.began_ms - start >= 150


async def test_a_reaction_within_the_grace_is_seen_although_the_screen_was_quiet_before_it() -> None:
    stand = Stand(still(page()))
    before = await stand.look()
    late = stand.clock.monotonic_ms() + 140
    stand.driver.shows = steps((0, page()), (late, OTHER))
    assert has_moved_on((await stand.settle(before)).snapshot)


@each("read_ms", [1.0, 5.0, 30.0])
@each("length", [3, 8, 10])
def test_ten_frames_a_second_are_not_called_rest(length: int, read_ms: float) -> None:
    async def story() -> None:
        stand = Stand(still(page()), read_ms=read_ms)
        before = await stand.look()
        start = stand.clock.monotonic_ms()
        draw = lambda number: page(ticker=f"Step {number}", ball=20 * number)  # noqa: E731
        stand.driver.shows = frames(100, draw, start=start, last=length)
        settled = await stand.settle(before)
        assert settled.report.reason == "quiet"
        assert settled.snapshot.screen.nodes[2].text == f"Step {length}"
        assert not stand.screens.volatile.nodes(settled.snapshot.screen)

    asyncio.run(story())


async def test_a_frame_that_comes_late_still_belongs_to_its_animation() -> None:
    stand = Stand(still(page()))
    before = await stand.look()
    now = stand.clock.monotonic_ms()
    late = (0, 95, 190, 315, 420, 545)
    shown = [(now + at, page(ticker=f"Step {number}")) for number, at in enumerate(late)]
    stand.driver.shows = steps((0, page()), *shown)
    settled = await stand.settle(before)
    assert settled.snapshot.screen.nodes[2].text == "Step 5"


async def test_a_screen_that_never_stops_settles_as_volatile_and_the_next_time_at_once() -> None:
    stand = Stand(frames(100, lambda number: page(ticker=f"Step {number}", ball=7 * number)))
    before = await stand.look()
    first = await stand.settle(before)
    assert first.report.reason == "volatile"
    assert first.report.ms < 1_500
    again = await stand.settle(first.snapshot)
    assert again.report.reason == "volatile"
    assert again.report.ms < 250


async def test_what_moves_for_ever_does_not_hide_what_happens_beside_it() -> None:
    stand = Stand(frames(100, lambda number: page(ticker=f"Step {number}")))
    learned = await stand.settle(await stand.look())
    changes_at = stand.clock.monotonic_ms() + 90
    later = frames(100, lambda number: page(title="Another page", ticker=f"Step {number}"))
    earlier = stand.driver.shows
    stand.driver.shows = lambda now: later(now) if now >= changes_at else earlier(now)
    assert has_moved_on((await stand.settle(learned.snapshot)).snapshot)


async def test_a_spinner_is_waited_for_and_the_end_of_it_is_settled_as_usual() -> None:
    stand = Stand(steps((0, page(extra=SPINNER)), (3_000, OTHER)))
    before = await stand.look()
    settled = await stand.settle(before)
    assert settled.report.reason == "quiet"
    assert settled.report.loading == "spinner"  # what was waited for
    assert 3_000 <= settled.snapshot.began_ms <= 3_450


async def test_a_spinner_that_never_ends_is_told_after_its_own_budget() -> None:
    stand = Stand(still(page(extra=SPINNER)))
    before = await stand.look()
    settled = await stand.settle(before, budget_ms=1_000, loading_ms=2_000)
    assert settled.report.reason == "loading"
    assert settled.report.loading == "spinner"
    assert 2_000 <= settled.report.ms <= 2_500


async def test_the_time_a_spinner_took_is_not_taken_from_the_budget() -> None:
    """Loading, then a page that moves without end in ways nobody can foresee: both budgets are used."""

    def words(number: int) -> Screen:
        parts = node("TextView", box=row(5), text=f"{number}") * (number % 9)
        return page(title=f"Part {number}", extra=parts)

    moving = frames(50, words)
    spinning = page(extra=SPINNER)
    stand = Stand(lambda now: spinning if now < 900 else moving(now))
    settled = await stand.settle(await stand.look(), budget_ms=1_000, loading_ms=2_000)
    assert settled.report.reason in ("budget", "volatile")
    assert settled.snapshot.ended_ms >= 1_200


async def test_no_wait_is_endless() -> None:
    stand = Stand(lambda now: page(title=f"Title {now}", on=int(now / 40) % 2 == 0))
    settled = await stand.settle(await stand.look(), budget_ms=3_000)
    assert settled.report.reason in ("budget", "volatile")
    assert settled.report.ms <= 3_300


async def test_one_slow_dump_on_a_channel_that_waits_for_idle_counts_as_quiet() -> None:
    stand = Stand(still(OTHER), read_ms=2_000, patient=True)
    before = await stand.look()
    settled = await stand.settle(before)
    assert (settled.report.reason, settled.report.reads) == ("quiet", 1)
    proved = await stand.settle(before, met=has_moved_on)
    assert (proved.report.reason, proved.report.reads) == ("verified", 1)


async def test_a_slow_channel_that_does_not_wait_for_idle_needs_a_second_look() -> None:
    stand = Stand(still(OTHER), read_ms=300)
    settled = await stand.settle(await stand.look())
    assert settled.report.reads == 2


async def test_a_helper_that_hears_nothing_spares_the_looks() -> None:
    stand = Stand(steps((0, page()), (5, OTHER)))
    before = await stand.look()
    stand.driver.idle = [True]
    settled = await stand.settle(before)
    assert (settled.report.reason, settled.report.reads) == ("quiet", 1)
    assert has_moved_on(settled.snapshot)


async def test_a_helper_is_not_asked_once_the_proof_is_there() -> None:
    stand = Stand(still(OTHER))
    before = await stand.look()
    stand.driver.idle = []
    settled = await stand.settle(before, met=has_moved_on)
    assert settled.report.reason == "verified"


async def test_a_helper_that_hears_events_for_ever_is_not_asked_again() -> None:
    stand = Stand(frames(100, lambda number: page(ticker=f"Step {number}", ball=7 * number)))
    before = await stand.look()
    stand.driver.idle = [False]
    settled = await stand.settle(before)
    assert settled.report.reason == "volatile"
    assert settled.report.ms < 1_500
    again = await stand.settle(settled.snapshot)
    assert again.report.ms < 250


async def test_a_fling_is_followed_to_its_end_and_teaches_nothing() -> None:
    """Rows that slide for two seconds are no restless rows."""

    def rows(number: int) -> Screen:
        offset = 40 * number
        first = offset // 150
        drawn = [
            node(
                "TextView",
                box=(0, 200 + 150 * n - offset % 150, 1080, 350 + 150 * n - offset % 150),
                text=f"Entry {first + n}",
                resource_id="app:id/entry",
            )
            for n in range(12)
        ]
        return page(extra=node("ListView", *drawn, box=(0, 200, 1080, 2000), flags="scrollable"))

    stand = Stand(still(page()))
    before = await stand.look()
    start = stand.clock.monotonic_ms()
    stand.driver.shows = frames(40, rows, start=start, last=50)
    settled = await stand.settle(before)
    assert settled.report.reason == "quiet"
    assert settled.snapshot.began_ms - start >= 2_000
    assert not stand.screens.volatile.nodes(settled.snapshot.screen)


async def test_a_wait_that_follows_no_action_needs_no_grace() -> None:
    stand = Stand(still(page()))
    await stand.look()
    settled = await stand.settle(None)
    assert settled.report.reason == "quiet"
    assert settled.report.ms < 150


async def test_a_wait_that_follows_no_action_has_one_budget_for_all() -> None:
    stand = Stand(still(page(extra=SPINNER)))
    await stand.look()
    settled = await stand.settle(None, budget_ms=1_000, loading_ms=9_000)
    assert settled.report.reason == "loading"
    assert 1_000 <= settled.report.ms <= 1_300
