"""APKs made by hand: as text, or compiled as Android's packer does it."""

from __future__ import annotations

import io
import struct
import zipfile

_NONE = 0xFFFFFFFF
_IDS = {"versionCode": 0x0101021B, "name": 0x01010003, "label": 0x01010001, "targetPackage": 0x01010021}
_NAMES = sorted(_IDS)


def packed(manifest: bytes, resources: bytes = b"") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("AndroidManifest.xml", manifest)
        if resources:
            archive.writestr("resources.arsc", resources)
    return made.getvalue()


def text_apk(package: str, inside: str = "", code: int = 1) -> bytes:
    return packed(f'<manifest package="{package}" android:versionCode="{code}">{inside}</manifest>'.encode())


def launcher_apk(package: str, label: str, activity: str = ".Main") -> bytes:
    kinds = '<action android:name="android.intent.action.MAIN"/>'
    kinds += '<category android:name="android.intent.category.LAUNCHER"/>'
    screen = f'<activity android:name="{activity}"><intent-filter>{kinds}</intent-filter></activity>'
    return text_apk(package, f'<application android:label="{label}">{screen}</application>')


def instrumented_apk(
    package: str, target: str, runner: str = "androidx.test.runner.AndroidJUnitRunner"
) -> bytes:
    tag = f'<instrumentation android:name="{runner}" android:targetPackage="{target}"/>'
    return text_apk(package, tag)


def chunk(kind: int, header: bytes, body: bytes) -> bytes:
    return struct.pack("<HHI", kind, 8 + len(header), 8 + len(header) + len(body)) + header + body


def pool(words: list[str], *, utf8: bool = False) -> bytes:
    data, offsets = b"", []
    for word in words:
        offsets.append(len(data))
        raw = word.encode()
        if utf8:
            data += bytes([len(word), len(raw)]) + raw + b"\0"
        else:
            data += struct.pack("<H", len(word)) + word.encode("utf-16-le") + b"\0\0"
    data += b"\0" * (-len(data) % 4)
    places = struct.pack(f"<{len(words)}I", *offsets)
    head = struct.pack("<5I", len(words), 0, 0x100 if utf8 else 0, 28 + len(places), 0)
    return chunk(1, head, places + data)


def compiled(tags: list[tuple[str, dict[str, str | int]]], *, utf8: bool = False) -> bytes:
    """A manifest of opening tags; a number is a reference to a resource."""
    words = list(_NAMES)
    for tag, given in tags:
        words += [one for one in (tag, *given, *given.values()) if isinstance(one, str) and one not in words]
    body = pool(words, utf8=utf8) + chunk(0x0180, b"", struct.pack("<4I", *(_IDS[name] for name in _NAMES)))
    for tag, given in tags:
        rows = b""
        for name, value in given.items():
            if isinstance(value, str):
                at = words.index(value)
                rows += struct.pack("<5I", _NONE, words.index(name), at, 0x03000008, at)
            else:
                rows += struct.pack("<5I", _NONE, words.index(name), _NONE, 0x01000008, value)
        node = struct.pack("<4I", 1, _NONE, _NONE, words.index(tag)) + struct.pack(
            "<6H", 20, 20, len(given), 0, 0, 0
        )
        body += struct.pack("<HHI", 0x0102, 16, 8 + len(node + rows)) + node + rows
    return chunk(3, b"", body)


def table(texts: dict[str, str], number: int = 0x7F010000) -> bytes:
    """A resource table with one text in several languages; "" is the language without a name."""
    words = list(texts.values())
    types = b""
    for at, language in enumerate(texts):
        config = struct.pack("<2I2s2s", 28, 0, language.encode().ljust(2, b"\0"), b"\0\0").ljust(28, b"\0")
        head = struct.pack("<BBHII", number >> 16 & 0xFF, 0, 0, 1, 8 + 12 + 28 + 4) + config
        entry = struct.pack("<HHI", 8, 0, 0) + struct.pack("<HBBI", 8, 0, 3, at)
        types += chunk(0x0201, head, struct.pack("<I", 0) + entry)
    package = chunk(0x0200, struct.pack("<I", number >> 24) + b"\0" * 276, types)
    return chunk(2, struct.pack("<I", 1), pool(words) + package)
