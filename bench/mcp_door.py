"""The MCP door beside the engine behind it: the first words, one client over stdio, eight over HTTP.

Run from the repository: `python bench/mcp_door.py [--rounds N] [--seconds N] [--json]`. Phones have a process
of their own. A tap by MCP and the same tap in Python take turns on one phone, each with a home of its own, so
that both have the same machine around them. So do eight clients of one server and eight sessions in Python.
The first words, `initialize` and `tools/list`, stand beside those of the smallest server that the official
library makes: it has one tool and no phone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from handrail.config import Config
from handrail.engine.session import Session
from handrail.runtime import Runtime

HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]
SETTINGS = "com.android.settings"
SWITCH, ROW = "Data Saver", "Internet"
WHY = "I measure how long it takes"
BUSY = 8
SMALLEST = """
import asyncio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="one", input_schema={"type": "object"})])
async def main():
    server = Server("smallest", version="1", on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
asyncio.run(main())
"""
Row = dict[str, Any]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "HANDRAIL_HOME": str(home), "HANDRAIL_NO_DAEMON": "1", **more}


# first words


class Stdio:
    """A server that is spoken to line by line."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=env, text=True
        )
        self._count = 0
        self.ask("initialize", **opening())
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._count:
                return answer
        raise SystemExit("the server ended")

    def tool(self, name: str, **arguments: Any) -> None:
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        if result.get("isError"):
            raise SystemExit(f"{name}: {result['content']}")

    def close(self) -> None:
        self._process.communicate(timeout=60)


def opening() -> dict[str, Any]:
    client = {"name": "bench", "version": "1"}
    return {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}


def first_words(command: list[str], env: dict[str, str]) -> float:
    """Milliseconds from the start of the process to the list of its tools."""
    began = time.perf_counter()
    server = Stdio(command, env)
    assert server.ask("tools/list")["result"]["tools"]
    taken = (time.perf_counter() - began) * 1000
    server.close()
    return taken


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that want a processor each."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def greetings(home: Path, rounds: int) -> Iterator[Row]:
    env = environment(home)
    for name, others, goal in (("quiet", 0, 400.0), (f"beside {BUSY} busy processes", BUSY, 3000.0)):
        with busy(others):
            ours, theirs = [], []
            for _ in range(rounds):
                ours.append(first_words([*HANDRAIL, "mcp"], env))
                theirs.append(first_words([sys.executable, "-c", SMALLEST], env))
        yield row(f"first words, {name}", ours, "ms", goal, theirs, "the library's smallest server")


# one client over stdio


async def one_client(home: Path, rounds: int) -> list[Row]:
    with phones(1) as [address]:
        server = Stdio([*HANDRAIL, "mcp"], environment(home / "mcp", HANDRAIL_DEVICE=address))
        async with AsyncExitStack() as stack:
            session = await in_python(stack, home / "python", address)
            try:
                await begin(session)
                server.tool("get_ui_tree")
                return [
                    await beside_python(server, session, rounds, SWITCH, 45.0, navigates=False),
                    await beside_python(server, session, rounds, ROW, 135.0, navigates=True),
                ]
            finally:
                await asyncio.to_thread(server.close)


async def beside_python(
    server: Stdio, session: Session, rounds: int, label: str, goal: float, *, navigates: bool
) -> Row:
    by_mcp, by_python = [], []
    for _ in range(rounds + 2):
        began = time.perf_counter()
        await asyncio.to_thread(server.tool, "tap", target=label, reason=WHY)
        by_mcp.append((time.perf_counter() - began) * 1000)
        if navigates:
            await session.press_key("back", reason=WHY)
        began = time.perf_counter()
        done = await session.tap(label, reason=WHY)
        by_python.append((time.perf_counter() - began) * 1000)
        assert done.success, done.message
        if navigates:
            await session.press_key("back", reason=WHY)
    what = "a navigation" if navigates else "a switch"
    return row(f"stdio, {what}", by_mcp[2:], "ms", goal, by_python[2:], "the same tap in Python")


async def in_python(stack: AsyncExitStack, home: Path, address: str) -> Session:
    env = environment(home)
    runtime = await stack.enter_async_context(Runtime.open(Config.from_env(env), env=env))
    return await runtime.session(address)


async def begin(session: Session) -> None:
    await session.start_app(SETTINGS, reason=WHY)
    done = await session.tap("Network & internet", reason=WHY)
    assert done.success, done.message


# eight clients over HTTP


async def eight_clients(home: Path, rounds: int, seconds: float) -> Row:
    with phones(8) as addresses:
        async with AsyncExitStack() as stack:
            env = environment(home / "eight")
            runtime = await stack.enter_async_context(Runtime.open(Config.from_env(env), env=env))
            sessions = [await runtime.session(one) for one in addresses]
            await asyncio.gather(*map(begin, sessions))
            port = await stack.enter_async_context(http_server(home / "http"))
            clients = [await stack.enter_async_context(HttpClient.open(port)) for _ in addresses]
            for client, address in zip(clients, addresses, strict=True):
                await client.tool("connect", device=address)

            def by_client(client: HttpClient) -> Callable[[], Awaitable[object]]:
                return lambda: client.tool("tap", target=SWITCH, reason=WHY)

            def by_session(session: Session) -> Callable[[], Awaitable[object]]:
                return lambda: proved(session)

            ours, python = [], []
            for _ in range(rounds + 1):
                ours.append(await rate([by_client(one) for one in clients], seconds))
                python.append(await rate([by_session(one) for one in sessions], seconds))
    made = row("HTTP, 8 clients on 8 phones", ours[1:], "taps/s", 80.0, python[1:], "8 sessions in Python")
    return {**made, "share_goal": 0.75}


async def proved(session: Session) -> None:
    done = await session.tap(SWITCH, reason=WHY)
    assert done.success, done.message
    assert done.lifecycle_state == "verified", done.to_json()


async def rate(acts: list[Callable[[], Awaitable[object]]], seconds: float) -> float:
    """Acts a second, all of them at work at the same time."""

    async def repeat(act: Callable[[], Awaitable[object]]) -> int:
        count = 0
        while time.perf_counter() < end:
            await act()
            count += 1
        return count

    began = time.perf_counter()
    end = began + seconds
    counts = await asyncio.gather(*map(repeat, acts))
    return sum(counts) / (time.perf_counter() - began)


class HttpClient:
    """One connection, kept; requests as plain bytes, so that the client takes little from the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        self._reader = reader
        self._writer = writer
        self._head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2025-06-18\r\n"
        )
        self._count = 0

    @classmethod
    @asynccontextmanager
    async def open(cls, port: int) -> AsyncIterator[HttpClient]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
        client = cls(reader, writer, port)
        headers, _ = await client._post({"id": 1, "method": "initialize", "params": opening()})
        client._head += f"Mcp-Session-Id: {headers['mcp-session-id']}\r\n"
        await client._post({"method": "notifications/initialized"})
        yield client
        writer.close()

    async def tool(self, name: str, **arguments: Any) -> None:
        self._count += 1
        params = {"name": name, "arguments": arguments}
        _, body = await self._post({"id": self._count + 1, "method": "tools/call", "params": params})
        data = next(line[5:] for line in body.splitlines() if line.startswith(b"data:") and len(line) > 7)
        result = json.loads(data)["result"]
        assert not result.get("isError"), result
        envelope = result["_meta"]["handrail/envelope"]
        assert envelope["lifecycle_state"] == "verified" or name == "connect", envelope

    async def _post(self, message: dict[str, Any]) -> tuple[dict[str, str], bytes]:
        body = json.dumps({"jsonrpc": "2.0", **message})
        self._writer.write(f"{self._head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        if "content-length" in headers:
            return headers, await self._reader.readexactly(int(headers["content-length"]))
        return headers, b"".join([part async for part in self._chunks()])

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self._reader.readline(), 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)


@asynccontextmanager
async def http_server(home: Path) -> AsyncIterator[int]:
    """`handrail mcp --http` on a free port."""
    command = [*HANDRAIL, "mcp", "--http", "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        *command, env=environment(home), stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        address = (await process.stderr.readline()).decode()
        yield int(address.rpartition(":")[2].partition("/")[0])
    finally:
        process.terminate()
        await process.wait()


@contextmanager
def phones(count: int) -> Iterator[list[str]]:
    """Addresses of phones in a process of their own."""
    command = [*HANDRAIL, "sim", "--port", "0", "--phones", str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield [json.loads(process.stdout.readline())["connect"] for _ in range(count)]
        finally:
            process.terminate()


# what is printed


def row(name: str, ours: list[float], unit: str, goal: float, beside: list[float], what: str) -> Row:
    return {
        "name": name,
        "median": round(median(ours), 1),
        "best": round(min(ours) if unit == "ms" else max(ours), 1),
        "unit": unit,
        "goal": goal,
        "beside": round(median(beside), 1),
        "what": what,
        "share": round(median(ours) / median(beside), 2),
    }


def line(one: Row) -> str:
    sign = "≤" if one["unit"] == "ms" else "≥"
    share = f", goal ≥ {one['share_goal']}" if "share_goal" in one else ""
    return (
        f"{one['name']:<40}{one['median']:>8.1f}{one['best']:>8.1f} {one['unit']:<7}{sign}{one['goal']:>6g}"
        f"{one['beside']:>9.1f} {one['what']}; {one['share']:.2f} ×{share}"
    )


async def measure(options: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
        home = Path(folder)
        found = list(greetings(home / "greeting", options.rounds))
        found += await one_client(home, options.rounds)
        return [*found, await eight_clients(home, options.rounds, options.seconds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21, help="of each row (default 21)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of one round over HTTP (default 1)")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    options = parser.parse_args()
    found = asyncio.run(measure(options))
    if options.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{'MCP':<40}{'median':>8}{'best':>8} {'':<7}{'goal':>7}{'beside':>9}")
    print("\n".join(map(line, found)))


if __name__ == "__main__":
    main()
