"""Reading and following the log; moments of the device's clock."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.shell import Output
from handrail.android import apps, logs
from handrail.android.logs import (
    DeviceTime,
    LogLine,
    logcat_time,
    moment,
    read_device_time,
    read_line,
    read_lines,
)
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell
from tests.unit.android.sim_phone import Bench, play

NOTES = "com.handrail.notes"
NOON = DeviceTime(1_776_945_600_000, 120)
"""2026-04-23 12:00 UTC on a phone in UTC+2."""


def say(bench: Bench, level: str, text: str, package: str = NOTES) -> None:
    bench.phone.logcat(level, "Notes", text, package)


def told(lines: list[LogLine]) -> list[LogLine]:
    """What the test said; an app writes lines of its own when it starts."""
    return [line for line in lines if line.tag == "Notes"]


def test_a_package_with_a_shared_user_is_found_by_its_processes() -> None:
    text = (
        "  1700000000.000  1000   900   900 I ActivityManager: Start proc 77:com.android.settings/1000\n"
        "         1700000000.100  1000    77    77 W Settings: dead by now\n"
        "         1700000000.200  1000    88    88 W Settings: alive\n"
        "         1700000000.300  1000   900   900 W WindowManager: not mine\n"
    )
    said = ScriptedShell(
        "0", "package:com.android.settings uid:1000", "  PID NAME\n   88 com.android.settings\n", text
    )
    lines = asyncio.run(logs.read(said, "com.android.settings"))
    assert [line.text for line in lines] == ["dead by now", "alive"]


def test_levels_are_a_threshold_up_to_fatal() -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        await apps.start(shell, NOTES)
        for level in "VDIWEF":
            say(bench, level, level)
        for name, kept in (("verbose", "VDIWEF"), ("warn", "WEF"), ("error", "EF"), ("fatal", "F")):
            lines = told(await logs.read(shell, NOTES, name))  # type: ignore[arg-type]
            assert "".join(line.text for line in lines) == kept
        with pytest.raises(InvalidAction):
            await logs.read(shell, NOTES, "loud")  # type: ignore[arg-type]

    play(story)


def test_since_is_a_moment_of_the_devices_clock() -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        await apps.start(shell, NOTES)
        say(bench, "I", "before")
        start = (await logs.device_now(shell)).epoch_ms + 1
        await bench.until(lambda: bench.phone.clock.now_ms() > start)
        say(bench, "I", "after")
        assert [line.text for line in await logs.read(shell, NOTES, since=start)] == ["after"]
        assert [line.text for line in told(await logs.read(shell, NOTES, since="1h"))] == ["before", "after"]
        assert await logs.read(shell, NOTES, since="2999-01-01T00:00:00Z") == []

    play(story)


def test_the_log_of_nobody_is_an_error_not_an_empty_log() -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(AppNotInstalled):
            await logs.read(bench.device.shell, "com.handrail.note")

    play(story)


def test_a_log_that_is_too_long_is_an_error_not_its_oldest_part() -> None:
    said = ScriptedShell(Output(b"", b"", 0, dropped=5 << 20))
    with pytest.raises(AdbCommandError, match="69 MiB"):
        asyncio.run(logs.read(said, level="info"))


# lines


def test_a_line_is_cut_into_its_parts() -> None:
    line = read_line("         1700000000.123 10104  2437  2440 W My Tag  : a: b")
    assert line == LogLine(1_700_000_000_123, 2437, 2440, "W", "My Tag", "a: b", 10104)
    assert str(line) == "2023-11-14T22:13:20.123Z 2437 2440 W My Tag: a: b"
    named = read_line("1700000000.123  root     1     1 F libc: ")
    assert named is not None
    assert (named.uid, named.text) == (0, "")
    without = read_line("1700000000.123456  2437  2440 I a/b: c")
    assert without is not None
    assert (without.uid, without.tag) == (None, "a/b")


@each("line", ["", "--------- beginning of crash", "read: unexpected EOF!", "1700000000.1 x"])
def test_what_is_no_line_is_left_out(line: str) -> None:
    assert read_line(line) is None


def test_lines_survive_any_cut_of_the_stream() -> None:
    head = "1700000000.123 10104  2437  2440 W Tag: "
    data = f"{head}Grüße 🙂\r\n{head}two\n".encode()
    assert [line.text for line in read_lines(data)] == ["Grüße 🙂", "two"]


# moments


@each(
    ("since", "expected"),
    [
        ("90s", NOON.epoch_ms - 90_000),
        ("5m", NOON.epoch_ms - 300_000),
        ("250ms", NOON.epoch_ms - 250),
        ("2026-04-23T12:00:00Z", NOON.epoch_ms),
        ("2026-04-23 14:00", NOON.epoch_ms),
        ("2026-04-23T14:00:00.500", NOON.epoch_ms + 500),
        ("999999999h", 0),
    ],
)
def test_ages_and_times_are_moments(since: str, expected: int) -> None:
    assert moment(since, NOON) == expected


def test_other_words_for_a_moment_are_refused() -> None:
    for since in ("yesterday", "2026-13-01T00:00", "2026-04-23T::::::"):
        with pytest.raises(InvalidAction):
            moment(since, NOON)


def test_the_devices_clock_is_read_with_and_without_nanoseconds() -> None:
    assert read_device_time("1700000000.123456789 +0200\n") == (1_700_000_000_123, 120)
    assert read_device_time("1700000000.%N -0330\n") == (1_700_000_000_000, -210)
    with pytest.raises(AdbCommandError):
        asyncio.run(logs.device_now(ScriptedShell("date: bad")))
    assert logcat_time(1_700_000_000_007) == "1700000000.007"
