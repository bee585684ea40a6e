"""Words in scripts that the bundled Roboto lacks, by the fonts of this machine; off unless an app asks.

Pictures with such words differ from machine to machine, so no other app paints with them.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

_NOTO = Path("/usr/share/fonts")
_FILES = (
    (0x0600, 0x06FF, "truetype/noto/NotoSansArabic-Regular.ttf"),
    (0x0900, 0x097F, "truetype/noto/NotoSansDevanagari-Regular.ttf"),
    (0x3000, 0xD7AF, "opentype/noto/NotoSansCJK-Regular.ttc"),
)
_is_enabled = False


def enable() -> None:
    global _is_enabled  # noqa: PLW0603 - one machine, one set of fonts
    _is_enabled = True


def font_for(text: str) -> Path | None:
    """The font of the first letter that needs one; None where Roboto or an empty box will do."""
    if not _is_enabled or text.isascii():
        return None
    for char in text:
        for first, last, name in _FILES:
            if first <= ord(char) <= last and (_NOTO / name).exists():
                return _NOTO / name
    return None


@lru_cache(maxsize=256)
def words(text: str, size: float, font: Path) -> tuple[Image.Image, int, int]:
    """A mask of the whole run, shaped and in reading order, and its offset from the baseline's start."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - only these runs need it

    face = ImageFont.truetype(str(font), size)
    left, top, right, bottom = (round(edge) for edge in face.getbbox(text, anchor="ls"))
    mask = Image.new("L", (max(1, right - left), max(1, bottom - top)))
    ImageDraw.Draw(mask).text((-left, -top), text, fill=255, font=face, anchor="ls")
    return mask, left, top
