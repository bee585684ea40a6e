"""The Android emulator's gRPC channel: touches of two fingers, keys, clipboard, screenshots.

Nothing runs on the device.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from handrail.android.channel import Channel
from handrail.android.constants import (
    GRPC_CONNECT_TIMEOUT_MS,
    GRPC_FRAMES_PER_SEC,
    GRPC_PORT_OFFSET,
    GRPC_PRESSURE,
    GRPC_RPC_TIMEOUT_MS,
    LONG_PRESS_TIMEOUT_MS,
)
from handrail.android.emulator_console import console_port
from handrail.android.input import w3c_name
from handrail.clock import Clock
from handrail.errors import GrpcConnectionError, GrpcRpcError, HandrailError, Unsupported
from handrail.surface.gesture import TOUCHES, Gesture
from handrail.surface.values import Display

__version__ = "0.2.0"

MAX_ANSWER = 64 << 20
OPTIONS = [("grpc.max_receive_message_length", MAX_ANSWER), ("grpc.enable_http_proxy", 0)]
"""A screenshot exceeds gRPC's default of 4 MB; loopback must not go through a proxy."""
NEVER_RAN = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "INVALID_ARGUMENT"})
"""Codes of calls that were refused before they did anything."""
HINTS = {
    "UNAUTHENTICATED": "The emulator requires a token that its pid_*.ini lacks; start it with -grpc.",
    "UNIMPLEMENTED": "This emulator is too old for the call; update it.",
}
T = TypeVar("T")


class EmulatorClient:
    """gRPC client of one emulator. Create it inside a running event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Raises ImportError without grpcio."""
        from grpc import aio  # type: ignore[import-untyped]  # noqa: PLC0415 - an optional extra

        self.endpoint = endpoint
        self._closed = False
        self._failure: type[Any] = aio.AioRpcError
        self._channel = aio.insecure_channel(f"127.0.0.1:{endpoint.port}", options=OPTIONS)
        token = endpoint.token
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    async def status(self) -> Fields:
        """The first call, which tests the connection."""
        return await self.ask("getStatus", b"", decode, timeout_ms=GRPC_CONNECT_TIMEOUT_MS)

    async def ask(
        self,
        method: str,
        request: bytes,
        read: Callable[[bytes], T],
        *,
        timeout_ms: float = GRPC_RPC_TIMEOUT_MS,
    ) -> T:
        """Calls and parses; an answer that does not parse fails the call."""
        answer = await self.call(method, request, timeout_ms=timeout_ms)
        try:
            return read(answer)
        except ValueError as error:
            raise self._named(method, "INTERNAL", f"the answer does not parse: {error}") from None

    async def call(self, method: str, request: bytes, *, timeout_ms: float = GRPC_RPC_TIMEOUT_MS) -> bytes:
        """Raises `GrpcConnectionError` if the call was never sent, else `GrpcRpcError` with `rpc_method`."""
        if self._closed:
            raise GrpcConnectionError("the gRPC channel is closed", delivery="not_delivered")
        invoke = self._channel.unary_unary(f"/{SERVICE}/{method}")
        try:
            answer: bytes = await invoke(request, timeout=timeout_ms / 1000, metadata=self._metadata)
        except self._failure as error:
            raise self._named(method, error.code().name, error.details() or "") from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._closed and task is not None and not task.cancelling():
                raise self._named(method, "CANCELLED", "the channel was closed meanwhile") from None
            raise
        return answer

    def _named(self, method: str, code: str, details: str) -> GrpcConnectionError | GrpcRpcError:
        where = f"127.0.0.1:{self.endpoint.port}"
        if code == "UNAVAILABLE" and "failed to connect" in details.lower():
            reason = f"no emulator answers gRPC on {where}: {details[:160]}"
            return GrpcConnectionError(reason, delivery="not_delivered")
        delivery = "not_delivered" if code in NEVER_RAN else "unknown"
        reason = f"{method} on {where} failed with {code}: {details[:160]}"
        return GrpcRpcError(reason, rpc_method=method, delivery=delivery, hint=HINTS.get(code))

    async def close(self) -> None:
        """Pending calls fail: grpcio cancels them, although their callers were not cancelled."""
        self._closed = True
        await self._channel.close(0)


SERVICE = "android.emulation.control.EmulatorController"
KEY_PRESS = 2


def touch_event(points: Iterable[Point], pressure: int) -> bytes:
    """One point per finger. Fingers that are not named stay as they are; pressure 0 lifts."""
    fingers = [encode((1, x), (2, y), (3, finger), (4, pressure)) for finger, (x, y) in enumerate(points)]
    return encode(*((1, touch) for touch in fingers))


def read_image(answer: bytes) -> bytes:
    if image := last_bytes(decode(answer), 4):
        return image
    raise ValueError("an image without a picture")


Value = int | bytes
Fields = dict[int, list[Value]]
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MASK64 = (1 << 64) - 1


def encode(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Encodes (number, value) pairs; zero and empty values are left out, as in proto3."""
    out = bytearray()
    for number, value in fields:
        if not value:
            continue
        if isinstance(value, int):
            out += _varint(number << 3 | _VARINT) + _varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += _varint(number << 3 | _BYTES) + _varint(len(data)) + data
    return bytes(out)


def _varint(value: int) -> bytes:
    """Negative numbers are encoded as 64-bit complement."""
    value &= _MASK64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode(data: bytes) -> Fields:
    """All values by field number. Raises `ValueError` if it does not parse."""
    fields: Fields = {}
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, kind = key >> 3, key & 7
        value: Value
        if kind == _VARINT:
            value, at = _read_varint(data, at)
        else:
            if kind == _BYTES:
                size, at = _read_varint(data, at)
            elif kind in (_FIXED64, _FIXED32):
                size = 8 if kind == _FIXED64 else 4
            else:
                raise ValueError(f"wire type {kind}")
            if at + size > len(data):
                raise ValueError(f"field {number} is cut short")
            value = data[at : at + size]
            at += size
        fields.setdefault(number, []).append(value)
    return fields


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & _MASK64, at
    raise ValueError("a number without an end")


def last_bytes(fields: Fields, number: int) -> bytes:
    """Empty if the field is missing."""
    value = fields.get(number, [b""])[-1]
    return value if isinstance(value, bytes) else b""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A gRPC server on this machine; an empty token means no authentication."""

    port: int
    token: str = ""


def find_endpoint(serial: str, env: Mapping[str, str]) -> Endpoint | None:
    """None if it is not an emulator on this machine."""
    console = console_port(serial)
    if console is None:
        return None
    files = []
    for path in (path for folder in folders(env) for path in folder.glob("pid_*.ini")):
        with suppress(OSError):  # it may have just ended
            files.append((path.stat().st_mtime, path.read_text(errors="replace").splitlines()))
    # Newest first, because a crashed emulator leaves its file behind.
    for _, lines in sorted(files, key=lambda file: -file[0]):
        pairs = (line.partition("=") for line in lines)
        properties = {name.strip(): value.strip() for name, _, value in pairs}
        if properties.get("port.serial") == str(console) and properties.get("grpc.port", "").isdigit():
            return Endpoint(int(properties["grpc.port"]), properties.get("grpc.token", ""))
    return Endpoint(console + GRPC_PORT_OFFSET)


def folders(env: Mapping[str, str]) -> list[Path]:
    """Where emulators announce themselves, by operating system and version."""
    temp = Path(env.get("TMPDIR") or tempfile.gettempdir())
    roots = [Path(env["XDG_RUNTIME_DIR"])] if env.get("XDG_RUNTIME_DIR") else []
    roots += [temp, temp / f"android-{env.get('USER', '')}"]
    if home := env.get("HOME"):
        roots += [Path(home) / "Library/Caches/TemporaryItems", Path(home) / ".android"]
    return [root / "avd/running" for root in roots]


FRAME_MS = 1000 / GRPC_FRAMES_PER_SEC
PICK_UP_MS = LONG_PRESS_TIMEOUT_MS + 100
"""A drag holds slightly longer than a long press before it moves."""
LIFT_TIMEOUT_MS = 1_000
KEYS = {"GoBack", "GoHome", "AppSwitch", "Power", "AudioVolumeUp", "AudioVolumeDown"}
KEYS |= {"Enter", "Backspace", "Delete", "Tab", "Escape", "Home", "End", "PageUp", "PageDown"}
KEYS |= {"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"}
"""Names that emulators accept. An unknown name is dropped silently."""


class EmulatorChannel(Channel):
    """One emulator. `display` reports its rotation."""

    name = "grpc"
    gestures = TOUCHES - {"path"}

    def __init__(
        self, client: EmulatorClient, *, clock: Clock, display: Callable[[], Awaitable[Display]]
    ) -> None:
        self.client = client
        self._clock = clock
        self._display = display

    async def screenshot(self) -> bytes:
        return await self.client.ask("getScreenshot", b"", read_image)

    async def get_clipboard(self) -> str:
        clip = await self.client.ask("getClipboard", b"", lambda answer: last_bytes(decode(answer), 1))
        return clip.decode("utf-8", "replace")

    async def set_clipboard(self, text: str) -> None:
        await self.client.call("setClipboard", encode((1, text)))

    async def key(self, code: int) -> None:
        name = w3c_name(code)
        if name is None or not (name in KEYS or len(name) == 1):
            reason = f"the emulator has no name for key {code}"
            raise Unsupported(reason, channel=self.name, delivery="not_delivered")
        await self.client.call("sendKey", encode((2, KEY_PRESS), (4, name)))

    async def type_ascii(self, text: str) -> None:
        self._need_keys(text)
        await self.client.call("sendKey", encode((5, text)))

    async def perform(self, gesture: Gesture) -> None:
        if gesture.kind == "double_tap":
            await self._tap_twice(lambda: self._play([(gesture.start_point,)]), self._clock)
            return
        holds = {"long_press": gesture.duration_ms, "drag": PICK_UP_MS}
        await self._play(frames_of(gesture), hold_ms=holds.get(gesture.kind, 0))

    async def close(self) -> None:
        await self.client.close()

    async def _play(self, frames: Sequence[Frame], hold_ms: float = 0) -> None:
        """Presses at the first frame, holds, moves through the others and lifts, also after a failure."""
        try:
            display = await self._display()
        except HandrailError as error:
            error.details["delivery"] = "not_delivered"
            raise
        frames = [tuple(natural(point, display) for point in frame) for frame in frames]
        sent = 0
        try:
            await self._touch(frames[0], GRPC_PRESSURE)
            sent = 1
            await self._clock.sleep_ms(hold_ms)
            start = self._clock.monotonic_ms()
            for frame in frames[1:]:
                await self._clock.sleep_ms(start + sent * FRAME_MS - self._clock.monotonic_ms())
                await self._touch(frame, GRPC_PRESSURE)
                sent += 1
            await self._touch(frames[-1], 0)
        except BaseException as error:
            if isinstance(error, HandrailError) and sent:
                error.details["delivery"] = "unknown"
            with suppress(HandrailError):  # a finger that stays down would turn the next tap into a drag
                await self._touch(frames[max(0, sent - 1)], 0, timeout_ms=LIFT_TIMEOUT_MS)
            raise

    async def _touch(self, frame: Frame, pressure: int, timeout_ms: float = GRPC_RPC_TIMEOUT_MS) -> None:
        await self.client.call("sendTouch", touch_event(frame, pressure), timeout_ms=timeout_ms)


Point = tuple[int, int]
Frame = tuple[Point, ...]
"""One point per finger."""


def frames_of(gesture: Gesture) -> list[Frame]:
    """One frame if no finger moves, else evenly spaced frames for its duration."""
    if len(gesture.strokes[0]) == 1:
        return [(gesture.start_point,)]
    steps = max(2, round(gesture.duration_ms * GRPC_FRAMES_PER_SEC / 1000))
    shares = [number / steps for number in range(steps + 1)]
    if (arc := gesture.arc) is not None:
        return [arc.at(arc.start_deg + (arc.end_deg - arc.start_deg) * share) for share in shares]
    ways = [(stroke[0], stroke[-1]) for stroke in gesture.strokes]
    return [
        tuple((round(a.x + (b.x - a.x) * share), round(a.y + (b.y - a.y) * share)) for a, b in ways)
        for share in shares
    ]


def natural(point: Point, display: Display) -> Point:
    """The point before rotation: touch panels do not know how the phone is held."""
    x, y = point
    right, bottom = display.width - 1, display.height - 1
    return [(x, y), (bottom - y, x), (right - x, bottom - y), (y, right - x)][display.rotation % 4]


async def open_emulator(
    serial: str,
    *,
    env: Mapping[str, str],
    clock: Clock,
    display: Callable[[], Awaitable[Display]],
    say: Callable[[str], None],
) -> EmulatorChannel | None:
    """None, with a reported reason, if the emulator does not answer getStatus."""
    endpoint = find_endpoint(serial, env)
    if endpoint is None:
        say(f"no gRPC: {serial} is not an emulator of this machine")
        return None
    try:
        client = EmulatorClient(endpoint)
    except ImportError:
        say("no gRPC: grpcio is not installed; pip install 'handrail[emulator]'")
        return None
    try:
        await client.status()
    except HandrailError as error:
        await client.close()
        say(f"no gRPC: {error}")
        return None
    return EmulatorChannel(client, clock=clock, display=display)
