"""Anti-aliased masks of corners, rings, shadows and icons: oversampled once per size, then only copied."""

from __future__ import annotations

from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter

from handrail_sim.paint import icons
from handrail_sim.paint.sketch import Sketch

_OVERSAMPLING = 4

Corners = tuple[Image.Image, Image.Image, Image.Image, Image.Image]


@lru_cache(maxsize=128)
def corner(radius: int) -> Corners:
    """Quarter discs for the top left, top right, bottom right and bottom left corner."""
    return _turned(_quarter(radius, 0))


@lru_cache(maxsize=128)
def ring(radius: int, width: int) -> Corners:
    """Quarter rings for the same corners."""
    return _turned(_quarter(radius, width))


def _quarter(radius: int, width: int) -> Image.Image:
    large = radius * _OVERSAMPLING
    image = Image.new("L", (large, large))
    draw = ImageDraw.Draw(image)
    draw.ellipse((0, 0, 2 * large - 1, 2 * large - 1), fill=255)
    if 0 < width < radius:
        inset = width * _OVERSAMPLING
        draw.ellipse((inset, inset, 2 * large - 1 - inset, 2 * large - 1 - inset), fill=0)
    return image.reduce(_OVERSAMPLING)


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
    """A whole rounded rectangle, for pictures."""
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
    large = size * _OVERSAMPLING
    image = Image.new("L", (large, large))
    Sketch(ImageDraw.Draw(image), large / icons.GRID, ink=255, ground=0).path(icons.path(name))
    return image.reduce(_OVERSAMPLING)
