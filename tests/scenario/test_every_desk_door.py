"""The desk through every door: the same OS action is the same envelope, whoever brings it in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from websockets.asyncio.client import ClientConnection, connect

from handrail.clock import SystemClock
from handrail.config import Config
from handrail.desk.desk import Desk
from handrail.errors import HandrailError
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from tests.scenario.doors import ENVELOPE, HANDRAIL, Action, Http, Server, Told, environment, server
from tests.scenario.test_every_door import bounded, differences

pytestmark = pytest.mark.slow

AGENT = "mcp"
"""What the official MCP client calls itself; the others take the same name, which messages repeat."""
BOUNDS = {"x": 20, "y": 30, "w": 400, "h": 300}
TEXT = {"renderer": "text", "data": "one"}


class DeskDoor(Protocol):
    """One way to the desk."""

    word: str

    async def act(self, action: Action) -> Told: ...


class InProcess:
    word = "python"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def act(self, action: Action) -> Told:
        try:
            envelope = await self._runtime.desk_session().run(action, caller=Caller(AGENT, "agent", "python"))
        except HandrailError as error:
            return Told(f"{error.code}: {error.message}", failed=True)
        return Told(envelope.message or "", not envelope.success, envelope.to_dict())


@asynccontextmanager
async def in_process(home: Path) -> AsyncIterator[DeskDoor]:
    env = environment(home)
    async with Runtime.open(Config.from_env(env), env=env) as runtime:
        desk = await Desk.open(runtime.store, SystemClock())
        runtime.attach_desk(desk)
        yield InProcess(runtime)
        await desk.close()


class Mcp:
    word = "mcp"

    def __init__(self, client: Client) -> None:
        self._client = client

    async def act(self, action: Action) -> Told:
        fields = {name: value for name, value in action.items() if name not in ("type", "reason")}
        given = {"type": action["type"], "fields": fields, "reason": action["reason"]}
        result = await self._client.call_tool("desk", given)
        return Told(result.content[0].text, bool(result.is_error), (result.meta or {}).get(ENVELOPE))


@asynccontextmanager
async def mcp_over_stdio(home: Path) -> AsyncIterator[DeskDoor]:
    """A server of its own, which passes the desk's actions on to the one that has the desk."""
    command, *words = HANDRAIL
    args = [*words, "mcp", "--tools", "desk"]
    async with server(home, (), "--no-mcp"):
        with (home / "stdio.log").open("w") as log:
            params = StdioServerParameters(command=command, args=args, env=environment(home))
            async with Client(stdio_client(params, errlog=log)) as client:
                yield Mcp(client)


class Commands:
    word = "cli"

    def __init__(self, home: Path) -> None:
        self._home = home

    async def act(self, action: Action) -> Told:
        pipe = asyncio.subprocess.PIPE
        words = ["desk", json.dumps(action), "--as", AGENT, "--json"]
        process = await asyncio.create_subprocess_exec(
            *HANDRAIL, *words, env=environment(self._home), stdout=pipe, stderr=pipe
        )
        out, err = await process.communicate()
        answer = json.loads(out) if out else None
        if answer is not None and "action_id" not in answer:  # no action at all: an error, as JSON
            return Told(answer["message"], process.returncode != 0, None)
        return Told(err.decode(), process.returncode != 0, answer)


@asynccontextmanager
async def commands(home: Path) -> AsyncIterator[DeskDoor]:
    async with server(home, (), "--no-mcp"):
        yield Commands(home)


@asynccontextmanager
async def http(home: Path) -> AsyncIterator[DeskDoor]:
    async with server(home, (), "--no-mcp") as at:
        yield Http(at, AGENT)


class WebSocket:
    """A program at `/ws`: its actions as USER_INTERACTION, their ends as ENVELOPE frames."""

    word = "ws"

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def act(self, action: Action) -> Told:
        """A failure comes twice: as ENVELOPE for all, and as ERROR for whoever sent the action."""
        await self._socket.send(json.dumps({"type": "USER_INTERACTION", "interactions": [action]}))
        error, envelope = None, None
        while True:
            frame = json.loads(await self._socket.recv())
            if frame["type"] == "ERROR":
                error = f"{frame['code']}: {frame['message']}"
                if frame["path"].startswith("interactions"):  # it never was an action
                    return Told(error, failed=True)
            elif frame["type"] == "ENVELOPE" and "envelope" in frame:
                envelope = frame["envelope"]
            if envelope and (envelope["success"] or error):
                return Told(error or "", not envelope["success"], envelope)


@asynccontextmanager
async def websocket(home: Path) -> AsyncIterator[DeskDoor]:
    async with server(home, (), "--no-mcp") as at, joined(at, at.token) as socket:
        yield WebSocket(socket)


@asynccontextmanager
async def joined(at: Server, secret: str) -> AsyncIterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {secret}", "Handrail-Agent": AGENT}
    address = f"ws://127.0.0.1:{at.port}/ws"
    async with connect(address, additional_headers=headers, proxy=None, max_size=None) as socket:
        assert json.loads(await socket.recv())["type"] == "SNAPSHOT"
        yield socket


DOORS: dict[str, Callable[[Path], AbstractAsyncContextManager[DeskDoor]]] = {
    "in-process": in_process,
    "mcp-stdio": mcp_over_stdio,
    "commands": commands,
    "http": http,
    "websocket": websocket,
}


class Scene:
    """What one door was told."""

    def __init__(self, door: DeskDoor) -> None:
        self.door = door
        self.told: list[Told] = []

    async def act(self, kind: str, **fields: Any) -> Told:
        told = await self.door.act({"type": kind, **fields, "reason": "I try every door"})
        self.told.append(told)
        return told


async def opens_changes_and_closes(s: Scene) -> None:
    assert not (await s.act("window.create", windowId="a", title="A", bounds=BOUNDS, content=TEXT)).failed
    await s.act("window.updateContent", windowId="a", operation={"op": "append", "data": " two"})
    await s.act("window.maximize", windowId="a")
    await s.act("window.restore", windowId="a")
    assert not (await s.act("window.close", windowId="a")).failed


async def is_refused_with_the_path(s: Scene) -> None:
    await s.act("window.create", windowId="b", title="B", bounds=BOUNDS, content=TEXT)
    for kind, fields in (
        ("window.create", {"windowId": "b", "title": "B", "bounds": BOUNDS, "content": TEXT}),
        ("window.close", {"windowId": "nobody"}),
        ("window.lock", {"windowId": "b", "agentId": "somebody else"}),
        (
            "window.updateContent",
            {"windowId": "b", "operation": {"op": "insertAt", "data": "x", "position": 99}},
        ),
        ("window.capture", {"windowId": "b"}),
    ):
        assert (await s.act(kind, **fields)).failed, kind
    await s.act("window.close", windowId="b")


async def says_nothing_happened(s: Scene) -> None:
    panel = {"windowId": "p", "title": "P", "bounds": BOUNDS, "content": TEXT, "variant": "panel"}
    await s.act("window.create", **panel)
    told = await s.act("window.minimize", windowId="p")
    assert told.envelope["details"]["no_op"]  # type: ignore[index]


async def is_no_action_at_all(s: Scene) -> None:
    told = await s.act("window.move", windowId="b", x="left", y=0)
    assert (told.failed, told.envelope) == (True, None)
    assert "x" in told.text


STORIES: tuple[Callable[[Scene], Awaitable[None]], ...] = (
    opens_changes_and_closes,
    is_refused_with_the_path,
    says_nothing_happened,
    is_no_action_at_all,
)


async def all_stories(name: str, home: Path) -> list[Scene]:
    home.mkdir()
    async with DOORS[name](home) as door:
        scenes = [Scene(door) for _ in STORIES]
        for scene, story in zip(scenes, STORIES, strict=True):
            await bounded(story(scene))
        return scenes


@pytest.mark.parametrize("name", [name for name in DOORS if name != "in-process"])
def test_a_desk_story_is_the_same_through_every_door(tmp_path: Path, name: str) -> None:
    expected = asyncio.run(all_stories("in-process", tmp_path / "here"))
    found = asyncio.run(all_stories(name, tmp_path / "there"))
    for one, other in zip(expected, found, strict=True):
        told = [[each.envelope for each in scene.told] for scene in (one, other)]
        assert not (unlike := differences(*told)), unlike
        assert [each.failed for each in other.told] == [each.failed for each in one.told]
