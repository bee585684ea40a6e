"""The messages of `controller.proto`, to bytes and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from handrail.android.emulator.wire import decode, encode, last_bytes, last_number

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
