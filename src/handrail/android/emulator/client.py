"""The emulator's gRPC calls: bytes out, bytes in, failures with their names. grpcio is an optional extra."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from handrail.android.console import console_port
from handrail.android.constants import GRPC_CONNECT_TIMEOUT_MS, GRPC_PORT_OFFSET, GRPC_RPC_TIMEOUT_MS
from handrail.errors import GrpcConnectionError, GrpcRpcError

MAX_ANSWER = 64 << 20
OPTIONS = [("grpc.max_receive_message_length", MAX_ANSWER), ("grpc.enable_http_proxy", 0)]
"""A screenshot is larger than gRPC's 4 MB; a proxy for the internet has no business on the loopback."""
NEVER_RAN = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "INVALID_ARGUMENT"})
"""The emulator refused the call before it did anything."""
HINTS = {
    "UNAUTHENTICATED": "The emulator wants a token that its pid_*.ini did not tell; start it with -grpc.",
    "UNIMPLEMENTED": "This emulator is too old for the call; update it.",
}
T = TypeVar("T")


class EmulatorClient:
    """One channel to one emulator. Made inside a running event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Raises ImportError without grpcio."""
        from grpc import aio  # type: ignore[import-untyped]  # noqa: PLC0415 - an optional extra

        self.endpoint = endpoint
        self._closed = False
        self._failure: type[Any] = aio.AioRpcError
        self._channel = aio.insecure_channel(f"127.0.0.1:{endpoint.port}", options=OPTIONS)
        token = endpoint.token
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    async def status(self) -> EmulatorStatus:
        """The first call, and the test whether anybody is there."""
        return await self.ask("getStatus", b"", read_status, timeout_ms=GRPC_CONNECT_TIMEOUT_MS)

    async def ask(
        self,
        method: str,
        request: bytes,
        read: Callable[[bytes], T],
        *,
        timeout_ms: float = GRPC_RPC_TIMEOUT_MS,
    ) -> T:
        """A call whose answer is read; one that can't be read is a failure of the call."""
        answer = await self.call(method, request, timeout_ms=timeout_ms)
        try:
            return read(answer)
        except ValueError as error:
            raise self._named(method, "INTERNAL", f"the answer is no message: {error}") from None

    async def call(self, method: str, request: bytes, *, timeout_ms: float = GRPC_RPC_TIMEOUT_MS) -> bytes:
        """Raises `GrpcConnectionError` when the call never left, else `GrpcRpcError` with `rpc_method`."""
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
        """Calls that are under way fail: grpcio cancels them, which is no wish of whoever made them."""
        self._closed = True
        await self._channel.close(0)


SERVICE = "android.emulation.control.EmulatorController"
KEY_PRESS = 2


@dataclass(frozen=True, slots=True)
class Touch:
    """One finger at one moment; pressure 0 lifts it."""

    x: int
    y: int
    finger: int
    pressure: int


@dataclass(frozen=True, slots=True)
class EmulatorStatus:
    """What getStatus tells."""

    version: str
    uptime_ms: int
    booted: bool


def touch_event(touches: Iterable[Touch]) -> bytes:
    """TouchEvent: fingers that it does not name stay as they are."""
    inner = [encode((1, one.x), (2, one.y), (3, one.finger), (4, one.pressure)) for one in touches]
    return encode(*((1, touch) for touch in inner))


def key_press(name: str) -> bytes:
    """A key goes down and up; the name is the web's."""
    return encode((2, KEY_PRESS), (4, name))


def typed(text: str) -> bytes:
    """KeyboardEvent: a text, key by key."""
    return encode((5, text))


def clip(text: str) -> bytes:
    """ClipData."""
    return encode((1, text))


def read_clip(data: bytes) -> str:
    """The text of a ClipData."""
    return last_bytes(decode(data), 1).decode("utf-8", "replace")


def read_image(data: bytes) -> bytes:
    """The file in an Image; an Image without one is refused."""
    image = last_bytes(decode(data), 4)
    if not image:
        raise ValueError("an image without a picture")
    return image


def read_status(data: bytes) -> EmulatorStatus:
    """Raises `ValueError` for what is no message."""
    fields = decode(data)
    version = last_bytes(fields, 1).decode("utf-8", "replace")
    return EmulatorStatus(version, last_number(fields, 2), bool(last_number(fields, 3)))


Value = int | bytes
Fields = dict[int, list[Value]]
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MASK64 = (1 << 64) - 1


def encode(*fields: tuple[int, int | str | bytes]) -> bytes:
    """A message from (number, value) pairs; zero and empty are left out, as proto3 has it."""
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
    """Seven bits a byte, lowest first; a negative number as its 64-bit complement."""
    value &= _MASK64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode(data: bytes) -> Fields:
    """The values of every field, in their order. Raises `ValueError` for what is no message."""
    found: Fields = {}
    for number, value in _fields(data):
        found.setdefault(number, []).append(value)
    return found


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield key >> 3, value
            continue
        size, at = _read_size(data, at, kind)
        if at + size > len(data):
            raise ValueError(f"field {key >> 3} is cut short")
        yield key >> 3, data[at : at + size]
        at += size


def _read_size(data: bytes, at: int, kind: int) -> tuple[int, int]:
    if kind == _BYTES:
        return _read_varint(data, at)
    if kind in (_FIXED64, _FIXED32):
        return (8 if kind == _FIXED64 else 4), at
    raise ValueError(f"wire type {kind}")


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
    """The last value of a bytes or string field; empty if it is not there."""
    value = fields.get(number, [b""])[-1]
    return value if isinstance(value, bytes) else b""


def last_number(fields: Fields, number: int) -> int:
    """The last value of an integer field; 0 if it is not there."""
    value = fields.get(number, [0])[-1]
    return value if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A gRPC server on this machine; an empty token means that none is asked for."""

    port: int
    token: str = ""


def find_endpoint(serial: str, env: Mapping[str, str]) -> Endpoint | None:
    """None for what is no emulator of this machine."""
    console = console_port(serial)
    if console is None:
        return None
    for told in _running(env):
        if told.get("port.serial") == str(console) and told.get("grpc.port", "").isdigit():
            return Endpoint(int(told["grpc.port"]), told.get("grpc.token", ""))
    return Endpoint(console + GRPC_PORT_OFFSET)


def folders(env: Mapping[str, str]) -> list[Path]:
    """Where emulators say that they run, by operating system and version."""
    temp = Path(env.get("TMPDIR") or tempfile.gettempdir())
    found = [temp / "avd/running", temp / f"android-{env.get('USER', '')}" / "avd/running"]
    if runtime := env.get("XDG_RUNTIME_DIR"):
        found.insert(0, Path(runtime) / "avd/running")
    if home := env.get("HOME"):
        found += [
            Path(home) / "Library/Caches/TemporaryItems/avd/running",
            Path(home) / ".android/avd/running",
        ]
    return found


def _running(env: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """What the files say, the newest first: one that crashed leaves its file behind."""
    files = [path for folder in folders(env) for path in folder.glob("pid_*.ini")]
    for path in sorted(files, key=_age):
        try:
            lines = path.read_text(errors="replace").splitlines()
        except OSError:
            continue
        yield {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0
