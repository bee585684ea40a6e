"""Opens the u2 channel, or says in one line why there is none."""

from __future__ import annotations

from collections.abc import Callable

from handrail.adb.device import AdbDevice
from handrail.android.constants import U2_STARTUP_TIMEOUT_MS
from handrail.android.u2.channel import U2Channel
from handrail.android.u2.jar import find_jar
from handrail.android.u2.server import U2Server
from handrail.clock import Clock
from handrail.errors import HandrailError


async def open_u2(
    device: AdbDevice,
    *,
    clock: Clock,
    say: Callable[[str], None],
    startup_timeout_ms: float = U2_STARTUP_TIMEOUT_MS,
) -> U2Channel | None:
    """A channel whose server answers; None, with a reason said, where it can't be had."""
    jar = find_jar()
    if jar is None:
        say("no u2: its server comes with the Python package uiautomator2, which is not installed")
        return None
    server = U2Server(device, jar, clock)
    try:
        await server.start(startup_timeout_ms)
    except (HandrailError, OSError) as error:
        say(f"no u2: {error}")
        return None
    return U2Channel(server, clock)
