"""Pictures of the screen by `screencap`. A window that forbids them is an error, never a black picture."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from weakref import WeakSet

from handrail.adb.shell import DeviceShell, Output, Script
from handrail.android.asleep import OFF_HINT, why_dark
from handrail.android.constants import SCREENSHOT_LIMIT_BYTES
from handrail.android.display import SHOWN_COMMAND, shown_panel
from handrail.android.fallbacks import took_fallback
from handrail.android.foreground import FALLBACK, focused_titles, parse_foreground, window_title
from handrail.errors import AdbCommandError, SecureScreen
from handrail.surface.picture import opened

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xaeB`\x82"
_BLACK = 8
"""The brightest grey, of 255, that still counts as black."""


_SEVERAL = b"Multiple displays were found"
"""How `screencap` warns that it may have taken the wrong panel of a foldable."""
_SEEN_SEVERAL: WeakSet[DeviceShell] = WeakSet()


async def take_picture(shell: DeviceShell, timeout_ms: float) -> bytes:
    """By `screencap`: as it is turned now, of the panel that is shown."""

    async def capture() -> bytes:
        if shell in _SEEN_SEVERAL:
            return await _of_shown_panel(shell, timeout_ms)
        output = await _screencap(shell, [], timeout_ms)
        png = whole_png(output.stdout, output.stderr)
        if _SEVERAL in output.stderr or _SEVERAL in output.stdout.partition(SIGNATURE)[0]:
            _SEEN_SEVERAL.add(shell)
            took_fallback(shell, "picture: the phone has several displays; the shown one's is named")
            return await _of_shown_panel(shell, timeout_ms)
        return png

    return await guarded(shell, capture, timeout_ms)


async def _screencap(shell: DeviceShell, which: list[str], timeout_ms: float) -> Output:
    command = ["screencap", "-p", *which]
    return await shell.run(command, timeout_ms=timeout_ms, limit=SCREENSHOT_LIMIT_BYTES, check=False)


async def _of_shown_panel(shell: DeviceShell, timeout_ms: float) -> bytes:
    """Asked anew each time: a phone may be folded between two pictures."""
    told = await shell.run(Script(f"{SHOWN_COMMAND}; true"), timeout_ms=timeout_ms, check=False)
    panel = shown_panel(told.text)
    if panel is None:
        raise AdbCommandError(
            "The phone has several displays, and it does not tell which one is shown",
            hint="Open the phone, or use its helper (u2): it takes pictures of the display in use.",
            command="dumpsys display",
        )
    output = await _screencap(shell, ["-d", panel], timeout_ms)
    return whole_png(output.stdout, output.stderr)


async def guarded(shell: DeviceShell, capture: Callable[[], Awaitable[bytes]], timeout_ms: float) -> bytes:
    """What everybody may see. A black picture is doubted: the window may have come after the question."""
    secure = await require_visible(shell, timeout_ms)
    data = await capture()
    if await asyncio.to_thread(is_black, data):
        for window in secure or await secure_windows(shell, timeout_ms):
            raise _forbidden(window)
        if (dark := await why_dark(shell)) and dark[1] == OFF_HINT:
            raise AdbCommandError(f"{dark[0]}: the picture is black", hint=OFF_HINT, command="screencap -p")
    for window in secure:
        took_fallback(shell, f"picture: the window {window.title!r} forbids pictures and is black in it")
    return data


async def require_visible(shell: DeviceShell, timeout_ms: float) -> list[SecureWindow]:
    """The windows that forbid pictures; raises `SecureScreen` where one of them is in front."""
    secure = await secure_windows(shell, timeout_ms)
    if secure:
        await _refuse_in_front(shell, secure, timeout_ms)
    return secure


async def _refuse_in_front(shell: DeviceShell, secure: list[SecureWindow], timeout_ms: float) -> None:
    """Another app's window, such as the other half of a split screen, does not forbid a picture of this one.

    Android itself leaves it black. Where it is not certain whose windows are in front, it is refused.
    """
    focus = await shell.run(FALLBACK, timeout_ms=timeout_ms, check=False)
    titles, front = focused_titles(focus.text), parse_foreground(focus.text)
    for window in secure:
        elsewhere = front is not None and window.package not in (None, front.package)
        if not (elsewhere and len(titles) == 1 and window.title != titles[0]):
            raise _forbidden(window)


def _forbidden(window: SecureWindow) -> SecureScreen:
    return SecureScreen(
        f"The window {window.title!r} forbids pictures (FLAG_SECURE)",
        window=window.title,
        evidence="dumpsys window",
    )


def whole_png(stdout: bytes, stderr: bytes = b"") -> bytes:
    """The PNG without the warnings that some phones print before it; raises when it is not whole."""
    start, end = stdout.find(SIGNATURE), stdout.rfind(_END)
    if start < 0 or end < start:
        said = (stderr + stdout[:200]).decode("utf-8", "replace").strip()
        what = "cut short" if start >= 0 else f"not a PNG: {said[:200]!r}"
        raise AdbCommandError(
            f"`screencap -p` gave {len(stdout)} bytes, {what}",
            hint="Take it again; if it stays so, wake the phone: some give no picture while it sleeps.",
            command="screencap -p",
        )
    return stdout[start : end + len(_END)]


def is_black(png: bytes) -> bool:
    """True for a picture in which nothing but the status bar may be seen."""
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
    """A visible window that forbids pictures."""

    title: str
    package: str | None


async def secure_windows(shell: DeviceShell, timeout_ms: float) -> list[SecureWindow]:
    """Those on the display that is shown, the topmost first."""
    output = await shell.run(COMMAND, timeout_ms=timeout_ms, check=False)
    return find_secure(output.text)


def find_secure(text: str) -> list[SecureWindow]:
    """Of `dumpsys window windows`, which lists the topmost first."""
    _, *parts = _WINDOW.split(text)
    blocks = zip(parts[::2], parts[1::2], strict=True)
    return [
        SecureWindow(window_title(name) or name, _owner(name, block))
        for name, block in blocks
        if _is_secure(block) and _is_shown(block)
    ]


def _owner(name: str, block: str) -> str | None:
    found = re.search(r"\bpackage=([\w.]+)", block) or re.search(r" ([A-Za-z][\w.]*)/", name)
    return found[1] if found else None


def _is_secure(block: str) -> bool:
    """Since Android 9 flags are written as words, before as a hexadecimal number."""
    if _WORD_FLAGS.search(block):
        return True
    flags = _HEX_FLAGS.search(block)
    return flags is not None and int(flags[1], 16) & FLAG_SECURE != 0


def _is_shown(block: str) -> bool:
    """On display 0, and every word about visibility that this Android has must say yes."""
    display = re.search(r"\bmDisplayId=(\d+)", block)
    hidden = re.search(r"\bmViewVisibility=0x[48]", block)
    return (display is None or display[1] == "0") and not hidden and "false" not in _SHOWN.findall(block)
