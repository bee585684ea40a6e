"""Finding the report of a crash in the log."""

from __future__ import annotations

from handrail.android import apps, logs
from handrail.android.logs import LogLine, crash_lines, find_crash
from tests.unit.android.sim_phone import CONTACTS, Bench, play

TROUBLE = "com.handrail.trouble"


def lines(tag: str, *texts: str, pid: int = 7, time_ms: int = 1_000, level: str = "E") -> list[LogLine]:
    return [LogLine(time_ms, pid, pid, level, tag, text) for text in texts]


def test_a_crash_of_the_phone_is_found_with_its_exception() -> None:
    async def story(bench: Bench) -> None:
        shell = bench.device.shell
        await apps.start(shell, TROUBLE)
        assert await crash_lines(shell, TROUBLE) is None
        before = await logs.device_now(shell)
        bench.phone.kill_process(TROUBLE, "java.lang.IllegalStateException: boom")
        crash = await crash_lines(shell, TROUBLE, before.epoch_ms)
        assert crash is not None
        assert (crash.kind, crash.summary) == ("exception", "java.lang.IllegalStateException: boom")
        assert crash.lines[0] == "FATAL EXCEPTION: main"
        assert await crash_lines(shell, CONTACTS) is None
        assert await crash_lines(shell, TROUBLE, crash.time_ms + 1) is None

    play(story)


def test_the_last_of_several_crashes_counts() -> None:
    first = lines("AndroidRuntime", "FATAL EXCEPTION: main", "Process: a.b, PID: 7", "java.lang.A: one")
    other = lines("AndroidRuntime", "FATAL EXCEPTION: main", "Process: a.bc, PID: 9", "java.lang.C", pid=9)
    last = lines(
        "AndroidRuntime", "FATAL EXCEPTION: bg", "Process: a.b:sync, PID: 8", "java.lang.B: two", pid=8
    )
    crash = find_crash(first + other + last, "a.b")
    assert crash is not None
    assert (crash.pid, crash.summary) == (8, "java.lang.B: two")


def test_two_crashes_at_once_are_not_mixed() -> None:
    mine = lines("AndroidRuntime", "FATAL EXCEPTION: main", "Process: a.b, PID: 7", "java.lang.A: mine")
    theirs = lines(
        "AndroidRuntime", "FATAL EXCEPTION: main", "Process: c.d, PID: 9", "java.lang.C: theirs", pid=9
    )
    mixed = [line for pair in zip(mine, theirs, strict=True) for line in pair]
    crash = find_crash(mixed, "a.b")
    assert crash is not None
    assert crash.lines == ("FATAL EXCEPTION: main", "Process: a.b, PID: 7", "java.lang.A: mine")


def test_a_native_crash_is_found_by_its_tombstone() -> None:
    text = [
        "*** *** *** *** *** *** *** ***",
        "pid: 4711, tid: 4711, name: a.b  >>> a.b <<<",
        "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0",
    ]
    crash = find_crash(lines("DEBUG", *text, level="F"), "a.b")
    assert crash is not None
    assert (crash.kind, crash.pid, crash.summary) == ("native", 4711, text[2])


def test_an_app_that_does_not_answer_is_found_with_its_reason() -> None:
    text = ["ANR in a.b (a.b/.Main)", "PID: 12", "Reason: Input dispatching timed out"]
    crash = find_crash(lines("ActivityManager", *text, pid=900), "a.b")
    assert crash is not None
    assert (crash.kind, crash.pid, crash.summary) == ("anr", 12, "Reason: Input dispatching timed out")


def test_an_app_that_only_talks_about_crashes_has_none() -> None:
    assert find_crash(lines("AndroidRuntime", "FATAL EXCEPTION: main", "no process line"), "a.b") is None
    assert find_crash(lines("ActivityManager", "Killing 7:a.b/u0a1 (adj 0): stop a.b"), "a.b") is None
