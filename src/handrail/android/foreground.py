"""Which app and activity are in front, from what `dumpsys` of Android 8 to 15 says."""

from __future__ import annotations

import re

from handrail.adb.shell import Script, Shell
from handrail.android.driver import Foreground

COMMAND = Script("dumpsys activity activities | grep -E 'ResumedActivity|mFocusedActivity'; true")
FALLBACK = Script("dumpsys window | grep -E 'mFocusedApp|mCurrentFocus'; true")
"""For phones whose activity dump names nobody, such as one that shows its lock screen."""

_COMPONENT = r"([A-Za-z][\w.]*)/([\w.$]+)"
_RECORD = re.compile(rf"ActivityRecord\{{\S+ u\d+ {_COMPONENT}")
_FOCUS = re.compile(rf"mCurrentFocus=Window\{{\S+ u\d+ {_COMPONENT}")
_ORDER = ("topResumedActivity", "mResumedActivity", "ResumedActivity", "mFocusedActivity", "mFocusedApp")
"""What says it best, first: with two apps side by side only the first is about the one that has the focus."""


async def read_foreground(shell: Shell, timeout_ms: float) -> Foreground:
    """Ask the phone; one command nearly always."""
    output = await shell.run(COMMAND, timeout_ms=timeout_ms, check=False)
    found = parse_foreground(output.text)
    if found is None:
        output = await shell.run(FALLBACK, timeout_ms=timeout_ms, check=False)
        found = parse_foreground(output.text)
    return found or Foreground("", "")


def parse_foreground(text: str) -> Foreground | None:
    """The app in front, or None where the text names none."""
    records = [(line.strip(), found) for line in text.splitlines() if (found := _RECORD.search(line))]
    for word in _ORDER:
        for line, found in records:
            if line.startswith(word):
                return _named(found)
    focus = _FOCUS.search(text)
    return _named(focus) if focus else None


def _named(found: re.Match[str]) -> Foreground:
    package, activity = found[1], found[2]
    return Foreground(package, package + activity if activity.startswith(".") else activity)
