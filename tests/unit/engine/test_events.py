"""Whoever listens hears everything from then on; whoever does not read loses the oldest."""

from __future__ import annotations

import gc

from handrail.engine.events import HELD, Event, Events


def event(number: int) -> Event:
    return Event(f"tap_1_{number}", "tap", "emulator-5554", "accepted", number)


async def test_what_happens_before_the_first_await_is_heard() -> None:
    events = Events()
    listener = events.listen()
    events.publish(event(1))
    events.close()
    assert [one.at_ms async for one in listener] == [1]
    assert [one async for one in listener] == []
    assert [one async for one in events.listen()] == []


async def test_a_slow_listener_loses_the_oldest_and_the_others_nothing() -> None:
    events = Events()
    slow = events.listen()
    for number in range(HELD + 5):
        events.publish(event(number))
    assert (await anext(slow)).at_ms == 5


async def test_a_listener_that_nobody_holds_is_forgotten() -> None:
    events = Events()
    events.listen()
    gc.collect()
    assert len(events) == 0
