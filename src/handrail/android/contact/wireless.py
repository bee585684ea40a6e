"""Wireless debugging: what phones announce by mDNS, and pairing through the adb server, by code or QR code.

A phone shows a code, or reads one: the QR code holds a name and a password of ours, and the phone that read
it announces itself under that name. Pairing itself (SPAKE2 and TLS) is the adb server's work.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import string
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from handrail.clock import Clock
from handrail.config import host_port
from handrail.errors import InvalidAction
from handrail.waiting import Background, Deadline, Expired

if TYPE_CHECKING:
    from zeroconf import ServiceStateChange, Zeroconf

Kind = Literal["pairing", "connect"]
KINDS: dict[Kind, str] = {
    "pairing": "_adb-tls-pairing._tcp.local.",
    "connect": "_adb-tls-connect._tcp.local.",
}
_RESOLVE_MS = 3_000
_LETTERS = string.ascii_letters + string.digits
_CODE = re.compile(r"\d{6}")


@dataclass(frozen=True, slots=True)
class Announced:
    """A phone that says where it can be paired or connected."""

    kind: Kind
    name: str
    """Of the service: a phone keeps the one that it connects by, `adb-SERIAL-…`."""
    address: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a QR code tells a phone. The password is good for one pairing."""

    name: str
    password: str

    @classmethod
    def new(cls) -> Invitation:
        def random(length: int) -> str:
            return "".join(secrets.choice(_LETTERS) for _ in range(length))

        return cls(f"handrail-{random(8)}", random(12))

    @property
    def text(self) -> str:
        """As Android reads it: Settings → Wireless debugging → Pair device with QR code."""
        return f"WIFI:T:ADB;S:{self.name};P:{self.password};;"


def draw(text: str) -> str:
    """A QR code for a terminal: two rows of squares in one line of half blocks, dark on light."""
    import segno  # noqa: PLC0415  (only a first contact draws one)

    rows = [[bool(square) for square in row] for row in segno.make(text, error="l").matrix_iter(border=2)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    halves = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return "\n".join("".join(halves[pair] for pair in zip(*two, strict=True)) for two in pairs)


def check_code(code: str) -> str:
    """The six digits that a phone shows, however they were typed."""
    plain = "".join(code.split())
    if not _CODE.fullmatch(plain):
        raise InvalidAction(
            "the pairing code is six digits", path="code", hint="Read it from the phone again."
        )
    return plain


def check_place(place: str) -> str:
    """An address to pair or connect with."""
    if host_port(place) is None:
        raise InvalidAction(
            f"{place!r} is no address", path="address", hint="Give host:port, as the phone shows it."
        )
    return place


@asynccontextmanager
async def listening(kinds: Sequence[Kind] = tuple(KINDS)) -> AsyncIterator[asyncio.Queue[Announced]]:
    """What phones on every network of this machine announce while the block runs."""
    from zeroconf import InterfaceChoice, IPVersion  # noqa: PLC0415  (only a first contact needs it)
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf  # noqa: PLC0415

    heard: asyncio.Queue[Announced] = asyncio.Queue()
    ears = AsyncZeroconf(interfaces=InterfaceChoice.All, ip_version=IPVersion.V4Only)
    async with Background() as asking:

        def notice(
            zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
        ) -> None:
            if state_change.name != "Removed":
                asking.start(_resolve(zeroconf, service_type, name, heard), f"where {name} is")

        browser = AsyncServiceBrowser(ears.zeroconf, [KINDS[kind] for kind in kinds], handlers=[notice])
        try:
            yield heard
        finally:
            await browser.async_cancel()
            await asking.close()
            await ears.async_close()


async def _resolve(zeroconf: Zeroconf, service_type: str, name: str, heard: asyncio.Queue[Announced]) -> None:
    from zeroconf import IPVersion  # noqa: PLC0415
    from zeroconf.asyncio import AsyncServiceInfo  # noqa: PLC0415

    info = AsyncServiceInfo(service_type, name)
    if not await info.async_request(zeroconf, _RESOLVE_MS):
        return
    kind = next(kind for kind, full in KINDS.items() if full == service_type)
    for host in info.parsed_addresses(IPVersion.V4Only):
        heard.put_nowait(Announced(kind, name.removesuffix(f".{service_type}"), f"{host}:{info.port}"))


async def find_announced(name: str, clock: Clock, patience_ms: float) -> Announced | None:
    """The phone that connects by this name, wherever it is now; None when it does not say so in time."""
    try:
        async with Deadline(clock, patience_ms), listening(("connect",)) as heard:
            while (found := await heard.get()).name != name:
                pass
            return found
    except (Expired, OSError):  # a machine without a network
        return None
