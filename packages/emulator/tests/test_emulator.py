from __future__ import annotations

import asyncio
import builtins
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any

import grpc
import pytest
from grpc import aio
from PIL import Image

import handrail_emulator as client
from handrail.android.dumpsys import read_display
from handrail.clock import SystemClock
from handrail.errors import DeviceOffline, GrpcConnectionError, GrpcRpcError, Unsupported
from handrail.screen.parse import parse
from handrail.surface.values import Display
from handrail_emulator import EmulatorChannel, EmulatorClient, Endpoint, open_emulator
from tests import fingers
from tests.unit.android.sim_phone import CONTACTS, Bench, play


async def upright() -> Display:
    return Display(1080, 2400, 420, 0)


def free_port() -> int:
    """An odd port for adb whose neighbours for console and gRPC are free as well."""
    for port in range(21_001 + os.getpid() % 10_000 // 2 * 2, 60_000, 2):
        try:
            for needed in (port - 1, port, port - 1 + 3000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", needed))
        except OSError:
            continue
        return port
    raise AssertionError("no free ports")


def with_emulator(story: Callable[[Bench, EmulatorChannel], Awaitable[None]]) -> None:
    port = free_port()

    async def run(bench: Bench) -> None:
        async def display() -> Display:
            return await read_display(bench.device.shell, 20_000)

        channel = await open_emulator(
            f"emulator-{port - 1}", env={}, clock=bench.clock, display=display, say=bench.said.append
        )
        assert channel is not None, bench.said
        try:
            await story(bench, channel)
        finally:
            await channel.close()

    play(run, port=port, emulator=True)


def test_taps_keys_and_text_arrive() -> None:
    async def story(bench: Bench, channel: EmulatorChannel) -> None:
        bench.phone.start_activity(package=CONTACTS)
        shell = bench.device.shell
        await channel.perform(fingers.tap(*await centre(bench, "Create new contact")))
        await channel.perform(fingers.tap(*await centre(bench, "android.widget.EditText")))
        await channel.type_ascii("Ada L")
        await channel.key(67)
        assert "Ada " in (await shell.run(["uiautomator", "dump", "/dev/tty"])).text
        await channel.key(3)
        assert bench.phone.tasks.front is not None
        await channel.set_clipboard("Grüße 👋")
        assert bench.phone.clipboard == "Grüße 👋"
        assert await channel.get_clipboard() == "Grüße 👋"
        picture = Image.open(BytesIO(await channel.screenshot()))
        assert (picture.format, picture.size) == ("PNG", (1080, 2400))

    with_emulator(story)


async def centre(bench: Bench, words: str) -> tuple[int, int]:
    """Of the first node with these words or of this class."""
    screen = parse(bench.phone.dump())
    return next(n.center for n in screen.nodes if words in (n.text, n.description, n.class_name))


def test_gestures_have_their_fingers_and_end_with_none_down() -> None:
    async def story(bench: Bench, channel: EmulatorChannel) -> None:
        await channel.perform(fingers.pinch(540, 1200, 100, 300, 60))
        touches = bench.touches()
        assert touches[:2] == [("down", 440, 1200, 0), ("down", 640, 1200, 1)]
        assert touches[-2:] == [("up", 240, 1200, 0), ("up", 840, 1200, 1)]
        for gesture in (
            channel.perform(fingers.rotate(540, 1200, 200, 0, 90, 60)),
            channel.perform(fingers.swipe(540, 1500, 540, 900, 60)),
            channel.perform(fingers.drag(540, 900, 540, 1500, 60)),
            channel.perform(fingers.long_press(540, 1200, 60)),
            channel.perform(fingers.double_tap(540, 1200)),
        ):
            before = len(bench.touches())
            await gesture
            actions = [one[0] for one in bench.touches()[before:]]
            assert actions.count("down") == actions.count("up") > 0
            assert actions[-1] == "up"

    with_emulator(story)


def test_keys_and_text_that_the_emulator_would_drop_are_refused_before_they_are_sent() -> None:
    async def story(bench: Bench, channel: EmulatorChannel) -> None:
        with pytest.raises(Unsupported) as caught:
            await channel.key(277)
        assert caught.value.details["delivery"] == "not_delivered"
        with pytest.raises(Unsupported):
            await channel.type_ascii("Grüße")
        assert not bench.phone.input_log

    with_emulator(story)


def test_a_stop_in_the_middle_of_a_gesture_lifts_the_finger() -> None:
    async def story(bench: Bench, channel: EmulatorChannel) -> None:
        swiping = asyncio.ensure_future(channel.perform(fingers.swipe(540, 1800, 540, 600, 60_000)))
        await bench.until(lambda: len(bench.touches()) >= 3)
        swiping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await swiping
        assert bench.touches()[-1][0] == "up"

    with_emulator(story)


class Stumbling(EmulatorClient):
    """Its second touch fails."""

    touches = 0

    async def call(self, method: str, request: bytes, *, timeout_ms: float = 10_000) -> bytes:
        self.touches += method == "sendTouch"
        if self.touches == 2:
            return await super().call("sendMouse", request, timeout_ms=timeout_ms)
        return await super().call(method, request, timeout_ms=timeout_ms)


def test_a_call_that_fails_is_named_and_a_gesture_that_began_is_unknown_and_lifted() -> None:
    async def story(bench: Bench, channel: EmulatorChannel) -> None:
        client = Stumbling(channel.client.endpoint)
        with pytest.raises(GrpcRpcError) as caught:
            await client.call("setClipboard", b"\xff")
        assert caught.value.details == {"rpc_method": "setClipboard", "delivery": "not_delivered"}
        stumbling = EmulatorChannel(client, clock=bench.clock, display=upright)
        with pytest.raises(GrpcRpcError) as caught:
            await stumbling.perform(fingers.swipe(1, 1, 50, 50, 100))
        assert caught.value.details["rpc_method"] == "sendMouse"
        assert caught.value.details["delivery"] == "unknown"
        assert [one[0] for one in bench.touches()] == ["down", "up"]
        await stumbling.close()

    with_emulator(story)


def test_how_the_screen_is_turned_must_be_known_before_a_finger_goes_down() -> None:
    async def story(bench: Bench, channel: EmulatorChannel) -> None:
        async def gone() -> Display:
            raise DeviceOffline("no phone")

        blind = EmulatorChannel(channel.client, clock=bench.clock, display=gone)
        with pytest.raises(DeviceOffline) as caught:
            await blind.perform(fingers.tap(5, 5))
        assert caught.value.details["delivery"] == "not_delivered"
        assert not bench.phone.input_log

    with_emulator(story)


@asynccontextmanager
async def serving(method: str, answer: Callable[[bytes, Any], Awaitable[bytes]]) -> AsyncIterator[int]:
    """An emulator that has one call; the port it is on."""
    server = aio.server()
    handler = grpc.unary_unary_rpc_method_handler(answer)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(client.SERVICE, {method: handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield port
    finally:
        await server.stop(0)


@pytest.mark.parametrize("answer", [b"", b"\x22\x7fcut short"])
def test_a_picture_that_is_none_fails_the_call(answer: bytes) -> None:
    async def told(request: bytes, context: Any) -> bytes:
        return answer

    async def story() -> None:
        async with serving("getScreenshot", told) as port:
            channel = EmulatorChannel(EmulatorClient(Endpoint(port)), clock=SystemClock(), display=upright)
            with pytest.raises(GrpcRpcError, match="does not parse") as caught:
                await channel.screenshot()
            assert caught.value.details["rpc_method"] == "getScreenshot"
            await channel.close()

    asyncio.run(story())


def test_a_call_under_way_when_the_channel_is_closed_fails_and_is_not_a_cancellation() -> None:
    async def story() -> None:
        asked = asyncio.Event()

        async def never(request: bytes, context: Any) -> bytes:
            asked.set()
            await asyncio.Event().wait()
            return b""

        async with serving("sendKey", never) as port:
            client = EmulatorClient(Endpoint(port))
            calling = asyncio.ensure_future(client.call("sendKey", b""))
            await asked.wait()
            await client.close()
            with pytest.raises(GrpcRpcError) as caught:
                await calling
            assert caught.value.details["delivery"] == "unknown"
            with pytest.raises(GrpcConnectionError) as refused:
                await client.call("sendKey", b"")
            assert refused.value.details["delivery"] == "not_delivered"

    asyncio.run(story())


async def test_an_emulator_that_is_not_there_is_a_connection_error_and_one_line() -> None:
    port = free_port()
    client = EmulatorClient(Endpoint(port))
    with pytest.raises(GrpcConnectionError) as caught:
        await client.call("sendTouch", b"")
    assert caught.value.details["delivery"] == "not_delivered"
    await client.close()
    said: list[str] = []
    assert await opened(f"emulator-{port - 1}", said) is None
    assert await opened("R58M123ABC", said) is None
    assert len(said) == 2
    assert said[0].startswith(f"no gRPC: no emulator answers gRPC on 127.0.0.1:{port - 1 + 3000}")
    assert said[1] == "no gRPC: R58M123ABC is not an emulator of this machine"


async def opened(serial: str, said: list[str]) -> EmulatorChannel | None:
    return await open_emulator(serial, env={}, clock=SystemClock(), display=upright, say=said.append)


def test_without_grpcio_there_is_one_line_and_no_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "grpc":
            raise ImportError(name)
        return real(name, *rest, **options)

    async def story() -> None:
        said: list[str] = []
        monkeypatch.setattr(builtins, "__import__", without)
        assert await opened("emulator-5554", said) is None
        monkeypatch.undo()
        assert said == ["no gRPC: grpcio is not installed; pip install 'handrail[emulator]'"]

    asyncio.run(story())
