"""Texts in `resources.arsc`, by number; of several languages the one without a name wins, then English."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from handrail_sim.shell.apk.binary_xml import STRINGS, Corrupt, chunks, pooled

_TABLE, _PACKAGE, _TYPE = 0x0002, 0x0200, 0x0201
_REFERENCE, _STRING = 0x01, 0x03
_SPARSE, _OFFSETS_16 = 0x01, 0x02
_COMPLEX, _COMPACT = 0x0001, 0x0008
_NONE = 0xFFFFFFFF
MOST_STEPS = 8
"""How many references to references are followed."""


def text_of(table: bytes, number: int) -> str:
    """The text behind a reference; "" if there is none."""
    try:
        for _ in range(MOST_STEPS):
            found = sorted(_values(table, number), key=lambda one: one[0])
            if not found:
                return ""
            _, kind, value = found[0]
            if kind == _STRING:
                return pooled(table, _pool(table), value)
            if kind != _REFERENCE:
                return ""
            number = value
    except (struct.error, IndexError, Corrupt):
        pass
    return ""


def _pool(table: bytes) -> int:
    for kind, at, _, _ in _inside(table, 0):
        if kind == STRINGS:
            return at
    raise Corrupt("no strings")


def _inside(table: bytes, at: int) -> Iterator[tuple[int, int, int, int]]:
    _, header, size = struct.unpack_from("<HHI", table, at)
    return chunks(table, at + header, min(at + size, len(table)))


def _values(table: bytes, number: int) -> Iterator[tuple[int, int, int]]:
    """Rank of its language, kind and value, for each language that has an entry of this number."""
    package, kind, entry = number >> 24, number >> 16 & 0xFF, number & 0xFFFF
    for one, at, _, _ in _inside(table, 0):
        if one != _PACKAGE or struct.unpack_from("<I", table, at + 8)[0] != package:
            continue
        for inner, place, header, _ in _inside(table, at):
            if inner == _TYPE and table[place + 8] == kind:
                found = _entry(table, place, header, entry)
                if found is not None:
                    yield _rank(table[place + 28 : place + 32]), *found


def _rank(locale: bytes) -> int:
    return {b"\0\0": 0, b"en": 1}.get(locale[:2], 2)


def _entry(table: bytes, at: int, header: int, wanted: int) -> tuple[int, int] | None:
    flags = table[at + 9]
    count, start = struct.unpack_from("<2I", table, at + 12)
    offset = _offset(table, at + header, flags, count, wanted)
    if offset is None:
        return None
    place = at + start + offset
    _, marks = struct.unpack_from("<2H", table, place)
    if marks & _COMPACT:
        return marks >> 8, int(struct.unpack_from("<I", table, place + 4)[0])
    if marks & _COMPLEX:
        return None
    return table[place + 11], int(struct.unpack_from("<I", table, place + 12)[0])


def _offset(table: bytes, at: int, flags: int, count: int, wanted: int) -> int | None:
    """Where an entry stands; a sparse table lists number and place of those that it has."""
    if flags & _SPARSE:
        for place in range(at, at + 4 * count, 4):
            number, offset = struct.unpack_from("<2H", table, place)
            if number == wanted:
                return int(offset) * 4
        return None
    if wanted >= count:
        return None
    if flags & _OFFSETS_16:
        (offset,) = struct.unpack_from("<H", table, at + 2 * wanted)
        return None if offset == 0xFFFF else int(offset) * 4
    (offset,) = struct.unpack_from("<I", table, at + 4 * wanted)
    return None if offset == _NONE else int(offset)
