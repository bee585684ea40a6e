"""Text measurement for layout: widths, wrapping and ellipsis from the table in `advances.toml`.

Knows nothing of Pillow or of views. `glyphs` paints with these same widths: what was measured is seen.
"""

from __future__ import annotations

import base64
import struct
import unicodedata
import zlib
from functools import lru_cache

from handrail_sim.resources import table

# `advances.toml` comes from the files in `paint/fonts/`; `tests/test_paint_metrics.py` compares the two.
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

ELLIPSIS = "…"
_FALLBACK_WIDE = UNITS_PER_EM
_FALLBACK_NARROW = UNITS_PER_EM * 5 // 8
_INVISIBLE = frozenset({"Mn", "Me", "Cf", "Cc"})


@lru_cache(maxsize=1024)
def _fallback(character: str) -> int:
    """Width of a character that the font does not have; it is painted as a sign or a box of that size."""
    if unicodedata.category(character) in _INVISIBLE:
        return 0
    wide = unicodedata.east_asian_width(character) in "WF" or ord(character) >= 0x1F000
    return _FALLBACK_WIDE if wide or 0x2190 <= ord(character) < 0x2800 else _FALLBACK_NARROW


def units(character: str, bold: bool = False) -> int:
    """Advance in font units, 2048 to the em."""
    width = (MEDIUM if bold else REGULAR).get(character)
    return _fallback(character) if width is None else width


@lru_cache(maxsize=8192)
def _line_units(text: str, bold: bool) -> int:
    table = MEDIUM if bold else REGULAR
    try:
        return sum([table[character] for character in text])
    except KeyError:
        return sum([units(character, bold) for character in text])


def line_width(text: str, size_px: float, bold: bool = False) -> float:
    """Width of one line in pixels."""
    return _line_units(text, bold) * size_px / UNITS_PER_EM


def line_height(size_px: float) -> float:
    """Height of one line in pixels, font padding included: what a TextView of one line is high."""
    return (ABOVE + BELOW) * size_px / UNITS_PER_EM


def ascent(size_px: float) -> float:
    """From the top of a line to its baseline, in pixels."""
    return ABOVE * size_px / UNITS_PER_EM


def measure(text: str, size_px: float, bold: bool = False) -> tuple[float, float]:
    """Width and height in pixels of text as it stands: newlines break it, nothing else does."""
    lines = text.split("\n")
    width = max([line_width(line, size_px, bold) for line in lines])
    return width, len(lines) * line_height(size_px)


def wrap(text: str, size_px: float, max_width: float, bold: bool = False, max_lines: int = 0) -> list[str]:
    """Break text into lines no wider than `max_width`; the last of `max_lines` (0: any) ends in an ellipsis.

    Spaces at a break stay on the line they end, so that joined lines and newlines give the text again.
    """
    return list(_wrapped(text, size_px, max_width, bold, max_lines))


@lru_cache(maxsize=2048)
def _wrapped(text: str, size_px: float, max_width: float, bold: bool, max_lines: int) -> tuple[str, ...]:
    lines: list[str] = []
    limit = max_width * UNITS_PER_EM / size_px
    for paragraph in text.split("\n"):
        lines += _break_paragraph(paragraph, limit, bold)
    if 0 < max_lines < len(lines):
        rest = lines[max_lines - 1].rstrip() + ELLIPSIS
        lines = [*lines[: max_lines - 1], ellipsise(rest, size_px, max_width, bold)]
    return tuple(lines)


def _break_paragraph(paragraph: str, limit: float, bold: bool) -> list[str]:
    if _line_units(paragraph, bold) <= limit:
        return [paragraph]
    lines: list[str] = []
    start, width, last_space, position = 0, 0, -1, 0
    while position < len(paragraph):
        character = paragraph[position]
        width += units(character, bold)
        if character == " ":
            last_space = position
        elif width > limit and position > start:
            cut = last_space + 1 if last_space >= start else position
            lines.append(paragraph[start:cut])
            start = position = cut
            width = 0
            continue
        position += 1
    return [*lines, paragraph[start:]]


def ellipsise(text: str, size_px: float, max_width: float, bold: bool = False) -> str:
    """One line of text cut to fit `max_width`, with an ellipsis where something was cut."""
    if line_width(text, size_px, bold) <= max_width:
        return text
    saved = text.removesuffix(ELLIPSIS)
    room = max_width - line_width(ELLIPSIS, size_px, bold)
    return saved[: index_before(saved, room, size_px, bold)].rstrip() + ELLIPSIS


def index_before(text: str, x: float, size_px: float, bold: bool = False) -> int:
    """How many leading characters of one line fit into `x` pixels."""
    limit = x * UNITS_PER_EM / size_px
    width = 0
    for position, character in enumerate(text):
        width += units(character, bold)
        if width > limit:
            return position
    return len(text)


def index_at(text: str, x: float, size_px: float, bold: bool = False) -> int:
    """The cursor position nearest to `x` pixels from the start of one line: where a tap puts the caret."""
    position = index_before(text, x, size_px, bold)
    if position == len(text):
        return position
    left = line_width(text[:position], size_px, bold)
    return position + (x - left > line_width(text[position], size_px, bold) / 2)
