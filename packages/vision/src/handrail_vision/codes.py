"""QR and bar codes in a picture, as texts."""

from __future__ import annotations

from importlib.util import find_spec

from handrail.screen.node import Bounds
from handrail_vision.recognise import Picture

LONGEST = 1_000
"""Characters of a code that are kept."""


def codes_in(picture: Picture) -> list[tuple[Bounds, str]]:
    """Where each code is and what it says; empty where zxing-cpp is not installed."""
    if find_spec("zxingcpp") is None:
        return []
    import zxingcpp  # noqa: PLC0415 - loaded by the first picture

    codes = []
    for code in zxingcpp.read_barcodes(picture):
        corners = (
            code.position.top_left,
            code.position.top_right,
            code.position.bottom_left,
            code.position.bottom_right,
        )
        xs, ys = [corner.x for corner in corners], [corner.y for corner in corners]
        box = Bounds(max(0, min(xs)), max(0, min(ys)), max(xs) + 1, max(ys) + 1)
        if code.text.strip():
            codes.append((box, code.text[:LONGEST]))
    return codes
