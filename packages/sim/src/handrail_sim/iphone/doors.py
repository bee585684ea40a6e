"""The doors of a simulated iPhone: WebDriverAgent and its pictures on TCP ports, usbmuxd before both."""

from __future__ import annotations

import asyncio
import plistlib
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from handrail_sim.channels.http import serve as serve_http
from handrail_sim.clock import Clock, SystemClock
from handrail_sim.errors import BadSetting
from handrail_sim.iphone import commands, elements
from handrail_sim.iphone.phone import IPhone
from handrail_sim.iphone.replay import replay_of
from handrail_sim.iphone.wda import Wda
from handrail_sim.stream import Reader, Stream
from handrail_sim.system.activities import App
from handrail_sim.waiting import Background

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
                        self._open.add(stream)
                        try:
                            await port(stream)
                        finally:
                            self._open.discard(stream)
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


WDA_PORT, MJPEG_PORT, LOCKDOWN_PORT = 8100, 9100, 62078
"""On the phone, as usbmux knows them."""
COMMANDS = (commands, elements)
"""Modules that register routes when they are imported."""
_BOUNDARY = "--BoundaryString"
_MJPEG_HEAD = (
    "HTTP/1.0 200 OK\r\nServer: WDA MJPEG Server\r\nConnection: close\r\nMax-Age: 0\r\nExpires: 0\r\n"
    "Cache-Control: no-cache, private\r\nPragma: no-cache\r\n"
    f"Content-Type: multipart/x-mixed-replace; boundary={_BOUNDARY}\r\n\r\n"
)


class Socket:
    """A TCP connection as a stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(65536)
        except OSError:
            return b""

    async def write(self, data: bytes) -> None:
        if self._writer.is_closing():
            raise BrokenPipeError
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError:
            raise BrokenPipeError from None

    def close(self) -> None:
        self._writer.close()


class Door:
    """A TCP port that can be closed and opened again under the same number."""

    def __init__(self, serve: Port, host: str, port: int) -> None:
        self._serve, self._host, self.port = serve, host, port
        self._server: asyncio.Server | None = None
        self._streams: set[Socket] = set()

    async def open(self) -> None:
        if self._server is not None:
            return
        try:
            self._server = await asyncio.start_server(self._connected, self._host, self.port)
        except OSError as error:
            raise BadSetting(
                f"port {self.port} on {self._host} can't be used: {error.strerror or error}", path="port"
            ) from None
        self.port = self._server.sockets[0].getsockname()[1]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stream = Socket(reader, writer)
        self._streams.add(stream)
        try:
            await self._serve(stream)
        except (BrokenPipeError, asyncio.CancelledError):
            pass
        finally:
            self._streams.discard(stream)
            stream.close()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._server = None
        for stream in list(self._streams):
            stream.close()


@dataclass(frozen=True, slots=True)
class ServedIPhone:
    """One iPhone that can be connected to."""

    phone: IPhone
    wda: Wda
    host: str
    wda_port: int
    mjpeg_port: int
    usbmux_port: int

    @property
    def udid(self) -> str:
        return self.phone.udid

    @property
    def wda_url(self) -> str:
        return f"http://{self.host}:{self.wda_port}"

    @property
    def mjpeg_url(self) -> str:
        return f"http://{self.host}:{self.mjpeg_port}"

    @property
    def usbmux(self) -> str:
        """What USBMUXD_SOCKET_ADDRESS takes."""
        return f"{self.host}:{self.usbmux_port}"

    def describe(self) -> dict[str, Any]:
        return {"udid": self.udid, "wda": self.wda_url, "mjpeg": self.mjpeg_url, "usbmux": self.usbmux}


async def stream_pictures(wda: Wda, stream: Stream) -> None:
    """Motion JPEG: one picture after another for as long as somebody looks."""
    if not await stream.read():
        return
    await stream.write(_MJPEG_HEAD.encode())
    phone = wda.phone
    while True:
        png = await phone.screenshot()
        quality = int(wda.settings["mjpegServerScreenshotQuality"])
        share = float(wda.settings["mjpegScalingFactor"]) / 100.0
        jpeg = await phone.painted(partial(_jpeg, png, quality, share))
        head = f"{_BOUNDARY}\r\nContent-type: image/jpg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
        await stream.write(head.encode() + jpeg + b"\r\n\r\n")
        await phone.clock.sleep_ms(1000.0 / max(1.0, float(wda.settings["mjpegServerFramerate"])))


def _jpeg(png: bytes, quality: int, share: float) -> bytes:
    from PIL import Image  # noqa: PLC0415 - only for those who ask for pictures

    picture = Image.open(BytesIO(png)).convert("RGB")
    if share != 1.0:
        picture = picture.resize(
            (max(1, round(picture.width * share)), max(1, round(picture.height * share)))
        )
    out = BytesIO()
    picture.save(out, "JPEG", quality=max(1, min(95, quality)))
    return out.getvalue()


class Cable:
    """What a phone's faults do to its doors: the runner ends and begins, the cable is pulled and put back."""

    def __init__(self, wda: Wda, host: str, ports: tuple[int, int, int]) -> None:
        self._wda = wda
        self._all: dict[int, Port] = {
            WDA_PORT: partial(serve_http, answer=wda.answer),
            MJPEG_PORT: partial(stream_pictures, wda),
        }
        self._on_phone: dict[int, Port] = {**self._all, LOCKDOWN_PORT: partial(serve_lockdown, wda.phone)}
        self.usbmux = Usbmux(wda.phone, self._on_phone)
        self.runner = Door(self._all[WDA_PORT], host, ports[0])
        self.pictures = Door(self._all[MJPEG_PORT], host, ports[1])
        self.hub = Door(self.usbmux.serve, host, ports[2])
        self._background = Background()
        wda.on_exit = self.runner_ended

    async def open(self) -> None:
        self._wda.phone.faults.listeners.append(self._changed)
        for door in (self.hub, self.runner, self.pictures):
            await door.open()

    async def close(self) -> None:
        self._wda.phone.faults.listeners.remove(self._changed)
        self._wda.close()
        await self._background.close()
        for door in (self.hub, self.runner, self.pictures):
            door.close()

    def runner_ended(self) -> None:
        """Nobody listens on the runner's ports any more; the phone itself is there."""
        for port in self._all:
            self._on_phone.pop(port, None)
        self.runner.close()
        self.pictures.close()

    def _changed(self, name: str, on: bool) -> None:
        faults = self._wda.phone.faults
        if name not in ("wda_gone", "phone_gone", "wda_hangs"):
            return
        if name == "wda_hangs" and not on:
            self._wda.wake()
        is_unplugged = faults.active("phone_gone") is not None
        self._background.start(self.usbmux.attach(not is_unplugged), "the cable")
        fault = faults.active("wda_gone")
        if is_unplugged or (fault is not None and not fault.after):
            self.runner_ended()
        elif fault is None:
            self._on_phone.update(self._all)
            self._background.start(self._again(), "the runner")

    async def _again(self) -> None:
        await self.runner.open()
        await self.pictures.open()


@asynccontextmanager
async def serve_iphone(
    phone: IPhone, host: str = "127.0.0.1", port: int = 0, *, mjpeg_port: int = 0, usbmux_port: int = 0
) -> AsyncIterator[ServedIPhone]:
    """Listen while the block runs; a port of 0 is any that is free."""
    wda = Wda(phone)
    cable = Cable(wda, host, (port, mjpeg_port, usbmux_port))
    try:
        await cable.open()
        yield ServedIPhone(phone, wda, host, cable.runner.port, cable.pictures.port, cable.hub.port)
    finally:
        await cable.close()


def make_iphone(
    *,
    clock: Clock,
    seed: int = 1,
    apps: Sequence[str | type[App]] | None = None,
    world: Mapping[str, Any] | None = None,
) -> IPhone:
    """A phone with these apps; `replay:FOLDER` is one made of recorded page sources."""
    chosen: list[str | type[App]] | None = None if apps is None else []
    for app in apps or ():
        folder = app.removeprefix("replay:") if isinstance(app, str) and app.startswith("replay:") else ""
        chosen = [*(chosen or []), replay_of(folder) if folder else app]
    return IPhone(clock=clock, seed=seed, apps=chosen, world=world)


@asynccontextmanager
async def simulated_iphone(
    *,
    seed: int = 1,
    apps: Sequence[str | type[App]] | None = None,
    clock: Clock | None = None,
    world: Mapping[str, Any] | None = None,
    faults: Iterable[str | Mapping[str, Any]] = (),
) -> AsyncIterator[ServedIPhone]:
    """An iPhone with its doors for the length of a block."""
    phone = make_iphone(clock=clock or SystemClock(), seed=seed, apps=apps, world=world)
    async with serve_iphone(phone) as served:
        phone.faults.load(faults)
        yield served
