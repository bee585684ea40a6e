"""An HTTP server on a real socket: it answers as it was told to, in order, and keeps what it got."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    """`chunks` are sent one by one, so that a client which stops reading is noticed."""

    status: int = 200
    chunks: Iterable[bytes] = ()
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    breaks: bool = False
    """The connection is lost after the chunks."""
    hangs: bool = False
    """After the chunks nothing comes any more."""


class Hang:
    """The request is taken, and nothing ever comes back."""


class Reset:
    """The connection is closed without a word."""


@dataclass
class Got:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Planned = Answer | Hang | Reset | Callable[[Got], Answer]
"""What is sent, or what decides it when the request is there."""


class Server:
    """Answers in order; the last one is repeated."""

    def __init__(self, answers: list[Planned]) -> None:
        self.answers = answers
        self.got: list[Got] = []
        self.sent = 0
        self.port = 0
        self.listener: asyncio.Server | None = None
        self._arrived = asyncio.Condition()
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def requests(self, count: int) -> None:
        """Returns when so many have arrived."""
        async with asyncio.timeout(60), self._arrived:
            await self._arrived.wait_for(lambda: len(self.got) >= count)

    async def all_gone(self) -> None:
        """Returns when nobody is connected any more."""
        async with asyncio.timeout(60):
            while self._open:
                await asyncio.wait([task for task in self._open.values() if task])

    async def close_door(self) -> None:
        assert self.listener
        self.listener.close()
        await self.listener.wait_closed()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = asyncio.current_task()
        try:
            while got := await _request(reader):
                async with self._arrived:
                    self.got.append(got)
                    self._arrived.notify_all()
                answer = self.answers[min(len(self.got), len(self.answers)) - 1]
                if isinstance(answer, Reset):
                    return
                if isinstance(answer, Hang):
                    await reader.read()  # until the client gives up
                    return
                answer = answer(got) if callable(answer) else answer
                await self._send(writer, answer)
                if answer.hangs:
                    await reader.read()
                    return
        except ConnectionError:
            pass
        finally:
            self._open.pop(writer)
            writer.close()

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        head = {"Content-Type": answer.content_type, "Transfer-Encoding": "chunked", **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} Said", *(f"{name}: {value}" for name, value in head.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for chunk in answer.chunks:
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            await writer.drain()
            self.sent += len(chunk)
        if answer.breaks:
            raise ConnectionResetError
        if answer.hangs:
            return
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def end(self) -> None:
        """Whoever is still connected is hung up on."""
        tasks = [task for task in self._open.values() if task]
        for writer in self._open:
            writer.transport.abort()
        if tasks:
            await asyncio.wait(tasks)


async def _request(reader: asyncio.StreamReader) -> Got | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    fields = (line.partition(": ") for line in head[1:] if line)
    headers = {name.lower(): value for name, _, value in fields}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Got(head[0].split()[1], headers, json.loads(body or b"{}"))


@asynccontextmanager
async def serving(*answers: Planned) -> AsyncIterator[Server]:
    server = Server(list(answers))
    server.listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = server.listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.listener.close()
        await server.end()
        await server.listener.wait_closed()
