"""How a phone is looked at from here: by which channel, how long it takes, and why it is not a helper.

It is found out by doing it, through the same doors as every session. What was started for it is ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.adb.device import AdbDevice
from handrail.android.helper.ensure import read_manifest
from handrail.android.routing import Helper, connect
from handrail.android.u2.server import find_jar, is_up, release
from handrail.clock import Clock
from handrail.errors import HandrailError

PLAIN = "adb"
SWITCHED_OFF = "HANDRAIL_HELPER=none"


@dataclass(frozen=True, slots=True)
class FirstLook:
    """One look that was tried."""

    channel: str
    """Which one serves looks; `adb` is the one that needs nothing on the phone."""
    ms: float | None
    """How long it took; None where there was none."""
    why_no_helper: str = ""
    problem: str = ""
    """Why there was no look."""
    hint: str = ""

    @property
    def by_helper(self) -> bool:
        return self.channel != PLAIN

    def __str__(self) -> str:
        if self.ms is None:
            return f"it can't be looked at: {self.problem}"
        if self.by_helper:
            return f"looks go by {self.channel}; one took {self.ms:.0f} ms"
        return f"plain adb works, a look took {self.ms:.0f} ms; not by helper: {self.why_no_helper}"


async def try_look(device: AdbDevice, helper: Helper, clock: Clock, env: Mapping[str, str]) -> FirstLook:
    """A helper that was not up before is ended again. The device is closed."""
    was_up = await is_up(device, clock)
    try:
        driver = await connect(device, clock=clock, helper=helper, env=env)
    except BaseException:
        await device.close()
        raise
    try:
        began = clock.monotonic_ms()
        try:
            await driver.look()
            took, error = clock.monotonic_ms() - began, None
        except HandrailError as raised:
            took, error = None, raised
        table = driver.channels()
        why = "" if table["look"] != PLAIN else _why_not(table)
        if not was_up:
            await release(device)
    finally:
        await driver.close()
    if error is not None:
        return FirstLook(table["look"], None, why, error.message, error.hint)
    return FirstLook(table["look"], took, why)


def _why_not(table: Mapping[str, str]) -> str:
    """What the door of the helper says; where there is no such door, nobody wanted one."""
    return next((table[name] for name in ("helper", "u2") if name in table), SWITCHED_OFF)


def what_mends(look: FirstLook) -> str:
    """The one command that brings the helper, where it is known."""
    if look.why_no_helper == SWITCHED_OFF or "DISABLE_HELPER" in look.why_no_helper:
        return "unset HANDRAIL_HELPER HANDRAIL_DISABLE_HELPER"
    if find_jar() is None or "none that Handrail knows" in look.why_no_helper:
        return "pip install 'uiautomator2>=3.3,<3.8'"
    return "handrail bug-report"


def has_http_helper(folder: Path | None) -> bool:
    """Whether somebody has built the APKs that nobody publishes."""
    apks = folder.glob("*.apk") if folder is not None and folder.is_dir() else ()
    return any(read_manifest(apk) is not None for apk in apks)
