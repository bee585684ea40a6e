"""Windows that forbid pictures (FLAG_SECURE), found in `dumpsys window windows` of Android 8 to 15."""

from __future__ import annotations

import re

from handrail.adb.shell import Script, Shell

COMMAND = Script(
    "dumpsys window windows | grep -E '^ *Window #|fl=|isOnScreen=|isVisible=|mHasSurface=|SECURE'; true"
)
FLAG_SECURE = 0x2000

_WINDOW = re.compile(r"^ *Window #\d+ Window\{\S+ u\d+ (.*?)\}:?", re.MULTILINE)
_HEX_FLAGS = re.compile(r"\bfl=#?([0-9a-f]{5,8})\b")
_SHOWN = re.compile(r"\b(?:isOnScreen|isVisible|mHasSurface)=(true|false)")


async def secure_window(shell: Shell, timeout_ms: float) -> str | None:
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
