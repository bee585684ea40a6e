"""Phones without a cable that were met before, by name: where they were last, and where they are now.

Their addresses change whenever they sleep, change the network or switch wireless debugging off and on. What
stays is the name that they announce, so that is what is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from handrail.adb.server import Server
from handrail.android.contact.wireless import find_announced
from handrail.clock import Clock
from handrail.config import Config
from handrail.errors import DeviceError

FIND_MS = 4_000
"""How long a phone may take to say where it is; phones answer within a second."""
MOST = 64
"""Phones that are kept; the ones that were met first go."""


@dataclass(frozen=True, slots=True)
class KnownPhone:
    """One phone. `guid` is the name that it announces; "" for a phone at an address that never changes."""

    name: str
    guid: str
    address: str

    def fits(self, wanted: str) -> bool:
        """By its name, by what it announces, by its address, or by what the adb server makes of these."""
        service = self.guid and wanted.startswith(f"{self.guid}.")
        return bool(service) or wanted.casefold() in (
            self.name.casefold(),
            self.guid.casefold(),
            self.address,
        )


class KnownPhones:
    """The list of one home. A file that can't be read is an empty list: everything in it can be met again."""

    def __init__(self, home: Path) -> None:
        self._path = home / "config" / "phones.json"

    def all(self) -> list[KnownPhone]:
        try:
            read = json.loads(self._path.read_text(encoding="utf-8"))
            return [KnownPhone(str(one["name"]), str(one["guid"]), str(one["address"])) for one in read]
        except (OSError, ValueError, LookupError, TypeError):
            return []

    def keep(self, phone: KnownPhone) -> None:
        """In the place of the one with its name or its guid."""
        others = [
            one for one in self.all() if one.name != phone.name and (one.guid or one.name) != phone.guid
        ]
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps([asdict(one) for one in [*others, phone][-MOST:]], ensure_ascii=False, indent=1)
        new = self._path.with_suffix(f".{os.getpid()}")
        new.touch(mode=0o600)
        new.write_text(text, encoding="utf-8")
        new.replace(self._path)

    def named(self, wanted: str | None) -> list[KnownPhone]:
        """Those that a name fits; all of them without one."""
        return [one for one in self.all() if wanted is None or one.fits(wanted)]


async def reach(phone: KnownPhone, known: KnownPhones, server: Server, clock: Clock) -> str | None:
    """The adb server's name of this phone once it has it; None when the phone is not there."""
    if serial := await _listed(phone, server):
        return serial
    if await _connects(server, phone.address):
        return phone.address
    found = await find_announced(phone.guid, clock, FIND_MS) if phone.guid else None
    if found is None or not await _connects(server, found.address):
        return None
    await server.disconnect(phone.address)  # the server would try that address for ever
    known.keep(replace(phone, address=found.address))
    return found.address


async def _listed(phone: KnownPhone, server: Server) -> str | None:
    """The server finds paired phones by itself, too, and names them after what they announce."""
    usable = [one.serial for one in await server.devices() if one.state == "device"]
    mine = [
        one for one in usable if one == phone.address or (phone.guid and one.startswith(f"{phone.guid}."))
    ]
    return mine[0] if mine else None


async def _connects(server: Server, address: str) -> bool:
    try:
        await server.connect(address)
        return any(one.serial == address and one.state == "device" for one in await server.devices())
    except DeviceError:
        return False


async def reach_known(wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]) -> str | None:
    """A phone of this name, or of any, that can be used now; looked for only where nothing else was found."""
    known = KnownPhones(config.home)
    phones: Sequence[KnownPhone] = known.named(wanted)
    if not phones:
        return None
    server = Server(config.adb_host, config.adb_port, env=env, clock=clock)
    for phone in phones:
        try:
            if serial := await reach(phone, known, server, clock):
                return serial
        except DeviceError:  # no server
            return None
    return None
