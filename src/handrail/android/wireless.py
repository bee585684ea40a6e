"""Wireless debugging: mDNS announcements, pairing by code or QR code, and phones remembered by name.

Pairing itself (SPAKE2 and TLS) is done by the adb server. A QR code holds a name and a password of ours; the
phone that has read it announces itself under that name. A phone's address changes when it sleeps or changes
its network, so phones are remembered by the name that they announce.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import string
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from handrail.adb.server import Server
from handrail.clock import Clock
from handrail.config import Config, host_port
from handrail.errors import AdbConnectionError, DeviceError, InvalidAction, Timeout
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
    """A phone that announces where it can be paired or connected."""

    kind: Kind
    name: str
    """Service name; it stays the same for connections: `adb-SERIAL-…`."""
    address: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """Content of a QR code. The password is valid for one pairing."""

    name: str
    password: str

    @classmethod
    def new(cls) -> Invitation:
        def random(length: int) -> str:
            return "".join(secrets.choice(_LETTERS) for _ in range(length))

        return cls(f"handrail-{random(8)}", random(12))

    @property
    def text(self) -> str:
        """Has the format that Settings → Wireless debugging → Pair device with QR code reads."""
        return f"WIFI:T:ADB;S:{self.name};P:{self.password};;"


def draw_qr_code(text: str) -> str:
    """Draws for a terminal: two rows per line of half blocks, dark on light."""
    import segno  # noqa: PLC0415  (only a first contact draws one)

    rows = [[bool(square) for square in row] for row in segno.make(text, error="l").matrix_iter(border=2)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    halves = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return "\n".join("".join(halves[pair] for pair in zip(*two, strict=True)) for two in pairs)


def check_code(code: str) -> str:
    """The six digits that a phone shows; spaces are ignored."""
    plain = "".join(code.split())
    if not _CODE.fullmatch(plain):
        hint = "Read it from the phone again."
        raise InvalidAction("the pairing code is six digits", path="code", hint=hint)
    return plain


def check_place(place: str) -> str:
    if host_port(place) is None:
        hint = "Give host:port, as the phone shows it."
        raise InvalidAction(f"{place!r} is not a valid address", path="address", hint=hint)
    return place


@asynccontextmanager
async def listen_mdns(kinds: Sequence[Kind] = tuple(KINDS)) -> AsyncIterator[asyncio.Queue[Announced]]:
    """Announcements on every network of this machine."""
    from zeroconf import InterfaceChoice, IPVersion  # noqa: PLC0415  (only a first contact needs it)
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf  # noqa: PLC0415

    announcements: asyncio.Queue[Announced] = asyncio.Queue()
    ears = AsyncZeroconf(interfaces=InterfaceChoice.All, ip_version=IPVersion.V4Only)

    async def resolve(zeroconf: Zeroconf, service_type: str, name: str) -> None:
        info = AsyncServiceInfo(service_type, name)
        if not await info.async_request(zeroconf, _RESOLVE_MS):
            return
        kind = next(kind for kind, full in KINDS.items() if full == service_type)
        for host in info.parsed_addresses(IPVersion.V4Only):
            phone = Announced(kind, name.removesuffix(f".{service_type}"), f"{host}:{info.port}")
            announcements.put_nowait(phone)

    async with Background() as asking:

        def notice(
            zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
        ) -> None:
            if state_change.name != "Removed":
                asking.start(resolve(zeroconf, service_type, name), f"where {name} is")

        browser = AsyncServiceBrowser(ears.zeroconf, [KINDS[kind] for kind in kinds], handlers=[notice])
        try:
            yield announcements
        finally:
            await browser.async_cancel()
            await asking.close()
            await ears.async_close()


async def find_announced(name: str, clock: Clock, patience_ms: float) -> Announced | None:
    """The phone with this service name; None if it does not announce itself in time."""
    try:
        async with Deadline(clock, patience_ms), listen_mdns(("connect",)) as announcements:
            while (announced := await announcements.get()).name != name:
                pass
            return announced
    except (Expired, OSError):  # a machine without a network
        return None


FIND_MS = 4_000
"""Phones answer within a second."""
MOST = 64
"""The oldest are dropped first."""


@dataclass(frozen=True, slots=True)
class RememberedPhone:
    """`guid` is the announced name; "" for a phone with a fixed address."""

    name: str
    guid: str
    address: str

    def fits(self, wanted: str) -> bool:
        """Compares name, announced name, address, and the adb server's form of them."""
        if self.guid and wanted.startswith(f"{self.guid}."):
            return True
        return wanted.casefold() in (self.name.casefold(), self.guid.casefold(), self.address)


class RememberedPhones:
    """Remembered phones of one home. An unreadable file counts as empty."""

    def __init__(self, home: Path) -> None:
        self._path = home / "config" / "phones.json"

    def all(self) -> list[RememberedPhone]:
        try:
            read = json.loads(self._path.read_text(encoding="utf-8"))
            return [RememberedPhone(str(row["name"]), str(row["guid"]), str(row["address"])) for row in read]
        except (OSError, ValueError, LookupError, TypeError):
            return []

    def keep(self, phone: RememberedPhone) -> None:
        """Replaces the entry with its name or guid."""
        others = [
            other
            for other in self.all()
            if other.name != phone.name and (other.guid or other.name) != phone.guid
        ]
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps([asdict(other) for other in [*others, phone][-MOST:]], ensure_ascii=False, indent=1)
        new = self._path.with_suffix(f".{os.getpid()}")
        new.touch(mode=0o600)
        new.write_text(text, encoding="utf-8")
        new.replace(self._path)

    def named(self, wanted: str | None) -> list[RememberedPhone]:
        """Returns all of them if no name is wanted."""
        return [phone for phone in self.all() if wanted is None or phone.fits(wanted)]


async def reach(
    phone: RememberedPhone, known_phones: RememberedPhones, server: Server, clock: Clock
) -> str | None:
    """Connects the phone; its serial at the adb server, or None if it is not there."""
    # The server finds paired phones by itself and names them after their announcement.
    for device in await server.devices():
        is_own = device.serial == phone.address or (phone.guid and device.serial.startswith(f"{phone.guid}."))
        if is_own and device.state == "device":
            return device.serial
    if await _connects(server, phone.address):
        return phone.address
    announced = await find_announced(phone.guid, clock, FIND_MS) if phone.guid else None
    if announced is None or not await _connects(server, announced.address):
        return None
    await server.disconnect(phone.address)  # otherwise the server keeps trying that address
    known_phones.keep(replace(phone, address=announced.address))
    return announced.address


async def _connects(server: Server, address: str) -> bool:
    try:
        await server.connect(address)
        return any(device.serial == address and device.state == "device" for device in await server.devices())
    except DeviceError:
        return False


async def reconnect_remembered(
    wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]
) -> str | None:
    """Serial of a remembered phone that can be used now; tried only if no other device was found."""
    known_phones = RememberedPhones(config.home)
    server = Server(config.adb_host, config.adb_port, env=env, clock=clock)
    with suppress(DeviceError):  # no server
        for phone in known_phones.named(wanted):
            if serial := await reach(phone, known_phones, server, clock):
                return serial
    return None


CONNECT_MS = 20_000
"""A phone announces its port for connections once its pairing dialog has closed."""


async def wait_for_invited(
    invitation: Invitation, clock: Clock, patience_ms: float, *, others: bool = False
) -> Announced:
    """The phone that has read our code; with `others` also one that shows a code of its own."""
    try:
        async with Deadline(clock, patience_ms), listen_mdns(("pairing",)) as announcements:
            while True:
                announced = await announcements.get()
                if announced.name == invitation.name or (others and announced.name.startswith("adb-")):
                    return announced
    except Expired:
        raise no_phone_in_time(patience_ms) from None


async def pair_phone(
    place: str,
    code: str,
    server: Server,
    known_phones: RememberedPhones,
    clock: Clock,
    *,
    name: str | None = None,
    report: Callable[[str], None],
) -> str:
    """Pairs, waits for the phone's other address, connects and remembers it. `report` receives its guid."""
    guid = await server.pair(place, code)
    report(guid)
    announced = await find_announced(guid, clock, CONNECT_MS)
    phone = RememberedPhone(name or guid, guid, announced.address if announced else place)
    serial = await reach(phone, known_phones, server, clock)
    if serial is None:
        raise AdbConnectionError(
            f"{guid} is paired, and does not say where it can be reached",
            hint="Run `handrail connect HOST:PORT` with the address on its Wireless debugging screen.",
        )
    known_phones.keep(phone)
    return serial


def no_phone_in_time(patience_ms: float) -> Timeout:
    return Timeout(
        f"no phone became ready within {patience_ms / 1000:.0f} s",
        hint="`handrail doctor` says what is missing; `handrail connect --wifi` needs no cable.",
        retryable=True,
    )
