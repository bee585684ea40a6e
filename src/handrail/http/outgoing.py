"""A POST from this server to the open internet, and not to this machine or its network unless its owner says.

The numbers behind a name are looked up once, judged, and connected to: nothing is looked up again between.
Nothing is followed: a redirect is an answer like any other.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import h11

from handrail.errors import InvalidAction
from handrail.hosts import read_address, why_private

PATIENCE_S = 15.0
"""For one request, from the name to the status."""
MOST_HEAD = 16_384
"""Bytes of an answer that are read."""
LONGEST_URL = 2_000
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


async def _connect(number: str, port: int, host: str, tls: ssl.SSLContext | None) -> Streams:
    return await asyncio.open_connection(
        number, port, ssl=tls, server_hostname=host if tls else None, limit=MOST_HEAD
    )


@dataclass(frozen=True, slots=True)
class Network:
    """How names become numbers and numbers become lines; tests have an internet of their own."""

    resolve: Callable[[str, int], Awaitable[list[str]]] = _resolve
    connect: Callable[[str, int, str, ssl.SSLContext | None], Awaitable[Streams]] = _connect
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context


INTERNET = Network()


class NotTold(Exception):
    """Somebody elsewhere could not be reached; the words say why."""


async def public_numbers(url: str, network: Network = INTERNET) -> tuple[str, int, list[str]]:
    """Host, port and numbers of an https address on the open internet. Raises `InvalidAction` for another.

    One private number among public ones is enough to refuse: which one would be dialled is chance.
    """
    read = read_address(url) if len(url) <= LONGEST_URL and url.isascii() else None
    if read is None or urlsplit(url).scheme != "https":
        raise _refused(url, "is no https address")
    if why := why_private(read[0]):
        raise _refused(url, f"is not of the open internet: {why}")
    numbers = await _numbers(*read, network)
    for number in numbers:
        if why := why_private(number.partition("%")[0]):
            raise _refused(url, f"leads to another place than the open internet: {why}")
    return *read, numbers


async def _numbers(host: str, port: int, network: Network) -> list[str]:
    try:
        return await network.resolve(host, port)
    except OSError as error:
        raise NotTold(f"{host} can't be looked up: {error}") from None


async def post(
    url: str, headers: Mapping[str, str], body: bytes, network: Network = INTERNET, *, anywhere: bool = False
) -> int:
    """The status of the answer. Raises `InvalidAction` or `NotTold`.

    `anywhere`: the owner of this home has named the address, so it may be of this machine.
    """
    try:
        async with asyncio.timeout(PATIENCE_S):
            read = read_address(url)
            if anywhere and read is not None:
                return await _sent(url, *read, await _numbers(*read, network), headers, body, network)
            return await _sent(url, *await public_numbers(url, network), headers, body, network)
    except TimeoutError:
        raise NotTold(f"{_place(url)} did not answer within {PATIENCE_S:.0f} s") from None


async def _sent(
    url: str,
    host: str,
    port: int,
    numbers: list[str],
    headers: Mapping[str, str],
    body: bytes,
    network: Network,
) -> int:
    tls = network.tls() if urlsplit(url).scheme == "https" else None
    failed: Exception | None = None
    for number in numbers:
        try:
            reader, writer = await network.connect(number, port, host, tls)
        except OSError as error:  # ssl.SSLError is one
            failed = error
            continue
        try:
            return await _asked(reader, writer, _request(url, headers, body), body)
        except (OSError, h11.ProtocolError) as error:
            raise NotTold(f"{_place(url)} hung up: {error}") from None
        finally:
            writer.close()
    raise NotTold(f"{_place(url)} can't be reached: {failed}")


def _request(url: str, headers: Mapping[str, str], body: bytes) -> h11.Request:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    fixed = {"Host": parts.netloc, "Content-Length": str(len(body)), "Connection": "close"}
    return h11.Request(method="POST", target=target, headers=list({**headers, **fixed}.items()))


async def _asked(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: h11.Request, body: bytes
) -> int:
    line = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD)
    for part in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(line.send(part) or b"")
    await writer.drain()
    while True:
        event = line.next_event()
        if isinstance(event, h11.Response):
            return event.status_code
        if event is h11.NEED_DATA:
            line.receive_data(await reader.read(MOST_HEAD))
        elif not isinstance(event, h11.InformationalResponse):
            raise h11.RemoteProtocolError("there was no answer")


def _place(url: str) -> str:
    """Without its path: that is what lets a sender in. Whatever it is, it has some words."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "this"
    return f"{parts.scheme}://{parts.hostname}" if parts.hostname else "this"


def _refused(url: str, why: str) -> InvalidAction:
    return InvalidAction(
        f"endpoint: {_place(url):.100} {why}",
        path="endpoint",
        hint="Only https addresses on the open internet are told anything.",
    )
