"""Fingers: who gets a touch, presses that hold, drags, sliders, pinches, what covers what."""

from __future__ import annotations

import asyncio
from typing import Any

from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, column, frame, pager, spacer, text
from tests.grocer import PACKAGE, Grocer
from tests.hand import Hand, phone_with


def at_form() -> Hand:
    hand = phone_with(Grocer)
    hand.phone.start_activity(f"{PACKAGE}/.Form")
    return hand


def state(hand: Hand) -> dict[str, Any]:
    found: dict[str, Any] = hand.phone.state()["front"]["state"]
    return found


class Pad(Activity):
    """A covered button, a draggable box, a disabled button over a live one, pages."""

    def on_create(self) -> None:
        self.state.update(hits=[], page=0, at=[0.0, 0.0])

    def build(self) -> View:
        return column(
            frame(
                button("Below", lambda: self.hit("below"), width="fill", height=100.0),
                View(
                    cls="android.view.View",
                    id="cover",
                    width="fill",
                    height=100.0,
                    on_click=lambda: self.hit("cover"),
                ),
            ),
            frame(
                button("Live", lambda: self.hit("live"), width="fill", height=100.0),
                button("Dead", lambda: self.hit("dead"), enabled=False, width="fill", height=50.0),
            ),
            View(
                id="box", width=100.0, height=100.0, on_drag=self.drag, on_drop=lambda x, y: self.hit("drop")
            ),
            View(id="swiped", width="fill", height=100.0, on_swipe=self.hit),
            pager(
                self.state["page"],
                text("Page one"),
                text("Page two"),
                id="pages",
                height=100.0,
                on_change=lambda page: self.state.update(page=page),
            ),
            spacer(10.0),
            height="fill",
        )

    def hit(self, what: str) -> None:
        self.state["hits"].append(what)

    def drag(self, across: float, down: float) -> None:
        x, y = self.state["at"]
        self.state["at"] = [x + across, y + down]


class PadApp(App):
    package = "com.example.pad"
    label = "Pad"
    activities = {"Pad": Pad}


def at_pad() -> Hand:
    hand = phone_with(PadApp)
    hand.phone.start_activity(package="com.example.pad")
    return hand


def test_what_covers_a_button_gets_its_tap() -> None:
    async def story() -> None:
        hand = at_pad()
        await hand.tap("Below")
        assert state(hand)["hits"] == ["cover"]

    asyncio.run(story())


def test_a_disabled_button_swallows_the_tap() -> None:
    async def story() -> None:
        hand = at_pad()
        await hand.tap("Dead")
        assert state(hand)["hits"] == []

    asyncio.run(story())


def test_a_finger_that_leaves_the_button_does_not_press_it() -> None:
    hand = at_pad()
    x, y = hand.find("Live").centre
    hand.phone.pointer("down", x, y + 60)
    hand.phone.pointer("move", x, y + 600)
    hand.phone.pointer("up", x, y + 600)
    assert state(hand)["hits"] == []


def test_a_finger_that_lifts_just_beside_the_button_has_pressed_it() -> None:
    hand = at_pad()
    left, top, _, _ = hand.find("cover").bounds
    hand.phone.pointer("down", left + 30, top + 2)
    hand.phone.pointer("up", left + 30, top - 6)
    assert state(hand)["hits"] == ["cover"]


def test_a_little_shaking_is_still_a_tap() -> None:
    hand = at_form()
    x, y = hand.find("agreed").centre
    hand.phone.pointer("down", x, y)
    hand.phone.pointer("move", x + 10, y + 10)
    hand.phone.pointer("up", x + 10, y + 10)
    assert state(hand)["agreed"]


def test_a_press_of_half_a_second_is_a_long_press_and_no_click() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        await hand.hold("Thing 2")
        assert hand.sees("Delete?")
        await hand.tap("Delete")
        assert not hand.sees("Thing 2")

    asyncio.run(story())


def test_a_press_shorter_than_half_a_second_is_a_click() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        x, y = hand.find("Thing 2").centre
        await hand.run(hand.phone.long_press(x, y, 400))
        assert hand.sees("Done")

    asyncio.run(story())


def test_a_drag_over_a_list_scrolls_and_presses_nothing() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        await hand.swipe(540, 1800, 540, 1200, 1000)
        assert not hand.sees("Thing 0")
        assert not hand.sees("Done")

    asyncio.run(story())


def test_a_dragged_view_follows_and_is_dropped() -> None:
    async def story() -> None:
        hand = at_pad()
        x, y = hand.find("box").centre
        await hand.swipe(x, y, x + 100, y + 50)
        assert state(hand)["at"] == [100.0, 50.0]
        assert state(hand)["hits"] == ["drop"]

    asyncio.run(story())


def test_a_swipe_over_a_view_is_told_with_its_direction() -> None:
    async def story() -> None:
        hand = at_pad()
        x, y = hand.find("swiped").centre
        await hand.swipe(x, y, x - 300, y)
        await hand.swipe(x, y, x, y + 250)
        assert state(hand)["hits"] == ["left", "down"]

    asyncio.run(story())


def test_a_pager_turns_its_page() -> None:
    async def story() -> None:
        hand = at_pad()
        x, y = hand.find("pages").centre
        await hand.swipe(x, y, x - 400, y)
        assert hand.sees("Page two")
        assert not hand.sees("Page one")

    asyncio.run(story())


def test_a_slider_takes_a_tap_and_a_drag() -> None:
    async def story() -> None:
        hand = at_form()
        left, top, right, bottom = hand.find("level").bounds
        await hand.tap_at((left + right) / 2, (top + bottom) / 2)
        assert state(hand)["level"] == 50.0
        await hand.swipe((left + right) / 2, (top + bottom) / 2, right - 1, (top + bottom) / 2)
        assert state(hand)["level"] == 100.0

    asyncio.run(story())


def test_two_fingers_pinch_and_turn() -> None:
    async def story() -> None:
        hand = at_form()
        x, y = hand.find("pad").centre
        await hand.run(hand.phone.pinch(x, y, 60, 180, 200))
        assert round(state(hand)["pinch"], 6) == 3.0
        await hand.run(hand.phone.rotate_gesture(x, y, 100, 90, 200))
        assert round(state(hand)["turned"], 6) == 90.0

    asyncio.run(story())


def test_two_quick_taps_are_a_double_tap() -> None:
    async def story() -> None:
        hand = at_form()
        x, y = hand.find("pad").centre
        await hand.phone.tap(x, y)
        await hand.phone.tap(x, y)
        assert state(hand)["taps"] == ["double"]

    asyncio.run(story())


def test_a_cancelled_touch_presses_nothing() -> None:
    hand = at_form()
    x, y = hand.find("agreed").centre
    hand.phone.pointer("down", x, y)
    hand.phone.pointer("cancel", x, y)
    hand.phone.pointer("up", x, y)
    assert not state(hand)["agreed"]


def test_every_input_is_logged_with_its_time() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.phone.tap(1, 2)
        assert [(one["action"], one["x"]) for one in hand.phone.input_log] == [("down", 1), ("up", 1)]

    asyncio.run(story())
