"""Pictures without what may not be seen: painted over where that is, blank where nobody knows where it is."""

from __future__ import annotations

import io
from collections.abc import Sequence

from handrail.tree.node import Bounds, Screen

PAINT = (32, 33, 36)
EDGE_PX = 3
"""Around each box: letters and cursors reach a little over it."""


def painted(png: bytes, boxes: Sequence[Bounds], screen: Screen) -> bytes:
    """The picture without these boxes of the screen, and without what belongs to no window that was read."""
    from PIL import Image, ImageDraw  # noqa: PLC0415  (30 ms that a device without secrets need not pay)

    with Image.open(io.BytesIO(png)) as opened:
        taken = opened.convert("RGB")
    across, down = taken.width / max(1, screen.width), taken.height / max(1, screen.height)
    image = Image.new("RGB", taken.size, PAINT)
    for window in screen.windows:
        left, top, right, bottom = window.bounds
        part = (round(left * across), round(top * down), round(right * across), round(bottom * down))
        if window.bounds.area:
            image.paste(taken.crop(part), part[:2])
    draw = ImageDraw.Draw(image)
    for left, top, right, bottom in (box for box in boxes if box.area):
        edges = (
            left * across - EDGE_PX,
            top * down - EDGE_PX,
            right * across + EDGE_PX,
            bottom * down + EDGE_PX,
        )
        draw.rectangle(edges, fill=PAINT)
    return _written(image)


def is_known(screen: Screen) -> bool:
    """A window covers all of it. Where none does, what stands beside the windows was not read."""
    return any(window.bounds.covers(screen.bounds) for window in screen.windows)


def blank(png: bytes) -> bytes:
    """Of the same size, with nothing on it."""
    from PIL import Image  # noqa: PLC0415

    with Image.open(io.BytesIO(png)) as opened:
        return _written(Image.new("RGB", opened.size, PAINT))


def _written(image: object) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=1)  # type: ignore[attr-defined]
    return written.getvalue()
