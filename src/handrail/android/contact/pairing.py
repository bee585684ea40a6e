"""Pairing with a phone without a cable, from the code that it read or showed to a phone that can be used."""

from __future__ import annotations

from collections.abc import Callable

from handrail.adb.server import Server
from handrail.android.contact.known_phones import KnownPhone, KnownPhones, reach
from handrail.android.contact.wireless import Announced, Invitation, find_announced, listening
from handrail.clock import Clock
from handrail.errors import AdbConnectionError, Timeout
from handrail.waiting import Deadline, Expired

CONNECT_MS = 20_000
"""From the pairing until the phone is there: it announces its other port once its dialog has closed."""


async def invited(
    invitation: Invitation, clock: Clock, patience_ms: float, *, others: bool = False
) -> Announced:
    """The phone that has read our code; with `others` also one that shows a code of its own."""
    try:
        async with Deadline(clock, patience_ms), listening(("pairing",)) as heard:
            while True:
                found = await heard.get()
                if found.name == invitation.name or (others and found.name.startswith("adb-")):
                    return found
    except Expired:
        raise nobody_came(patience_ms) from None


async def paired(
    place: str,
    code: str,
    server: Server,
    known: KnownPhones,
    clock: Clock,
    *,
    name: str | None = None,
    told: Callable[[str], None],
) -> str:
    """Pair, wait for the phone's other address, connect, remember; its serial. `told` hears its guid."""
    guid = await server.pair(place, code)
    told(guid)
    found = await find_announced(guid, clock, CONNECT_MS)
    phone = KnownPhone(name or guid, guid, found.address if found else place)
    serial = await reach(phone, known, server, clock)
    if serial is None:
        raise AdbConnectionError(
            f"{guid} is paired, and does not say where it can be reached",
            hint="Run `handrail connect HOST:PORT` with the address on its Wireless debugging screen.",
        )
    known.keep(phone)
    return serial


def nobody_came(patience_ms: float) -> Timeout:
    """No phone in time."""
    return Timeout(
        f"no phone became ready within {patience_ms / 1000:.0f} s",
        hint="`handrail doctor` says what is missing; `handrail connect --wifi` needs no cable.",
        retryable=True,
    )
