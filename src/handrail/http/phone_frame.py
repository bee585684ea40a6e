"""A phone's picture as it travels: made small, packed behind a JSON header. Knows no phone and no browser."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any

LONG_SIDE = 1_200
"""Pixels. Enough for a window as high as most screens; half of a common phone's."""
QUALITY = 84
HEADER_BYTES = 4
"""The length of the header, big-endian, comes first."""


@dataclass(frozen=True, slots=True)
class Small:
    """A picture for people, and the size in pixels of the screen that it shows."""

    jpeg: bytes
    width: int
    height: int


def shrink(png: bytes) -> Small:
    """By a whole factor: each pixel is the mean of a square, so that small letters stay readable."""
    from PIL import Image  # noqa: PLC0415  (30 ms that a server without watchers need not pay)

    with Image.open(io.BytesIO(png)) as opened:
        width, height = opened.size
        factor = max(1, max(width, height) // LONG_SIDE)
        small = opened.reduce(factor) if factor > 1 else opened
        written = io.BytesIO()
        small.convert("RGB").save(written, "JPEG", quality=QUALITY)
    return Small(written.getvalue(), width, height)


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One binary message."""
    words = json.dumps({"type": "FRAME", **header}, ensure_ascii=False, separators=(",", ":")).encode()
    return len(words).to_bytes(HEADER_BYTES, "big") + words + body


def unpack(message: bytes) -> tuple[dict[str, Any], bytes]:
    """What `pack` has made, for those who read it in Python."""
    end = HEADER_BYTES + int.from_bytes(message[:HEADER_BYTES], "big")
    return json.loads(message[HEADER_BYTES:end]), message[end:]
