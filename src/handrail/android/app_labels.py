"""Which apps a person can start, and what they are called: from their APKs, read in parts over adb.

Of each APK only the end of its directory, the manifest and the table of resources are read, and only once for
each version of the app. What can't be read is called by its package.
"""

from __future__ import annotations

import asyncio
import json
import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.adb.shell import DeviceShell
from handrail.android.apk_label import LabelRef, label_in_manifest, texts_of
from handrail.android.apps import LAUNCHER, MAIN
from handrail.android.fallbacks import took_fallback
from handrail.android.packages import current_user
from handrail.errors import HandrailError
from handrail.surface.values import InstalledApp

MANIFEST, RESOURCES = b"AndroidManifest.xml", b"resources.arsc"
TAIL = 66_000
"""Bytes at the end of a zip that hold where its directory stands: 22, and a comment of at most 65,535."""
MOST = 48 << 20
"""Bytes of one part; a larger one is not read."""
BLOCK = 4096
"""Bytes; every `dd` can skip whole blocks, and few can skip bytes."""
AT_ONCE = 4
"""APKs that are read side by side."""
_COMPONENT = re.compile(r"^\s*([A-Za-z][\w.]*)/(\S+)\s*$", re.MULTILINE)
_LISTED = re.compile(r"^package:(?P<path>/.*?)=(?P<name>[\w.]+)\s.*?versionCode:(?P<code>\d+)", re.MULTILINE)

Labels = Mapping[str, str]
"""By language; "" is the one that counts where no other does."""


@dataclass(frozen=True, slots=True)
class Launchable:
    """An app that has an icon."""

    package: str
    activity: str
    path: str = ""
    version: str = ""


class LabelMemory:
    """What was read, by package and version, in a file where there is one."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[str, dict[str, str]] = {}
        if file is not None:
            self._known = _read(file)

    def get(self, app: Launchable) -> Labels | None:
        return self._known.get(_key(app))

    def keep(self, app: Launchable, labels: Labels) -> None:
        """Older versions of it are forgotten."""
        old = [key for key in self._known if key.partition("@")[0] == app.package]
        for key in old:
            del self._known[key]
        self._known[_key(app)] = dict(labels)

    def write(self) -> None:
        """A file that can't be written costs the next process a reading, nothing else."""
        if self._file is None:
            return
        fresh = self._file.with_suffix(".new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(self._known, ensure_ascii=False))
            fresh.replace(self._file)
        except OSError:
            return


def _read(file: Path) -> dict[str, dict[str, str]]:
    """What is broken is read from the phone again."""
    try:
        found = json.loads(file.read_bytes())
        return {str(key): {str(one): str(text) for one, text in told.items()} for key, told in found.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _key(app: Launchable) -> str:
    return f"{app.package}@{app.version}:{app.path}"


async def installed_apps(shell: DeviceShell, memory: LabelMemory) -> list[InstalledApp]:
    """Each once, by its first icon."""
    apps = await _launchable(shell)
    unread = [one for one in apps if memory.get(one) is None]
    gate = asyncio.Semaphore(AT_ONCE)

    async def read(app: Launchable) -> None:
        async with gate:
            if labels := await _labels(shell, app):
                memory.keep(app, labels)

    await asyncio.gather(*map(read, unread))
    if unread:
        memory.write()
    language = await _language(shell)
    return [_named(one, memory.get(one) or {}, language) for one in apps]


def _named(app: Launchable, labels: Labels, language: str) -> InstalledApp:
    """In the phone's language, as Android chooses: the country's own, the language's, the one without."""
    order = (language, language.partition("-")[0], "", "en")
    label = next((labels[one] for one in order if labels.get(one)), "") or next(iter(labels.values()), "")
    others = tuple(dict.fromkeys(text for text in labels.values() if text and text != label))
    return InstalledApp(app.package, label or app.package, others)


async def _launchable(shell: DeviceShell) -> list[Launchable]:
    user = str(await current_user(shell))
    query = ["cmd", "package", "query-activities", "--brief", "--user", user, "-a", MAIN, "-c", LAUNCHER]
    listing = ["cmd", "package", "list", "packages", "-f", "-U", "--show-versioncode", "--user", user]
    icons, packages = await asyncio.gather(shell.run(query), shell.run(listing))
    places = {one["name"]: one for one in _LISTED.finditer(packages.text)}
    found: dict[str, Launchable] = {}
    for one in _COMPONENT.finditer(icons.text):
        package, activity = one[1], one[2]
        whole = package + activity if activity.startswith(".") else activity
        place = places.get(package)
        path, version = (place["path"], place["code"]) if place else ("", "")
        found.setdefault(package, Launchable(package, whole, path, version))
    return list(found.values())


async def _language(shell: DeviceShell) -> str:
    for name in ("persist.sys.locale", "ro.product.locale"):
        said = (await shell.run(["getprop", name], check=False)).text.strip()
        if said:
            language, _, country = said.replace("_", "-").partition("-")
            return f"{language}-{country.rpartition('-')[2]}" if country else language
    return ""


async def _labels(shell: DeviceShell, app: Launchable) -> Labels:
    """Empty where nothing could be read: that is said once, and tried again another time."""
    try:
        parts = await _Zip.open(shell, app.path)
        label = label_in_manifest(await parts.member(MANIFEST), app.activity)
        if isinstance(label, LabelRef):
            return texts_of(await parts.member(RESOURCES), label)
        return {"": label} if label else {}
    except (HandrailError, _UnreadableZip) as error:
        took_fallback(shell, f"apps: the name of {app.package} could not be read: {error}")
        return {}


class _UnreadableZip(Exception):
    """It is no zip, or one of a kind that no APK is."""


class _Zip:
    """A file on the phone of which only parts are read."""

    def __init__(self, shell: DeviceShell, path: str, members: Mapping[bytes, tuple[int, int, int]]) -> None:
        self._shell = shell
        self._path = path
        self._members = members
        """By name: where its own head stands, how long its data is, how it is packed."""

    @classmethod
    async def open(cls, shell: DeviceShell, path: str) -> _Zip:
        if not path:
            raise _UnreadableZip("the phone does not tell where its APK is")
        tail = (await shell.run(["tail", "-c", str(TAIL), path])).stdout
        end = tail.rfind(b"PK\x05\x06")
        if end < 0 or len(tail) < end + 22:
            raise _UnreadableZip("it has no directory")
        size, start = struct.unpack_from("<2I", tail, end + 12)
        if size <= end:  # the directory ends where the end record begins
            directory = tail[end - size : end]
        else:
            directory = await _range(shell, path, start, size)
        return cls(shell, path, _read_directory(directory))

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


def _read_directory(data: bytes) -> dict[bytes, tuple[int, int, int]]:
    found: dict[bytes, tuple[int, int, int]] = {}
    at = 0
    while data[at : at + 4] == b"PK\x01\x02" and at + 46 <= len(data):
        (method,) = struct.unpack_from("<H", data, at + 10)
        (size,) = struct.unpack_from("<I", data, at + 20)
        names, extra, comment = struct.unpack_from("<3H", data, at + 28)
        (start,) = struct.unpack_from("<I", data, at + 42)
        found[data[at + 46 : at + 46 + names]] = (start, size, method)
        at += 46 + names + extra + comment
    return found


async def _range(shell: DeviceShell, path: str, start: int, size: int) -> bytes:
    if size > MOST:
        raise _UnreadableZip(f"a part of {size:,} bytes is too large")
    first, last = start // BLOCK, (start + size + BLOCK - 1) // BLOCK
    command = ["dd", f"if={path}", f"bs={BLOCK}", f"skip={first}", f"count={last - first}"]
    blocks = (await shell.run(command, limit=MOST + 2 * BLOCK)).stdout
    return blocks[start - first * BLOCK :][:size]
