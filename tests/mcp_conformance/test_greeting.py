"""First words that are answered before the library is there are what the library itself would answer."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from handrail.config import Config
from handrail.mcp.greeting import VERSIONS, Greeter
from handrail.mcp.seeds import SEEDS
from handrail.mcp.server import build
from handrail.mcp.state import DoorState
from handrail.runtime import Runtime

Message = dict[str, Any]
INITIALIZED: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING: Message = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
LIST: Message = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
CAPABILITIES: list[Message] = [
    {},
    {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}},
    {"elicitation": {"form": {"applyDefaults": True}, "url": {}}, "sampling": {"context": {}, "tools": {}}},
    {"experimental": {"x": {"y": {}}}, "extensions": {"io.example/ui": {}}, "of our own": {}},
    {"tasks": {"list": {}, "cancel": {}, "requests": {"elicitation": {"create": {}}}}},
]
"""As clients in use say them."""


def opening(version: str = VERSIONS[-1], capabilities: Message | None = None, **more: Any) -> Message:
    who = {"name": "a test", "title": "A test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": who, **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


async def library_answers(runtime: Runtime, profile: str, lines: list[str]) -> list[Message]:
    """What the official server says to a conversation."""
    server = build(DoorState(runtime, profile))
    send, read = anyio.create_memory_object_stream[SessionMessage | Exception](len(lines))
    write, told = anyio.create_memory_object_stream[SessionMessage](len(lines))
    for line in lines:
        try:
            send.send_nowait(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
        except ValueError as error:
            send.send_nowait(error)
    running = asyncio.create_task(server.run(read, write, server.create_initialization_options()))
    wanted = sum('"id"' in line for line in lines)
    found = [(await told.receive()).message for _ in range(wanted)]
    send.close()
    await running
    told.close()
    return [one.model_dump(by_alias=True, exclude_unset=True, mode="json") for one in found]


def compare(home: Path, profile: str, conversations: list[list[str]]) -> None:
    async def story() -> None:
        async with Runtime.open(Config.from_env({"HANDRAIL_HOME": str(home)}), env={}) as runtime:
            for lines in conversations:
                greeter = Greeter(profile)
                ours = [greeter.hear(line) for line in lines]
                assert None not in ours, lines
                theirs = await library_answers(runtime, profile, lines)
                assert [json.loads(one) for one in ours if one] == theirs

    asyncio.run(story())


@pytest.mark.parametrize("profile", ["core", "all", "core,debug", *SEEDS])
def test_every_handshake_and_list_is_answered_as_the_library_does(tmp_path: Path, profile: str) -> None:
    wanted = [
        *(opening(version) for version in (*VERSIONS, "2026-07-28", "tomorrow", "")),
        *(opening(capabilities=one) for one in CAPABILITIES),
        opening(_meta={"progressToken": 3, "x": 1}),
    ]
    compare(
        tmp_path, profile, [[json.dumps(m) for m in (one, INITIALIZED, LIST, PING, LIST)] for one in wanted]
    )


def mutated(random: Random) -> Iterator[str]:
    """An opening with one thing wrong, or unusual, or merely different."""
    odd: list[Any] = [None, True, 0, -1, 1.5, 2**70, "", "x", [], {}, [{}], {"listChanged": 1}, "\ud800", "é"]
    while True:
        message = opening(capabilities=copy.deepcopy(random.choice(CAPABILITIES)))
        inner: Any = message
        while True:
            key = random.choice([*inner, "listChanged", "_meta", "x"])
            if isinstance(inner.get(key), dict) and inner[key] and random.random() < 0.75:
                inner = inner[key]
                continue
            if random.random() < 0.2:
                inner.pop(key, None)
            else:
                inner[key] = random.choice(odd)
            break
        line = json.dumps(message, ensure_ascii=random.random() < 0.5)
        yield line.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_answered_early_is_what_the_library_accepts(tmp_path: Path, seed: int) -> None:
    lines = mutated(Random(seed))
    heard = [line for line in (next(lines) for _ in range(300)) if Greeter("interaction").hear(line)]
    assert len(heard) > 20
    compare(tmp_path, "interaction", [[one, json.dumps(LIST)] for one in heard])


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "NaN",
        '{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}',
        '{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        '{"jsonrpc": "2.0", "id": true, "method": "ping"}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x"}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tap"}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}',
        '{"jsonrpc": "2.0", "id": 1, "result": {}}',
        json.dumps(opening()),
        json.dumps({**LIST, "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}),
        f'{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"[" * 5000 + "]" * 5000}}}',
    ],
    ids=lambda line: line[:60],
)
def test_all_else_is_left_to_the_library(line: str) -> None:
    greeter = Greeter("core")
    assert greeter.hear(json.dumps(LIST)) is None  # before the handshake
    assert greeter.hear(json.dumps(opening()))
    assert greeter.hear(line) is None


def test_the_first_words_need_neither_the_library_nor_the_engine() -> None:
    said = (
        "import sys, json, handrail.cli.mcp, handrail.mcp.stdio, handrail.mcp.greeting as g\n"
        f"assert g.Greeter('core').hear({json.dumps(opening())!r})\n"
        "heavy = ('mcp', 'anyio', 'starlette', 'sqlite3', 'lxml', 'handrail.engine', 'handrail.adb')\n"
        "print(json.dumps([name for name in heavy if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, check=True)
    assert json.loads(done.stdout) == []


def test_a_client_that_asks_everything_at_once_is_answered_once_and_in_order(tmp_path: Path) -> None:
    unknown = {"jsonrpc": "2.0", "id": 3, "method": "resources/templates/list"}
    messages = [opening(), INITIALIZED, LIST, PING, unknown, {**LIST, "id": 4}, {**PING, "id": 1}]
    command = [sys.executable, "-m", "handrail.cli.main", "mcp"]
    env = {**os.environ, "HANDRAIL_HOME": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(one) + "\n" for one in messages))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(6)]
        process.stdin.close()
        assert process.stdout.read() == ""
    assert [one["id"] for one in answers[:3]] == [1, 2, "p"]
    assert sorted(one["id"] for one in answers[3:]) == [1, 3, 4]
    assert "protocolVersion" in answers[0]["result"]
    assert next(one for one in answers[3:] if one["id"] == 4)["result"] == answers[1]["result"]


def test_a_client_that_hangs_up_after_its_first_words_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "handrail.cli.main", "mcp"]
    env = {**os.environ, "HANDRAIL_HOME": str(tmp_path / "home")}
    lines = "".join(json.dumps(one) + "\n" for one in (opening(), INITIALIZED, LIST))
    done = subprocess.run(command, env=env, input=lines, capture_output=True, text=True, check=True)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert done.stderr == ""
    assert not (tmp_path / "home").exists()  # nothing was opened for it
