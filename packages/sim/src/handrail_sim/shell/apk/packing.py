"""APKs of the apps that come with the phone, compiled as Android's packer does it.

A table of resources is there where an app is called otherwise in other languages. There is no code in them.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from functools import cache

_NONE = 0xFFFFFFFF
_IDS = {"label": 0x01010001, "name": 0x01010003, "versionCode": 0x0101021B}
_NAMES = sorted(_IDS, key=_IDS.__getitem__)
_LABEL = 0x7F010000
"""The number of the one text in the table."""
_MAIN, _LAUNCHER = "android.intent.action.MAIN", "android.intent.category.LAUNCHER"
_STAMP = (2020, 1, 1, 0, 0, 0)

_Tag = tuple[str, Mapping[str, str | int]]


def packed_apk(package: str, label: str, activity: str, labels: Mapping[str, str]) -> bytes:
    """`labels` are by language; `label` is the one without."""
    return _packed(package, label, activity, tuple(labels.items()))


@cache  # every phone has the same few
def _packed(package: str, label: str, activity: str, labels: tuple[tuple[str, str], ...]) -> bytes:
    named: str | int = _LABEL if labels else label
    tags: list[_Tag] = [
        ("manifest", {"package": package}),
        ("application", {"label": named}),
        ("activity", {"name": activity}),
        ("intent-filter", {}),
        ("action", {"name": _MAIN}),
        ("category", {"name": _LAUNCHER}),
    ]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("AndroidManifest.xml", _STAMP), _compiled(tags))
        if labels:  # stored as it is, since Android maps it into memory
            table = _table({"": label, **dict(labels)})
            archive.writestr(zipfile.ZipInfo("resources.arsc", _STAMP), table, zipfile.ZIP_STORED)
    return buffer.getvalue()


def _chunk(kind: int, head: bytes, body: bytes) -> bytes:
    return struct.pack("<HHI", kind, 8 + len(head), 8 + len(head) + len(body)) + head + body


def _pool(words: list[str]) -> bytes:
    data, offsets = b"", []
    for word in words:
        offsets.append(len(data))
        data += struct.pack("<H", len(word)) + word.encode("utf-16-le") + b"\0\0"
    data += b"\0" * (-len(data) % 4)
    places = struct.pack(f"<{len(words)}I", *offsets)
    return _chunk(1, struct.pack("<5I", len(words), 0, 0, 28 + len(places), 0), places + data)


def _compiled(tags: list[_Tag]) -> bytes:
    """Tags that open, each inside the one before; a number is a reference to a resource."""
    words = list(_NAMES)
    for tag, arguments in tags:
        texts = (tag, *arguments, *(entry for entry in arguments.values() if isinstance(entry, str)))
        words += [text for text in dict.fromkeys(texts) if text not in words]
    body = _pool(words) + _chunk(0x0180, b"", struct.pack("<3I", *(_IDS[name] for name in _NAMES)))
    for tag, arguments in tags:
        rows = b"".join(_attribute(words, name, value) for name, value in arguments.items())
        node = struct.pack("<4I6H", 1, _NONE, _NONE, words.index(tag), 20, 20, len(arguments), 0, 0, 0)
        body += struct.pack("<HHI", 0x0102, 16, 8 + len(node + rows)) + node + rows
    for tag, _ in reversed(tags):
        body += struct.pack("<HHI4I", 0x0103, 16, 24, 1, _NONE, _NONE, words.index(tag))
    return _chunk(3, b"", body)


def _attribute(words: list[str], name: str, value: str | int) -> bytes:
    if isinstance(value, str):
        at = words.index(value)
        return struct.pack("<5I", _NONE, words.index(name), at, 0x03000008, at)
    return struct.pack("<5I", _NONE, words.index(name), _NONE, 0x01000008, value)


def _table(texts: Mapping[str, str]) -> bytes:
    types = b""
    for at, language in enumerate(texts):
        config = struct.pack("<2I2s2s", 28, 0, language.encode().ljust(2, b"\0"), b"\0\0").ljust(28, b"\0")
        head = struct.pack("<BBHII", _LABEL >> 16 & 0xFF, 0, 0, 1, 8 + 12 + 28 + 4) + config
        entry = struct.pack("<HHIHBBI", 8, 0, 0, 8, 0, 3, at)
        types += _chunk(0x0201, head, struct.pack("<I", 0) + entry)
    package = _chunk(0x0200, struct.pack("<I", _LABEL >> 24) + b"\0" * 276, types)
    return _chunk(2, struct.pack("<I", 1), _pool(list(texts.values())) + package)
