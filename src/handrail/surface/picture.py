"""Pictures from strangers: the one place where the bytes of a picture are decoded.

A picture says how large it is in its first bytes. One that would fill the memory is refused by them, before
anything is unpacked; one that is cut, damaged or no picture at all is the same failure with another reason.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from handrail.errors import PictureUnreadable

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 64_000_000
"""Twice the pixels of the largest screens there are."""
FORMATS = ("PNG", "JPEG", "WEBP")


def opened(data: bytes) -> Image:
    """The picture, decoded whole: whoever uses it meets no damage any more."""
    with _named(data):
        picture = _begun(data)
        picture.load()
        return picture


def size_of(data: bytes) -> tuple[int, int]:
    """Width and height, as its first bytes say."""
    with _named(data):
        return _begun(data).size


def _begun(data: bytes) -> Image:
    from PIL import Image as Images  # noqa: PLC0415  (30 ms that most actions need not pay)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Images.DecompressionBombWarning)  # our limit is lower
        picture = Images.open(io.BytesIO(data), formats=FORMATS)
    width, height = picture.size
    if width * height > MOST_PIXELS:
        large = f"A picture of {width:,}x{height:,} pixels is too large to be opened"
        raise PictureUnreadable(large, width=width, height=height)
    return picture


@contextmanager
def _named(data: bytes) -> Iterator[None]:
    from PIL.Image import DecompressionBombError  # noqa: PLC0415

    try:
        yield
    except DecompressionBombError as error:
        raise PictureUnreadable(f"A picture is too large to be opened: {error}") from None
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, struct.error) as error:
        raise PictureUnreadable(f"A picture of {len(data):,} bytes can't be read: {error}") from None
