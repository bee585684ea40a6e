"""What a screenshot of the report shows."""

from __future__ import annotations

import io

from PIL import Image, ImageChops

MARK = (224, 33, 138)
"""The colour of the mark, as style.css has it."""


def box_of_mark(image: Image.Image) -> tuple[int, int, int, int]:
    """Around all pixels that have the mark's colour."""
    apart = ImageChops.difference(image, Image.new("RGB", image.size, MARK))
    near = apart.convert("RGB").point(lambda value: 255 if value < 12 else 0).split()
    box = ImageChops.darker(ImageChops.darker(near[0], near[1]), near[2]).getbbox()
    assert box, "there is no mark"
    return box


def apart(seen: Image.Image, png: bytes) -> float:
    """How far two pictures are from each other on average, from 0 to 255."""
    other = Image.open(io.BytesIO(png)).convert("L").resize(seen.size)
    difference = ImageChops.difference(seen.convert("L"), other).tobytes()
    return sum(difference) / len(difference)
