"""How the screen stands: held portrait or landscape, or free to turn."""

from __future__ import annotations

from typing import Literal, NamedTuple

from handrail.adb.shell import TIMEOUT_MS, Shell
from handrail.android.display import read_display
from handrail.android.driver import Display
from handrail.android.settings import get_setting, put_setting
from handrail.clock import Clock
from handrail.errors import InvalidAction, VerificationFailed

Orientation = Literal["portrait", "landscape", "auto"]
TURN_MS = 3_000.0
"""How long a screen may need to turn."""
_LOOK_AGAIN_MS = 100.0


class Turned(NamedTuple):
    """The screen as it stands now."""

    orientation: Literal["portrait", "landscape"]
    rotation: int
    """Quarter turns, 0 to 3."""
    held: bool
    """False: it turns with the phone."""


def stands(display: Display) -> Literal["portrait", "landscape"]:
    """The word for a screen's shape."""
    return "landscape" if display.width > display.height else "portrait"


async def set_orientation(shell: Shell, orientation: Orientation, clock: Clock) -> Turned:
    """Hold the screen or free it, and wait until it stands so."""
    if orientation not in ("portrait", "landscape", "auto"):
        raise InvalidAction(f"{orientation!r} is not an orientation", path="orientation")
    if orientation == "auto":
        await put_setting(shell, "system", "accelerometer_rotation", "1")
        return await read_orientation(shell)
    rotation = quarter_for(await read_display(shell, TIMEOUT_MS), orientation)
    await put_setting(shell, "system", "accelerometer_rotation", "0")
    await put_setting(shell, "system", "user_rotation", str(rotation))
    return await _until(shell, orientation, clock)


def quarter_for(display: Display, orientation: Orientation) -> int:
    """The turn that gives this shape; a tablet is often wide when it is not turned."""
    wide_by_nature = (display.width > display.height) != bool(display.rotation % 2)
    return int((orientation == "landscape") != wide_by_nature)


async def _until(shell: Shell, orientation: Orientation, clock: Clock) -> Turned:
    deadline = clock.monotonic_ms() + TURN_MS
    while (now := await read_orientation(shell)).orientation != orientation:
        if clock.monotonic_ms() >= deadline:
            raise VerificationFailed(
                f"the screen stays {now.orientation}",
                hint="The app in front fixes its orientation; leave it, or turn the screen before it starts.",
                expected=orientation,
                observed=now.orientation,
            )
        await clock.sleep_ms(_LOOK_AGAIN_MS)
    return now


async def read_orientation(shell: Shell) -> Turned:
    """As it stands at this moment."""
    display = await read_display(shell, TIMEOUT_MS)
    held = await get_setting(shell, "system", "accelerometer_rotation") == "0"
    return Turned(stands(display), display.rotation, held)
