"""Paints a scene with Pillow: every shape becomes solid rectangles and masks, clipped before copying."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

from handrail_sim.paint import icons, images, system_fonts
from handrail_sim.paint.palette import RGBA
from handrail_sim.paint.scene import (
    Arc,
    Box,
    Drawing,
    Fill,
    Line,
    Picture,
    Run,
    Scene,
    Shadow,
    Sign,
    Stroke,
    is_empty,
    overlap,
)
from handrail_sim.paint.sketch import Sketch
from handrail_sim.view.metrics import MEDIUM, REGULAR, UNITS_PER_EM, units

_MASK_OVERSAMPLING = 4

Corners = tuple[Image.Image, Image.Image, Image.Image, Image.Image]


@lru_cache(maxsize=128)
def corner(radius: int) -> Corners:
    return _turned(_quarter(radius, 0))


@lru_cache(maxsize=128)
def ring(radius: int, width: int) -> Corners:
    return _turned(_quarter(radius, width))


def _quarter(radius: int, width: int) -> Image.Image:
    large = radius * _MASK_OVERSAMPLING
    image = Image.new("L", (large, large))
    draw = ImageDraw.Draw(image)
    draw.ellipse((0, 0, 2 * large - 1, 2 * large - 1), fill=255)
    if 0 < width < radius:
        inset = width * _MASK_OVERSAMPLING
        draw.ellipse((inset, inset, 2 * large - 1 - inset, 2 * large - 1 - inset), fill=0)
    return image.reduce(_MASK_OVERSAMPLING)


def _turned(image: Image.Image) -> Corners:
    mirrored = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return (
        image,
        mirrored,
        mirrored.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
        image.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
    )


@lru_cache(maxsize=32)
def rounded(width: int, height: int, radius: int) -> Image.Image:
    image = Image.new("L", (width, height), 255)
    parts = corner(radius)
    right, bottom = width - radius, height - radius
    for part, at in zip(parts, ((0, 0), (right, 0), (right, bottom), (0, bottom)), strict=True):
        image.paste(part, at)
    return image


@lru_cache(maxsize=32)
def shadow(radius: int, depth: int) -> Image.Image:
    """A small blurred box; its middle row and column may be stretched to any size."""
    margin = 2 * depth
    side = 2 * (margin + radius + margin) + 1
    image = Image.new("L", (side, side))
    edge = side - 1 - margin
    ImageDraw.Draw(image).rounded_rectangle((margin, margin, edge, edge), radius, fill=70)
    return image.filter(ImageFilter.GaussianBlur(depth * 0.7))


@lru_cache(maxsize=64)
def scale(alpha: int) -> list[int]:
    """A lookup table that multiplies a mask by `alpha` of 255."""
    return [value * alpha // 255 for value in range(256)]


@lru_cache(maxsize=256)
def icon(name: str, size: int) -> Image.Image:
    """An icon in a square of `size` pixels."""
    large = size * _MASK_OVERSAMPLING
    image = Image.new("L", (large, large))
    Sketch(ImageDraw.Draw(image), large / icons.GRID, ink=255, ground=0).path(icons.path(name))
    return image.reduce(_MASK_OVERSAMPLING)


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
        return Glyph(icon(icons.SIGNS[character], side), left, top)
    if 0x1F600 <= ord(character) <= 0x1F64F:
        return Glyph(icon("emoji", side), left, top)
    return Glyph(
        _empty_box(max(3, round(width * 0.8)), round(size * 0.8)), round(width * 0.1), round(-size * 0.75)
    )


@lru_cache(maxsize=64)
def _empty_box(width: int, height: int) -> Image.Image:
    """What a phone without the right font shows."""
    mask = Image.new("L", (width, height))
    ImageDraw.Draw(mask).rectangle((0, 0, width - 1, height - 1), outline=255, width=max(1, height // 14))
    return mask


_OVERSAMPLING = 3


def paint(scene: Scene) -> Image.Image:
    canvas = Canvas(scene.width, scene.height)
    for clip, shape in scene.shapes:
        canvas.draw(clip, shape)
    return canvas.image


class Canvas:
    """An RGB image and how each kind of shape lands on it."""

    def __init__(self, width: int, height: int) -> None:
        self.image = Image.new("RGB", (width, height))
        self._screen = (0, 0, width, height)
        self._clip: Box = self._screen

    def draw(self, clip: Box, shape: Any) -> None:
        self._clip = overlap(clip, self._screen)
        if not is_empty(self._clip):
            _PAINTERS[type(shape)](self, shape)

    def _rectangle(self, box: Box, colour: RGBA) -> None:
        part = overlap(box, self._clip)
        if is_empty(part):
            return
        if colour[3] == 255:
            self.image.paste(colour[:3], part)
        elif colour[3]:
            size = (part[2] - part[0], part[3] - part[1])
            self.image.paste(colour[:3], part, Image.new("L", size, colour[3]))

    def _stamp(self, mask: Image.Image, x: int, y: int, colour: RGBA) -> None:
        box = (x, y, x + mask.width, y + mask.height)
        part = overlap(box, self._clip)
        if is_empty(part):
            return
        if part != box:
            mask = mask.crop((part[0] - x, part[1] - y, part[2] - x, part[3] - y))
        if colour[3] != 255:
            mask = mask.point(scale(colour[3]))
        self.image.paste(colour[:3], part, mask)

    def _fill(self, shape: Fill) -> None:
        left, top, right, bottom = box = shape.box
        radius = min(shape.radius, (right - left) // 2, (bottom - top) // 2)
        if radius <= 0:
            self._rectangle(box, shape.colour)
            return
        quarters = corner(radius)
        places = _corner_places(box, radius)
        for number, (quarter, (x, y)) in enumerate(zip(quarters, places, strict=True)):
            if shape.corners >> number & 1:
                self._stamp(quarter, x, y, shape.colour)
            else:
                self._rectangle((x, y, x + radius, y + radius), shape.colour)
        self._rectangle((left + radius, top, right - radius, top + radius), shape.colour)
        self._rectangle((left, top + radius, right, bottom - radius), shape.colour)
        self._rectangle((left + radius, bottom - radius, right - radius, bottom), shape.colour)

    def _stroke(self, shape: Stroke) -> None:
        left, top, right, bottom = box = shape.box
        width, colour = shape.width, shape.colour
        radius = min(shape.radius, (right - left) // 2, (bottom - top) // 2)
        if radius > 0:
            for quarter, (x, y) in zip(ring(radius, width), _corner_places(box, radius), strict=True):
                self._stamp(quarter, x, y, colour)
        inner = max(radius, width)
        self._rectangle((left + radius, top, right - radius, top + width), colour)
        self._rectangle((left + radius, bottom - width, right - radius, bottom), colour)
        self._rectangle((left, top + inner, left + width, bottom - inner), colour)
        self._rectangle((right - width, top + inner, right, bottom - inner), colour)

    def _shadow(self, shape: Shadow) -> None:
        tile = shadow(shape.radius, shape.depth)
        half = tile.width // 2
        margin = 2 * shape.depth
        left, top, right, bottom = shape.box
        # Light falls from above, so the shadow lies a little lower than the thing.
        drop = shape.depth // 3
        outer = (left - margin, top - margin + drop, right + margin, bottom + margin + drop)
        if outer[2] - outer[0] < 2 * half or outer[3] - outer[1] < 2 * half:
            tile = tile.resize((outer[2] - outer[0], outer[3] - outer[1]))
            self._stamp(tile, outer[0], outer[1], (0, 0, 0, shape.alpha))
            return
        for piece, x, y in _nine_pieces(tile, half, outer):
            self._stamp(piece, x, y, (0, 0, 0, shape.alpha))

    def _oversampled(self, box: Box, draw: Callable[[ImageDraw.ImageDraw, int], None], colour: RGBA) -> None:
        size = ((box[2] - box[0]) * _OVERSAMPLING, (box[3] - box[1]) * _OVERSAMPLING)
        mask = Image.new("L", size)
        draw(ImageDraw.Draw(mask), _OVERSAMPLING)
        self._stamp(mask.reduce(_OVERSAMPLING), box[0], box[1], colour)

    def _line(self, shape: Line) -> None:
        (x1, y1), (x2, y2), width = shape.start, shape.end, shape.width
        left, top = int(min(x1, x2) - width), int(min(y1, y2) - width)
        box = (left, top, int(max(x1, x2) + width) + 1, int(max(y1, y2) + width) + 1)

        def stroke(draw: ImageDraw.ImageDraw, factor: int) -> None:
            points = [((x - left) * factor, (y - top) * factor) for x, y in (shape.start, shape.end)]
            draw.line(points, fill=255, width=round(width * factor))
            reach = width * factor / 2
            for x, y in points:
                draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=255)

        self._oversampled(box, stroke, shape.colour)

    def _arc(self, shape: Arc) -> None:
        width, height = shape.box[2] - shape.box[0], shape.box[3] - shape.box[1]

        def stroke(draw: ImageDraw.ImageDraw, factor: int) -> None:
            end = shape.start + shape.sweep
            box = (0, 0, width * factor - 1, height * factor - 1)
            draw.arc(box, shape.start, end, fill=255, width=shape.width * factor)

        self._oversampled(shape.box, stroke, shape.colour)

    def _run(self, shape: Run) -> None:
        x, size, bold = shape.x, shape.size, shape.bold
        if size < 1:
            return
        if font := system_fonts.font_for(shape.text):
            mask, left, top = system_fonts.words(shape.text, size, font)
            self._stamp(mask, round(x) + left, shape.baseline + top, shape.colour)
            return
        for character in shape.text:
            if x >= self._clip[2]:
                break
            matches = glyph(character, size, bold)
            if matches is not None:
                self._stamp(matches.mask, round(x) + matches.left, shape.baseline + matches.top, shape.colour)
            x += units(character, bold) * size / UNITS_PER_EM

    def _sign(self, shape: Sign) -> None:
        self._stamp(icon(shape.name, shape.size), shape.x, shape.y, shape.colour)

    def _picture(self, shape: Picture) -> None:
        part = overlap(shape.box, self._clip)
        left, top, right, bottom = shape.box
        if is_empty(part):
            return
        width, height = right - left, bottom - top
        window = (part[0] - left, part[1] - top, part[2] - left, part[3] - top)
        picture = images.picture(shape.name, (width, height), window, shape.scale, shape.rotation)
        if shape.light < 1:
            picture = picture.point([round(value * shape.light) for value in range(256)] * 3)
        radius = min(shape.radius, width // 2, height // 2)
        mask = rounded(width, height, radius).crop(window) if radius > 0 else None
        self.image.paste(picture, part, mask)

    def _drawing(self, shape: Drawing) -> None:
        part = overlap(shape.box, self._clip)
        if is_empty(part):
            return
        left, top, right, bottom = shape.box
        picture = Image.open(BytesIO(shape.source.png)).convert("RGB").resize((right - left, bottom - top))
        if shape.light < 1:
            picture = picture.point([round(value * shape.light) for value in range(256)] * 3)
        self.image.paste(picture.crop((part[0] - left, part[1] - top, part[2] - left, part[3] - top)), part)


def _corner_places(box: Box, radius: int) -> tuple[tuple[int, int], ...]:
    left, top, right, bottom = box
    return (left, top), (right - radius, top), (right - radius, bottom - radius), (left, bottom - radius)


def _nine_pieces(tile: Image.Image, half: int, outer: Box) -> list[tuple[Image.Image, int, int]]:
    """The tile's corners where they are, its edges stretched between them; the middle is under the thing."""
    left, top, right, bottom = outer
    far = half + 1
    wide, tall = right - left - 2 * half, bottom - top - 2 * half
    end = tile.width
    pieces = [
        (tile.crop((0, 0, half, half)), left, top),
        (tile.crop((far, 0, end, half)), right - half, top),
        (tile.crop((0, far, half, end)), left, bottom - half),
        (tile.crop((far, far, end, end)), right - half, bottom - half),
    ]
    if wide > 0:
        pieces.append((tile.crop((half, 0, far, half)).resize((wide, half)), left + half, top))
        pieces.append((tile.crop((half, far, far, end)).resize((wide, half)), left + half, bottom - half))
    if tall > 0:
        pieces.append((tile.crop((0, half, half, far)).resize((half, tall)), left, top + half))
        pieces.append((tile.crop((far, half, end, far)).resize((half, tall)), right - half, top + half))
    return pieces


# Not bound methods in the instance: a canvas that refers to itself keeps 10 MB until the collector runs.
_PAINTERS: dict[type, Callable[[Canvas, Any], None]] = {
    Fill: Canvas._fill,
    Stroke: Canvas._stroke,
    Shadow: Canvas._shadow,
    Line: Canvas._line,
    Arc: Canvas._arc,
    Run: Canvas._run,
    Sign: Canvas._sign,
    Picture: Canvas._picture,
    Drawing: Canvas._drawing,
}


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TRUECOLOUR = 2
_FILTER_UP = b"\x02"
_LEVEL = 2
_STRIP_ROWS = 120  # small enough to stay in the processor's cache


def encode(image: Image.Image) -> bytes:
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, _TRUECOLOUR, 0, 0, 0)
    deflate = zlib.compressobj(_LEVEL)
    parts = [deflate.compress(_filtered(image, top)) for top in range(0, image.height, _STRIP_ROWS)]
    body = b"".join(parts) + deflate.flush()
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _filtered(image: Image.Image, top: int) -> bytes:
    bottom = min(top + _STRIP_ROWS, image.height)
    strip = image.crop((0, top, image.width, bottom))
    above = image.crop((0, top - 1, image.width, bottom - 1))  # what lies outside is black, as PNG has it
    data = ImageChops.subtract_modulo(strip, above).tobytes()
    stride = image.width * 3
    rows = [data[start : start + stride] for start in range(0, len(data), stride)]
    return _FILTER_UP + _FILTER_UP.join(rows)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
