"""What a phone says of itself: model and boot, the display as it is turned, what is in front."""

from __future__ import annotations

import re

from handrail.adb.shell import DeviceShell, Script
from handrail.errors import AdbCommandError
from handrail.surface.values import Display, Facts, Foreground

FACTS_COMMAND = Script(
    "getprop ro.product.model; getprop ro.product.manufacturer; getprop ro.build.version.release; "
    "getprop ro.build.version.sdk; "
    "cat /proc/sys/kernel/random/boot_id 2>/dev/null || settings get global boot_count"
)
"""Where SELinux hides the kernel's boot id, Android's own count of boots is as good."""


async def read_facts(shell: DeviceShell, serial: str, timeout_ms: float) -> Facts:
    """Ask the phone."""
    output = await shell.run(FACTS_COMMAND, timeout_ms=timeout_ms, check=False)
    lines = [line.strip() for line in output.text.splitlines()]
    if len(lines) < 5 or not lines[3].isdigit():
        raise AdbCommandError(
            f"`getprop` did not tell what this phone is: {output.text[:200]!r}",
            hint="The phone may still be starting; try again in a few seconds.",
            command="getprop",
        )
    model, manufacturer, version, sdk, boot_id = lines[:5]
    return Facts(serial, model, manufacturer, version, int(sdk), boot_id)


DISPLAY_COMMAND = Script(
    "wm size; wm density; dumpsys window displays | grep -E 'mDisplayId=|Display: |cur=|otation='; true"
)
"""One round trip; `dumpsys window displays` is cut to the lines that matter on the phone."""

_SIZE = re.compile(r"(Physical|Override) size: *(\d+)x(\d+)")
_DENSITY = re.compile(r"(Physical|Override) density: *(\d+)")
_CURRENT = re.compile(r"\bcur=(\d+)x(\d+)")
_ROTATION = re.compile(r"\bm(?:Current)?(?:Display)?Rotation=(?:ROTATION_)?(\d+)")
_OTHER_DISPLAY = re.compile(r"mDisplayId=[1-9]")


async def read_display(shell: DeviceShell, timeout_ms: float) -> Display:
    """Ask the phone."""
    output = await shell.run(DISPLAY_COMMAND, timeout_ms=timeout_ms, check=False)
    return parse_display(output.text + output.stderr.decode("utf-8", "replace"))


def parse_display(text: str) -> Display:
    """The main display; raises when nothing tells its size."""
    main = text[: found.start()] if (found := _OTHER_DISPLAY.search(text)) else text
    current = tuple(map(int, found.groups())) if (found := _CURRENT.search(main)) else None
    natural = natural_size(main)
    rotation = _rotation(main)
    if natural is not None and rotation is None:
        rotation = int(current == natural[::-1] != natural)
    if natural is not None:
        current = turned_size(natural, rotation or 0)
    if current is None:
        raise AdbCommandError(
            f"`wm size` did not tell the screen's size: {text[:200]!r}",
            hint="The phone may still be starting; try again in a few seconds.",
            command="wm size",
        )
    return Display(current[0], current[1], _density(main), rotation or 0)


def natural_size(text: str) -> tuple[int, int] | None:
    """Width and height of the unturned screen; an override wins."""
    sizes = {kind: (int(width), int(height)) for kind, width, height in _SIZE.findall(text)}
    return sizes.get("Override") or sizes.get("Physical")


def turned_size(natural: tuple[int, int], rotation: int) -> tuple[int, int]:
    """The same as it is turned now."""
    return natural[::-1] if rotation % 2 else natural


def _rotation(text: str) -> int | None:
    """Quarter turns; Android writes them as 0 to 3 or as ROTATION_0 to ROTATION_270."""
    found = _ROTATION.search(text)
    if found is None:
        return None
    number = int(found[1])
    return number // 90 % 4 if "ROTATION_" in found[0] else number % 4


def _density(text: str) -> int:
    """Dots per inch; an override wins, and 160 is Android's own default."""
    densities = {kind: int(number) for kind, number in _DENSITY.findall(text)}
    return densities.get("Override") or densities.get("Physical") or 160


FRONT_COMMAND = Script("dumpsys activity activities | grep -E 'ResumedActivity|mFocusedActivity'; true")
FALLBACK = Script("dumpsys window | grep -E 'mFocusedApp|mCurrentFocus'; true")
"""For phones whose activity dump names nobody, such as one that shows its lock screen."""

_COMPONENT = r"([A-Za-z][\w.]*)/([\w.$]+)"
_RECORD = re.compile(rf"ActivityRecord\{{\S+ u\d+ {_COMPONENT}")
_FOCUS = re.compile(rf"mCurrentFocus=Window\{{\S+ u\d+ {_COMPONENT}")
_ORDER = ("topResumedActivity", "mResumedActivity", "ResumedActivity", "mFocusedActivity", "mFocusedApp")
"""What says it best, first: with two apps side by side only the first is about the one that has the focus."""


async def read_foreground(shell: DeviceShell, timeout_ms: float) -> Foreground:
    """Ask the phone; one command nearly always."""
    output = await shell.run(FRONT_COMMAND, timeout_ms=timeout_ms, check=False)
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
