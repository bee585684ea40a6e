"""The emulator's two doors besides adb: EmulatorController over gRPC (console port + 3000) and the console.

gRPC needs the optional grpcio; without it the console alone is opened, and `reason` says so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from handrail_sim.channels.console import open_console
from handrail_sim.channels.protobuf import Malformed, Value, decode, encode, messages, number, text
from handrail_sim.input.emulator_keys import NAMES, android_code

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

SERVICE = "android.emulation.control.EmulatorController"
GRPC_OFFSET = 3000
VERSION = "35.1.4-handrail"
LONG_PRESS_MS = 500.0
KEY_DOWN, KEY_UP = 0, 1
PNG, RGB888 = 0, 2

Fields = dict[int, list[Value]]


@dataclass(frozen=True, slots=True)
class Doors:
    """Where the doors are; `grpc_port` is None, with a reason, when grpcio is missing."""

    console_port: int
    grpc_port: int | None
    reason: str = ""


@asynccontextmanager
async def emulate(phone: Handset, console_port: int, host: str = "127.0.0.1") -> AsyncIterator[Doors]:
    """Open both doors for a phone while the block runs."""
    async with open_console(phone, console_port, host):
        try:
            from grpc import aio  # type: ignore[import-untyped]  # noqa: PLC0415 - an optional extra
        except ImportError:
            yield Doors(console_port, None, "grpcio is not installed: pip install 'handrail-sim[emulator]'")
            return
        server = aio.server()
        server.add_generic_rpc_handlers((handler(Controller(phone)),))
        port = server.add_insecure_port(f"{host}:{console_port + GRPC_OFFSET}")
        await server.start()
        try:
            yield Doors(console_port, port)
        finally:
            await server.stop(0)


def handler(controller: Controller) -> Any:
    """The service for a gRPC server; messages go in and out as bytes."""
    import grpc  # noqa: PLC0415 - an optional extra

    unary: dict[str, Callable[[bytes], Awaitable[bytes]]] = {
        "getStatus": controller.get_status,
        "sendTouch": controller.send_touch,
        "sendKey": controller.send_key,
        "getScreenshot": controller.get_screenshot,
        "setClipboard": controller.set_clipboard,
        "getClipboard": controller.get_clipboard,
    }

    def method(run: Callable[[bytes], Awaitable[bytes]]) -> Any:
        async def answer(request: bytes, context: Any) -> bytes:
            try:
                return await run(request)
            except Malformed as problem:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(problem))
                raise

        return grpc.unary_unary_rpc_method_handler(answer)

    return grpc.method_handlers_generic_handler(SERVICE, {name: method(run) for name, run in unary.items()})


class Controller:
    """The calls, on encoded messages."""

    def __init__(self, phone: Handset) -> None:
        self.phone = phone
        self._fingers: set[int] = set()
        self._pressed: dict[int, float] = {}
        self._pictures = 0

    async def get_status(self, _request: bytes) -> bytes:
        """EmulatorStatus: version, uptime in ms, booted."""
        phone = self.phone
        phone.catch_up()
        uptime = int(phone.clock.monotonic_ms() - phone.booted_ms)
        hardware = encode((1, encode((1, "hw.lcd.density"), (2, str(phone.display.density)))))
        return encode((1, VERSION), (2, uptime), (3, True), (5, hardware))

    async def send_touch(self, request: bytes) -> bytes:
        """TouchEvent: a finger that is new goes down, pressure 0 lifts it."""
        for touch in messages(decode(request), 1):
            finger = number(touch, 3)
            x, y = self._turned(number(touch, 1), number(touch, 2))
            if number(touch, 4) <= 0:
                if finger in self._fingers:
                    self._fingers.discard(finger)
                    self.phone.pointer("up", x, y, finger)
            elif finger in self._fingers:
                self.phone.pointer("move", x, y, finger)
            elif self.phone.chances():
                self._fingers.add(finger)
                self.phone.pointer("down", x, y, finger)
        return b""

    def _turned(self, x: int, y: int) -> tuple[int, int]:
        """Touches come in px of the panel as it was built; Android turns them with the screen."""
        display = self.phone.display
        right, bottom = display.width - 1, display.height - 1
        return [(x, y), (y, bottom - x), (right - x, bottom - y), (right - y, x)][display.rotation % 4]

    async def send_key(self, request: bytes) -> bytes:
        """KeyboardEvent: text, a named key, or a code; a key that is held for 500 ms is a long press."""
        event = decode(request)
        kind, code, name, words = number(event, 2), number(event, 3), text(event, 4), text(event, 5)
        if words:
            self._type(words)
        elif name and name not in NAMES:
            if kind != KEY_UP:
                self._type(name[:1])
        else:
            key = NAMES.get(name) if name else android_code(number(event, 1), code)
            if key is not None:
                self._key(kind, key)
        return b""

    def _type(self, words: str) -> None:
        """Characters without a key on the emulator's keyboard are dropped."""
        self.phone.type_ascii("".join(one for one in words if " " <= one <= "~"))

    def _key(self, kind: int, key: int) -> None:
        now = self.phone.clock.monotonic_ms()
        if kind == KEY_DOWN:
            self._pressed.setdefault(key, now)
            return
        held = now - self._pressed.pop(key, now) >= LONG_PRESS_MS
        self.phone.key(key, long_press=held)

    async def get_screenshot(self, request: bytes) -> bytes:
        """Image; a width or height that is asked for bounds it, the ratio is kept."""
        wanted = decode(request)
        form, bound = number(wanted, 1), (number(wanted, 3), number(wanted, 4))
        png = await self.phone.screenshot()
        data, width, height = await self.phone.painted(lambda: _picture(png, form, bound))
        self._pictures += 1
        rotation = encode((1, self.phone.display.rotation))
        shape = encode((1, form), (2, rotation), (3, width), (4, height))
        stamp = self.phone.wall_ms() * 1000
        return encode((1, shape), (2, width), (3, height), (4, data), (5, self._pictures), (6, stamp))

    async def set_clipboard(self, request: bytes) -> bytes:
        """ClipData: text."""
        self.phone.clipboard = text(decode(request), 1)
        return b""

    async def get_clipboard(self, _request: bytes) -> bytes:
        """ClipData."""
        return encode((1, self.phone.clipboard))


def _picture(png: bytes, form: int, bound: tuple[int, int]) -> tuple[bytes, int, int]:
    from PIL import Image  # noqa: PLC0415 - only for those who ask for pictures

    picture: Image.Image = Image.open(BytesIO(png))
    limits = [have / want for have, want in zip(picture.size, bound, strict=True) if want]
    if limits and max(limits) > 1:
        size = (round(picture.width / max(limits)), round(picture.height / max(limits)))
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    elif form == PNG:
        return png, picture.width, picture.height
    if form == PNG:
        out = BytesIO()
        picture.save(out, "PNG")
        return out.getvalue(), picture.width, picture.height
    mode = "RGB" if form == RGB888 else "RGBA"
    return picture.convert(mode).tobytes(), picture.width, picture.height
