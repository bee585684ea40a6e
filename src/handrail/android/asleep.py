"""Why a phone shows nothing: its screen is off, or it is locked. Asked only after something failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from handrail.adb.shell import DeviceShell
from handrail.android.constants import TIDY_TIMEOUT_MS
from handrail.android.state_parts import asking, locked, screen_on, sections
from handrail.errors import AdbCommandError, DeviceError, Timeout

OFF_HINT = "Press the key `wakeup` to wake it, then look again."
LOCKED_HINT = "A person has to unlock it; behind a lock screen apps neither show nor take anything."
T = TypeVar("T")


async def why_dark(shell: DeviceShell) -> tuple[str, str] | None:
    """What is in the way and what to do about it; None where the screen is on and open, or nobody tells."""
    try:
        output = await shell.run(asking("power", "policy"), timeout_ms=TIDY_TIMEOUT_MS, check=False)
    except (DeviceError, Timeout):
        return None
    told = sections(output.text)
    is_locked = locked(told["policy"])
    if screen_on(told["power"]) is False:
        return "The screen is off" + (" and the phone is locked" if is_locked else ""), OFF_HINT
    return ("The phone is locked", LOCKED_HINT) if is_locked else None


async def told_if_dark(shell: DeviceShell, read: Callable[[], Awaitable[T]]) -> T:
    """What `read` gives. Where it fails on a phone that is off or locked, the failure says so first."""
    try:
        return await read()
    except AdbCommandError as error:
        dark = await why_dark(shell)
        if dark is None or error.message.startswith(dark[0]):
            raise
        why, hint = dark
        raise AdbCommandError(f"{why}: {error.message}", hint=hint, **error.details) from error
