"""The debug side of the Flutter lab: a VM service that the log names, frames, semantics on demand."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from handrail_sim import shell
from tests.debugger import Debugger, debugging, reached
from tests.hand import Hand

FLUTTER = "com.handrail.flutterlab"
DUMP = "ext.flutter.debugDumpSemanticsTreeInTraversalOrder"
ENSURE = "SemanticsBinding.instance.ensureSemantics()"
BINDING = "package:flutter/src/semantics/binding.dart"
Story = Callable[[Hand, Debugger, str], Awaitable[None]]


async def address(hand: Hand) -> tuple[int, str]:
    """As tools find it."""
    log = (await hand.run(shell.capture(hand.phone, "logcat -d -s flutter:I"))).stdout.decode()
    found = re.findall(r"Dart VM service is listening on http://127.0.0.1:(\d+)/(\S+)/", log)[-1]
    return int(found[0]), found[1]


def debugged(story: Story) -> None:
    async def run() -> None:
        hand = Hand(apps=["flutter_lab"])
        await hand.open(FLUTTER)
        port, secret = await address(hand)
        async with (
            asyncio.timeout(20),
            reached(hand.phone, f"tcp:{port}") as here,
            debugging(f"ws://127.0.0.1:{here}/{secret}/ws", jsonrpc="2.0") as debugger,
        ):
            vm = (await debugger.ask("getVM"))["result"]
            await story(hand, debugger, vm["isolates"][0]["id"])

    asyncio.run(run())


def add_task(hand: Hand) -> None:
    top: Any = hand.phone.tasks.top
    top.set_field("task", "Wind the clock")
    top.add()


async def library(debugger: Debugger, isolate: str, uri: str) -> str:
    found = (await debugger.ask("getIsolate", isolateId=isolate))["result"]["libraries"]
    return str(next(one["id"] for one in found if one["uri"] == uri))


def test_every_process_has_a_port_and_a_secret_of_its_own() -> None:
    async def story() -> None:
        hand = Hand(apps=["flutter_lab"])
        await hand.open(FLUTTER)
        first = await address(hand)
        hand.phone.force_stop(FLUTTER)
        assert f"tcp:{first[0]}" not in hand.phone.ports
        await hand.open(FLUTTER)
        assert await address(hand) != first

    asyncio.run(story())


def test_without_the_secret_nobody_gets_in() -> None:
    async def story() -> None:
        hand = Hand(apps=["flutter_lab"])
        await hand.open(FLUTTER)
        port, _ = await address(hand)
        async with reached(hand.phone, f"tcp:{port}") as here:
            with pytest.raises(InvalidStatus, match="403"):
                async with debugging(f"ws://127.0.0.1:{here}/ws"):
                    pass

    asyncio.run(story())


def test_telling_the_semantics_does_not_build_them() -> None:
    async def story(hand: Hand, debugger: Debugger, isolate: str) -> None:
        told = (await debugger.ask(DUMP, isolateId=isolate))["result"]["data"]
        assert told.startswith("Semantics not generated")
        assert "Oil the hinge" not in hand.phone.dump()

    debugged(story)


def test_an_expression_in_the_binding_builds_the_semantics() -> None:
    async def story(hand: Hand, debugger: Debugger, isolate: str) -> None:
        target = await library(debugger, isolate, BINDING)
        made = await debugger.ask("evaluate", isolateId=isolate, targetId=target, expression=ENSURE)
        assert made["result"]["class"]["name"] == "SemanticsHandle"
        assert "SemanticsNode#" in (await debugger.ask(DUMP, isolateId=isolate))["result"]["data"]
        assert "Oil the hinge" in hand.phone.dump()
        hand.phone.force_stop(FLUTTER)
        await hand.open(FLUTTER)
        assert "Oil the hinge" not in hand.phone.dump()

    debugged(story)


def test_an_expression_must_compile_where_it_is_evaluated() -> None:
    async def story(_: Hand, debugger: Debugger, isolate: str) -> None:
        root = await library(debugger, isolate, "package:flutter_lab/main.dart")
        refused = await debugger.ask("evaluate", isolateId=isolate, targetId=root, expression=ENSURE)
        assert refused["error"]["code"] == 113
        nowhere = await debugger.ask(
            "evaluate", isolateId=isolate, targetId="libraries/99", expression=ENSURE
        )
        assert nowhere["error"]["code"] == -32602
        assert (await debugger.ask("getIsolate", isolateId="isolates/1"))["error"]["code"] == -32602
        assert (await debugger.ask("nothing"))["error"]["code"] == -32601

    debugged(story)


def test_a_saved_task_appears_after_its_frames_and_nothing_moves_before() -> None:
    async def story(hand: Hand, debugger: Debugger, isolate: str) -> None:
        target = await library(debugger, isolate, BINDING)
        await debugger.ask("evaluate", isolateId=isolate, targetId=target, expression=ENSURE)
        await debugger.ask("streamListen", streamId="Extension")
        add_task(hand)
        assert hand.phone.state()["apps"][FLUTTER]["saving"] == 1
        before = hand.phone.dump()
        await hand.wait(500)
        assert hand.phone.dump() == before
        frame = (await debugger.hear())["params"]["event"]
        assert (frame["extensionKind"], frame["extensionData"]["number"]) == ("Flutter.Frame", 1)
        await hand.wait(600)
        assert "Wind the clock" in hand.phone.dump()
        assert hand.phone.state()["apps"][FLUTTER] == {
            "tasks": ["Oil the hinge", "Return the book", "Buy stamps", "Wind the clock"],
            "done": [],
            "speed": [30],
            "counter": 0,
            "saving": 0,
        }

    debugged(story)


def test_an_app_at_rest_draws_nothing() -> None:
    async def story(hand: Hand, debugger: Debugger, isolate: str) -> None:
        await debugger.ask("streamListen", streamId="Extension")
        await hand.wait(500)
        debugger.events.clear()
        await hand.wait(2000)
        await debugger.ask("ext.flutter.didSendFirstFrameEvent", isolateId=isolate)
        assert debugger.events == []
        assert (await debugger.ask("streamListen", streamId="Extension"))["error"]["code"] == 103

    debugged(story)
