"""What a phone reads in an APK before it installs it: package, versions, permissions. Unpacks no more."""

from __future__ import annotations

import re
import struct
import zipfile
from dataclasses import dataclass, field
from io import BytesIO

MANIFEST = "AndroidManifest.xml"
MAX_MANIFEST = 4 << 20
_STRINGS, _START = 0x0001, 0x0102
_UTF8 = 1 << 8
_DEBUGGABLE, _VERSION_CODE, _VERSION_NAME = 0x0101000F, 0x0101021B, 0x0101021C


class BadApk(Exception):
    """Not to be installed; the message is PackageManager's failure code and text."""


@dataclass(slots=True)
class ApkFacts:
    """The manifest's own words."""

    package: str = ""
    version_name: str = "1.0"
    version_code: int = 1
    debuggable: bool = False
    permissions: list[str] = field(default_factory=list)


def read_apk(data: bytes) -> ApkFacts:
    """The facts of an APK; `BadApk` for what is none."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST:
                raise BadApk("INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: manifest too large")
            manifest = archive.read(MANIFEST)
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        raise BadApk(
            "INSTALL_PARSE_FAILED_NOT_APK: Failed to parse base.apk: Failed to load asset path"
        ) from None
    except KeyError:
        raise BadApk("INSTALL_PARSE_FAILED_BAD_MANIFEST: Missing AndroidManifest.xml") from None
    facts = _from_text(manifest) if manifest.lstrip()[:1] == b"<" else _from_binary(manifest)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+", facts.package):
        raise BadApk("INSTALL_PARSE_FAILED_BAD_PACKAGE_NAME: Invalid manifest package")
    return facts


def _from_text(manifest: bytes) -> ApkFacts:
    """A manifest that was never compiled: real phones refuse it, test files have it."""
    text = manifest.decode("utf-8", "replace")

    def attribute(name: str, default: str) -> str:
        found = re.search(rf'\b{name}\s*=\s*["\']([^"\']*)["\']', text)
        return found[1] if found else default

    code = attribute("versionCode", "1")
    return ApkFacts(
        attribute("package", ""),
        attribute("versionName", "1.0"),
        int(code) if code.isdigit() else 1,
        attribute("debuggable", "false") == "true",
        re.findall(r"<uses-permission[^>]*?name\s*=\s*[\"']([^\"']+)", text),
    )


def _from_binary(manifest: bytes) -> ApkFacts:
    """Android's compiled XML: a pool of strings, resource ids for attribute names, then one chunk per tag."""
    facts, at, strings, ids = ApkFacts(), 8, list[str](), list[int]()
    try:
        while at + 8 <= len(manifest):
            kind, _, size = struct.unpack_from("<HHI", manifest, at)
            chunk = manifest[at : at + size]
            if kind == _STRINGS:
                strings = _pool(chunk)
            elif kind == 0x0180:
                ids = list(struct.unpack_from(f"<{(size - 8) // 4}I", chunk, 8))
            elif kind == _START:
                _tag(chunk, strings, ids, facts)
            at += max(size, 8)
    except (struct.error, IndexError, UnicodeDecodeError):
        raise BadApk("INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: Corrupt XML binary file") from None
    return facts


def _pool(chunk: bytes) -> list[str]:
    count, _, flags, start = struct.unpack_from("<4I", chunk, 8)
    offsets = struct.unpack_from(f"<{count}I", chunk, 28)
    read = _utf8 if flags & _UTF8 else _utf16
    return [read(chunk, start + offset) for offset in offsets]


def _utf8(chunk: bytes, at: int) -> str:
    at += 2 if chunk[at] & 0x80 else 1
    size = chunk[at]
    at += 1
    if size & 0x80:
        size = (size & 0x7F) << 8 | chunk[at]
        at += 1
    return chunk[at : at + size].decode()


def _utf16(chunk: bytes, at: int) -> str:
    (size,) = struct.unpack_from("<H", chunk, at)
    at += 2
    if size & 0x8000:
        size = (size & 0x7FFF) << 16 | struct.unpack_from("<H", chunk, at)[0]
        at += 2
    return chunk[at : at + size * 2].decode("utf-16-le")


def _tag(chunk: bytes, strings: list[str], ids: list[int], facts: ApkFacts) -> None:
    """One opening tag; an attribute is five words: namespace, name, raw string, type, value."""
    name = strings[struct.unpack_from("<I", chunk, 20)[0]]
    start, size, count = struct.unpack_from("<3H", chunk, 24)
    for number in range(count):
        _, key, raw, _, value = struct.unpack_from("<5I", chunk, 16 + start + number * size)
        label = strings[key]
        resource = ids[key] if key < len(ids) else 0
        text = strings[raw] if raw < len(strings) else ""
        _attribute(name, label, resource, text, value, facts)


def _attribute(tag: str, label: str, resource: int, text: str, value: int, facts: ApkFacts) -> None:
    if tag == "manifest":
        if label == "package":
            facts.package = text
        elif resource == _VERSION_CODE or label == "versionCode":
            facts.version_code = value
        elif (resource == _VERSION_NAME or label == "versionName") and text:
            facts.version_name = text
    elif tag == "uses-permission" and label == "name" and text:
        facts.permissions.append(text)
    elif tag == "application" and (resource == _DEBUGGABLE or label == "debuggable"):
        facts.debuggable = value != 0
