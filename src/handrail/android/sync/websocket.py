"""A WebSocket on a service of the phone, or on a port of this machine, with this part's own errors."""

from __future__ import annotations

from handrail.adb.link import Stream
from handrail.android.http_over_adb import Opens
from handrail.android.sync.answers import ChannelLost
from handrail.cdp.wire import StreamWire, WireClosed
from handrail.errors import DeviceError

MAX_MESSAGE = 16 << 20
"""Bytes; a fiber list of the largest screens stays under one MiB."""


async def open_websocket(opens: Opens, service: str, uri: str) -> WebSocket:
    """Opens the service and shakes hands. The caller sets the deadline."""
    stream = await _open(opens, service)
    try:
        return WebSocket(await StreamWire.open(stream, uri, MAX_MESSAGE))
    except BaseException as error:
        await stream.close()
        if isinstance(error, WireClosed):
            raise ChannelLost(str(error)) from None
        raise


async def _open(opens: Opens, service: str) -> Stream:
    try:
        return await opens.open(service)
    except DeviceError as error:
        raise ChannelLost(f"{service} can't be opened: {error.message}") from None


class WebSocket:
    """Text messages both ways, for one reader and any number of writers."""

    def __init__(self, wire: StreamWire) -> None:
        self._wire = wire

    async def send(self, text: str) -> None:
        try:
            await self._wire.send(text.encode())
        except WireClosed as error:
            raise ChannelLost(str(error)) from None

    async def receive(self) -> str:
        """The next message; `ChannelLost` once there will be none."""
        try:
            return (await self._wire.receive()).decode("utf-8", "replace")
        except WireClosed as error:
            raise ChannelLost(str(error)) from None

    async def close(self) -> None:
        """Says goodbye and does not wait for the answer."""
        await self._wire.close()

    async def hang_up(self) -> None:
        await self._wire.hang_up()
