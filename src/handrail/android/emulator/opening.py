"""Opens the emulator's gRPC channel, or says in one line why there is none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from handrail.android.driver import Display
from handrail.android.emulator.channel import EmulatorChannel
from handrail.android.emulator.client import EmulatorClient
from handrail.android.emulator.discovery import find_endpoint
from handrail.clock import Clock
from handrail.errors import HandrailError


async def open_emulator(
    serial: str,
    *,
    env: Mapping[str, str],
    clock: Clock,
    display: Callable[[], Awaitable[Display]],
    say: Callable[[str], None],
) -> EmulatorChannel | None:
    """A channel that answered getStatus; None, with a reason said, where it can't be had."""
    endpoint = find_endpoint(serial, env)
    if endpoint is None:
        say(f"no gRPC: {serial} is not an emulator of this machine")
        return None
    try:
        client = EmulatorClient(endpoint)
    except ImportError:
        say("no gRPC: grpcio is not installed; pip install 'handrail[emulator]'")
        return None
    try:
        await client.status()
    except HandrailError as error:
        await client.close()
        say(f"no gRPC: {error}")
        return None
    return EmulatorChannel(client, clock=clock, display=display)
