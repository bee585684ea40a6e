"""Just enough of the protobuf wire format: varints and length-delimited fields. Knows no message."""

from __future__ import annotations

from collections.abc import Iterator

Value = int | bytes
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Malformed(ValueError):
    """The bytes are no message."""


def encode(*fields: tuple[int, int | bool | str | bytes]) -> bytes:
    """A message from (number, value) pairs; zero and empty values are left out, as proto3 does."""
    out = bytearray()
    for number, value in fields:
        if not value:
            continue
        data = value.encode() if isinstance(value, str) else value
        if isinstance(data, bytes):
            out += varint(number << 3 | BYTES) + varint(len(data)) + data
        else:
            out += varint(number << 3 | VARINT) + varint(int(data))
    return bytes(out)


def varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; a negative number is its 64-bit complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode(data: bytes) -> dict[int, list[Value]]:
    """The values of every field, in their order."""
    found: dict[int, list[Value]] = {}
    for number, value in _fields(data):
        found.setdefault(number, []).append(value)
    return found


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _read_varint(data, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            size, at = _read_varint(data, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise Malformed(f"wire type {kind}")
        if at + size > len(data):
            raise Malformed("cut short")
        yield key >> 3, data[at : at + size]
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed("a number without an end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & ((1 << 64) - 1), at


def number(fields: dict[int, list[Value]], key: int) -> int:
    """The last value of an int32 field, 0 if it is not there."""
    value = fields.get(key, [0])[-1]
    if not isinstance(value, int):
        raise Malformed(f"field {key} is no number")
    return value - (1 << 64) if value >> 63 else value


def text(fields: dict[int, list[Value]], key: int) -> str:
    """The last value of a string field."""
    value = fields.get(key, [b""])[-1]
    if not isinstance(value, bytes):
        raise Malformed(f"field {key} is no text")
    return value.decode("utf-8", "replace")


def messages(fields: dict[int, list[Value]], key: int) -> list[dict[int, list[Value]]]:
    """A repeated message field."""
    return [decode(value) for value in fields.get(key, []) if isinstance(value, bytes)]
