"""Paints a scene with Pillow: every shape becomes solid rectangles and masks, clipped before copying."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw

from handrail_sim.paint import images, masks
from handrail_sim.paint.glyphs import glyph
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
from handrail_sim.view.advances import UNITS_PER_EM
from handrail_sim.view.metrics import units

_OVERSAMPLING = 3


def paint(scene: Scene) -> Image.Image:
    """The picture of a scene, RGB."""
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
            mask = mask.point(masks.scale(colour[3]))
        self.image.paste(colour[:3], part, mask)

    def _fill(self, shape: Fill) -> None:
        left, top, right, bottom = box = shape.box
        radius = min(shape.radius, (right - left) // 2, (bottom - top) // 2)
        if radius <= 0:
            self._rectangle(box, shape.colour)
            return
        quarters = masks.corner(radius)
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
            for quarter, (x, y) in zip(masks.ring(radius, width), _corner_places(box, radius), strict=True):
                self._stamp(quarter, x, y, colour)
        inner = max(radius, width)
        self._rectangle((left + radius, top, right - radius, top + width), colour)
        self._rectangle((left + radius, bottom - width, right - radius, bottom), colour)
        self._rectangle((left, top + inner, left + width, bottom - inner), colour)
        self._rectangle((right - width, top + inner, right, bottom - inner), colour)

    def _shadow(self, shape: Shadow) -> None:
        tile = masks.shadow(shape.radius, shape.depth)
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
        for character in shape.text:
            if x >= self._clip[2]:
                break
            found = glyph(character, size, bold)
            if found is not None:
                self._stamp(found.mask, round(x) + found.left, shape.baseline + found.top, shape.colour)
            x += units(character, bold) * size / UNITS_PER_EM

    def _sign(self, shape: Sign) -> None:
        self._stamp(masks.icon(shape.name, shape.size), shape.x, shape.y, shape.colour)

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
        mask = masks.rounded(width, height, radius).crop(window) if radius > 0 else None
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
