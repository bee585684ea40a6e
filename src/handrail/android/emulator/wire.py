"""Just enough of the protobuf wire format: varints and length-delimited fields. Knows no message."""

from __future__ import annotations

from collections.abc import Iterator

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
