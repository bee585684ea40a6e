"""The helper as a channel, for whoever routes."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.adb.device import AdbDevice
from handrail.android.constants import HELPER_STARTUP_TIMEOUT_MS
from handrail.android.helper.channel import HelperChannel
from handrail.android.helper.ensure import Say, ensure_helper
from handrail.clock import Clock


async def open_helper(
    device: AdbDevice,
    *,
    env: Mapping[str, str],
    clock: Clock,
    say: Say,
    startup_timeout_ms: float = HELPER_STARTUP_TIMEOUT_MS,
) -> HelperChannel | None:
    """A channel whose helper answers; None, with a reason said, where it can't be had."""
    handle = await ensure_helper(device, env=env, clock=clock, say=say, startup_timeout_ms=startup_timeout_ms)
    return None if handle is None else HelperChannel(handle, device.shell, clock)
