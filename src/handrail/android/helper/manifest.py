"""Package and versionCode of an APK, from its compiled manifest. Reads the first tag and nothing else."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

_STRINGS, _RESOURCES, _TAG = 0x0001, 0x0180, 0x0102
_UTF8_POOL = 1 << 8
_VERSION_CODE = 0x0101021B
"""android.R.attr.versionCode: shrinkers remove the attribute's name, never its number."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an APK says of itself."""

    package: str
    version_code: int


def read_manifest(apk: Path) -> Manifest | None:
    """None for what is no APK."""
    try:
        with zipfile.ZipFile(apk) as archive:
            data = archive.read("AndroidManifest.xml")
        return _from_text(data) if data.lstrip().startswith(b"<") else _from_binary(data)
    except (OSError, zipfile.BadZipFile, zlib.error, struct.error, LookupError, ValueError, RuntimeError):
        return None


def _from_text(data: bytes) -> Manifest:
    """Phones want a compiled manifest; build trees and simulators have plain ones."""
    text = data.decode()
    package = re.search(r'\bpackage="([^"]*)"', text)
    code = re.search(r'\bversionCode="(\d+)"', text)
    return Manifest(package[1] if package else "", int(code[1]) if code else 1)


def _from_binary(data: bytes) -> Manifest:
    """Chunks of (type, head size, size): strings, resource numbers of the first of them, then tags."""
    strings, numbers, at = list[str](), tuple[int, ...](), 8
    while True:
        kind, _, size = struct.unpack_from("<HHI", data, at)
        chunk = data[at : at + size]
        if kind == _STRINGS:
            strings = _pool(chunk)
        elif kind == _RESOURCES:
            numbers = struct.unpack_from(f"<{(size - 8) // 4}I", chunk, 8)
        elif kind == _TAG:
            return _first_tag(chunk, strings, numbers)
        at += max(size, 8)


def _first_tag(chunk: bytes, strings: list[str], numbers: tuple[int, ...]) -> Manifest:
    """An attribute is five words: namespace, name, raw string, type, value."""
    package, code = "", 1
    start, width, count = struct.unpack_from("<3H", chunk, 24)
    for number in range(count):
        _, name, raw, _, value = struct.unpack_from("<5I", chunk, 16 + start + number * width)
        if name < len(numbers) and numbers[name] == _VERSION_CODE:
            code = value
        elif strings[name] == "package":
            package = strings[raw]
    return Manifest(package, code)


def _pool(chunk: bytes) -> list[str]:
    count, _, flags, start = struct.unpack_from("<4I", chunk, 8)
    read = _utf8 if flags & _UTF8_POOL else _utf16
    return [read(chunk, start + offset) for offset in struct.unpack_from(f"<{count}I", chunk, 28)]


def _utf8(chunk: bytes, at: int) -> str:
    """Two lengths, in characters and in bytes, each of one byte or two, then the text."""
    at += 2 if chunk[at] & 0x80 else 1
    size, at = chunk[at], at + 1
    if size & 0x80:
        size, at = (size & 0x7F) << 8 | chunk[at], at + 1
    return chunk[at : at + size].decode()


def _utf16(chunk: bytes, at: int) -> str:
    """A length in units, of two bytes or four, then the text."""
    (size,) = struct.unpack_from("<H", chunk, at)
    at += 2
    if size & 0x8000:
        size, at = (size & 0x7FFF) << 16 | int(struct.unpack_from("<H", chunk, at)[0]), at + 2
    return chunk[at : at + size * 2].decode("utf-16-le")
