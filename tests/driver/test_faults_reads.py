"""Reads while the simulated phone misbehaves: recovered within their deadline, or a code with a hint."""

from __future__ import annotations

import asyncio

import pytest

from handrail.android.constants import DUMP_FOLDER
from handrail.errors import AdbCommandError, HandrailError, TreeParseError
from tests.driver.leftovers import nothing_left
from tests.driver.ways import Held, Way, hold, promise, texts

pytestmark = pytest.mark.simulator("faults are made by the simulator")


plain = pytest.mark.helpers("none")
"""Helpers do not read by `uiautomator dump`; they have faults of their own."""


def faulty(way: Way, name: str, **options: object) -> tuple[HandrailError | None, Held]:
    """One look at a phone with this fault, and what is left of it."""

    async def story() -> tuple[HandrailError | None, Held]:
        async with nothing_left(way) as held:
            held.phone.faults.add(name, **options)
            try:
                assert texts(await held.driver.look())
            except HandrailError as error:
                return error, held
            finally:
                held.phone.faults.clear()
                assert texts(await held.driver.look())
            return None, held

    return asyncio.run(story())


@plain
@pytest.mark.parametrize(
    "fault",
    [
        ("dump_killed", {}),
        ("dump_null_root", {}),
        ("truncated_output", {"bytes": 900}),
        ("truncated_output", {"bytes": 0}),
        ("stream_reset", {"bytes": 900}),
        ("stream_reset", {"bytes": 0}),
        ("latency", {"command": "uiautomator", "ms": 300}),
    ],
    ids=lambda fault: f"{fault[0]}-{'-'.join(map(str, fault[1].values()))}",
)
def test_a_hiccup_is_not_noticed(way: Way, fault: tuple[str, dict[str, object]]) -> None:
    name, options = fault
    error, _ = faulty(way, name, **options, times=2)
    assert error is None


@plain
@pytest.mark.parametrize(
    ("name", "options", "code", "words", "hint"),
    [
        ("dump_killed", {}, "ADB_COMMAND_ERROR", "Killed", "memory"),
        ("dump_null_root", {}, "ADB_COMMAND_ERROR", "null root node", "focus"),
        ("dump_waits_for_idle", {"quiet_ms": 9e9, "timeout_ms": 50}, "ADB_COMMAND_ERROR", "idle", "u2"),
        ("truncated_output", {"bytes": 900}, "TREE_PARSE_ERROR", "cut short", "again"),
        ("truncated_output", {"bytes": 0}, "ADB_COMMAND_ERROR", "nothing", "unlock"),
    ],
)
def test_what_stays_broken_is_told_with_the_phones_words(
    way: Way, name: str, options: dict[str, object], code: str, words: str, hint: str
) -> None:
    error, _ = faulty(way, name, **options)
    assert isinstance(error, AdbCommandError | TreeParseError)
    assert error.code == code
    assert words in error.message
    assert hint in error.hint
    assert error.details["attempts"] == 3


@plain
def test_a_stream_that_is_always_reset_is_an_error_and_never_half_a_screen(way: Way) -> None:
    error, _ = faulty(way, "stream_reset", bytes=900)
    assert error is not None
    assert error.family == "device"
    assert error.hint


@plain
def test_a_picture_that_is_cut_short_is_taken_again(way: Way) -> None:
    async def story() -> None:
        async with nothing_left(way) as held:
            held.phone.faults.add("truncated_output", command="screencap", bytes=5000, times=2)
            assert (await held.driver.screenshot()).startswith(b"\x89PNG")
            held.phone.faults.add("truncated_output", command="screencap", bytes=5000)
            with pytest.raises(AdbCommandError, match="cut short"):
                await held.driver.screenshot()
            held.phone.faults.clear()

    asyncio.run(story())


@plain
def test_a_look_that_is_cancelled_leaves_nothing_on_the_phone(way: Way) -> None:
    async def story() -> None:
        async with nothing_left(way) as held:
            held.phone.faults.add("latency", command="uiautomator", ms=60_000)
            look = asyncio.ensure_future(held.driver.look())
            while "uiautomator" not in await held.sh("ps", "-A", "-o", "ARGS"):
                await asyncio.sleep(0)
            look.cancel()
            with pytest.raises(asyncio.CancelledError):
                await look
            held.phone.faults.clear()
            assert texts(await held.driver.look())
            assert "handrail-" not in await held.sh("ls", DUMP_FOLDER)

    asyncio.run(story())


@promise
async def test_a_reboot_is_survived_and_shows_in_the_boot_id(held: Held) -> None:
    before = await held.driver.facts()
    held.phone.boot_ms = 100.0
    held.phone.faults.add("reboot")
    screen = await held.until(lambda screen: True)
    assert texts(screen)
    after = await held.driver.facts()
    assert after.boot_id != before.boot_id


async def test_a_phone_that_goes_offline_is_told_by_its_code_and_found_again(way: Way) -> None:
    async with hold(way) as held:
        assert texts(await held.driver.look())
        held.phone.faults.add("offline", for_ms=150)
        try:
            assert texts(await held.driver.look())
        except HandrailError as error:
            assert error.code in ("DEVICE_OFFLINE", "ADB_CONNECTION_ERROR")
            assert error.hint
        async with asyncio.timeout(60):
            while not await answers(held):
                await asyncio.sleep(0)


@plain
def test_a_line_that_breaks_in_mid_command_is_mended_and_the_read_repeated(way: Way) -> None:
    async def story() -> None:
        async with nothing_left(way) as held:
            held.phone.faults.add("latency", command="uiautomator", ms=1_500, times=1)
            look = asyncio.ensure_future(held.driver.look())
            while "uiautomator" not in await held.sh("ps", "-A", "-o", "ARGS"):
                await asyncio.sleep(0)
            held.phone.faults.add("offline", for_ms=100)
            try:
                assert texts(await look)
            except HandrailError as error:
                assert error.code in ("DEVICE_OFFLINE", "ADB_CONNECTION_ERROR")
                assert error.hint
                assert error.details["attempts"] == 3
            held.phone.faults.clear()
            async with asyncio.timeout(60):
                while not await answers(held) or "uiautomator" in await held.sh("ps", "-A", "-o", "ARGS"):
                    await asyncio.sleep(0)
            await held.driver.look()  # takes away the file of the dump that nobody waited for

    asyncio.run(story())


async def answers(held: Held) -> bool:
    try:
        return bool(texts(await held.driver.look()))
    except HandrailError:
        return False
