from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from handrail.android.logs import LogLine
from handrail_frameworks.debugger import ChannelLost, open_websocket
from handrail_frameworks.framework_sync import DUMP, HARMLESS, Address, DartVm, newest_address
from handrail_frameworks.react_native import HostTcp
from tests.scenario.world import FastClock

BINDING = "package:flutter/src/semantics/binding.dart"
FRAME = {"kind": "Extension", "extensionKind": "Flutter.Frame", "extensionData": {"number": 7}}


class Vm:
    """A Dart VM with one Flutter isolate and one that is none."""

    def __init__(self, **changes: Any) -> None:
        self.isolate = {
            "id": "isolates/1",
            "libraries": [{"id": "libraries/9", "uri": BINDING}],
            "extensionRPCs": [HARMLESS[0], DUMP],
            **changes,
        }
        self.asked: list[str] = []
        self.expressions: list[str] = []
        self.can_evaluate = True
        self.has_semantics = False
        self.animates = False
        self.gone: dict[str, Any] = {}
        self.socket: ServerConnection | None = None

    async def serve(self, socket: ServerConnection) -> None:
        self.socket = socket
        async for message in socket:
            call = json.loads(message)
            assert call["jsonrpc"] == "2.0"
            self.asked.append(call["method"])
            if self.animates:
                await self.draw()
            answer = self.answer(call["method"], call["params"])
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer}))

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "getVM":
                return {
                    "result": {
                        "isolates": [
                            {"id": "isolates/0", "name": "worker"},
                            {"id": self.isolate["id"], "name": "main"},
                        ]
                    }
                }
            case "getIsolate":
                return {
                    "result": self.isolate
                    if params["isolateId"] == self.isolate["id"]
                    else {"id": "isolates/0"}
                }
            case "evaluate":
                return self.evaluate(params)
            case _ if method == DUMP:
                return {
                    "result": {
                        "data": "SemanticsNode#0\n └─SemanticsNode#1"
                        if self.has_semantics
                        else "Semantics not generated."
                    }
                }
            case _ if method in HARMLESS and params["isolateId"] != self.isolate["id"]:
                return self.gone
        return {"result": {"type": "Success"}}

    def evaluate(self, params: dict[str, Any]) -> dict[str, Any]:
        assert params["targetId"] == "libraries/9"
        self.expressions.append(params["expression"])
        if not self.can_evaluate:
            return {
                "error": {
                    "code": 113,
                    "message": "Expression compilation error",
                    "data": {"details": "no compiler"},
                }
            }
        self.has_semantics = True
        return {"result": {"type": "@Instance"}}

    async def draw(self) -> None:
        assert self.socket
        event = {"streamId": "Extension", "event": FRAME}
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "method": "streamNotify", "params": event}))


@asynccontextmanager
async def opened(vm: Vm, clock: FastClock) -> AsyncIterator[DartVm]:
    async with asyncio.timeout(60), serve(vm.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        socket = await open_websocket(HostTcp("127.0.0.1", port), "tcp:1", f"ws://127.0.0.1:{port}/x=/ws")
        dart = DartVm(socket, clock)
        try:
            await dart.begin()
            yield dart
        finally:
            await dart.close()


def play(story: Callable[[Vm, DartVm, FastClock], Awaitable[None]], vm: Vm | None = None) -> None:
    async def run() -> None:
        made, clock = vm or Vm(), FastClock()
        async with opened(made, clock) as dart:
            await story(made, dart, clock)

    asyncio.run(run())


def test_an_animation_without_end_uses_up_the_time() -> None:
    async def story(vm: Vm, dart: DartVm, clock: FastClock) -> None:
        vm.animates = True
        rest = await dart.wait_idle(500)
        assert (rest.idle, rest.waited_for) == (False, ("frames",))

    play(story)


@pytest.mark.parametrize(
    "gone", [{"error": {"code": 105, "message": "gone"}}, {"result": {"type": "Sentinel"}}]
)
def test_after_a_hot_restart_the_new_isolate_is_asked(gone: dict[str, Any]) -> None:
    async def story(vm: Vm, dart: DartVm, clock: FastClock) -> None:
        vm.gone = gone
        await clock.sleep_ms(300)
        vm.isolate["id"] = "isolates/2"
        assert (await dart.wait_idle(3_000)).idle
        assert vm.asked[-2:] == ["getVM", "getIsolate"]
        assert (await dart.wait_idle(3_000)).idle
        assert vm.asked[-1] == HARMLESS[0]

    play(story)


def test_semantics_are_built_when_they_are_asked_for_and_only_then() -> None:
    async def story(vm: Vm, dart: DartVm, _clock: FastClock) -> None:
        assert await dart.build_semantics() == (True, "asked for")
        assert vm.expressions == ["SemanticsBinding.instance.ensureSemantics()"]
        assert await dart.build_semantics() == (True, "they were there")
        assert len(vm.expressions) == 1

    play(story)


def test_a_build_that_can_not_evaluate_says_why_there_are_no_semantics() -> None:
    vm = Vm()
    vm.can_evaluate = False

    async def story(_vm: Vm, dart: DartVm, clock: FastClock) -> None:
        built, how = await dart.build_semantics()
        assert not built
        assert "no compiler" in how

    play(story, vm)


@pytest.mark.parametrize("offered", [[], None, 7, {}, [7, None]])
async def test_a_vm_without_flutter_is_no_channel(monkeypatch: pytest.MonkeyPatch, offered: Any) -> None:
    monkeypatch.setattr("handrail_frameworks.framework_sync.ISOLATE_PAUSE_MS", 0)
    with pytest.raises(ChannelLost, match="no isolate"):
        async with opened(Vm(extensionRPCs=offered, libraries=offered), FastClock(1)):
            pass


def test_the_address_is_the_last_one_that_a_living_process_has_told() -> None:
    def line(pid: int, text: str) -> LogLine:
        return LogLine(0, pid, pid, "I", "flutter", text)

    lines = [
        line(5, "The Dart VM service is listening on http://127.0.0.1:4001/old=/"),
        line(5, "The Dart VM service is listening on http://127.0.0.1:4002/new=/"),
        line(4, "The Dart VM service is listening on http://127.0.0.1:4003/dead=/"),
        line(5, "listening to music"),
    ]
    found = newest_address(lines, {5})
    assert found == Address(4002, "/new=/")
    assert (found.service, found.uri) == ("tcp:4002", "ws://127.0.0.1:4002/new=/ws")
    older = newest_address([line(5, "Observatory listening on http://127.0.0.1:4004")], {5})
    assert older
    assert older.uri == "ws://127.0.0.1:4004/ws"
    assert newest_address(lines, set()) is None
