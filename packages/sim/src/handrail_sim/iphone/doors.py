"""The doors of a simulated iPhone: WebDriverAgent and its pictures on TCP ports, usbmuxd before both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any

from handrail_sim.channels.http import serve as serve_http
from handrail_sim.clock import Clock, SystemClock
from handrail_sim.errors import BadSetting
from handrail_sim.iphone import commands, elements
from handrail_sim.iphone.phone import IPhone
from handrail_sim.iphone.replay import replay_of
from handrail_sim.iphone.usbmux import Port, Usbmux, serve_lockdown
from handrail_sim.iphone.wda import Wda
from handrail_sim.stream import Stream
from handrail_sim.system.activities import App
from handrail_sim.waiting import Background

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
