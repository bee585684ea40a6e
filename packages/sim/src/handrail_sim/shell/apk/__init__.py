"""What a phone reads in an APK before it installs it: names, versions, permissions, what it can start.

Code and pictures are not unpacked.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from xml.etree import ElementTree

from handrail_sim.system.intents import full_class

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


class CorruptApk(Exception):
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
    while at + 8 <= end:
        kind, header, size = struct.unpack_from("<HHI", data, at)
        if size < 8 or at + size > end:
            raise CorruptApk(f"chunk of {size} bytes at {at}")
        yield kind, at, header, size
        at += size


def tags(data: bytes) -> Iterator[Tag]:
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
        raise CorruptApk(str(problem)) from None


def _opening(data: bytes, at: int, strings: list[str], ids: list[int]) -> Tag:
    """An attribute is five words: namespace, name, raw string, type, value."""
    name = strings[struct.unpack_from("<I", data, at + 20)[0]]
    start, size, count = struct.unpack_from("<3H", data, at + 24)
    matches: dict[str, Value] = {}
    for number in range(count):
        _, key, raw, kind, value = struct.unpack_from("<5I", data, at + 16 + start + number * size)
        label = _NAMES.get(ids[key] if key < len(ids) else 0) or strings[key]
        kind >>= 24
        if raw < len(strings) and kind in (0, _STRING):
            matches[label] = strings[raw]
        elif kind == _STRING:
            matches[label] = strings[value]
        else:
            matches[label] = Reference(value) if kind == _REFERENCE else value
    return Tag(name, matches)


def pool(data: bytes, at: int) -> list[str]:
    count, _, flags, start = struct.unpack_from("<4I", data, at + 8)
    offsets = struct.unpack_from(f"<{count}I", data, at + 28)
    read = _utf8 if flags & _UTF8 else _utf16
    return [read(data, at + start + offset) for offset in offsets]


def pooled(data: bytes, at: int, number: int) -> str:
    count, _, flags, start = struct.unpack_from("<4I", data, at + 8)
    if number >= count:
        raise CorruptApk(f"string {number} of {count}")
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


_TABLE, _PACKAGE, _TYPE = 0x0002, 0x0200, 0x0201
_SPARSE, _OFFSETS_16 = 0x01, 0x02
_COMPLEX, _COMPACT = 0x0001, 0x0008
_NONE = 0xFFFFFFFF
MOST_STEPS = 8
"""How many references to references are followed."""


def text_of(table: bytes, number: int) -> str:
    """The text behind a reference; "" if there is none."""
    try:
        for _ in range(MOST_STEPS):
            matches = sorted(_values(table, number), key=lambda entry: entry[0])
            if not matches:
                return ""
            _, kind, value = matches[0]
            if kind == _STRING:
                return pooled(table, _pool(table), value)
            if kind != _REFERENCE:
                return ""
            number = value
    except (struct.error, IndexError, CorruptApk):
        pass
    return ""


def _pool(table: bytes) -> int:
    for kind, at, _, _ in _inside(table, 0):
        if kind == STRINGS:
            return at
    raise CorruptApk("no strings")


def _inside(table: bytes, at: int) -> Iterator[tuple[int, int, int, int]]:
    _, header, size = struct.unpack_from("<HHI", table, at)
    return chunks(table, at + header, min(at + size, len(table)))


def _values(table: bytes, number: int) -> Iterator[tuple[int, int, int]]:
    package, kind, entry = number >> 24, number >> 16 & 0xFF, number & 0xFFFF
    for index, at, _, _ in _inside(table, 0):
        if index != _PACKAGE or struct.unpack_from("<I", table, at + 8)[0] != package:
            continue
        for inner, place, header, _ in _inside(table, at):
            if inner == _TYPE and table[place + 8] == kind:
                matches = _entry(table, place, header, entry)
                if matches is not None:
                    yield {b"\0\0": 0, b"en": 1}.get(table[place + 28 : place + 32][:2], 2), *matches


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


MANIFEST, RESOURCES = "AndroidManifest.xml", "resources.arsc"
MAX_MANIFEST, MAX_RESOURCES = 4 << 20, 64 << 20
_MALFORMED = "INSTALL_PARSE_FAILED_MANIFEST_MALFORMED"
_MAIN, _LAUNCHER = "android.intent.action.MAIN", "android.intent.category.LAUNCHER"
_PREFIX = re.compile(rb"\b[a-z]+:(?=[A-Za-z]+\s*=)")


class BadApk(Exception):
    """Not to be installed; the message is PackageManager's failure code and text."""


@dataclass(slots=True)
class ApkFacts:
    """The manifest's own words; class names are whole."""

    package: str = ""
    split: str = ""
    label: str = ""
    version_name: str = "1.0"
    version_code: int = 1
    debuggable: bool = False
    permissions: list[str] = field(default_factory=list)
    activities: list[str] = field(default_factory=list)
    launcher: str = ""
    services: list[str] = field(default_factory=list)
    receivers: list[str] = field(default_factory=list)
    instrumentations: dict[str, str] = field(default_factory=dict)
    """Runner to the package that it tests."""


def read_apk(data: bytes) -> ApkFacts:
    """The facts of an APK; raises `BadApk` if it cannot be parsed."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            manifest = _member(archive, MANIFEST, MAX_MANIFEST)
            if not manifest:
                raise BadApk(f"{_MALFORMED}: manifest too large")
            facts = _Reading(archive).facts(manifest)
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError):
        raise BadApk(
            "INSTALL_PARSE_FAILED_NOT_APK: Failed to parse base.apk: Failed to load asset path"
        ) from None
    except KeyError:
        raise BadApk("INSTALL_PARSE_FAILED_BAD_MANIFEST: Missing AndroidManifest.xml") from None
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+", facts.package):
        raise BadApk("INSTALL_PARSE_FAILED_BAD_PACKAGE_NAME: Invalid manifest package")
    return facts


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    return b"" if archive.getinfo(name).file_size > most else archive.read(name)


class _Reading:
    """One manifest, tag by tag."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._facts = ApkFacts()
        self._activity = ""
        self._filter: set[str] = set()

    def facts(self, manifest: bytes) -> ApkFacts:
        try:
            for tag in _text_tags(manifest) if manifest.lstrip()[:1] == b"<" else tags(manifest):
                self._take(tag)
        except (CorruptApk, ElementTree.ParseError, RecursionError):
            raise BadApk(f"{_MALFORMED}: Corrupt XML binary file") from None
        self._facts.label = self._facts.label or self._facts.package
        return self._facts

    def _take(self, tag: Tag) -> None:
        if tag.closes:
            if tag.name == "intent-filter" and {_MAIN, _LAUNCHER} <= self._filter:
                self._facts.launcher = self._facts.launcher or self._activity
            return
        take = _TAKERS.get(tag.name)
        if take is not None:
            take(self, tag.attributes)

    def _manifest(self, arguments: dict[str, Value]) -> None:
        match = self._facts
        match.package, match.split = str(arguments.get("package", "")), str(arguments.get("split", ""))
        match.version_name = self._text(arguments, "versionName") or "1.0"
        code = str(arguments.get("versionCode", 1))
        match.version_code = int(code) if code.isdigit() else 1

    def _application(self, arguments: dict[str, Value]) -> None:
        self._facts.label = self._text(arguments, "label")
        self._facts.debuggable = arguments.get("debuggable") not in (None, 0, "false")

    def _permission(self, arguments: dict[str, Value]) -> None:
        if name := self._text(arguments, "name"):
            self._facts.permissions.append(name)

    def _screen(self, arguments: dict[str, Value]) -> None:
        self._activity = self._class(arguments)
        self._facts.activities.append(self._activity)

    def _service(self, arguments: dict[str, Value]) -> None:
        self._activity = ""
        self._facts.services.append(self._class(arguments))

    def _receiver(self, arguments: dict[str, Value]) -> None:
        self._activity = ""
        self._facts.receivers.append(self._class(arguments))

    def _instrumentation(self, arguments: dict[str, Value]) -> None:
        self._facts.instrumentations[self._class(arguments)] = self._text(arguments, "targetPackage")

    def _intent_filter(self, _: dict[str, Value]) -> None:
        self._filter = set()

    def _filtered(self, arguments: dict[str, Value]) -> None:
        self._filter.add(self._text(arguments, "name"))

    def _class(self, arguments: dict[str, Value]) -> str:
        name = self._text(arguments, "name")
        return full_class(self._facts.package, name) if name else ""

    def _text(self, arguments: dict[str, Value], name: str) -> str:
        value = arguments.get(name, "")
        if not isinstance(value, Reference):
            return str(value)
        try:
            return text_of(_member(self._archive, RESOURCES, MAX_RESOURCES), value.number)
        except KeyError:
            return ""


_TAKERS = {
    "manifest": _Reading._manifest,
    "application": _Reading._application,
    "uses-permission": _Reading._permission,
    "activity": _Reading._screen,
    "activity-alias": _Reading._screen,
    "service": _Reading._service,
    "receiver": _Reading._receiver,
    "instrumentation": _Reading._instrumentation,
    "intent-filter": _Reading._intent_filter,
    "action": _Reading._filtered,
    "category": _Reading._filtered,
}


def _text_tags(manifest: bytes) -> list[Tag]:
    """A manifest that was never compiled: real phones refuse it, test files have it."""
    if b"<!DOCTYPE" in manifest or b"<!ENTITY" in manifest:
        raise CorruptApk("entities")
    return list(_flat(ElementTree.fromstring(_PREFIX.sub(b"", manifest))))  # noqa: S314 - no entities


def _flat(element: ElementTree.Element) -> Iterator[Tag]:
    yield Tag(element.tag, dict(element.attrib))
    for child in element:
        yield from _flat(child)
    yield Tag(element.tag, {}, closes=True)
