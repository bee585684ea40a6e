"""The picture beside a question: the element framed in red, with enough around it to know where one is."""

from __future__ import annotations

import io

from handrail.errors import DeviceError

_RED = (220, 38, 38)
_AROUND = 320  # device pixels left and right of, above and below the element
_WIDEST = 720  # pixels of the result


def mark_screenshot(png: bytes, bounds: tuple[int, int, int, int] | None) -> bytes:
    """`bounds` is left, top, right, bottom; without any visible part of them the whole screen is shown."""
    from PIL import Image, ImageDraw, UnidentifiedImageError  # noqa: PLC0415  (few actions ask anybody)

    try:
        with Image.open(io.BytesIO(png)) as opened:
            picture = opened.convert("RGB")
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise DeviceError(f"The screenshot can't be read: {error}", hint="Ask without a picture.") from None
    frame = _clip(bounds, picture.size) if bounds else None
    if frame is not None:
        width = max(4, picture.width // 180)
        ImageDraw.Draw(picture).rectangle(_grow(frame, width, picture.size), outline=_RED, width=width)
        picture = picture.crop(_grow(frame, _AROUND, picture.size))
    if picture.width > _WIDEST:
        picture = picture.resize((_WIDEST, max(1, picture.height * _WIDEST // picture.width)))
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=False, compress_level=6)
    return out.getvalue()


Box = tuple[int, int, int, int]


def _clip(bounds: Box, size: tuple[int, int]) -> Box | None:
    left, top = max(0, bounds[0]), max(0, bounds[1])
    right, bottom = min(size[0], bounds[2]), min(size[1], bounds[3])
    return (left, top, right, bottom) if left < right and top < bottom else None


def _grow(box: Box, by: int, size: tuple[int, int]) -> Box:
    return max(0, box[0] - by), max(0, box[1] - by), min(size[0], box[2] + by), min(size[1], box[3] + by)
