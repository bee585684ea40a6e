"""Input while the simulated phone misbehaves: it arrives once, or the failure says whether it may have."""

from __future__ import annotations

import asyncio

import pytest

from handrail.errors import HandrailError
from tests import fingers
from tests.driver.leftovers import nothing_left
from tests.driver.ways import Held, Way

pytestmark = pytest.mark.simulator("faults are made by the simulator")


def downs(held: Held) -> int:
    return sum(event["action"] == "down" for event in held.phone.input_log)


def tap_during(way: Way, name: str, **options: object) -> tuple[HandrailError | None, int]:
    """One tap while the fault is on, and how many touches the phone got."""

    async def story() -> tuple[HandrailError | None, int]:
        async with nothing_left(way) as held:
            held.phone.faults.add(name, **options)
            failure = None
            try:
                await held.driver.perform(fingers.tap(540, 1200))
            except HandrailError as error:
                failure = error
            held.phone.faults.clear()
            await held.until(lambda screen: True)
            return failure, downs(held)

    return asyncio.run(story())


def test_a_slow_phone_gets_the_tap_once(way: Way) -> None:
    assert tap_during(way, "latency", ms=200) == (None, 1)


@pytest.mark.helpers("none")
def test_a_tap_whose_answer_is_lost_is_never_sent_again(way: Way) -> None:
    failure, taps = tap_during(way, "stream_reset", command="input", bytes=0)
    assert taps <= 1
    assert failure is None or failure.details["delivery"] == "unknown"


def test_a_phone_that_reboots_under_a_tap_gets_it_at_most_once(way: Way) -> None:
    failure, taps = tap_during(way, "reboot")
    assert taps <= 1
    if failure is not None:
        assert failure.details["delivery"] in ("not_delivered", "unknown")
        assert failure.hint


def test_an_offline_phone_gets_no_tap_and_the_failure_says_so(way: Way) -> None:
    failure, taps = tap_during(way, "offline", for_ms=300)
    if failure is None:
        assert taps == 1  # the line came back within the connection's own patience
    else:
        assert failure.code in ("DEVICE_OFFLINE", "ADB_CONNECTION_ERROR")
        assert failure.details["delivery"] != "not_delivered" or taps == 0
        assert failure.hint


async def test_a_tap_that_is_cancelled_arrives_at_most_once(way: Way) -> None:
    async with nothing_left(way) as held:
        held.phone.faults.add("latency", ms=150)
        work = asyncio.ensure_future(held.driver.perform(fingers.tap(540, 1200)))
        for _ in range(20):
            await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        held.phone.faults.clear()
        await held.until(lambda screen: True)
        assert downs(held) <= 1
