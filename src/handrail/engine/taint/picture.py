"""Pictures without what may not be seen: painted over where that is, blank where nobody knows where it is."""

from __future__ import annotations

import io
from collections.abc import Sequence

from handrail.tree.node import Bounds, Screen

PAINT = (32, 33, 36)
EDGE_PX = 3
"""Around each box: letters and cursors reach a little over it."""


def painted(png: bytes, boxes: Sequence[Bounds], screen: Screen) -> bytes:
    """The picture with these boxes of the screen painted over."""
    from PIL import Image, ImageDraw  # noqa: PLC0415  (30 ms that a device without secrets need not pay)

    with Image.open(io.BytesIO(png)) as opened:
        image = opened.convert("RGB")
    draw = ImageDraw.Draw(image)
    across, down = image.width / max(1, screen.width), image.height / max(1, screen.height)
    for box in boxes:
        if box.area:
            draw.rectangle(
                (
                    box.left * across - EDGE_PX,
                    box.top * down - EDGE_PX,
                    box.right * across + EDGE_PX,
                    box.bottom * down + EDGE_PX,
                ),
                fill=PAINT,
            )
    return _written(image)


def blank(png: bytes) -> bytes:
    """Of the same size, with nothing on it."""
    from PIL import Image  # noqa: PLC0415

    with Image.open(io.BytesIO(png)) as opened:
        return _written(Image.new("RGB", opened.size, PAINT))


def _written(image: object) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=1)  # type: ignore[attr-defined]
    return written.getvalue()
