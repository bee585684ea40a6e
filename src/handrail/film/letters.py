"""Letters for captions: the fonts of this machine, and for each text one that has all of its characters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from handrail.tree.quote import clean

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

    Font = FreeTypeFont | ImageFont

_PLAIN = (
    *("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Roboto-Regular.ttf", "LiberationSans-Regular.ttf"),
    *("Arial.ttf", "Helvetica.ttc", "segoeui.ttf", "NotoSansCJK-Regular.ttc", "wqy-zenhei.ttc"),
    *("PingFang.ttc", "msyh.ttc", "NotoSansArabic-Regular.ttf", "NotoSansDevanagari-Regular.ttf"),
)
_BOLD = (
    *("DejaVuSans-Bold.ttf", "NotoSans-Bold.ttf", "Roboto-Medium.ttf", "LiberationSans-Bold.ttf"),
    *("Arial Bold.ttf", "arialbd.ttf", "segoeuib.ttf"),
)
_MISSING = "\U0010ffff"
"""No font has it: what it is drawn as, every missing character is drawn as."""


@cache
def fonts(size: int, *, bold: bool) -> tuple[Font, ...]:
    """Those there are, the best first; the last one comes with Pillow."""
    from PIL import ImageFont  # noqa: PLC0415

    found: list[Font] = []
    for name in (*(_BOLD if bold else ()), *_PLAIN):
        try:
            found.append(ImageFont.truetype(name, size))
        except OSError:
            continue
    return (*found, ImageFont.load_default(size))


def font_for(text: str, size: int, *, bold: bool = False) -> Font:
    """The first one that has every character, else the first one."""
    known = fonts(size, bold=bold)
    wanted = {char for char in text if not char.isspace()}
    return next((font for font in known if all(_has(font, char) for char in wanted)), known[0])


@cache
def _has(font: Font, char: str) -> bool:
    return bytes(font.getmask(char)) != bytes(font.getmask(_MISSING))


def fitted(text: str, font: Font, width: float, lines: int) -> list[str]:
    """The text in at most so many lines of this width, the last one cut where it is too long."""
    made: list[str] = []
    rest = clean(text)
    while rest and len(made) < lines:
        is_last = len(made) == lines - 1
        taken = next(_shorter(rest, font, width, whole_words=not is_last), rest[:1])
        rest_after = rest[len(taken) :].lstrip()
        if is_last and rest_after:
            taken = next(_shorter(rest, font, width, whole_words=False, tail="…"), "…")
        made.append(taken.rstrip())
        rest = rest_after
    return made


def _shorter(text: str, font: Font, width: float, *, whole_words: bool, tail: str = "") -> Iterator[str]:
    """Beginnings of a text that fit, the longest first."""
    if not tail and font.getlength(text) <= width:
        yield text
        return
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = font.getlength(text[:middle].rstrip() + tail) <= width
        low, high = (middle, high) if fits else (low, middle - 1)
    space = text.rfind(" ", 0, low + 1)
    if whole_words and space > 0:
        yield text[:space]
    elif low:
        yield text[:low].rstrip() + tail
