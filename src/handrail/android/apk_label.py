"""What an APK calls itself, in every language that it has: its manifest and its table of resources. Pure.

Both are rows of chunks, each with its kind, the size of its head and its whole size. What is broken has no
label; nothing else comes of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_STRINGS, _IDS, _OPENS = 0x0001, 0x0180, 0x0102
_PACKAGE, _TYPE = 0x0200, 0x0201
_REFERENCE, _STRING = 0x01, 0x03
_LABEL, _NAME = 0x01010001, 0x01010003
"""Attributes are known by their resource ids: packers may throw their names away."""
_SCREENS = ("activity", "activity-alias")
_UTF8 = 1 << 8
_SPARSE, _SHORT_OFFSETS = 0x01, 0x02
_COMPLEX, _COMPACT = 0x0001, 0x0008
_NOWHERE = 0xFFFFFFFF
MOST_STEPS = 8
"""References to references that are followed."""
_BROKEN = (struct.error, IndexError, UnicodeDecodeError, ValueError)

Chunk = tuple[int, int, int, int]
"""Kind, place, size of the head, whole size."""


@dataclass(frozen=True, slots=True)
class LabelRef:
    """Where the text stands in the table of resources."""

    number: int


def label_in_manifest(manifest: bytes, activity: str = "") -> str | LabelRef | None:
    """The label of this activity, else of the application; None where there is none."""
    strings: list[str] = []
    ids: tuple[int, ...] = ()
    found: str | LabelRef | None = None
    try:
        for kind, at, _, size in _chunks(manifest, 8, len(manifest)):
            if kind == _STRINGS:
                strings = _all_strings(manifest, at)
            elif kind == _IDS:
                ids = struct.unpack_from(f"<{(size - 8) // 4}I", manifest, at + 8)
            elif kind == _OPENS:
                tag, given = _tag(manifest, at, strings, ids)
                if tag == "application":
                    found = given.get(_LABEL)
                elif tag in _SCREENS and _LABEL in given and _same_class(given.get(_NAME), activity):
                    return given[_LABEL]
    except _BROKEN:
        return None
    return found


def _same_class(name: str | LabelRef | None, activity: str) -> bool:
    """`.Main` is a part of `com.example.Main`."""
    return isinstance(name, str) and bool(activity) and activity.endswith(name)


def texts_of(table: bytes, ref: LabelRef) -> dict[str, str]:
    """By language ("" for none, "de", "pt-BR") the text behind a reference."""
    try:
        pool = next(at for kind, at, _, _ in _inside(table, 0) if kind == _STRINGS)
        return dict(_texts(table, pool, ref.number, MOST_STEPS))
    except (*_BROKEN, StopIteration):
        return {}


def _texts(table: bytes, pool: int, number: int, steps: int) -> Iterator[tuple[str, str]]:
    for language, kind, value in _values(table, number):
        if kind == _STRING:
            yield language, _one_string(table, pool, value)
        elif kind == _REFERENCE and steps:
            for inner, text in _texts(table, pool, value, steps - 1):
                yield language or inner, text


def _values(table: bytes, number: int) -> Iterator[tuple[str, int, int]]:
    """Language, kind and value of every entry with this number."""
    package, group, entry = number >> 24, number >> 16 & 0xFF, number & 0xFFFF
    for one, at, _, _ in _inside(table, 0):
        if one != _PACKAGE or struct.unpack_from("<I", table, at + 8)[0] != package:
            continue
        for inner, place, head, _ in _inside(table, at):
            if inner == _TYPE and table[place + 8] == group:
                value = _entry(table, place, head, entry)
                if value is not None:
                    yield _language(table[place + 28 : place + 32]), *value


def _language(config: bytes) -> str:
    """Two letters of language and of country; languages with three letters are packed into the same bytes."""
    if config[:1] >= b"\x80":
        first, second = config[0], config[1]
        packed = (second & 0x1F, ((second & 0xE0) >> 5) | ((first & 0x03) << 3), (first & 0x7C) >> 2)
        language = "".join(chr(ord("a") + one) for one in packed)
    else:
        language = config[:2].rstrip(b"\0").decode("ascii", "replace")
    country = config[2:4].rstrip(b"\0").decode("ascii", "replace")
    return f"{language}-{country}" if language and country else language


def _entry(table: bytes, at: int, head: int, wanted: int) -> tuple[int, int] | None:
    flags = table[at + 9]
    count, start = struct.unpack_from("<2I", table, at + 12)
    offset = _offset(table, at + head, flags, count, wanted)
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
    if flags & _SPARSE:  # pairs of a number and a place, only for what is there
        pairs = (struct.unpack_from("<2H", table, at + 4 * one) for one in range(count))
        return next((int(place) * 4 for number, place in pairs if number == wanted), None)
    if wanted >= count:
        return None
    if flags & _SHORT_OFFSETS:
        (short,) = struct.unpack_from("<H", table, at + 2 * wanted)
        return None if short == 0xFFFF else int(short) * 4
    (offset,) = struct.unpack_from("<I", table, at + 4 * wanted)
    return None if offset == _NOWHERE else int(offset)


def _chunks(data: bytes, at: int, end: int) -> Iterator[Chunk]:
    while at + 8 <= end:
        kind, head, size = struct.unpack_from("<HHI", data, at)
        if size < 8 or at + size > end:
            raise ValueError(f"a chunk of {size} bytes at {at}")
        yield kind, at, head, size
        at += size


def _inside(data: bytes, at: int) -> Iterator[Chunk]:
    _, head, size = struct.unpack_from("<HHI", data, at)
    return _chunks(data, at + head, min(at + size, len(data)))


def _tag(
    data: bytes, at: int, strings: list[str], ids: tuple[int, ...]
) -> tuple[str, dict[int, str | LabelRef]]:
    """Its name and, by resource id, those attributes that are texts or refer to some."""
    name = strings[struct.unpack_from("<I", data, at + 20)[0]]
    start, size, count = struct.unpack_from("<3H", data, at + 24)
    found: dict[int, str | LabelRef] = {}
    for number in range(count):
        _, key, raw, kind, value = struct.unpack_from("<5I", data, at + 16 + start + number * size)
        known = ids[key] if key < len(ids) else 0
        if kind >> 24 == _REFERENCE:
            found[known] = LabelRef(value)
        elif kind >> 24 == _STRING:
            found[known] = strings[raw if raw < len(strings) else value]
    return name, found


def _all_strings(data: bytes, at: int) -> list[str]:
    (count,) = struct.unpack_from("<I", data, at + 8)
    return [_one_string(data, at, number) for number in range(min(count, len(data)))]


def _one_string(data: bytes, at: int, number: int) -> str:
    count, _, flags, start = struct.unpack_from("<4I", data, at + 8)
    if number >= count:
        raise ValueError(f"string {number} of {count}")
    (offset,) = struct.unpack_from("<I", data, at + 28 + 4 * number)
    return (_utf8 if flags & _UTF8 else _utf16)(data, at + start + offset)


def _utf8(data: bytes, at: int) -> str:
    """Behind the number of characters stands that of bytes; each is one byte, or two with the top bit set."""
    at += 2 if data[at] & 0x80 else 1
    size = data[at]
    if size & 0x80:
        return data[at + 2 : at + 2 + ((size & 0x7F) << 8 | data[at + 1])].decode("utf-8", "replace")
    return data[at + 1 : at + 1 + size].decode("utf-8", "replace")


def _utf16(data: bytes, at: int) -> str:
    (size,) = struct.unpack_from("<H", data, at)
    at += 2
    if size & 0x8000:
        size = (size & 0x7FFF) << 16 | struct.unpack_from("<H", data, at)[0]
        at += 2
    return data[at : at + size * 2].decode("utf-16-le", "replace")
