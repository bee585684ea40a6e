"""Glyph widths of the bundled font: a table, so that text is measured without loading a font.

Generated from the files in `paint/fonts/`; `tests/test_paint_metrics.py` compares the two.
"""

from __future__ import annotations

import base64
import struct
import zlib

from handrail_sim.resources import table

UNITS_PER_EM = 2048
# From the baseline to the top and the foot of a line, the font's own padding included, as TextView has it.
ABOVE, BELOW = 2163, 555

# First and last code point of each run of characters that the font has.
_TABLE = table("view/advances.toml")
_RUNS: list[list[int]] = _TABLE["runs"]
# Little-endian 16-bit widths in font units, deflated, base 85.
_REGULAR: str = _TABLE["regular"]
_MEDIUM: str = _TABLE["medium"]


def _table(packed: str) -> dict[str, int]:
    raw = zlib.decompress(base64.b85decode(packed))
    characters = [chr(code) for first, last in _RUNS for code in range(first, last + 1)]
    return dict(zip(characters, struct.unpack(f"<{len(characters)}H", raw), strict=True))


REGULAR = _table(_REGULAR)
MEDIUM = _table(_MEDIUM)
