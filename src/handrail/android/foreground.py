"""The app in front, out of what ActivityManager and WindowManager say. In doubt it names nobody."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeVar

from handrail.adb.shell import DeviceShell, Script
from handrail.android.fallbacks import took_fallback
from handrail.surface.values import Foreground

FRONT_COMMAND = Script(
    "dumpsys activity activities | grep -E '^ *Display #|ResumedActivity|mFocusedActivity'; true"
)
FOCUS_LINES = "^ *(Display: mDisplayId=|mCurrentFocus=|mFocusedApp=)"
FALLBACK = Script(f"dumpsys window | grep -E '{FOCUS_LINES}'; true")
"""For phones whose activity dump names nobody, such as one that shows its lock screen."""

_COMPONENT = r"([A-Za-z][\w.]*)/([\w.$]+)"
_RECORD = re.compile(rf"ActivityRecord\{{\S+ u\d+ {_COMPONENT}")
_LINE = re.compile(r"^\s*(\w+)(?:=|: *)(.*)$", re.MULTILINE)
_TITLED = re.compile(r"Window\{\S+ u-?\d+ (.*?) *\}")
_AFTER_TITLE = re.compile(r"(?: +(?:\w+=\S*|EXITING))+$")
_DISPLAY = re.compile(r"^ *Display(?:: mDisplayId=| #)(\d+)", re.MULTILINE)
_PACKAGE = re.compile(r"[A-Za-z]\w*(?:\.\w+)+")
_WHOLE_PHONE = ("ResumedActivity", "mFocusedActivity")
"""Words that Android prints once: the activity that has the focus, whatever lies beside it."""
_PER_TASK = ("topResumedActivity", "mResumedActivity")
"""Words that every task prints: two apps side by side, or on two displays, have one each."""
T = TypeVar("T")


async def read_foreground(shell: DeviceShell, timeout_ms: float) -> Foreground:
    """Ask the phone; one command nearly always."""
    output = await shell.run(FRONT_COMMAND, timeout_ms=timeout_ms, check=False)
    found = parse_foreground(output.text)
    if found is None:
        output = await shell.run(FALLBACK, timeout_ms=timeout_ms, check=False)
        found = parse_foreground(output.text)
        told = "the focused window was read" if found else "the focused window names none either"
        took_fallback(shell, f"foreground: the activity dump names no app in front; {told}")
    return found or Foreground("", "")


def parse_foreground(text: str) -> Foreground | None:
    """The app in front, or None where the text names none, or several without saying which."""
    return _resumed(text) or _focused(text)


def window_title(text: str) -> str | None:
    """The title in `Window{1a2b u0 TITLE}`; some vendors write ` type=2040 ` after it."""
    found = _TITLED.search(text)
    return _AFTER_TITLE.sub("", found[1]) if found else None


def focused_titles(text: str) -> list[str]:
    """Of the windows that have the focus of a display, each once; display 0's alone where it has one."""
    titles = [(line.display, window_title(line.value)) for line in _lines(text, ("mCurrentFocus",))]
    return _on_shown([(display, title) for display, title in titles if title])


class _Said(NamedTuple):
    display: str | None
    word: str
    value: str


def _lines(text: str, words: tuple[str, ...]) -> list[_Said]:
    """The lines that begin with these words, each with the display whose header stands before it."""
    before, *parts = _DISPLAY.split(text)
    blocks = [(None, before), *zip(parts[::2], parts[1::2], strict=True)]
    return [
        _Said(display, found[1], found[2])
        for display, block in blocks
        for found in _LINE.finditer(block)
        if found[1] in words
    ]


def _resumed(text: str) -> Foreground | None:
    """By ActivityManager. Where another display has the focus, what display 0 shows counts all the same."""
    whole = next((one for line in _lines(text, _WHOLE_PHONE) if (one := _recorded(line.value))), None)
    tasks = next((lines for word in _PER_TASK if (lines := _lines(text, (word,)))), [])
    named = [(line.display, one) for line in tasks if (one := _recorded(line.value))]
    here = {one for display, one in named if display == "0"}
    if whole is not None and (whole in here or len(here) != 1):
        return whole
    several = here or {one for _, one in named}
    return several.pop() if len(several) == 1 else None


def _focused(text: str) -> Foreground | None:
    """A window without an activity (a shade, a menu) lies over the app that has the focus besides."""
    titles = focused_titles(text)
    recorded = [(line.display, _recorded(line.value)) for line in _lines(text, ("mFocusedApp",))]
    apps = _on_shown([(display, one) for display, one in recorded if one])
    if len(titles) > 1:
        return None
    title = titles[0] if titles else ""
    if found := re.match(_COMPONENT, title):
        return _named(found)
    if len(apps) == 1:
        return apps[0]
    own = [one for one in apps if one.package == title]
    if own:
        return own[0]
    return Foreground(title, "") if _PACKAGE.fullmatch(title) else None


def _on_shown(said: list[tuple[str | None, T]]) -> list[T]:
    """What display 0 says, where it says anything; else what all say. Each once."""
    here = [value for display, value in said if display == "0"]
    return list(dict.fromkeys(here or [value for _, value in said]))


def _recorded(text: str) -> Foreground | None:
    found = _RECORD.search(text)
    return _named(found) if found else None


def _named(found: re.Match[str]) -> Foreground:
    package, activity = found[1], found[2]
    return Foreground(package, package + activity if activity.startswith(".") else activity)
