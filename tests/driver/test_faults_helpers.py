"""A helper that dies: the action goes on without it, it is said once, and it comes back by itself."""

from __future__ import annotations

import asyncio

import pytest

from handrail.android.driver import Driver
from handrail.errors import HandrailError
from tests import fingers
from tests.driver.leftovers import nothing_left
from tests.driver.ways import CHANNELS, SETTINGS, Held, Way, rows, texts

pytestmark = [
    pytest.mark.simulator("faults are made by the simulator"),
    pytest.mark.helpers("u2", "handrail"),
]


async def test_a_look_at_the_moment_of_its_death_still_gives_a_screen(way: Way) -> None:
    async with nothing_left(way) as held:
        await held.open_settings()
        held.phone.faults.add("helper_dies", times=1)
        assert texts(await held.driver.look())
        held.phone.faults.clear()
        await in_use_again(held)


async def test_a_helper_that_keeps_dying_never_fails_a_read(way: Way) -> None:
    async with nothing_left(way) as held:
        await held.open_settings()
        held.phone.faults.add("helper_dies")
        for _ in range(5):
            assert texts(await held.driver.look())
        lines = held.driver.diagnostics()
        assert sum("put aside" in line for line in lines) == 1
        assert held.driver.channels()["look"] == "adb"
        held.phone.faults.clear()
        await in_use_again(held)


async def test_a_tap_at_the_moment_of_its_death_arrives_once_or_is_unknown(way: Way) -> None:
    async with nothing_left(way) as held:
        screen = await held.open_settings()
        del held.phone.input_log[:]
        held.phone.faults.add("helper_dies", times=1)
        try:
            await held.driver.perform(fingers.tap(*rows(screen)[0].center))
            expected = {1}
        except HandrailError as error:
            assert error.details["delivery"] == "unknown"
            expected = {0, 1}
        held.phone.faults.clear()
        await held.until(lambda screen: screen.package == SETTINGS)
        assert sum(event["action"] == "down" for event in held.phone.input_log) in expected


async def test_a_tap_after_its_death_goes_by_another_channel(way: Way) -> None:
    async with nothing_left(way) as held:
        screen = await held.open_settings()
        await kill_helpers(held)
        del held.phone.input_log[:]
        await held.driver.perform(fingers.tap(*rows(screen)[0].center))
        assert sum(event["action"] == "down" for event in held.phone.input_log) == 1


async def kill_helpers(held: Held) -> None:
    """As a phone short of memory does."""
    listed = (await held.sh("ps", "-A", "-o", "PID,ARGS")).splitlines()
    for line in listed:
        pid, _, args = line.strip().partition(" ")
        if "app_process" in args or "instrument" in args:
            await held.driver.shell.run(["kill", "-9", pid], check=False)
    await held.sh("true")  # its end has arrived before this answer


async def in_use_again(held: Held) -> None:
    """Looks until the channel is back."""
    driver: Driver = held.driver
    async with asyncio.timeout(60):
        while driver.channels()["look"] != CHANNELS[held.way.helper]:
            await driver.look()
            await asyncio.sleep(0)
    assert texts(await driver.look())
