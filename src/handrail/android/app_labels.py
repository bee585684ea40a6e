"""Names of the installed apps as the launcher shows them, read from their APKs on the phone."""

from __future__ import annotations

import asyncio
import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from handrail.adb.shell import DeviceShell
from handrail.android.apps import LAUNCHER, MAIN
from handrail.android.dumpsys import note_fallback
from handrail.android.packages import current_user
from handrail.errors import HandrailError
from handrail.surface.values import InstalledApp

MANIFEST, RESOURCES = b"AndroidManifest.xml", b"resources.arsc"
TAIL = 66_000
"""Bytes at the end of a zip that contain its end record: 22, and a comment of at most 65,535."""
MOST = 48 << 20
"""Largest part in bytes that is read."""
BLOCK = 4096
"""Bytes. Every `dd` can skip whole blocks; few can skip bytes."""
AT_ONCE = 4
"""APKs that are read in parallel."""
_COMPONENT = re.compile(r"^\s*([A-Za-z][\w.]*)/(\S+)\s*$", re.MULTILINE)
_LISTED = re.compile(
    r"^package:(?P<path>/.*?)=(?P<name>[\w.]+)(?:[ \t].*?versionCode:(?P<code>\d+).*)?\r?$", re.MULTILINE
)
_FILTER = re.compile(r"^ +[0-9a-f]+ ([A-Za-z][\w.]*)/(\S+)(?: filter [0-9a-f]+)?\s*$")

Labels = Mapping[str, str]
"""By language; "" is the default."""


@dataclass(frozen=True, slots=True)
class Launchable:
    """An app with a launcher icon."""

    package: str
    activity: str
    path: str = ""
    version: str = ""

    @property
    def key(self) -> str:
        return f"{self.package}@{self.version}:{self.path}"


class LabelMemory:
    """Cache of labels by package and version, optionally in a file."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._labels: dict[str, dict[str, str]] = {}
        if file is not None:
            with suppress(OSError, ValueError, AttributeError):
                for key, labels in json.loads(file.read_bytes()).items():
                    self._labels[str(key)] = {str(language): str(text) for language, text in labels.items()}

    def get(self, app: Launchable) -> Labels | None:
        return self._labels.get(app.key)

    def keep(self, app: Launchable, labels: Labels) -> None:
        """Replaces the labels of older versions."""
        others = {key: names for key, names in self._labels.items() if key.partition("@")[0] != app.package}
        self._labels = others | {app.key: dict(labels)}

    def write(self) -> None:
        """A failed write is ignored: the next process reads the labels again."""
        if self._file is None:
            return
        fresh = self._file.with_suffix(".new")
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(self._labels, ensure_ascii=False))
            fresh.replace(self._file)


async def installed_apps(shell: DeviceShell, memory: LabelMemory) -> list[InstalledApp]:
    """Each app once, by its first icon."""
    user = str(await current_user(shell))
    query = ["cmd", "package", "query-activities", "--brief", "--user", user, "-a", MAIN, "-c", LAUNCHER]
    listing = ["cmd", "package", "list", "packages", "-f", "-U", "--show-versioncode", "--user", user]
    icons, packages = await asyncio.gather(shell.run(query, check=False), shell.run(listing, check=False))
    components, listed = _COMPONENT.findall(icons.text), packages.text
    if not components:  # before Android 7
        components = read_launchers((await shell.run(["dumpsys", "package", "-f", "r"])).text)
        listed = (await shell.run(["pm", "list", "packages", "-f", "--user", user])).text
    places = {line["name"]: line for line in _LISTED.finditer(listed)}
    launchables: dict[str, Launchable] = {}
    for package, activity in components:
        full_activity = package + activity if activity.startswith(".") else activity
        place = places.get(package)
        path, version = (place["path"], place["code"] or "") if place else ("", "")
        launchables.setdefault(package, Launchable(package, full_activity, path, version))
    apps = list(launchables.values())
    unread = [launchable for launchable in apps if memory.get(launchable) is None]
    gate = asyncio.Semaphore(AT_ONCE)

    async def read(app: Launchable) -> None:
        async with gate:
            if labels := await _labels(shell, app):
                memory.keep(app, labels)

    await asyncio.gather(*map(read, unread))
    if unread:
        memory.write()
    language = await _language(shell)
    # Chooses the language as Android does: with country, without country, default.
    order = (language, language.partition("-")[0], "", "en")
    installed = []
    for app in apps:
        labels = memory.get(app) or {}
        label = next(filter(None, (*map(labels.get, order), *labels.values())), app.package)
        others = tuple(dict.fromkeys(text for text in labels.values() if text and text != label))
        installed.append(InstalledApp(app.package, label, others))
    return installed


def read_launchers(dump: str) -> list[tuple[str, str]]:
    """Package and activity of each icon, from `dumpsys package`: filters for MAIN, with their categories."""
    table = dump.partition("Activity Resolver Table:")[2].partition("Receiver Resolver Table:")[0]
    part = table.partition("android.intent.action.MAIN:")[2]
    components: list[tuple[str, str]] = []
    last: tuple[str, str] | None = None
    for line in part.splitlines()[1:]:
        if match := _FILTER.match(line):
            last = match[1], match[2]
        elif line.strip().endswith(":") and "Category" not in line:
            break  # the next action
        elif last is not None and f'Category: "{LAUNCHER}"' in line:
            components.append(last)
    return list(dict.fromkeys(components))


async def _language(shell: DeviceShell) -> str:
    for name in ("persist.sys.locale", "ro.product.locale"):
        locale = (await shell.run(["getprop", name], check=False)).text.strip()
        if locale:
            language, _, country = locale.replace("_", "-").partition("-")
            return f"{language}-{country.rpartition('-')[2]}" if country else language
    return ""


async def _labels(shell: DeviceShell, app: Launchable) -> Labels:
    """Empty if nothing could be read; the next call tries again."""
    try:
        parts = await _Zip.open(shell, app.path)
        label = label_in_manifest(await parts.member(MANIFEST), app.activity)
        if isinstance(label, LabelRef):
            return texts_of(await parts.member(RESOURCES), label)
        return {"": label} if label else {}
    except (HandrailError, _UnreadableZip) as error:
        note_fallback(shell, f"apps: the name of {app.package} could not be read: {error}")
        return {}


class _UnreadableZip(Exception):
    """The bytes are not a zip, or a zip of a kind that no APK uses."""


class _Zip:
    """A zip on the phone of which only parts are read."""

    def __init__(self, shell: DeviceShell, path: str, members: Mapping[bytes, tuple[int, int, int]]) -> None:
        self._shell = shell
        self._path = path
        self._members = members
        """By name: offset of the local header, size of the data, compression method."""

    @classmethod
    async def open(cls, shell: DeviceShell, path: str) -> _Zip:
        if not path:
            raise _UnreadableZip("the phone does not report where its APK is")
        tail = (await shell.run(["tail", "-c", str(TAIL), path])).stdout
        end = tail.rfind(b"PK\x05\x06")
        if end < 0 or len(tail) < end + 22:
            raise _UnreadableZip("it has no directory")
        size, start = struct.unpack_from("<2I", tail, end + 12)
        if size <= end:  # the directory ends where the end record begins
            directory = tail[end - size : end]
        else:
            directory = await _range(shell, path, start, size)
        entries: dict[bytes, tuple[int, int, int]] = {}
        at = 0
        while directory[at : at + 4] == b"PK\x01\x02" and at + 46 <= len(directory):
            (method,) = struct.unpack_from("<H", directory, at + 10)
            (size,) = struct.unpack_from("<I", directory, at + 20)
            names, extra, comment = struct.unpack_from("<3H", directory, at + 28)
            (start,) = struct.unpack_from("<I", directory, at + 42)
            entries[directory[at + 46 : at + 46 + names]] = (start, size, method)
            at += 46 + names + extra + comment
        return cls(shell, path, entries)

    async def member(self, name: bytes) -> bytes:
        if name not in self._members:
            raise _UnreadableZip(f"it has no {name.decode()}")
        start, size, method = self._members[name]
        head = await _range(self._shell, self._path, start, 30)
        if len(head) < 30 or head[:4] != b"PK\x03\x04":
            raise _UnreadableZip("its directory leads nowhere")
        names, extra = struct.unpack_from("<2H", head, 26)
        data = await _range(self._shell, self._path, start + 30 + names + extra, size)
        if method == 0:
            return data
        try:
            return zlib.decompressobj(-15).decompress(data, MOST)
        except zlib.error as error:
            raise _UnreadableZip(str(error)) from None


async def _range(shell: DeviceShell, path: str, start: int, size: int) -> bytes:
    if size > MOST:
        raise _UnreadableZip(f"a part of {size:,} bytes is too large")
    first, last = start // BLOCK, (start + size + BLOCK - 1) // BLOCK
    command = ["dd", f"if={path}", f"bs={BLOCK}", f"skip={first}", f"count={last - first}"]
    blocks = (await shell.run(command, limit=MOST + 2 * BLOCK)).stdout
    return blocks[start - first * BLOCK :][:size]


_STRINGS, _IDS, _OPENS = 0x0001, 0x0180, 0x0102
_PACKAGE, _TYPE = 0x0200, 0x0201
_REFERENCE, _STRING = 0x01, 0x03
_LABEL, _NAME = 0x01010001, 0x01010003
"""Attributes are matched by resource id, because packers may remove their names."""
_SCREENS = ("activity", "activity-alias")
_UTF8 = 1 << 8
_SPARSE, _SHORT_OFFSETS = 0x01, 0x02
_COMPLEX, _COMPACT = 0x0001, 0x0008
_NOWHERE = 0xFFFFFFFF
MOST_STEPS = 8
"""Longest chain of references."""
_BROKEN = (struct.error, IndexError, UnicodeDecodeError, ValueError)

Chunk = tuple[int, int, int, int]
"""Kind, offset, header size, total size."""


@dataclass(frozen=True, slots=True)
class LabelRef:
    """Number of an entry in the resource table."""

    number: int


Attribute = str | int | LabelRef


def label_in_manifest(manifest: bytes, activity: str = "") -> str | LabelRef | None:
    """The label of this activity, else of the application."""
    label: str | LabelRef | None = None
    try:
        for tag, attributes in manifest_tags(manifest):
            own = attributes.get(_LABEL)
            if isinstance(own, int):
                continue
            if tag == "application":
                label = own
            elif tag in _SCREENS and own is not None and activity:
                name = attributes.get(_NAME)
                if isinstance(name, str) and activity.endswith(name):  # `.Main` is com.example.Main
                    return own
    except _BROKEN:
        return None
    return label


def texts_of(table: bytes, ref: LabelRef) -> dict[str, str]:
    """The texts of a resource by language ("" for none, "de", "pt-BR")."""
    try:
        pool = next(at for kind, at, _, _ in _inside(table, 0) if kind == _STRINGS)
        return dict(_texts(table, pool, ref.number, MOST_STEPS))
    except (*_BROKEN, StopIteration):
        return {}


def _texts(table: bytes, pool: int, number: int, steps: int) -> Iterator[tuple[str, str]]:
    for language, kind, value in _values(table, number):
        if kind == _STRING:
            yield language, _string_at(table, pool, value)
        elif kind == _REFERENCE and steps:
            for inner, text in _texts(table, pool, value, steps - 1):
                yield language or inner, text


def _values(table: bytes, number: int) -> Iterator[tuple[str, int, int]]:
    """Language, kind and value of every entry with this number."""
    package, group, entry = number >> 24, number >> 16 & 0xFF, number & 0xFFFF
    for chunk_kind, at, _, _ in _inside(table, 0):
        if chunk_kind != _PACKAGE or struct.unpack_from("<I", table, at + 8)[0] != package:
            continue
        for inner, place, head, _ in _inside(table, at):
            if inner == _TYPE and table[place + 8] == group:
                value = _entry(table, place, head, entry)
                if value is not None:
                    yield _value_language(table[place + 28 : place + 32]), *value


def _value_language(config: bytes) -> str:
    """Languages of three letters are packed into the two bytes that otherwise hold two letters."""
    if config[:1] >= b"\x80":
        first, second = config[0], config[1]
        packed = (second & 0x1F, ((second & 0xE0) >> 5) | ((first & 0x03) << 3), (first & 0x7C) >> 2)
        language = "".join(chr(ord("a") + letter) for letter in packed)
    else:
        language = config[:2].rstrip(b"\0").decode("ascii", "replace")
    country = config[2:4].rstrip(b"\0").decode("ascii", "replace")
    return f"{language}-{country}" if language and country else language


def _entry(table: bytes, at: int, head: int, wanted: int) -> tuple[int, int] | None:
    flags = table[at + 9]
    count, start = struct.unpack_from("<2I", table, at + 12)
    at_offsets, offset = at + head, None
    if flags & _SPARSE:  # pairs of number and offset
        pairs = (struct.unpack_from("<2H", table, at_offsets + 4 * index) for index in range(count))
        offset = next((int(place) * 4 for number, place in pairs if number == wanted), None)
    elif wanted < count and flags & _SHORT_OFFSETS:
        (short,) = struct.unpack_from("<H", table, at_offsets + 2 * wanted)
        offset = None if short == 0xFFFF else int(short) * 4
    elif wanted < count:
        (long,) = struct.unpack_from("<I", table, at_offsets + 4 * wanted)
        offset = None if long == _NOWHERE else int(long)
    if offset is None:
        return None
    place = at + start + offset
    _, marks = struct.unpack_from("<2H", table, place)
    if marks & _COMPACT:
        return marks >> 8, int(struct.unpack_from("<I", table, place + 4)[0])
    if marks & _COMPLEX:
        return None
    return table[place + 11], int(struct.unpack_from("<I", table, place + 12)[0])


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


def manifest_tags(manifest: bytes) -> Iterator[tuple[str, dict[int | str, Attribute]]]:
    """Tags of a compiled manifest; attributes by resource id, else by name. Raises one of `_BROKEN`."""
    strings: list[str] = []
    ids: tuple[int, ...] = ()
    for kind, at, _, size in _chunks(manifest, 8, len(manifest)):
        if kind == _STRINGS:
            (count,) = struct.unpack_from("<I", manifest, at + 8)
            strings = [_string_at(manifest, at, number) for number in range(min(count, len(manifest)))]
        elif kind == _IDS:
            ids = struct.unpack_from(f"<{(size - 8) // 4}I", manifest, at + 8)
        elif kind == _OPENS:
            name = strings[struct.unpack_from("<I", manifest, at + 20)[0]]
            start, attribute_size, attribute_count = struct.unpack_from("<3H", manifest, at + 24)
            attributes: dict[int | str, Attribute] = {}
            for number in range(attribute_count):
                _, key, raw, value_kind, value = struct.unpack_from(
                    "<5I", manifest, at + 16 + start + number * attribute_size
                )
                resource: int | str = ids[key] if key < len(ids) else strings[key]
                if value_kind >> 24 == _REFERENCE:
                    attributes[resource] = LabelRef(value)
                elif value_kind >> 24 == _STRING:
                    attributes[resource] = strings[raw if raw < len(strings) else value]
                else:
                    attributes[resource] = int(value)
            yield name, attributes


def _string_at(data: bytes, at: int, number: int) -> str:
    count, _, flags, start = struct.unpack_from("<4I", data, at + 8)
    if number >= count:
        raise ValueError(f"string {number} of {count}")
    (offset,) = struct.unpack_from("<I", data, at + 28 + 4 * number)
    at += start + offset
    if flags & _UTF8:
        # The number of characters, then the number of bytes; each takes one byte, or two with the top bit.
        at += 2 if data[at] & 0x80 else 1
        size, at = data[at], at + 1
        if size & 0x80:
            size, at = (size & 0x7F) << 8 | data[at], at + 1
        return data[at : at + size].decode("utf-8", "replace")
    size, at = struct.unpack_from("<H", data, at)[0], at + 2
    if size & 0x8000:
        size, at = (size & 0x7FFF) << 16 | struct.unpack_from("<H", data, at)[0], at + 2
    return data[at : at + size * 2].decode("utf-16-le", "replace")
