"""Glyph masks of the bundled font, cached; characters that it lacks become an icon or an empty box."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from handrail_sim.paint import icons, masks
from handrail_sim.view.advances import MEDIUM, REGULAR, UNITS_PER_EM
from handrail_sim.view.metrics import units

_FONTS = Path(__file__).parent / "fonts"


class Glyph(NamedTuple):
    """A mask and where its top left corner lies from the pen position on the baseline."""

    mask: Image.Image
    left: int
    top: int


@lru_cache(maxsize=64)
def _font(size: float, bold: bool) -> ImageFont.FreeTypeFont:
    name = "Roboto-Medium.ttf" if bold else "Roboto-Regular.ttf"
    return ImageFont.truetype(str(_FONTS / name), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def glyph(character: str, size: float, bold: bool) -> Glyph | None:
    """The picture of one character, or None when there is nothing to see."""
    if character not in (MEDIUM if bold else REGULAR):
        return _substitute(character, size)
    font = _font(size, bold)
    left, top, right, bottom = (round(edge) for edge in font.getbbox(character, anchor="ls"))
    if right <= left or bottom <= top:
        return None
    mask = Image.new("L", (right - left, bottom - top))
    ImageDraw.Draw(mask).text((-left, -top), character, fill=255, font=font, anchor="ls")
    return Glyph(mask, left, top)


def _substitute(character: str, size: float) -> Glyph | None:
    width = units(character) * size / UNITS_PER_EM
    if width <= 0 or character.isspace():
        return None
    side = max(4, round(size * 0.95))
    left, top = round((width - side) / 2), round(-size * 0.83)
    if character in icons.SIGNS:
        return Glyph(masks.icon(icons.SIGNS[character], side), left, top)
    if 0x1F600 <= ord(character) <= 0x1F64F:
        return Glyph(masks.icon("emoji", side), left, top)
    return Glyph(
        _empty_box(max(3, round(width * 0.8)), round(size * 0.8)), round(width * 0.1), round(-size * 0.75)
    )


@lru_cache(maxsize=64)
def _empty_box(width: int, height: int) -> Image.Image:
    """What a phone without the right font shows."""
    mask = Image.new("L", (width, height))
    ImageDraw.Draw(mask).rectangle((0, 0, width - 1, height - 1), outline=255, width=max(1, height // 14))
    return mask
