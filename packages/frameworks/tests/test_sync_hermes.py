from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from packages.frameworks.tests.metro_stage import IDLE, PACKAGE, Behaviour, answering, at_rest, metro
from websockets.asyncio.server import ServerConnection

from handrail.screen.parse import parse
from handrail_frameworks.framework_sync import FrameworkSync
from handrail_frameworks.react_native import FiberLabels, Hermes, JsWork, open_hermes
from tests.cases import each
from tests.unit.android.sim_phone import Bench, play

SCREEN = parse(
    f'<hierarchy><node class="android.view.ViewGroup" package="{PACKAGE}" clickable="true" enabled="true"'
    ' bounds="[0,0][100,100]"/></hierarchy>'.encode()
)


@asynccontextmanager
async def attached(bench: Bench, behave: Behaviour, **env: str) -> AsyncIterator[FrameworkSync]:
    async with metro(behave) as address:
        sync = FrameworkSync(
            "react_native", PACKAGE, device=bench.device, clock=bench.clock, env=env, metro=address
        )
        try:
            await sync.attach()
            yield sync
        finally:
            await sync.close()


def test_an_idle_runtime_is_attached_asked_and_left() -> None:
    heard: list[str] = []

    def value(expression: str) -> str:
        heard.append(expression)
        return at_rest(expression)

    async def story(bench: Bench) -> None:
        async with attached(bench, answering(value)) as sync:
            assert (sync.has_hermes, sync.has_backend, sync.has_dart_vm) == (True, True, False)
            assert await sync.wait_for_sync()
            await sync.attach()
        assert len([one for one in heard if "installed" in one]) == 1
        assert ".remove()" in heard[-1]
        assert not sync.has_backend
        await sync.close()

    play(story)


async def closes(socket: ServerConnection) -> None:
    await socket.recv()


async def says_garbage(socket: ServerConnection) -> None:
    await socket.recv()
    await socket.send("<html>")


async def says_no_object(socket: ServerConnection) -> None:
    await socket.recv()
    await socket.send("[1, 2]")


async def breaks_frames(socket: ServerConnection) -> None:
    await socket.recv()
    socket.transport.write(b"\xff\xff\xff\xff garbage")
    await socket.wait_closed()


def later(bad: Callable[[ServerConnection], Awaitable[None]]) -> Behaviour:
    """Behaves until it has been attached to, and then so."""

    async def behave(socket: ServerConnection) -> None:
        for _ in range(2):
            asked = json.loads(await socket.recv())
            await socket.send(json.dumps({"id": asked["id"], "result": {}}))
        await bad(socket)

    return behave


BAD = [closes, says_garbage, says_no_object, breaks_frames]


@each("bad", BAD)
def test_a_runtime_that_is_bad_from_the_start_is_a_line_and_nothing_else(bad: Behaviour) -> None:
    async def story(bench: Bench) -> None:
        async with attached(bench, bad) as sync:
            assert not sync.has_backend
            assert any(line.startswith("hermes: not there") for line in sync.diagnostics)
            assert await sync.wait_for_sync()

    play(story)


@each("bad", BAD)
@each("asks", ["wait", "labels"])
def test_a_runtime_that_turns_bad_is_lost_once_and_never_an_error(bad: Behaviour, asks: str) -> None:
    async def story(bench: Bench) -> None:
        async with attached(bench, later(bad)) as sync:
            assert sync.has_hermes, sync.diagnostics
            if asks == "wait":
                assert await sync.wait_for_sync()
            else:
                assert await sync.snapshot_fiber_labels(SCREEN) == {}
            assert not sync.has_hermes
            assert await sync.wait_for_sync()
            assert len([line for line in sync.diagnostics if "lost" in line]) == 1

    play(story)


def test_a_runtime_that_hangs_is_busy_and_the_next_wait_is_short() -> None:
    async def hangs(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async def story(bench: Bench) -> None:
        async with attached(bench, later(hangs)) as sync:
            assert not await sync.wait_for_sync(20)
            assert sync.waited_for == ("JavaScript",)
            assert sync.has_hermes
            assert not await sync.wait_for_sync(60_000)

    play(story)


def test_a_port_that_takes_connections_and_says_nothing_costs_an_attach_and_no_more() -> None:
    async def story(bench: Bench) -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        address = ("127.0.0.1", server.sockets[0].getsockname()[1])
        sync = FrameworkSync(
            "react_native", PACKAGE, device=bench.device, clock=bench.clock, env={}, metro=address
        )
        await sync.attach()
        assert not sync.has_backend
        assert any("no answer within" in line for line in sync.diagnostics)
        server.close()
        await server.wait_closed()

    play(story)


@each("answer", ["nonsense", "[]", "{}", None, 7, '{"requests": 1, "timers": []}'])
def test_answers_that_make_no_sense_lose_the_channel(answer: object) -> None:
    async def story(bench: Bench) -> None:
        async with attached(bench, answering(lambda _: answer)) as sync:
            assert await sync.wait_for_sync()
            assert not sync.has_hermes
            assert await sync.snapshot_fiber_labels(SCREEN) == {}

    play(story)


def test_a_reload_is_a_new_context_in_which_counting_begins_again() -> None:
    installs: list[str] = []
    contexts = iter(["", IDLE])

    def value(expression: str) -> str:
        if ".probe(" in expression:
            return next(contexts, IDLE)
        installs.append(expression)
        return "installed"

    async def story(bench: Bench) -> None:
        async with attached(bench, answering(value)) as sync:
            assert len(installs) == 1
            assert await sync.wait_for_sync()
            assert len(installs) == 2

    play(story)


def test_an_app_without_the_devtools_hook_has_no_names_and_is_still_waited_for() -> None:
    def value(expression: str) -> str:
        return '{"problem": "no hook"}' if "getFiberRoots" in expression else at_rest(expression)

    async def story(bench: Bench) -> None:
        async with attached(bench, answering(value)) as sync:
            for _ in range(2):
                assert await sync.snapshot_fiber_labels(SCREEN) == {}
            assert sync.diagnostics.count("fibers: no hook") == 1
            assert sync.has_hermes
            assert await sync.wait_for_sync()

    play(story)


class Listed:
    """A runtime that lists one host, and counts how often it was asked to."""

    def __init__(self, left: int = 0) -> None:
        box = [0, 0, 30, 30]
        host = {"type": "v", "depth": 1, "names": ["Star"], "props": {}, "testID": "", "text": "", "box": box}
        self.listing = json.dumps({"hosts": [host], "left": left})
        self.lists = 0

    async def behave(self, socket: ServerConnection) -> None:
        async for message in socket:
            asked = json.loads(message)
            expression = asked["params"].get("expression", "")
            if "reload" in expression:
                await socket.send(json.dumps({"method": "Runtime.executionContextCreated", "params": {}}))
            self.lists += "getFiberRoots" in expression
            value = self.listing if "Fibers" in expression else at_rest(expression)
            await socket.send(json.dumps({"id": asked["id"], "result": {"result": {"value": value}}}))

    @asynccontextmanager
    async def asked(self, bench: Bench) -> AsyncIterator[tuple[Hermes, FiberLabels]]:
        async with metro(self.behave) as address:
            hermes = await open_hermes(bench.device, PACKAGE, bench.clock, address)
            try:
                yield hermes, FiberLabels(hermes.cdp, bench.device, PACKAGE, bench.clock, bench.said.append)
            finally:
                await hermes.close()


def test_names_are_remembered_until_a_reload() -> None:
    async def story(bench: Bench) -> None:
        app = Listed()
        async with app.asked(bench) as (hermes, labels):
            for _ in range(2):
                assert await labels.of(SCREEN) == {"0": "Star"}
                assert app.lists == 1
            await hermes.cdp.evaluate("reload", timeout_ms=1_000)
            assert await labels.of(SCREEN) == {"0": "Star"}
            assert app.lists == 2

    play(story)


def test_a_screen_that_was_not_measured_in_time_is_asked_about_once_more() -> None:
    async def story(bench: Bench) -> None:
        app = Listed(left=1)
        async with app.asked(bench) as (_hermes, labels):
            for asked in (1, 2, 2):
                assert await labels.of(SCREEN) == {"0": "Star"}
                assert app.lists == asked

    play(story)


def test_a_runtime_whose_thread_is_never_seen_to_turn_is_still_asked_for_its_work() -> None:
    still = json.dumps({"requests": [], "timers": [], "beat": 1, "turned": False})

    async def story(bench: Bench) -> None:
        async with attached(bench, answering(lambda one: still if ".probe(" in one else "")) as sync:
            assert await sync.wait_for_sync(60_000)
            assert await sync.wait_for_sync(60_000)

    play(story)


@pytest.mark.parametrize("name", ["HANDRAIL_DISABLE_FRAMEWORK_SYNC", "AGENTEST_DISABLE_FRAMEWORK_SYNC"])
def test_sync_can_be_switched_off(name: str) -> None:
    async def story(bench: Bench) -> None:
        async with attached(bench, answering(at_rest), **{name: "1"}) as sync:
            assert not sync.has_backend
            assert sync.diagnostics == ["not in use: HANDRAIL_DISABLE_FRAMEWORK_SYNC=1"]
            assert bench.link.opened == []

    play(story)


def test_a_fetch_made_of_a_request_has_one_name() -> None:
    both = JsWork(
        {1: "fetch GET http://a/", 2: "request GET http://a/", 3: "request GET http://b/"}, (1.0, 2.0)
    )
    assert both.names == ["fetch GET http://a/", "request GET http://b/", "2 timers"]
