"""Touch and key commands of adb's `input`, and the names of Android's keys."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from typing import TypeVar

from handrail.adb.shell import Command, DeviceShell, Script
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
from handrail.errors import (
    AdbCommandError,
    AdbConnectionError,
    DeviceOffline,
    HandrailError,
    InvalidAction,
    TreeParseError,
)
from handrail.protocol.keys import CODES, KEYS, NAMES, number_of_key
from handrail.surface.gesture import Gesture

PATH_STEP_MS = 1_000
"""Time that `input` may need to start."""
_REFUSED = re.compile(r"SecurityException|INJECT_EVENTS|Unknown command|Invalid arguments|Error: ")
_WENT_WRONG = re.compile(r"Exception|^Error|^Killed", re.MULTILINE)
VENDOR_SWITCHES = (
    'Xiaomi, Redmi and Poco want "USB debugging (Security settings)" on in the developer options. '
    'Oppo, Realme and OnePlus want "Disable permission monitoring" on there. '
    'Vivo wants "USB debugging (Security settings)" on. '
    'Samsung wants "Auto Blocker" off in its security settings.'
)
"""Switches without which vendors block adb's input, permissions and settings."""
_SECURITY_HINT = f"The phone forbids injected input (INJECT_EVENTS). {VENDOR_SWITCHES}"


def command_of(gesture: Gesture) -> Command:
    """Command for a gesture of one finger.

    A double tap is one command, because `input` needs 50 to 800 ms to start, longer than a double tap may
    take. Both taps are started, the second after a gap, so that their start-up times cancel out.
    """
    ends = (*gesture.start_point, *gesture.end_point)
    match gesture.kind:
        case "tap":
            return ("input", "tap", *_numbers(*gesture.start_point))
        case "double_tap":
            one_tap = f"input tap {' '.join(_numbers(*gesture.start_point))}"
            return Script(f"{one_tap} & first=$!; sleep {DOUBLE_TAP_GAP_MS / 1000}; {one_tap} && wait $first")
        case "long_press" | "swipe":
            return ("input", "swipe", *_numbers(*ends, gesture.duration_ms))
        case "drag":  # `input` wants the time of the hold and of the move together
            return ("input", "draganddrop", *_numbers(*ends, gesture.duration_ms + LONG_PRESS_TIMEOUT_MS))
        case _ if len(gesture.strokes) == 1:
            # Down, through every point, up; `motionevent` exists since Android 11. `input` starts for
            # each point, so a path takes longer than requested. After a failure the finger is lifted,
            # because a finger that stays down would disturb later gestures.
            points = gesture.strokes[0]
            words = ["DOWN", *["MOVE"] * (len(points) - 1), "UP"]
            places = [*points, points[-1]]
            pause = f"sleep {max(0.0, gesture.duration_ms / 1000 / max(1, len(points) - 1)):.3f}"
            steps = [
                f"input motionevent {word} {int(x)} {int(y)}"
                for word, (x, y) in zip(words, places, strict=True)
            ]
            way = f" && {pause} && ".join(steps[:-1])
            last_x, last_y = points[-1]
            return Script(f"{way} && {steps[-1]} || {{ input motionevent CANCEL {last_x} {last_y}; false; }}")
        case _:
            raise AssertionError(f"{gesture.kind} needs two fingers")


def input_duration_ms(gesture: Gesture) -> float:
    """Time that `input` may take besides its start-up; a path starts `input` once for each point."""
    points = gesture.strokes[0]
    is_played = gesture.kind == "path" or len(points) > 2
    return gesture.duration_ms + (PATH_STEP_MS * len(points) if is_played else 0)


def _numbers(*numbers: float) -> list[str]:
    return [str(int(number)) for number in numbers]


def key_command(code: int) -> Command:
    return ("input", "keyevent", str(code))


async def send_input(shell: DeviceShell, command: Command, duration_ms: float = 0) -> None:
    """Runs the command once. A failure says in `delivery` whether the phone may have received it."""
    output = await shell.run(command, timeout_ms=SHELL_TIMEOUT_MS + duration_ms, check=False)
    # `input` prints nothing when all went well, its complaints to either stream.
    words = f"{output.complaint}\n{output.text}".strip()
    if output.ok and not _WENT_WRONG.search(words):
        return
    shown = command if isinstance(command, str) else " ".join(command)
    raise AdbCommandError(
        f"`{shown}` failed with exit code {output.exit_code}: {words[:300] or 'no message'}",
        hint=_SECURITY_HINT if "INJECT_EVENTS" in words or "SecurityException" in words else None,
        command=shown,
        delivery="not_delivered" if _REFUSED.search(words) else "unknown",
    )


T = TypeVar("T")

PASSING: tuple[type[HandrailError], ...] = (
    AdbCommandError,
    AdbConnectionError,
    DeviceOffline,
    TreeParseError,
)
"""Errors that may be transient. A timeout is not among them: its time is used up."""


async def retry_read(
    read: Callable[[float], Awaitable[T]], clock: Clock, *, deadline_ms: float = READ_DEADLINE_MS
) -> T:
    """Retries a read; `read` receives the milliseconds that are left."""
    end = clock.monotonic_ms() + deadline_ms
    pause_ms = float(READ_RETRY_FIRST_MS)
    for attempt in range(1, READ_ATTEMPTS + 1):
        try:
            return await read(end - clock.monotonic_ms())
        except PASSING as error:
            error.details["attempts"] = attempt
            gave_up = "tried_ms" in error.details  # the link has already retried
            if gave_up or attempt == READ_ATTEMPTS or clock.monotonic_ms() + pause_ms >= end:
                raise
        await clock.sleep_ms(pause_ms)
        pause_ms *= READ_RETRY_GROWTH
    raise AssertionError("the last attempt returns or raises")


def last_line(output: str) -> str:
    """The last meaningful line of a program's output; at most 200 characters."""
    lines = [line.strip() for line in output.splitlines()]
    telling = [line for line in lines if line and not line.startswith(("at ", "... "))]  # no stack frames
    return telling[-1][:200] if telling else "it said nothing"


W3C: dict[str, str] = {
    "KEYCODE_BACK": "GoBack", "KEYCODE_HOME": "GoHome", "KEYCODE_APP_SWITCH": "AppSwitch",
    "KEYCODE_ENTER": "Enter", "KEYCODE_DEL": "Backspace", "KEYCODE_FORWARD_DEL": "Delete",
    "KEYCODE_TAB": "Tab", "KEYCODE_ESCAPE": "Escape", "KEYCODE_SPACE": " ",
    "KEYCODE_DPAD_UP": "ArrowUp", "KEYCODE_DPAD_DOWN": "ArrowDown",
    "KEYCODE_DPAD_LEFT": "ArrowLeft", "KEYCODE_DPAD_RIGHT": "ArrowRight",
    "KEYCODE_MOVE_HOME": "Home", "KEYCODE_MOVE_END": "End",
    "KEYCODE_PAGE_UP": "PageUp", "KEYCODE_PAGE_DOWN": "PageDown",
    "KEYCODE_POWER": "Power", "KEYCODE_SLEEP": "Standby", "KEYCODE_WAKEUP": "WakeUp",
    "KEYCODE_MENU": "ContextMenu", "KEYCODE_SEARCH": "BrowserSearch", "KEYCODE_CAMERA": "Camera",
    "KEYCODE_CUT": "Cut", "KEYCODE_COPY": "Copy", "KEYCODE_PASTE": "Paste",
    "KEYCODE_INSERT": "Insert", "KEYCODE_HELP": "Help", "KEYCODE_NOTIFICATION": "Notification",
    "KEYCODE_CALL": "Call", "KEYCODE_ENDCALL": "EndCall",
    "KEYCODE_VOLUME_UP": "AudioVolumeUp", "KEYCODE_VOLUME_DOWN": "AudioVolumeDown",
    "KEYCODE_VOLUME_MUTE": "AudioVolumeMute", "KEYCODE_MEDIA_PLAY_PAUSE": "MediaPlayPause",
    "KEYCODE_MEDIA_STOP": "MediaStop", "KEYCODE_MEDIA_NEXT": "MediaTrackNext",
    "KEYCODE_MEDIA_PREVIOUS": "MediaTrackPrevious",
    "KEYCODE_BRIGHTNESS_UP": "BrightnessUp", "KEYCODE_BRIGHTNESS_DOWN": "BrightnessDown",
    **{f"KEYCODE_F{number}": f"F{number}" for number in range(1, 13)},
}  # fmt: skip
"""`KeyboardEvent.key` values."""

_FROM_W3C = {name: constant for constant, name in W3C.items()} | {"Space": "KEYCODE_SPACE"}


def key_code(key: str | int) -> int:
    """Accepts any spelling; raises `InvalidAction` for an unknown key."""
    text = str(key)
    code = number_of_key(_FROM_W3C.get(text, text))
    if code is None:
        near = get_close_matches(text, [*KEYS, *CODES, *_FROM_W3C], n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "Use a name such as back, or a key code."
        raise InvalidAction(f"unknown key {text[:60]!r}", hint=hint, path="key", delivery="not_delivered")
    return code


def key_name(key: str | int) -> str:
    """The KEYCODE_* constant, or the number of a key without a name."""
    code = key_code(key)
    return NAMES.get(code, str(code))


def w3c_name(key: str | int) -> str | None:
    """The W3C name, including letters and digits; None if there is none."""
    name = key_name(key)
    if name in W3C:
        return W3C[name]
    character = name.removeprefix("KEYCODE_").lower()
    return character if len(character) == 1 and character.isascii() and name.startswith("KEYCODE_") else None
