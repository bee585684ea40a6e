"""Android's compiled XML and its pools of strings. Knows no manifest.

A document is a row of chunks, each with its kind and size: a pool of strings, the resource ids of attribute
names, then one chunk for each tag that opens or closes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

STRINGS, IDS, OPENS, CLOSES = 0x0001, 0x0180, 0x0102, 0x0103
_UTF8 = 1 << 8
_REFERENCE, _STRING = 0x01, 0x03
_NAMES = {
    0x01010001: "label",
    0x01010003: "name",
    0x0101000F: "debuggable",
    0x01010010: "exported",
    0x01010021: "targetPackage",
    0x0101021B: "versionCode",
    0x0101021C: "versionName",
    0x01010202: "targetActivity",
}
"""Attributes are known by resource id: packers may throw their names away."""


class Corrupt(Exception):
    """The bytes are no such document."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that stands in the resource table."""

    number: int


Value = str | int | Reference


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening tag; one without attributes and with `closes` is a closing one."""

    name: str
    attributes: dict[str, Value]
    closes: bool = False


def chunks(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Kind, place, size of the header, size in all."""
    while at + 8 <= end:
        kind, header, size = struct.unpack_from("<HHI", data, at)
        if size < 8 or at + size > end:
            raise Corrupt(f"chunk of {size} bytes at {at}")
        yield kind, at, header, size
        at += size


def tags(data: bytes) -> Iterator[Tag]:
    """Every tag of a document, in order."""
    strings: list[str] = []
    ids: list[int] = []
    try:
        for kind, at, _, size in chunks(data, 8, len(data)):
            if kind == STRINGS:
                strings = pool(data, at)
            elif kind == IDS:
                ids = list(struct.unpack_from(f"<{(size - 8) // 4}I", data, at + 8))
            elif kind == OPENS:
                yield _opening(data, at, strings, ids)
            elif kind == CLOSES:
                yield Tag(strings[struct.unpack_from("<I", data, at + 20)[0]], {}, closes=True)
    except (struct.error, IndexError, UnicodeDecodeError) as problem:
        raise Corrupt(str(problem)) from None


def _opening(data: bytes, at: int, strings: list[str], ids: list[int]) -> Tag:
    """An attribute is five words: namespace, name, raw string, type, value."""
    name = strings[struct.unpack_from("<I", data, at + 20)[0]]
    start, size, count = struct.unpack_from("<3H", data, at + 24)
    found: dict[str, Value] = {}
    for number in range(count):
        _, key, raw, kind, value = struct.unpack_from("<5I", data, at + 16 + start + number * size)
        label = _NAMES.get(ids[key] if key < len(ids) else 0) or strings[key]
        kind >>= 24
        if raw < len(strings) and kind in (0, _STRING):
            found[label] = strings[raw]
        elif kind == _STRING:
            found[label] = strings[value]
        else:
            found[label] = Reference(value) if kind == _REFERENCE else value
    return Tag(name, found)


def pool(data: bytes, at: int) -> list[str]:
    """All strings of a pool."""
    count, _, flags, start = struct.unpack_from("<4I", data, at + 8)
    offsets = struct.unpack_from(f"<{count}I", data, at + 28)
    read = _utf8 if flags & _UTF8 else _utf16
    return [read(data, at + start + offset) for offset in offsets]


def pooled(data: bytes, at: int, number: int) -> str:
    """One string of a pool that may be large."""
    count, _, flags, start = struct.unpack_from("<4I", data, at + 8)
    if number >= count:
        raise Corrupt(f"string {number} of {count}")
    (offset,) = struct.unpack_from("<I", data, at + 28 + 4 * number)
    return (_utf8 if flags & _UTF8 else _utf16)(data, at + start + offset)


def _utf8(data: bytes, at: int) -> str:
    at += 2 if data[at] & 0x80 else 1
    size = data[at]
    at += 1
    if size & 0x80:
        size = (size & 0x7F) << 8 | data[at]
        at += 1
    return data[at : at + size].decode("utf-8", "replace")


def _utf16(data: bytes, at: int) -> str:
    (size,) = struct.unpack_from("<H", data, at)
    at += 2
    if size & 0x8000:
        size = (size & 0x7FFF) << 16 | struct.unpack_from("<H", data, at)[0]
        at += 2
    return data[at : at + size * 2].decode("utf-16-le", "replace")
