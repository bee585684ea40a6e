"""Pictures for models: small enough to be read, with refs drawn where the elements are. Pure."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail.tree.node import Bounds

if TYPE_CHECKING:
    from PIL.Image import Image as Picture
    from PIL.ImageDraw import ImageDraw as Draw

LONG_SIDE = 1568
"""Pixels; larger pictures are scaled down by the models themselves, at the sender's cost."""
TAG = 1 / 44
"""Height of a tag's letters, as a share of the picture's width."""
SMALLEST = 11
"""Pixels of a letter that can still be read."""
_COLOURS = {
    "b": (193, 39, 45), "f": (0, 98, 155), "c": (124, 58, 160), "v": (124, 58, 160), "l": (0, 110, 90),
    "i": (150, 80, 0), "s": (90, 90, 90),
}  # fmt: skip
"""By the letter of a ref: nested elements are told apart. All of them carry white letters."""
_OTHER = (193, 39, 45)

Mark = tuple[str, Bounds]


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture and how it relates to the screen."""

    png: bytes
    screen_width: int
    screen_height: int
    scale: float
    """Picture pixels per screen pixel."""


def show(png: bytes, marks: Sequence[Mark] = (), scale: float | None = None) -> Shown:
    """By the given factor, else so that the long side fits; marks are in screen pixels."""
    from PIL import Image  # noqa: PLC0415  (30 ms that most actions need not pay)

    with Image.open(io.BytesIO(png)) as opened:
        width, height = opened.size
        factor = min(1.0, LONG_SIDE / max(width, height)) if scale is None else scale
        if factor >= 1.0 and not marks:
            return Shown(png, width, height, 1.0)
        size = max(1, round(width * factor)), max(1, round(height * factor))
        image: Picture = opened.convert("RGB")
    if size != image.size:
        image = image.resize(size, Image.Resampling.LANCZOS)
    if marks:
        _draw(image, [(ref, _scaled(box, factor)) for ref, box in marks])
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=6)
    return Shown(written.getvalue(), width, height, factor)


def _scaled(box: Bounds, factor: float) -> Bounds:
    return Bounds(*(round(edge * factor) for edge in box))


def _draw(image: Picture, marks: list[Mark]) -> None:
    """Frames first, then the tags: no frame crosses a tag, and no tag lies upon another."""
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415

    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(max(SMALLEST, image.width * TAG))
    for ref, box in marks:
        edge = (box.left, box.top, max(box.left, box.right - 1), max(box.top, box.bottom - 1))
        draw.rectangle(edge, outline=_colour(ref), width=1 if ref[1] == "s" else 2)
    taken: list[Bounds] = []
    for ref, box in marks:
        taken.append(_tag(draw, font, ref, _place(draw, font, ref, box, taken)))


def _colour(ref: str) -> tuple[int, int, int]:
    return _COLOURS.get(ref[1], _OTHER)


def _place(draw: Draw, font: object, ref: str, box: Bounds, taken: list[Bounds]) -> Bounds:
    """A corner of the element; above it where the tag would hide what it says."""
    left, _, right, bottom = draw.textbbox((0, 0), ref, font=font)  # type: ignore[arg-type]
    width, height = int(right - left) + 6, int(bottom) + 4
    above = Bounds(box.left, box.top - height, box.left + width, box.top)
    corners = [
        Bounds(box.left, box.top, box.left + width, box.top + height),
        Bounds(box.right - width, box.top, box.right, box.top + height),
        Bounds(box.left, box.bottom - height, box.left + width, box.bottom),
        Bounds(box.right - width, box.bottom - height, box.right, box.bottom),
    ]
    is_low = box.height < 3 * height
    places = [above, *corners] if is_low and above.top >= 0 else [*corners, above]
    free = (place for place in places if not any(place.intersect(other).area for other in taken))
    return next(free, places[0])


def _tag(draw: Draw, font: object, ref: str, place: Bounds) -> Bounds:
    draw.rectangle((place.left, place.top, place.right - 1, place.bottom - 1), fill=_colour(ref))
    draw.text((place.left + 3, place.top + 1), ref, fill=(255, 255, 255), font=font)  # type: ignore[arg-type]
    return place
