"""usbmuxd with one phone on its cable: a list, events of coming and going, ways to the ports of the phone.

Messages are XML plists behind a header of 16 bytes that the socket stops speaking after a good `Connect`.
"""

from __future__ import annotations

import plistlib
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from handrail_sim.iphone.phone import IPhone
from handrail_sim.stream import Reader, Stream

HEADER = struct.Struct("<IIII")
"""Length with the header, version, kind of message, tag."""
PLIST_VERSION, PLIST = 1, 8
OK, BAD_COMMAND, BAD_DEVICE, REFUSED, BAD_VERSION = 0, 1, 2, 3, 6
NOT_FOUND = 2
"""A record that is not there, as errno counts."""
LARGEST = 1 << 20
DEVICE_ID = 1
Port = Callable[[Stream], Awaitable[None]]
_HOST = str(uuid5(NAMESPACE_OID, "usbmuxd")).upper()
_LENGTH = struct.Struct(">I")


class Usbmux:
    """The daemon of a computer; `ports` are what listens on the phone now."""

    def __init__(self, phone: IPhone, ports: Mapping[int, Port]) -> None:
        self._phone = phone
        self._ports = ports
        self._listeners: dict[Stream, int] = {}
        self._open: set[Stream] = set()
        self._attached = True

    async def serve(self, stream: Stream) -> None:
        """One client, until it hangs up or talks to the phone itself."""
        reader = Reader(stream)
        try:
            while True:
                length, version, kind, tag = HEADER.unpack(await reader.exactly(HEADER.size))
                if not HEADER.size <= length <= LARGEST:
                    return
                payload = await reader.exactly(length - HEADER.size)
                if version != PLIST_VERSION or kind != PLIST:
                    await self._result(stream, tag, BAD_VERSION)
                    continue
                message = _plist(payload)
                if message.get("MessageType") == "Connect":
                    port = self._port(message)
                    await self._result(stream, tag, port if isinstance(port, int) else OK)
                    if not isinstance(port, int):
                        await self._through(stream, port)
                        return
                    continue
                await self._answer(stream, tag, message)
        except (EOFError, BrokenPipeError):
            pass
        finally:
            self._listeners.pop(stream, None)
            stream.close()

    def _port(self, message: dict[str, Any]) -> Port | int:
        """What listens there, or why nobody does; the number comes with its bytes swapped."""
        if message.get("DeviceID") != DEVICE_ID or not self._attached:
            return BAD_DEVICE
        swapped = int(message.get("PortNumber") or 0) & 0xFFFF
        return self._ports.get(swapped >> 8 | (swapped & 0xFF) << 8, REFUSED)

    async def _through(self, stream: Stream, port: Port) -> None:
        self._open.add(stream)
        try:
            await port(stream)
        finally:
            self._open.discard(stream)

    async def _answer(self, stream: Stream, tag: int, message: dict[str, Any]) -> None:
        match message.get("MessageType"):
            case "ListDevices":
                await _send(stream, tag, {"DeviceList": [self._device()] if self._attached else []})
            case "Listen":
                await self._result(stream, tag, OK)
                self._listeners[stream] = tag
                if self._attached:
                    await _send(stream, 0, self._device())
            case "ListListeners":
                names = [
                    {"ConnType": 0, "ID String": f"{number}-client", "ProgName": "client"}
                    for number, _ in enumerate(self._listeners)
                ]
                await _send(stream, tag, {"ListenerList": names})
            case "ReadBUID":
                await _send(stream, tag, {"BUID": _HOST})
            case "ReadPairRecord" if self._phone.faults.active("untrusted") is None:
                record = plistlib.dumps({"HostID": _HOST, "SystemBUID": _HOST})  # its keys are nobody's
                await _send(stream, tag, {"PairRecordData": record})
            case "ReadPairRecord" | "DeletePairRecord":
                await self._result(stream, tag, NOT_FOUND)
            case _:
                await self._result(stream, tag, BAD_COMMAND)

    def _device(self) -> dict[str, Any]:
        return {
            "DeviceID": DEVICE_ID,
            "MessageType": "Attached",
            "Properties": {
                "ConnectionSpeed": 480000000,
                "ConnectionType": "USB",
                "DeviceID": DEVICE_ID,
                "LocationID": 336592896,
                "ProductID": 4776,
                "SerialNumber": self._phone.udid,
                "UDID": self._phone.udid,
                "USBSerialNumber": self._phone.udid.replace("-", ""),
            },
        }

    async def _result(self, stream: Stream, tag: int, number: int) -> None:
        await _send(stream, tag, {"MessageType": "Result", "Number": number})

    async def attach(self, attached: bool) -> None:
        """The cable: listeners hear of it, and what was open through it is cut."""
        if attached == self._attached:
            return
        self._attached = attached
        for stream in list(self._open) if not attached else ():
            stream.close()
        event = self._device() if attached else {"MessageType": "Detached", "DeviceID": DEVICE_ID}
        for stream in list(self._listeners):
            try:
                await _send(stream, 0, event)
            except BrokenPipeError:
                self._listeners.pop(stream, None)


async def serve_lockdown(phone: IPhone, stream: Stream) -> None:
    """What a phone tells everybody of itself. A session wants keys that nobody has."""
    facts = {
        "ProductType": "iPhone14,7",
        "ProductVersion": phone.ios_version,
        "DeviceName": "iPhone",
        "DeveloperModeStatus": phone.faults.active("developer_mode_off") is None,
    }
    reader = Reader(stream)
    while True:
        (length,) = _LENGTH.unpack(await reader.exactly(_LENGTH.size))
        request = _plist(await reader.exactly(min(length, LARGEST)))
        wanted, key = request.get("Request"), request.get("Key")
        answer = {"Request": wanted} | ({"Key": key} if key else {})
        if wanted == "QueryType":
            answer["Type"] = "com.apple.mobile.lockdown"
        elif wanted == "GetValue":
            answer |= {"Value": facts[key]} if key in facts else {"Error": "MissingValue"}
        else:
            answer["Error"] = "InvalidHostID"
        payload = plistlib.dumps(answer)
        await stream.write(_LENGTH.pack(len(payload)) + payload)


def _plist(payload: bytes) -> dict[str, Any]:
    try:
        message = plistlib.loads(payload)
    except (ValueError, plistlib.InvalidFileException):
        return {}
    return message if isinstance(message, dict) else {}


async def _send(stream: Stream, tag: int, message: dict[str, Any]) -> None:
    payload = plistlib.dumps(message)
    await stream.write(HEADER.pack(HEADER.size + len(payload), PLIST_VERSION, PLIST, tag) + payload)
