"""Touches and keys by Android's `input`, one round trip each. Nothing here is ever sent twice."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from handrail.adb.shell import Command, DeviceShell, Output, Script
from handrail.android.constants import (
    DOUBLE_TAP_GAP_MS,
    LONG_PRESS_TIMEOUT_MS,
    READ_ATTEMPTS,
    READ_DEADLINE_MS,
    READ_RETRY_FIRST_MS,
    READ_RETRY_GROWTH,
    SHELL_TIMEOUT_MS,
)
from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceOffline, HandrailError, TreeParseError

_REFUSED = re.compile(r"SecurityException|INJECT_EVENTS|Unknown command|Invalid arguments|Error: ")
_WENT_WRONG = re.compile(r"Exception|^Error|^Killed", re.MULTILINE)
VENDOR_SWITCHES = (
    'Xiaomi, Redmi and Poco want "USB debugging (Security settings)" on in the developer options. '
    'Oppo, Realme and OnePlus want "Disable permission monitoring" on there. '
    'Vivo wants "USB debugging (Security settings)" on. '
    'Samsung wants "Auto Blocker" off in its security settings.'
)
"""What vendors keep adb from until a person allows it: injected input, permissions, settings."""
_SECURITY_HINT = f"The phone forbids injected input (INJECT_EVENTS). {VENDOR_SWITCHES}"


def tap(x: int, y: int) -> Command:
    """One touch."""
    return ("input", "tap", str(int(x)), str(int(y)))


def double_tap(x: int, y: int) -> Command:
    """Two touches in one command.

    `input` needs 50 to 800 ms to start, longer than a double tap may take. Both are started, the second one
    gap later: their start-up times cancel out.
    """
    one = f"input tap {int(x)} {int(y)}"
    return Script(f"{one} & first=$!; sleep {DOUBLE_TAP_GAP_MS / 1000}; {one} && wait $first")


def swipe(x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> Command:
    """A straight move; in place it is a long press."""
    return ("input", "swipe", *(str(int(number)) for number in (x1, y1, x2, y2, duration_ms)))


def drag(x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> Command:
    """Hold, then move; the whole of it is the duration that `input` wants, the move alone is ours."""
    total = duration_ms + LONG_PRESS_TIMEOUT_MS
    return ("input", "draganddrop", *(str(int(number)) for number in (x1, y1, x2, y2, total)))


def path(points: Sequence[tuple[int, int]], duration_ms: int) -> Command:
    """Down, through every point, up; `motionevent` came with Android 11.

    `input` needs a while to start each time, so that the way takes longer than it is asked to. Whatever goes
    wrong on it, the finger is lifted: one that stays down would be everybody's.
    """
    words = ["DOWN", *["MOVE"] * (len(points) - 1), "UP"]
    places = [*points, points[-1]]
    pause = f"sleep {max(0.0, duration_ms / 1000 / max(1, len(points) - 1)):.3f}"
    steps = [
        f"input motionevent {word} {int(x)} {int(y)}" for word, (x, y) in zip(words, places, strict=True)
    ]
    way = f" && {pause} && ".join(steps[:-1])
    last_x, last_y = points[-1]
    return Script(f"{way} && {steps[-1]} || {{ input motionevent CANCEL {last_x} {last_y}; false; }}")


def chord(codes: Sequence[int]) -> Command:
    """Keys together; `keycombination` came with Android 12."""
    return ("input", "keycombination", *map(str, codes))


def key(code: int) -> Command:
    """One key, down and up."""
    return ("input", "keyevent", str(code))


async def send(shell: DeviceShell, command: Command, duration_ms: float = 0) -> None:
    """Run it once. A failure says in `delivery` whether the phone may have got it."""
    output = await shell.run(command, timeout_ms=SHELL_TIMEOUT_MS + duration_ms, check=False)
    words = _words(output)
    if output.ok and not _WENT_WRONG.search(words):
        return
    refused = _REFUSED.search(words)
    shown = command if isinstance(command, str) else " ".join(command)
    raise AdbCommandError(
        f"`{shown}` failed with exit code {output.exit_code}: {words[:300] or 'no message'}",
        hint=_SECURITY_HINT if "INJECT_EVENTS" in words or "SecurityException" in words else None,
        command=shown,
        delivery="not_delivered" if refused else "unknown",
    )


def _words(output: Output) -> str:
    """`input` prints nothing when all went well, its complaints to either stream."""
    return (output.stderr + b"\n" + output.stdout).decode("utf-8", "replace").strip()


T = TypeVar("T")

PASSING: tuple[type[HandrailError], ...] = (
    AdbCommandError,
    AdbConnectionError,
    DeviceOffline,
    TreeParseError,
)
"""What may be over in a moment. A timeout is not among them: its time is gone."""


async def read_again(
    read: Callable[[float], Awaitable[T]], clock: Clock, *, deadline_ms: float = READ_DEADLINE_MS
) -> T:
    """What `read` gives at its first good attempt; it is told how many milliseconds are left."""
    end = clock.monotonic_ms() + deadline_ms
    pause_ms = float(READ_RETRY_FIRST_MS)
    for attempt in range(1, READ_ATTEMPTS + 1):
        try:
            return await read(end - clock.monotonic_ms())
        except PASSING as error:
            error.details["attempts"] = attempt
            gave_up = "tried_ms" in error.details  # the link has tried again and again itself
            if gave_up or attempt == READ_ATTEMPTS or clock.monotonic_ms() + pause_ms >= end:
                raise
        await clock.sleep_ms(pause_ms)
        pause_ms *= READ_RETRY_GROWTH
    raise AssertionError("the last attempt returns or raises")
