"""The display that is shown: its size as it is turned, its density, and the panel behind it.

Display 0 is the one that taps and dumps are about. Other displays (a cover screen, a cast, a car's second
screen) may be listed before it, so nothing is taken from the first line that fits.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from handrail.adb.shell import DeviceShell, Script
from handrail.android.fallbacks import took_fallback
from handrail.errors import AdbCommandError
from handrail.surface.values import Display

SHOWN_COMMAND = "dumpsys display | grep -E '^ *Display [0-9]+:|mOverrideDisplayInfo=|DisplayViewport.'"
DISPLAY_COMMAND = Script(f"wm size; wm density; {SHOWN_COMMAND}; true")
"""One round trip: `wm` can't be misread, and DisplayManager says it in one line for each display."""
WINDOW_COMMAND = Script(
    "dumpsys window displays | grep -E '^ *Display: mDisplayId=|^ *init=|^ *mRotation=|mCurrentRotation=|"
    "^ *DisplayFrames |mDisplayRotation='; true"
)
"""WindowManager's own words, for phones whose DisplayManager does not tell how the screen is turned."""

_SIZE = re.compile(r"(Physical|Override) size: *(\d+)x(\d+)")
_DENSITY = re.compile(r"(Physical|Override) density: *(\d+)")
_LOGICAL = re.compile(r"^ *Display (\d+):", re.MULTILINE)
_OVERRIDE = re.compile(r"mOverrideDisplayInfo=DisplayInfo\{(.*)")
_OWN_ID = re.compile(r"\bdisplayId (\d+)")
_VIEWPORT = re.compile(r"DisplayViewport\{([^{}]*)\}")
_WINDOWS = re.compile(r"^ *Display: mDisplayId=(\d+)", re.MULTILINE)
_TURNS = (
    re.compile(r"^ *mRotation=(?:ROTATION_)?(\d+)", re.MULTILINE),
    re.compile(r"\bmCurrentRotation=(?:ROTATION_)?(\d+)"),
    re.compile(r"^ *DisplayFrames w=\d+ h=\d+ r=(\d)", re.MULTILINE),
    re.compile(r"^ *mDisplayRotation=(?:ROTATION_)?(\d+)", re.MULTILINE),
)
"""WindowManager's names for it over the years. A configuration's own `mRotation` is not among them: its line
stands before the display that it is about on one Android and after it on another."""


class ShownDisplay(NamedTuple):
    """What one source says of display 0; None for what it does not say."""

    size: tuple[int, int] | None = None
    """As it is turned."""
    rotation: int | None = None
    density: int | None = None
    panel: str | None = None
    """The physical display behind it, as `screencap -d` wants it."""
    on: bool | None = None


async def read_display(shell: DeviceShell, timeout_ms: float) -> Display:
    """Ask the phone; windows are asked only where DisplayManager does not tell the turn."""
    output = await shell.run(DISPLAY_COMMAND, timeout_ms=timeout_ms, check=False)
    text = output.text + output.stderr.decode("utf-8", "replace")
    if by_display_manager(text).rotation is None:
        more = await shell.run(WINDOW_COMMAND, timeout_ms=timeout_ms, check=False)
        text += "\n" + more.text
        how = "`dumpsys window displays`" if by_window_manager(text).rotation is not None else "its shape"
        took_fallback(shell, f"display: `dumpsys display` tells no rotation; {how} did")
    return parse_display(text)


def parse_display(text: str) -> Display:
    """Display 0 out of what all sources say; raises when nothing tells its size."""
    first, second, port = by_display_manager(text), by_window_manager(text), by_viewport(text)
    natural = natural_size(text)
    rotation = next((one.rotation for one in (first, second, port) if one.rotation is not None), None)
    size = first.size or second.size or port.size
    if natural is not None and rotation is None:
        rotation = int(size == natural[::-1] != natural)
    if natural is not None:
        size = turned_size(natural, rotation or 0)
    if size is None:
        raise AdbCommandError(
            f"`wm size` did not tell the screen's size: {text[:200]!r}",
            hint="The phone may still be starting; try again in a few seconds.",
            command="wm size",
        )
    density = _density(text) or first.density or second.density or 160
    return Display(size[0], size[1], density, rotation or 0)


def natural_size(text: str) -> tuple[int, int] | None:
    """Width and height of the unturned screen; an override wins."""
    sizes = {kind: (int(width), int(height)) for kind, width, height in _SIZE.findall(text)}
    return sizes.get("Override") or sizes.get("Physical")


def turned_size(natural: tuple[int, int], rotation: int) -> tuple[int, int]:
    """The same as it is turned now."""
    return natural[::-1] if rotation % 2 else natural


def _density(text: str) -> int | None:
    """Dots per inch by `wm density`; an override wins."""
    densities = {kind: int(number) for kind, number in _DENSITY.findall(text)}
    return densities.get("Override") or densities.get("Physical")


def by_display_manager(text: str) -> ShownDisplay:
    """Of `mOverrideDisplayInfo`, which is what apps are told: overrides and rotation are in it."""
    for number, block in _blocks(_LOGICAL, text):
        found = _OVERRIDE.search(block)
        own = _OWN_ID.search(found[1]) if found else None
        if found is None or (own[1] if own else number) != "0":
            continue
        info = found[1]
        size = re.search(r"\breal (\d+) x (\d+)", info)
        rotation = re.search(r"\brotation ([0-3])\b", info)
        density = re.search(r"\bdensity (\d+)", info)
        state = re.search(r"\bstate (\w+)", info)
        return ShownDisplay(
            _pair(size),
            int(rotation[1]) if rotation else None,
            int(density[1]) if density else None,
            _panel(re.search(r'\buniqueId "local:(\d+)"', info)),
            state[1] != "OFF" if state else None,
        )
    return ShownDisplay()


def by_window_manager(text: str) -> ShownDisplay:
    """Of the block of display 0; words without any block are display 0's own."""
    blocks = _blocks(_WINDOWS, text)
    own = next((block for number, block in blocks if number == "0"), None if blocks else text)
    if own is None:
        return ShownDisplay()
    turns = (found for pattern in _TURNS if (found := pattern.search(own)))
    turned = next(turns, None)
    density = re.search(r"\bbase=\d+x\d+ (\d+)dpi", own) or re.search(r"\binit=\d+x\d+ (\d+)dpi", own)
    return ShownDisplay(
        _pair(re.search(r"\bcur=(\d+)x(\d+)", own)),
        _quarters(turned) if turned else None,
        int(density[1]) if density else None,
    )


def by_viewport(text: str) -> ShownDisplay:
    """Where touches are mapped to; its turn counts how the panel is mounted, so others are asked first."""
    ports = (_fields(found[1]) for found in _VIEWPORT.finditer(text))
    own = next((one for one in ports if one.get("displayId") == "0" and one.get("valid") != "false"), None)
    if own is None:
        return ShownDisplay()
    frame = re.search(r"logicalFrame=Rect\(0, 0 - (\d+), (\d+)\)", own["all"])
    turn = own.get("orientation", "")
    active = own.get("isActive")
    return ShownDisplay(
        _pair(frame),
        int(turn) if turn in {"0", "1", "2", "3"} else None,
        None,
        _panel(re.search(r"\buniqueId='local:(\d+)'", own["all"])),
        active == "true" if active else None,
    )


def shown_panel(text: str) -> str | None:
    """The physical display that display 0 is on just now; a folded phone changes it."""
    return by_viewport(text).panel or by_display_manager(text).panel


def _blocks(header: re.Pattern[str], text: str) -> list[tuple[str, str]]:
    _, *parts = header.split(text)
    return list(zip(parts[::2], parts[1::2], strict=True))


def _fields(text: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)='?([\w:.-]+)", text)) | {"all": text}


def _pair(found: re.Match[str] | None) -> tuple[int, int] | None:
    return (int(found[1]), int(found[2])) if found else None


def _panel(found: re.Match[str] | None) -> str | None:
    return found[1] if found else None


def _quarters(found: re.Match[str]) -> int:
    """Android writes turns as 0 to 3 or as ROTATION_0 to ROTATION_270."""
    number = int(found[1])
    return number // 90 % 4 if "ROTATION_" in found[0] else number % 4
