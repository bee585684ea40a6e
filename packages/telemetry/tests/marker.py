"""A word that is put into every field there is, and a judge that finds it in raw bytes, however written."""

from __future__ import annotations

import base64
import gzip
import random
import zlib
from urllib.parse import quote

MARKER = "Zq7xMarkedWordKj9"
"""Stands in no list of ours. Any eight letters of it in a row are a leak."""


def forms(word: str) -> list[bytes]:
    """How a text may stand in bytes."""
    plain = [one.encode() for one in (word, word.lower(), word.upper(), word[::-1])]
    wide = [word.encode("utf-16-le"), word.encode("utf-16-be"), word.encode("utf-32-le")]
    digits = [word.encode().hex().encode(), word.encode().hex().upper().encode()]
    percent = ["".join(f"%{one:02X}" for one in word.encode()).encode(), quote(word).encode()]
    percent.append(percent[0].lower())
    return [*plain, *wide, *digits, *percent, *_base64(word.encode()), *_base64(word.encode("utf-16-le"))]


def _base64(data: bytes) -> list[bytes]:
    """At each of its three places in a longer text, without the letters that depend on their neighbours."""
    found = []
    for before in range(3):
        written = base64.b64encode(b"\0" * before + data)
        middle = written[4 if before else 0 : -4]
        found += [middle, middle.replace(b"+", b"-").replace(b"/", b"_")]
    return found


def leaks(raw: bytes, marker: str = MARKER) -> list[bytes]:
    """Every part of the marker that stands there, also inside what is packed."""
    parts = [marker[at : at + 8] for at in range(len(marker) - 7)]
    wanted = [form for part in parts for form in forms(part)]
    hits = [form for layer in [raw, *_unpacked(raw)] for form in wanted if form in layer]
    return sorted(set(hits))


def _unpacked(raw: bytes) -> list[bytes]:
    """What begins like gzip or zlib, wherever it begins."""
    found = []
    for at in range(len(raw) - 1):
        if raw[at : at + 2] in (b"\x1f\x8b", b"\x78\x9c", b"\x78\xda", b"\x78\x01"):
            try:
                found.append(zlib.decompressobj(47).decompress(raw[at:]))
            except zlib.error:
                continue
    return found


def hidden(rng: random.Random) -> list[bytes]:
    """Bytes that hold the marker, one for each way of writing it: the judge has to find all of them."""
    noise = bytes(rng.randrange(256) for _ in range(64))
    ways = [*forms(MARKER), gzip.compress(MARKER.encode()), zlib.compress(noise + MARKER.encode())]
    return [noise + one + noise for one in ways]
