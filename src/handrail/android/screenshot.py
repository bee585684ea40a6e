"""Screenshots by `screencap`. A window with FLAG_SECURE raises an error instead of giving a black picture."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar
from weakref import WeakSet

from handrail.adb.shell import DeviceShell, Script
from handrail.android.constants import SCREENSHOT_LIMIT_BYTES, TIDY_TIMEOUT_MS
from handrail.android.dumpsys import (
    FALLBACK,
    SHOWN_COMMAND,
    focused_titles,
    locked,
    note_fallback,
    parse_foreground,
    screen_on,
    sections,
    sections_script,
    shown_panel,
    window_title,
)
from handrail.errors import AdbCommandError, DeviceError, SecureScreen, Timeout
from handrail.surface.picture import opened

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xaeB`\x82"
_BLACK = 8
"""The brightest grey of 255 that counts as black."""
_SEVERAL = b"Multiple displays were found"
"""`screencap`'s warning that it may have captured the wrong panel of a foldable."""
_SEEN_SEVERAL: WeakSet[DeviceShell] = WeakSet()


async def take_screenshot(shell: DeviceShell, timeout_ms: float) -> bytes:
    """Rotated as shown, from the panel that is in use."""

    async def capture(*panel: str) -> bytes:
        command = ["screencap", "-p", *panel]
        output = await shell.run(command, timeout_ms=timeout_ms, limit=SCREENSHOT_LIMIT_BYTES, check=False)
        png = check_png(output.stdout, output.stderr)
        if not panel and (_SEVERAL in output.stderr or _SEVERAL in output.stdout.partition(SIGNATURE)[0]):
            _SEEN_SEVERAL.add(shell)
            note_fallback(shell, "picture: the phone has several displays; the shown one's is named")
            return await capture_shown()
        return png

    async def capture_shown() -> bytes:
        """Queried each time, because the phone may be folded between two screenshots."""
        dump = await shell.run(Script(f"{SHOWN_COMMAND}; true"), timeout_ms=timeout_ms, check=False)
        panel = shown_panel(dump.text)
        if panel is None:
            raise AdbCommandError(
                "The phone has several displays, and does not report which one is in use",
                hint="Open the phone, or use its helper (u2): it takes pictures of the display in use.",
                command="dumpsys display",
            )
        return await capture("-d", panel)

    return await guarded_screenshot(shell, capture_shown if shell in _SEEN_SEVERAL else capture, timeout_ms)


async def guarded_screenshot(
    shell: DeviceShell, capture: Callable[[], Awaitable[bytes]], timeout_ms: float
) -> bytes:
    """Refuses secure windows. After a black picture it asks again: a window may have opened meanwhile."""
    secure = await require_visible(shell, timeout_ms)
    data = await capture()
    if await asyncio.to_thread(is_black, data):
        for window in secure or await secure_windows(shell, timeout_ms):
            raise _forbidden(window)
        if (dark := await why_dark(shell)) and dark[1] == OFF_HINT:
            raise AdbCommandError(f"{dark[0]}: the picture is black", hint=OFF_HINT, command="screencap -p")
    for window in secure:
        note_fallback(shell, f"picture: the window {window.title!r} forbids pictures and is black in it")
    return data


async def require_visible(shell: DeviceShell, timeout_ms: float) -> list[SecureWindow]:
    """Windows that forbid screenshots; raises `SecureScreen` if one of them is in front."""
    secure = await secure_windows(shell, timeout_ms)
    if secure:
        focus = await shell.run(FALLBACK, timeout_ms=timeout_ms, check=False)
        titles, front = focused_titles(focus.text), parse_foreground(focus.text)
        for window in secure:
            # A secure window of another app, such as the other half of a split screen, only stays black.
            elsewhere = front is not None and window.package not in (None, front.package)
            if not (elsewhere and len(titles) == 1 and window.title != titles[0]):
                raise _forbidden(window)
    return secure


def _forbidden(window: SecureWindow) -> SecureScreen:
    return SecureScreen(
        f"The window {window.title!r} forbids pictures (FLAG_SECURE)",
        window=window.title,
        evidence="dumpsys window",
    )


def check_png(stdout: bytes, stderr: bytes = b"") -> bytes:
    """Removes warnings that some phones print before the PNG; raises if it is incomplete."""
    start, end = stdout.find(SIGNATURE), stdout.rfind(_END)
    if start < 0 or end < start:
        output = (stderr + stdout[:200]).decode("utf-8", "replace").strip()
        what = "cut short" if start >= 0 else f"not a PNG: {output[:200]!r}"
        raise AdbCommandError(
            f"`screencap -p` gave {len(stdout)} bytes, {what}",
            hint="Try again, or wake the phone: some take no screenshots while they sleep.",
            command="screencap -p",
        )
    return stdout[start : end + len(_END)]


def is_black(png: bytes) -> bool:
    """Ignores the status bar."""
    with opened(png) as image:
        width, height = image.size
        below = image.convert("L").reduce(4).crop((0, height // 4 // 12, width // 4, height // 4))
        return below.point(lambda value: value > _BLACK).getbbox() is None


COMMAND = Script(
    "dumpsys window windows | grep -E '^ *Window #|mDisplayId=|package=|fl=|isOnScreen=|isVisible=|"
    "mHasSurface=|mViewVisibility='; true"
)
FLAG_SECURE = 0x2000

_WINDOW = re.compile(r"^ *Window #\d+ (Window\{.*?\}):?$", re.MULTILINE)
_WORD_FLAGS = re.compile(r"\bfl=(?:[A-Z_]+ )*SECURE\b")
_HEX_FLAGS = re.compile(r"\bfl=#?(?:0x)?([0-9a-f]{4,8})\b")
_SHOWN = re.compile(r"\b(?:isOnScreen|isVisible|mHasSurface)=(true|false)")


class SecureWindow(NamedTuple):
    """A visible window that forbids screenshots."""

    title: str
    package: str | None


async def secure_windows(shell: DeviceShell, timeout_ms: float) -> list[SecureWindow]:
    """Lists those on the display in use, topmost first."""
    output = await shell.run(COMMAND, timeout_ms=timeout_ms, check=False)
    return find_secure(output.text)


def find_secure(text: str) -> list[SecureWindow]:
    """Parses `dumpsys window windows`, which lists the topmost first.

    Since Android 9 flags are words, before a hexadecimal number. A window counts if it is on display 0, and
    no flag about its visibility is false.
    """
    windows = []
    _, *parts = _WINDOW.split(text)
    for name, block in zip(parts[::2], parts[1::2], strict=True):
        flags = _HEX_FLAGS.search(block)
        is_secure = _WORD_FLAGS.search(block) or (flags and int(flags[1], 16) & FLAG_SECURE)
        display = re.search(r"\bmDisplayId=(\d+)", block)
        is_hidden = re.search(r"\bmViewVisibility=0x[48]", block) or "false" in _SHOWN.findall(block)
        if is_secure and not is_hidden and (display is None or display[1] == "0"):
            owner = re.search(r"\bpackage=([\w.]+)", block) or re.search(r" ([A-Za-z][\w.]*)/", name)
            windows.append(SecureWindow(window_title(name) or name, owner[1] if owner else None))
    return windows


OFF_HINT = "Press the key `wakeup` to wake it, then look again."
BOOTING_HINT = "Wait until its lock screen is there, then try again."
LOCKED_HINT = "A person has to unlock it; a locked screen neither shows apps nor accepts input."
T = TypeVar("T")


async def why_dark(shell: DeviceShell) -> tuple[str, str] | None:
    """Reason and remedy; None if the screen is on and unlocked, or if that is unknown."""
    try:
        script = sections_script("boot", "power", "policy")
        output = await shell.run(script, timeout_ms=TIDY_TIMEOUT_MS, check=False)
    except (DeviceError, Timeout):
        return None
    dumps = sections(output.text)
    is_locked = locked(dumps["policy"])
    if dumps["boot"].strip() == "0":
        return "The phone is still booting", BOOTING_HINT
    if screen_on(dumps["power"]) is False:
        return "The screen is off" + (" and the phone is locked" if is_locked else ""), OFF_HINT
    return ("The phone is locked", LOCKED_HINT) if is_locked else None


async def explain_if_dark(shell: DeviceShell, read: Callable[[], Awaitable[T]]) -> T:
    """Runs `read`; a failure on a phone that is off or locked says so first."""
    try:
        return await read()
    except AdbCommandError as error:
        dark = await why_dark(shell)
        if dark is None or error.message.startswith(dark[0]):
            raise
        why, hint = dark
        raise AdbCommandError(f"{why}: {error.message}", hint=hint, **error.details) from error
