"""Scrolling and flinging on a phone: how far, how long, where it ends."""

from __future__ import annotations

import asyncio

from handrail_sim.view.scrolling import eased, fling
from handrail_sim.view.units import Units
from tests.grocer import PACKAGE, Grocer
from tests.hand import Hand, phone_with


def at_list() -> Hand:
    hand = phone_with(Grocer)
    hand.phone.start_activity(package=PACKAGE)
    return hand


def first_row(hand: Hand) -> str:
    return next(word for word in hand.words() if word.startswith("Thing"))


def test_a_slow_drag_moves_the_list_by_the_way_of_the_finger() -> None:
    async def story() -> None:
        hand = at_list()
        before = hand.find("Thing 8").bounds[1]
        hand.phone.pointer("down", 540, 1800)
        for step in range(1, 11):
            await hand.clock.advance(200)
            hand.phone.pointer("move", 540, 1800 - step * 30)
        await hand.clock.advance(200)
        hand.phone.pointer("up", 540, 1500)
        assert hand.phone.is_idle()
        assert hand.find("Thing 8").bounds[1] == before - 300 + 21  # 8 dp of slop move nothing

    asyncio.run(story())


def test_a_quick_swipe_flings_on_and_comes_to_rest() -> None:
    async def story() -> None:
        hand = at_list()
        await hand.settle()
        await hand.run(hand.phone.swipe(540, 1900, 540, 1100, 120))
        released = first_row(hand)
        assert not hand.phone.is_idle()
        await hand.wait(4000)
        assert hand.phone.is_idle()
        assert first_row(hand) != released

    asyncio.run(story())


def test_a_finger_stops_a_fling_and_presses_nothing() -> None:
    async def story() -> None:
        hand = at_list()
        await hand.run(hand.phone.swipe(540, 1900, 540, 1100, 120))
        await hand.wait(100)
        await hand.phone.tap(540, 1500)
        stopped = first_row(hand)
        await hand.wait(4000)
        assert first_row(hand) == stopped
        assert not hand.sees("Done")

    asyncio.run(story())


def test_how_often_one_looks_does_not_change_where_a_fling_ends() -> None:
    async def ends(step_ms: float) -> str:
        hand = at_list()
        await hand.run(hand.phone.swipe(540, 1900, 540, 1500, 100))
        waited = 0.0
        while waited < 5000:
            await hand.wait(step_ms)
            waited += step_ms
        return hand.phone.dump()

    assert asyncio.run(ends(5000)) == asyncio.run(ends(20))


def test_a_list_stops_at_both_ends_and_tells_the_app_of_its_last_row() -> None:
    async def story() -> None:
        hand = at_list()
        await hand.swipe(540, 1000, 540, 1900)
        assert first_row(hand) == "Thing 0"
        for _ in range(12):
            await hand.scroll(0.7)
        assert hand.words()[-1] == "Thing 59"
        assert "end" in hand.phone.state()["front"]["state"]["log"]
        before = hand.phone.dump()
        await hand.scroll(0.5)
        assert hand.phone.dump() == before

    asyncio.run(story())


def test_a_scroll_position_survives_a_visit_elsewhere() -> None:
    async def story() -> None:
        hand = at_list()
        await hand.scroll()
        before = hand.phone.dump()
        await hand.tap(first_row(hand))
        await hand.back()
        assert hand.phone.dump() == before

    asyncio.run(story())


def test_accessibility_scrolls_by_one_length_and_says_when_it_ends() -> None:
    async def story() -> None:
        hand = at_list()
        window = hand.phone.focused_window()
        assert window is not None
        turns = 0
        while (view := window.find("list")) is not None and hand.phone.scroll(view) and turns < 50:
            turns += 1
        assert hand.words()[-1] == "Thing 59"
        assert turns == 4
        view = window.find("list")
        assert view is not None
        assert hand.phone.scroll(view, forward=False)

    asyncio.run(story())


def test_a_page_scrolls_in_a_scroll_view_with_the_page_keys() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        hand.phone.start_activity(f"{PACKAGE}/.Form")
        assert not hand.sees("Line 29")
        for _ in range(4):
            hand.phone.key(93)
        assert hand.sees("Line 29")
        hand.phone.key(92)
        assert not hand.sees("Line 29")

    asyncio.run(story())


def test_a_faster_fling_goes_farther_and_a_slow_finger_makes_none() -> None:
    units = Units(2.625, 2.625)
    assert fling(100.0, units) == (0, 0.0)
    near, soon = fling(3000.0, units)
    far, late = fling(9000.0, units)
    assert 0 < near < far
    assert 0 < soon < late
    assert fling(-3000.0, units)[0] == -near


def test_easing_begins_fast_and_ends_at_one() -> None:
    assert eased(0.0) == 0.0
    assert eased(0.5) > 0.5
    assert eased(1.0) == eased(2.0) == 1.0
