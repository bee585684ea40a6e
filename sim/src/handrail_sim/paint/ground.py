"""Backgrounds that pictures stand on: gradients and soft patterns."""

from __future__ import annotations

from random import Random

from PIL import Image, ImageDraw

from handrail_sim.paint.palette import hue

RGB = tuple[int, int, int]


def gradient(size: tuple[int, int], top: RGB, bottom: RGB) -> Image.Image:
    """From one colour at the top to another at the bottom."""
    ramp = Image.linear_gradient("L").resize(size)
    bands = [
        ramp.point([round(first + (last - first) * step / 255) for step in range(256)])
        for first, last in zip(top, bottom, strict=True)
    ]
    return Image.merge("RGB", bands)


def plain_pattern(random: Random) -> Image.Image:
    """Overlapping circles: a picture of nothing in particular."""
    seed = random.randrange(1000)
    image = gradient((256, 256), hue(seed, 0.72)[:3], hue(seed + 1, 0.5)[:3])
    veil = Image.new("L", image.size)
    draw = ImageDraw.Draw(veil)
    for _ in range(4):
        x, y, reach = random.randrange(256), random.randrange(256), random.randrange(30, 110)
        draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=random.randrange(30, 90))
    image.paste((255, 255, 255), (0, 0), veil)
    return image
