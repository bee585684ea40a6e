"""usbmuxd: which iPhones are on a cable, which come and go, and a stream to a port of one of them.

A message is 16 bytes, little endian (length, version 1, type 8 for property lists, tag), and a property list.
"""

from __future__ import annotations

import asyncio
import plistlib
import struct
import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.parsers.expat import ExpatError

from handrail.clock import Clock
from handrail.config import host_port
from handrail.errors import IosConnectionError
from handrail.waiting import Deadline, Expired

DEFAULT = "127.0.0.1:27015" if sys.platform == "win32" else "/var/run/usbmuxd"
ANSWER_MS = 5_000.0
LOCKDOWN_PORT = 62_078
_FACTS = {
    "ProductType": {},
    "ProductVersion": {},
    "DeveloperModeStatus": {"Domain": "com.apple.security.mac.amfi"},
}
"""What is asked of an iPhone, and where it keeps it."""
_HEAD = struct.Struct("<IIII")
_PLIST, _VERSION, _CONNECTION_REFUSED = 8, 1, 3
_MOST_BYTES = 1 << 20
_MISSING = {
    "linux": "Install usbmuxd (`sudo apt install usbmuxd`) and plug the iPhone in.",
    "win32": "Install Apple's device support (the Apple Devices app) and plug the iPhone in.",
}
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class UsbIphone:
    """One iPhone as usbmuxd lists it. Its number is another one after every plugging in."""

    number: int
    udid: str
    connection: str
    """USB, or Network for one that is reached by Wi-Fi."""


class Usbmux:
    """The daemon at one address: `host:port`, or the path of its socket."""

    def __init__(self, env: Mapping[str, str], clock: Clock) -> None:
        self.address = env.get("USBMUXD_SOCKET_ADDRESS", "").strip().removeprefix("unix:") or DEFAULT
        self._clock = clock

    async def iphones(self) -> list[UsbIphone]:
        """Each once, by cable where there is one. Raises `IosConnectionError` where no daemon answers."""
        answer, (_, writer) = await self._ask({"MessageType": "ListDevices"})
        writer.close()
        listed = answer.get("DeviceList")
        entries = filter(None, map(_iphone, listed if isinstance(listed, list) else ()))
        best: dict[str, UsbIphone] = {}
        for iphone in sorted(entries, key=lambda entry: entry.connection != "USB"):
            best.setdefault(iphone.udid, iphone)
        return list(best.values())

    async def changes(self) -> AsyncGenerator[None]:
        """Yields whenever an iPhone came or went. Raises `IosConnectionError` when the daemon hangs up."""
        _, (reader, writer) = await self._ask({"MessageType": "Listen"})
        try:
            while True:
                message = await _receive(reader)
                if message.get("MessageType") in ("Attached", "Detached", "Paired"):
                    yield
        finally:
            writer.close()

    async def connect(self, udid: str, port: int) -> Connection:
        """A stream to a port of an iPhone. Raises `IosConnectionError`; nothing has been sent then."""
        iphone = next((iphone for iphone in await self.iphones() if iphone.udid == udid), None)
        if iphone is None:
            raise IosConnectionError(
                f"The iPhone {udid} is not connected",
                hint="Plug it in and unlock it; `handrail devices` lists what is there.",
                reason="absent",
                delivery="not_delivered",
            )
        swapped = int.from_bytes(port.to_bytes(2, "big"), "little")
        request = {"MessageType": "Connect", "DeviceID": iphone.number, "PortNumber": swapped}
        answer, connection = await self._ask(request)
        number = answer.get("Number")
        if number == 0:
            return connection
        connection[1].close()
        if number == _CONNECTION_REFUSED:
            raise IosConnectionError(
                f"Nothing listens on port {port} of the iPhone {udid}",
                hint="Start WebDriverAgent on it: docs/quickstart/iphone.md.",
                reason="refused",
                delivery="not_delivered",
            )
        raise IosConnectionError(
            f"usbmuxd refused the connection to {udid} with number {number}",
            hint="Unplug the iPhone, plug it in again and trust this computer.",
            reason="usbmuxd",
            delivery="not_delivered",
        )

    async def is_trusted(self, udid: str) -> bool | None:
        """Whether this computer is paired with it; None where the daemon does not tell."""
        try:
            answer, (_, writer) = await self._ask({"MessageType": "ReadPairRecord", "PairRecordID": udid})
        except IosConnectionError:
            return None
        writer.close()
        if "PairRecordData" in answer:
            return True
        return False if answer.get("Number") == 2 else None

    async def lockdown_values(self, udid: str) -> dict[str, str]:
        """What an iPhone tells every computer of itself; empty where it tells nothing."""
        values: dict[str, str] = {}
        try:
            async with Deadline(self._clock, ANSWER_MS):
                reader, writer = await self.connect(udid, LOCKDOWN_PORT)
                try:
                    for key, domain in _FACTS.items():
                        request = {"Label": "handrail", "Request": "GetValue", "Key": key, **domain}
                        body = plistlib.dumps(request)
                        writer.write(struct.pack(">I", len(body)) + body)
                        (length,) = struct.unpack(">I", await reader.readexactly(4))
                        answer = _plist(await reader.readexactly(min(length, _MOST_BYTES)))
                        values[key] = str(answer.get("Value", ""))
                finally:
                    writer.close()
        except (OSError, Expired, asyncio.IncompleteReadError, IosConnectionError):
            return {}
        return values

    async def _ask(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Connection]:
        """The answer, and the connection, which whoever asked closes."""
        about = {"ClientVersionString": "handrail", "ProgName": "handrail", "kLibUSBMuxVersion": 3}
        body = plistlib.dumps({**about, **request})
        connection: Connection | None = None
        try:
            async with Deadline(self._clock, ANSWER_MS):
                connection = reader, writer = await self._open()
                writer.write(_HEAD.pack(_HEAD.size + len(body), _VERSION, _PLIST, 1) + body)
                await writer.drain()
                return await _receive(reader), connection
        except BaseException as error:
            if connection is not None:
                connection[1].close()
            if isinstance(error, OSError | Expired):
                raise self._missing(error) from None
            raise

    async def _open(self) -> Connection:
        if place := host_port(self.address):
            return await asyncio.open_connection(*place)
        if not hasattr(asyncio, "open_unix_connection"):
            raise OSError("this system has no such sockets")
        return await asyncio.open_unix_connection(self.address)

    def _missing(self, error: OSError | Expired) -> IosConnectionError:
        why = "no answer" if isinstance(error, Expired) else error.strerror or str(error)
        return IosConnectionError(
            f"No usbmuxd answers at {self.address}: {why}",
            hint=_MISSING.get(sys.platform, "Plug the iPhone in and unlock it."),
            reason="no usbmuxd",
            delivery="not_delivered",
        )


def _iphone(entry: Any) -> UsbIphone | None:
    properties = entry.get("Properties") if isinstance(entry, dict) else None
    if not isinstance(properties, dict) or not isinstance(number := entry.get("DeviceID"), int):
        return None
    udid = str(properties.get("SerialNumber") or properties.get("UDID") or "")
    return UsbIphone(number, udid, str(properties.get("ConnectionType", "USB"))) if udid else None


async def _receive(reader: asyncio.StreamReader) -> dict[str, Any]:
    try:
        length, *_ = _HEAD.unpack(await reader.readexactly(_HEAD.size))
        if not _HEAD.size <= length <= _MOST_BYTES:
            raise IosConnectionError(f"usbmuxd announces a message of {length} bytes", reason="usbmuxd")
        return _plist(await reader.readexactly(length - _HEAD.size))
    except asyncio.IncompleteReadError:
        raise IosConnectionError("usbmuxd hung up", reason="usbmuxd", delivery="not_delivered") from None


def _plist(data: bytes) -> dict[str, Any]:
    try:
        message = plistlib.loads(data)
    except (ValueError, ExpatError, plistlib.InvalidFileException):
        message = None
    if not isinstance(message, dict):
        raise IosConnectionError(
            "The answer is not a property list of usbmuxd", reason="usbmuxd", delivery="not_delivered"
        )
    return message
