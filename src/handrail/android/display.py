"""Size, density and rotation of the screen as it is turned now, from the words of `wm` and `dumpsys`.

`wm size` speaks of the unturned screen, overrides included; the rotation says whether to swap.
"""

from __future__ import annotations

import re

from handrail.adb.shell import Script, Shell
from handrail.android.driver import Display
from handrail.errors import AdbCommandError

COMMAND = Script(
    "wm size; wm density; dumpsys window displays | grep -E 'mDisplayId=|Display: |cur=|otation='; true"
)
"""One round trip; `dumpsys window displays` is cut to the lines that matter on the phone."""

_SIZE = re.compile(r"(Physical|Override) size: *(\d+)x(\d+)")
_DENSITY = re.compile(r"(Physical|Override) density: *(\d+)")
_CURRENT = re.compile(r"\bcur=(\d+)x(\d+)")
_ROTATION = re.compile(r"\bm(?:Current)?(?:Display)?Rotation=(?:ROTATION_)?(\d+)")
_OTHER_DISPLAY = re.compile(r"mDisplayId=[1-9]")


async def read_display(shell: Shell, timeout_ms: float) -> Display:
    """Ask the phone."""
    output = await shell.run(COMMAND, timeout_ms=timeout_ms, check=False)
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
