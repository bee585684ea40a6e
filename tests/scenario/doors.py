"""The doors of one home, each as a caller uses it: in-process, MCP by stdio and HTTP, commands, REST.

A door takes an action as data and gives back what the caller is told: an envelope and a text.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from handrail.config import Config
from handrail.engine.envelope_text import envelope_text
from handrail.errors import HandrailError
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from tests.scenario.world import until

T = TypeVar("T")
Action = dict[str, Any]
HANDRAIL = (sys.executable, "-m", "handrail.cli.main")
ENVELOPE = "handrail/envelope"
"""Where an MCP result carries the envelope in its `_meta`."""


@dataclass(frozen=True)
class Told:
    """What a caller hears of one action."""

    text: str
    failed: bool
    envelope: Action | None = None
    """None for what was refused before it became an action."""


class Door(Protocol):
    """One way in."""

    word: str
    """What the journal calls it."""

    async def act(self, action: Action) -> Told: ...

    async def leave(self, doing: asyncio.Task[Told]) -> None:
        """The caller gives up on an action in flight, in the way of this door."""
        ...


def environment(home: Path) -> dict[str, str]:
    """Of every process of a story. No helper: a command does not start one, so the others must not either."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HANDRAIL_HOME": str(home),
        "HANDRAIL_HELPER": "none",
        "HANDRAIL_NO_DAEMON": "1",
        "HANDRAIL_ADB": str(home / "no-adb"),  # nothing is started that would outlive the test
        "ANDROID_ADB_SERVER_PORT": "15791",
        # The same sources as the test's own: they need not be the ones that are installed.
        **{name: value for name, value in os.environ.items() if name.startswith("PYTHON")},
    }


# in-process


class InProcess:
    """The Python API."""

    word = "python"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def act(self, action: Action) -> Told:
        try:
            read = action_from(action)
        except HandrailError as error:
            return Told(f"{error.code}: {error.message}", failed=True)
        session = await self._runtime.session(read.device)
        envelope = await session.run(read)
        text = envelope_text(read, envelope, session.screens.registry.text)
        return Told(text, not envelope.success, envelope.to_dict())

    async def leave(self, doing: asyncio.Task[Told]) -> None:
        await cancelled(doing)


@asynccontextmanager
async def in_process(home: Path, _: Sequence[str] = ()) -> AsyncIterator[Door]:
    env = environment(home)
    async with Runtime.open(Config.from_env(env), env=env) as runtime:
        yield InProcess(runtime)


async def cancelled(doing: asyncio.Task[Told]) -> None:
    doing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await doing


# MCP


class Mcp:
    """The official client; it answers no questions, so people are asked elsewhere."""

    word = "mcp"

    def __init__(self, client: Client) -> None:
        self.client = client

    async def act(self, action: Action) -> Told:
        name, arguments = as_tool(action)
        result = await self.client.call_tool(name, arguments)
        [block] = [one for one in result.content if one.type == "text"]
        return Told(block.text, bool(result.is_error), (result.meta or {}).get(ENVELOPE))

    async def leave(self, doing: asyncio.Task[Told]) -> None:
        await cancelled(doing)


def as_tool(action: Action) -> tuple[str, Action]:
    """A tool is named like its action, but for the expectations, which are one tool."""
    arguments = {name: value for name, value in action.items() if name != "type"}
    if action["type"] == "expect_visible":
        return "expect", {"visible": arguments.pop("target"), **arguments}
    return action["type"], arguments


@asynccontextmanager
async def mcp_over_stdio(home: Path, _: Sequence[str] = ()) -> AsyncIterator[Door]:
    command, *words = HANDRAIL
    server = StdioServerParameters(command=command, args=[*words, "mcp"], env=environment(home))
    with (home / "stdio.log").open("w") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            yield Mcp(client)


@asynccontextmanager
async def mcp_over_http(home: Path, _: Sequence[str] = ()) -> AsyncIterator[Door]:
    port = free_port()
    with (home / "http.log").open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *HANDRAIL, "mcp", "--http", "--port", str(port), env=environment(home), stdout=log, stderr=log
        )
        try:
            await until(lambda: listens(port) or process.returncode is not None)
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                yield Mcp(client)
        finally:
            process.terminate()
            await process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as knocking:
        return knocking.connect_ex(("127.0.0.1", port)) == 0


# the desk's server


@dataclass(frozen=True)
class Server:
    """`handrail serve` of a home: its address, and the tokens of a program and of the owner."""

    port: int
    token: str
    key: str


@asynccontextmanager
async def server(
    home: Path, phones: Sequence[str] = (), *words: str, env: dict[str, str] | None = None
) -> AsyncIterator[Server]:
    """As anybody starts it."""
    env = environment(home) | {"HANDRAIL_DEVICES": ",".join(phones)} | (env or {})
    with (home / "serve.log").open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *HANDRAIL, "serve", "--port", "0", *words, env=env, stdout=log, stderr=log
        )
        notice = Config.from_env(env).desk
        try:
            await until(lambda: notice.exists() or process.returncode is not None)
            told = json.loads(notice.read_text())
            yield Server(int(told["address"].rpartition(":")[2]), told["token"], told["key"])
        finally:
            process.terminate()
            await process.wait()


class Http:
    """`POST /api/actions`, a connection each; hanging up is how a caller leaves."""

    word = "http"

    def __init__(self, at: Server, agent: str = "ada") -> None:
        self._at = at
        self._agent = agent

    async def act(self, action: Action) -> Told:
        status, answer = await self.post("/api/actions", action)
        text = f"{answer.get('failure_code') or answer.get('code')}: {answer.get('message')}"
        return Told(text, status >= 400, answer if "action_id" in answer else None)

    async def post(self, path: str, body: Any) -> tuple[int, Any]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._at.port)
        try:
            payload = json.dumps(body).encode()
            writer.write(self._head(path, len(payload)) + payload)
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            return int(head.split()[1]), json.loads(await reader.read())
        finally:
            writer.close()

    def _head(self, path: str, length: int) -> bytes:
        lines = (
            f"POST {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self._at.port}",
            f"Authorization: Bearer {self._at.token}",
            f"Handrail-Agent: {self._agent}",
            "Content-Type: application/json",
            f"Content-Length: {length}",
            "Connection: close",
        )
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def leave(self, doing: asyncio.Task[Told]) -> None:
        await cancelled(doing)


@asynccontextmanager
async def http(home: Path, phones: Sequence[str] = ()) -> AsyncIterator[Door]:
    async with server(home, phones, "--no-mcp") as at:
        yield Http(at)


# commands


class Commands:
    """A process for each action, as a person or a script runs it."""

    word = "cli"

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env
        self._running: asyncio.subprocess.Process | None = None

    async def act(self, action: Action) -> Told:
        pipe = asyncio.subprocess.PIPE
        words = as_words(action)
        self._running = process = await asyncio.create_subprocess_exec(
            *HANDRAIL, words[0], "--json", *words[1:], env=self._env, stdout=pipe, stderr=pipe
        )
        out, err = await process.communicate()
        assert out, err.decode()
        answer = json.loads(out)
        text = f"{answer.get('failure_code')}: {answer.get('message')}\n{err.decode()}"
        return Told(text, process.returncode != 0, answer if "action_id" in answer else None)

    async def leave(self, doing: asyncio.Task[Told]) -> None:
        """As Ctrl-C does it: the command still tells how it ended."""
        self._running.send_signal(signal.SIGINT)
        assert (await doing).failed


@asynccontextmanager
async def commands(home: Path, _: Sequence[str] = ()) -> AsyncIterator[Door]:
    yield Commands(environment(home))


@asynccontextmanager
async def commands_handed_over(home: Path, _: Sequence[str] = ()) -> AsyncIterator[Door]:
    """The same through the resident process of the home, which ends with the door."""
    env = {name: value for name, value in environment(home).items() if name != "HANDRAIL_NO_DAEMON"}
    try:
        yield Commands(env)
    finally:
        stop = await asyncio.create_subprocess_exec(*HANDRAIL, "daemon", "stop", env=env)
        assert await stop.wait() == 0


def as_words(action: Action) -> list[str]:
    """Everything by option: `tap --target Save --reason …`, objects as JSON."""
    words = [action["type"].replace("_", "-")]
    positional, last = POSITIONAL.get(action["type"]), list[str]()
    for name, value in action.items():
        written = json.dumps(value) if isinstance(value, dict) else str(value)
        if name == positional:
            last = ["--", written] if written.startswith("-") else []
            words += [] if last else [written]
        elif value is True:
            words.append(f"--{name.replace('_', '-')}")
        elif name != "type":
            words += [f"--{name.replace('_', '-')}", written]
    return words + last


POSITIONAL = {
    "tap": "target", "type_text": "text", "start_app": "package", "scroll_to": "target",
    "expect_visible": "target", "wait_for": "condition",
}  # fmt: skip
"""The field that a bare word of a command fills."""

DOORS: dict[str, Callable[[Path, Sequence[str]], AbstractAsyncContextManager[Door]]] = {
    "in-process": in_process, "mcp-stdio": mcp_over_stdio, "mcp-http": mcp_over_http, "commands": commands,
    "resident": commands_handed_over, "http": http,
}  # fmt: skip


class Kept(Generic[T]):
    """Something that stays open between the tests of a module, in a task of its own on their loop.

    A client's task groups have to be left by the task that entered them.
    """

    def __init__(self, runner: asyncio.Runner, opening: AbstractAsyncContextManager[T]) -> None:
        self._runner = runner
        self._leave = asyncio.Event()
        self._opened: asyncio.Queue[T] = asyncio.Queue()
        self._task = runner.get_loop().create_task(self._hold(opening))

    async def _hold(self, opening: AbstractAsyncContextManager[T]) -> None:
        async with opening as opened:
            self._opened.put_nowait(opened)
            await self._leave.wait()

    def open(self) -> T:
        return self._runner.run(self._first())

    async def _first(self) -> T:
        waiting = asyncio.ensure_future(self._opened.get())
        await asyncio.wait({waiting, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            waiting.cancel()
            self._task.result()
        return await waiting

    def close(self) -> None:
        async def end() -> None:
            self._leave.set()
            await self._task

        self._runner.run(end())
