"""Measures one look at a phone for `handrail doctor`: its channel, its time, and why no helper serves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.adb.device import AdbDevice
from handrail.android.driver import connect
from handrail.android.uiautomator2 import find_jar, is_up, release
from handrail.clock import Clock
from handrail.config import Helper
from handrail.errors import HandrailError

PLAIN = "adb"
SWITCHED_OFF = "HANDRAIL_HELPER=none"


@dataclass(frozen=True, slots=True)
class LookProbe:
    """Outcome of one measured look."""

    channel: str
    """The channel that serves looks; `adb` needs nothing on the phone."""
    ms: float | None
    """Duration; None if the look failed."""
    why_no_helper: str = ""
    problem: str = ""
    """Why the look failed."""
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


async def probe_look(
    device: AdbDevice, helper: Helper, clock: Clock, env: Mapping[str, str], home: Path
) -> LookProbe:
    """Tries what failed before once more. Stops a helper that was not running before, closes the device."""
    was_up = await is_up(device, clock)
    try:
        driver = await connect(device, clock=clock, helper=helper, env=env, home=home, try_again=True)
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
        # Without an entry for a helper, it is switched off.
        why = "" if table["look"] != PLAIN else table.get("helper", SWITCHED_OFF)
        if not was_up:
            await release(device)
    finally:
        await driver.close()
    if error is not None:
        return LookProbe(table["look"], None, why, error.message, error.hint)
    return LookProbe(table["look"], took, why)


def remedy_for(look: LookProbe) -> str:
    """The command that enables the helper, if known."""
    if look.why_no_helper == SWITCHED_OFF or "DISABLE_HELPER" in look.why_no_helper:
        return "unset HANDRAIL_HELPER HANDRAIL_DISABLE_HELPER"
    if find_jar() is None or "unknown to Handrail" in look.why_no_helper:
        return "pip install 'uiautomator2>=3.3,<3.8'"
    return "handrail bug-report"
