from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path

import pytest

from handrail_sim.channels.emulator import (
    SERVICE,
    Console,
    Controller,
    MalformedMessage,
    android_code,
    decode,
    emulate,
    encode,
    messages,
    number,
    open_console,
    text,
)
from handrail_sim.clock import ManualClock, SystemClock
from handrail_sim.phone import Phone
from handrail_sim.system.surroundings import Place, last_place
from tests.hand import Hand

CONTACTS = "com.google.android.contacts"


def with_controller(story: Callable[[Hand, Controller], Awaitable[None]]) -> None:
    async def play() -> None:
        hand = Hand()
        await story(hand, Controller(hand.phone))

    asyncio.run(play())


def touch(x: float, y: float, pressure: int, finger: int = 0) -> bytes:
    return encode((1, encode((1, int(x)), (2, int(y)), (3, finger), (4, pressure))))


def test_messages_survive_the_codec() -> None:
    made = encode((1, 150), (2, "testing"), (3, encode((1, -5))), (4, False))
    assert made[:3] == b"\x08\x96\x01"
    assert made[3:12] == b"\x12\x07testing"
    fields = decode(made)
    assert (number(fields, 1), text(fields, 2), number(fields, 4)) == (150, "testing", 0)
    assert number(messages(fields, 3)[0], 1) == -5
    for broken in (b"\x08", b"\x12\x7fab", b"\x0b", b"\x08" + b"\xff" * 11):
        with pytest.raises(MalformedMessage):
            decode(broken)


def test_status_says_booted() -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await hand.wait(1000)
        status = decode(await controller.get_status(b""))
        assert number(status, 2) == 1000
        assert number(status, 3) == 1

    with_controller(story)


def test_touches_are_in_pixels_of_the_screen_as_it_was_built() -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        for rotation, seen in enumerate([(100, 300), (300, 979), (979, 2099), (2099, 100)]):
            hand.phone.set_rotation(rotation)
            await controller.send_touch(touch(100, 300, 100))
            await controller.send_touch(touch(100, 300, 0))
            down = [one for one in hand.phone.input_log if one.get("action") == "down"][-1]
            assert (down["x"], down["y"]) == seen

    with_controller(story)


def test_touches_by_pressure_tap_and_pinch() -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await hand.open(CONTACTS)
        x, y = hand.find("Create new contact").centre
        await controller.send_touch(touch(x, y, 100))
        await controller.send_touch(touch(x, y, 0))
        await hand.settle()
        assert any(seen["class"] == "android.widget.EditText" for seen in hand.see())
        await controller.send_touch(touch(300, 900, 100) + touch(600, 900, 100, 1))
        await controller.send_touch(touch(200, 900, 100) + touch(700, 900, 100, 1))
        await controller.send_touch(touch(200, 900, 0) + touch(700, 900, 0, 1))
        actions = [event["action"] for event in hand.phone.input_log[-6:]]
        assert actions == ["down", "down", "move", "move", "up", "up"]

    with_controller(story)


def test_keys_by_name_code_and_text() -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await hand.open(CONTACTS)
        await controller.send_key(encode((2, 2), (4, "GoHome")))
        await hand.settle()
        assert hand.see()[0]["package"] == "com.android.launcher3"
        await hand.open(CONTACTS)
        await hand.tap("Create new contact")
        field = next(seen for seen in hand.see() if seen["class"] == "android.widget.EditText")
        await hand.tap_at(*field.centre)
        await controller.send_key(encode((5, "Ada")))
        await controller.send_key(encode((1, 1), (2, 0), (3, 30)))
        await controller.send_key(encode((1, 1), (2, 1), (3, 30)))
        assert hand.sees("Adaa")
        await controller.send_key(encode((2, 2), (4, "Backspace")))
        assert hand.sees("Ada")

    with_controller(story)


@pytest.mark.parametrize(
    ("kind", "code", "key"), [(0, 0x070028, 66), (1, 158, 4), (2, 166, 4), (3, 13, None)]
)
def test_key_codes_of_other_worlds(kind: int, code: int, key: int | None) -> None:
    assert android_code(kind, code) == key


def test_clipboard_and_screenshots() -> None:
    async def story() -> None:
        image = pytest.importorskip("PIL.Image")
        phone = Phone(clock=ManualClock())
        controller = Controller(phone)
        await controller.set_clipboard(encode((1, "Grüße")))
        assert text(decode(await controller.get_clipboard(b"")), 1) == "Grüße"
        answer = decode(await controller.get_screenshot(encode((3, 270))))
        picture = answer[4][0]
        assert isinstance(picture, bytes)
        assert image.open(BytesIO(picture)).size == (270, 600)
        raw = decode(await controller.get_screenshot(encode((1, 1), (3, 108))))
        assert len(raw[4][0]) == 108 * 240 * 4  # type: ignore[arg-type]

    asyncio.run(story())


def test_the_console_answers_ok_or_ko() -> None:
    async def story() -> None:
        hand = Hand()
        console = Console(hand.phone, 5554)
        assert console.answer("ping") == "I am alive!\r\nOK\r\n"
        assert console.answer("geo fix 13.4 52.5") == "OK\r\n"
        assert last_place(hand.phone) == (Place(52.5, 13.4), hand.phone.wall_ms())
        assert console.answer("geo fix 200 52").startswith("KO: ")
        assert console.answer("sms send +15550100 your code is 7788") == "OK\r\n"
        assert "7788" in str(hand.phone.state())
        assert console.answer("network speed edge") == "OK\r\n"
        assert "upload speed:       473600 bits/s" in console.answer("network status")
        assert console.answer("network delay 30:90") == "OK\r\n"
        assert "maximum latency:  90 ms" in console.answer("network status")
        assert console.answer("network speed 1:x").startswith("KO: ")
        assert console.answer("power capacity 17") == "OK\r\n"
        assert hand.phone.battery == 17
        assert console.answer("avd snapshot save a") == "OK\r\n"
        assert console.answer("avd snapshot list") == "a\r\nOK\r\n"
        assert console.answer("dance").startswith("KO: unknown command")
        assert console.answer("quit") == ""
        assert console.left

    asyncio.run(story())


def test_the_console_asks_for_the_token_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    async def talk(port: int, *lines: str) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write("".join(f"{line}\r\n" for line in (*lines, "quit")).encode())
        told = (await reader.read()).decode()
        writer.close()
        return told

    async def story() -> None:
        async with open_console(Phone(clock=SystemClock(), apps=[]), 0) as port:
            told = await talk(port, "power capacity 5", "ping")
            assert "Authentication required" in told
            assert "KO: unknown command" in told
            assert "I am alive!" in told
            token = (tmp_path / ".emulator_console_auth_token").read_text()
            assert (tmp_path / ".emulator_console_auth_token").stat().st_mode & 0o077 == 0
            assert "KO: authentication token does not match" in await talk(port, "auth nonsense")
            told = await talk(port, f"auth {token}", "power capacity 5")
            assert told.count("OK\r\n") == 3
            assert "KO" not in told
            (tmp_path / ".emulator_console_auth_token").write_text("")
            assert "Authentication" not in await talk(port, "ping")

    asyncio.run(story())


def test_both_doors_open_on_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aio = pytest.importorskip("grpc.aio")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".emulator_console_auth_token").write_text("")

    async def story() -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = min(probe.getsockname()[1], 60000)
        async with emulate(Phone(clock=SystemClock()), port) as doors:
            assert doors.grpc_port == port + 3000
            async with aio.insecure_channel(f"127.0.0.1:{doors.grpc_port}") as channel:
                status = await channel.unary_unary(f"/{SERVICE}/getStatus")(b"")
                assert number(decode(status), 3) == 1
                with pytest.raises(aio.AioRpcError):
                    await channel.unary_unary(f"/{SERVICE}/sendTouch")(b"\x0a\x7f")
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"avd grpc\r\nquit\r\n")
            assert f"{port + 3000}\r\n".encode() in await reader.read()
            writer.close()

    asyncio.run(story())
