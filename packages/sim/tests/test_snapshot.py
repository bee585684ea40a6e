"""Snapshot and restore: the phone goes on from where it was, as often as one likes."""

from __future__ import annotations

import asyncio

import pytest

from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, column, text
from tests.grocer import PACKAGE, Grocer
from tests.hand import phone_with


class Counter(Activity):
    def on_create(self) -> None:
        self.state.update(count=0, rung=False)
        self.every(1000.0, self.tick)
        self.later(2500.0, self.ring)

    def tick(self) -> None:
        self.state["count"] += 1

    def ring(self) -> None:
        self.state["rung"] = True

    def build(self) -> View:
        return column(text(f"{self.state['count']} {self.state['rung']}", id="count"), height="fill")


class CounterApp(App):
    package = "com.example.counter"
    label = "Counter"
    activities = {"Counter": Counter}


def test_a_restored_phone_shows_what_it_showed() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        await hand.fill("name", "Bread")
        await hand.scroll(0.2)
        hand.phone.snapshot("here")
        before = hand.phone.dump()
        await hand.tap("add")
        await hand.home()
        hand.phone.clipboard = "changed"
        hand.phone.put_setting("global", "wifi_on", "0")
        for _ in range(2):
            hand.phone.restore("here")
            assert hand.phone.dump() == before
            assert hand.phone.clipboard == ""
            assert hand.phone.settings["global"]["wifi_on"] == "1"
            await hand.tap("add")
            assert hand.phone.state()["front"]["state"]["things"][0] == "Bread"

    asyncio.run(story())


def test_dialogs_and_prompts_survive_with_their_buttons() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        await hand.hold("Thing 1")
        hand.phone.snapshot()
        await hand.tap("Cancel")
        hand.phone.restore()
        await hand.tap("Delete")
        assert not hand.sees("Thing 1")
        await hand.tap("Thing 2")
        await hand.tap("camera")
        hand.phone.snapshot()
        hand.phone.restore()
        await hand.tap("permission_deny_button")
        assert hand.phone.state()["front"]["state"]["last"] == "camera False"

    asyncio.run(story())


def test_a_result_still_finds_its_way_after_a_restore() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        await hand.tap("Thing 1")
        hand.phone.snapshot()
        hand.phone.restore()
        await hand.tap("done")
        assert hand.phone.state()["front"]["state"]["log"] == ["result fine"]

    asyncio.run(story())


def test_timers_go_on_with_what_was_left_of_them() -> None:
    async def story() -> None:
        hand = phone_with(CounterApp)
        await hand.open("com.example.counter")
        await hand.wait(1800 - hand.clock.monotonic_ms())
        assert hand.find("count").text == "1 False"
        hand.phone.snapshot()
        await hand.wait(5000)
        assert hand.find("count").text == "6 True"
        hand.phone.restore()
        assert hand.find("count").text == "1 False"
        await hand.wait(300)
        assert hand.find("count").text == "2 False"
        await hand.wait(500)
        assert hand.find("count").text == "2 True"

    asyncio.run(story())


def test_files_and_permissions_come_back() -> None:
    hand = phone_with(Grocer)
    app = hand.phone.app(PACKAGE)
    assert app is not None
    app.prefs()["colour"] = "green"
    hand.phone.snapshot()
    app.prefs()["colour"] = "red"
    hand.phone.packages.grant(PACKAGE, "android.permission.CAMERA")
    hand.phone.restore()
    assert hand.app_state(PACKAGE) == {"saved": {"colour": "green"}}
    assert not hand.phone.packages.is_granted(PACKAGE, "android.permission.CAMERA")


def test_the_draws_after_a_restore_are_the_same() -> None:
    hand = phone_with(Grocer)
    hand.phone.snapshot()
    first = hand.phone.random.random()
    hand.phone.restore()
    assert hand.phone.random.random() == first


def test_there_is_no_snapshot_that_was_not_taken() -> None:
    with pytest.raises(KeyError):
        phone_with(Grocer).phone.restore("never")


def test_ticks_that_nobody_saw_are_made_up_for() -> None:
    async def story() -> None:
        hand = phone_with(CounterApp)
        hand.phone.start_activity(package="com.example.counter")
        await hand.clock.advance(10_500)
        hand.phone.catch_up()
        assert hand.find("count").text == "10 True"
        await hand.clock.advance(20_000_000)
        assert hand.find("count").text == "5011 True"

    asyncio.run(story())
