"""Pictures from strangers: too large, cut, scribbled on, or none; refused before they fill the memory."""

from __future__ import annotations

import io
import resource
import struct
import zlib
from random import Random

import pytest
from PIL import Image

from handrail.android.screenshot import is_black
from handrail.engine.actions.observations import fit_picture
from handrail.errors import PictureUnreadable
from handrail.flow.evidence import _small_jpeg
from handrail.safety.approval_request import mark_screenshot
from handrail.surface.picture import opened, size_of
from handrail.web_server.phone_stream import shrink_to_jpeg
from tests.cases import each

READERS = {
    "is_black": is_black,
    "screenshot": fit_picture,
    "screenshot at full size": lambda png: fit_picture(png, scale=1.0),
    "approval": lambda png: mark_screenshot(png, (1, 1, 9, 9)),
    "evidence": _small_jpeg,
    "watcher": shrink_to_jpeg,
}
"""Everything that reads a picture of a screen."""


def png(width: int, height: int, body: bytes | None = None) -> bytes:
    """A PNG that says so, with the rows of one that is black."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(min(width + 1, 60_001) * min(height, 300))) if body is None else body
    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@each("name", READERS)
@each("size", [(60_000, 60_000), (2**31 - 1, 1), (1, 2**31 - 1), (8_001, 8_000)])
def test_a_picture_that_would_fill_the_memory_is_refused_by_its_first_bytes(
    name: str, size: tuple[int, int]
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(PictureUnreadable, match="too large") as told:
        READERS[name](png(*size))
    assert told.value.code == "PICTURE_UNREADABLE"
    assert told.value.hint
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64_000, "kilobytes"


def whole() -> bytes:
    out = io.BytesIO()
    Image.radial_gradient("L").convert("RGB").save(out, "PNG")
    return out.getvalue()


@each("name", READERS)
def test_a_damaged_picture_is_a_failure_with_a_name_or_is_read(name: str) -> None:
    random, good = Random(17), whole()
    for number in range(60):
        data = bytearray(good)
        if number % 3 == 0:
            data = data[: random.randrange(len(data))]
        for _ in range(random.randrange(1, 6)):
            if data:
                data[random.randrange(len(data))] = random.randrange(256)
        try:
            READERS[name](bytes(data))
        except PictureUnreadable as told:
            assert told.hint


@each("data", [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a" + bytes(50), b"not a picture" * 9])
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(PictureUnreadable):
        opened(data)
    with pytest.raises(PictureUnreadable):
        size_of(data)


def test_a_picture_whose_rows_are_a_bomb_is_read_up_to_its_own_size() -> None:
    bomb = zlib.compress(bytes(200_000_000), 9)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert opened(png(100, 100, bomb)).size == (100, 100)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000
