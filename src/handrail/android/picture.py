"""Pictures of the screen by `screencap`. A window that forbids them is an error, never a black picture."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

from handrail.adb.shell import DeviceShell, Script
from handrail.android.constants import SCREENSHOT_LIMIT_BYTES
from handrail.errors import AdbCommandError, SecureScreen
from handrail.surface.picture import opened

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xaeB`\x82"
_BLACK = 8
"""The brightest grey, of 255, that still counts as black."""


async def take_picture(shell: DeviceShell, timeout_ms: float) -> bytes:
    """By `screencap`: as it is turned now."""

    async def capture() -> bytes:
        output = await shell.run(
            ["screencap", "-p"], timeout_ms=timeout_ms, limit=SCREENSHOT_LIMIT_BYTES, check=False
        )
        return whole_png(output.stdout, output.stderr)

    return await guarded(shell, capture, timeout_ms)


async def guarded(shell: DeviceShell, capture: Callable[[], Awaitable[bytes]], timeout_ms: float) -> bytes:
    """What everybody may see. A black picture is doubted: the window may have come after the question."""
    await refuse_secure(shell, timeout_ms)
    data = await capture()
    if await asyncio.to_thread(is_black, data):
        await refuse_secure(shell, timeout_ms)
    return data


async def refuse_secure(shell: DeviceShell, timeout_ms: float) -> None:
    """Raises `SecureScreen` while a window that forbids pictures is up."""
    title = await secure_window(shell, timeout_ms)
    if title is not None:
        raise SecureScreen(
            f"The window {title!r} forbids pictures (FLAG_SECURE)", window=title, evidence="dumpsys window"
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
    "dumpsys window windows | grep -E '^ *Window #|fl=|isOnScreen=|isVisible=|mHasSurface=|SECURE'; true"
)
FLAG_SECURE = 0x2000

_WINDOW = re.compile(r"^ *Window #\d+ Window\{\S+ u\d+ (.*?)\}:?", re.MULTILINE)
_HEX_FLAGS = re.compile(r"\bfl=#?([0-9a-f]{5,8})\b")
_SHOWN = re.compile(r"\b(?:isOnScreen|isVisible|mHasSurface)=(true|false)")


async def secure_window(shell: DeviceShell, timeout_ms: float) -> str | None:
    """The title of a visible window that forbids pictures, or None."""
    output = await shell.run(COMMAND, timeout_ms=timeout_ms, check=False)
    return find_secure(output.text)


def find_secure(text: str) -> str | None:
    """The topmost such window; the dump lists the topmost first."""
    _, *parts = _WINDOW.split(text)
    for title, block in zip(parts[::2], parts[1::2], strict=True):
        if _is_secure(block) and _is_shown(block):
            return title
    return None


def _is_secure(block: str) -> bool:
    """Since Android 9 flags are written as words, before as a hexadecimal number."""
    if re.search(r"\bSECURE\b", block):
        return True
    flags = _HEX_FLAGS.search(block)
    return flags is not None and int(flags[1], 16) & FLAG_SECURE != 0


def _is_shown(block: str) -> bool:
    """Every word about visibility that this Android has must say yes."""
    said = _SHOWN.findall(block)
    return "false" not in said
