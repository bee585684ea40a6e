"""Pictures by name, drawn once at a modest size and scaled to cover a box: the phone's photographs.

`kind:detail`, such as `landscape:12` or `product:kettle`; the same name is always the same picture.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random
from zlib import crc32

from PIL import Image

from handrail_sim.paint import landscapes, products
from handrail_sim.paint.ground import plain_pattern
from handrail_sim.paint.scene import Box

# Up to this size a picture is kept as it is shown, so that many of them fit into memory.
_THUMBNAIL_PX = 420


def picture(name: str, size: tuple[int, int], window: Box, scale: float, rotation: float) -> Image.Image:
    """The part `window` of the named picture as it covers a box of `size`, enlarged around its middle."""
    if max(size) <= _THUMBNAIL_PX and scale == 1 and not rotation % 360:
        return _thumbnail(name, size).crop(window)
    base = _base(name)
    if rotation % 360:
        base = base.rotate(-rotation, Image.Resampling.BICUBIC)
    return _covering(base, size, window, scale, _filter_for(name))


def _filter_for(name: str) -> Image.Resampling:
    """Wallpaper fills the whole screen in every picture of home: speed matters more than its soft edges."""
    return Image.Resampling.NEAREST if name.startswith("wallpaper") else Image.Resampling.BILINEAR


def _covering(
    base: Image.Image, size: tuple[int, int], window: Box, scale: float, resampling: Image.Resampling
) -> Image.Image:
    width, height = size
    # Source pixels per pixel of the box; at scale 1 the picture just covers it, and it never leaves a gap.
    fitting = min(base.width / width, base.height / height)
    ratio = fitting / max(scale, 1.0)
    left = (base.width - width * ratio) / 2
    top = (base.height - height * ratio) / 2
    source = (
        left + window[0] * ratio,
        top + window[1] * ratio,
        left + window[2] * ratio,
        top + window[3] * ratio,
    )
    target = (window[2] - window[0], window[3] - window[1])
    return base.resize(target, resampling, box=source)


@lru_cache(maxsize=48)
def _thumbnail(name: str, size: tuple[int, int]) -> Image.Image:
    return _covering(_base(name), size, (0, 0, *size), 1.0, _filter_for(name))


def _recorded(path: str) -> Image.Image:
    """A screenshot that came with a recorded app; too big to keep. What cannot be read is a grey ground."""
    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except OSError:
        return Image.new("RGB", (8, 8), (236, 236, 240))


def _base(name: str) -> Image.Image:
    kind, _, detail = name.partition(":")
    return _recorded(detail) if kind == "file" else _drawn(name)


@lru_cache(maxsize=4)
def _drawn(name: str) -> Image.Image:
    kind, _, detail = name.partition(":")
    random = Random(crc32(name.encode()))  # noqa: S311 - a picture is to be the same every time
    match kind:
        case "landscape" | "photo" | "picture":
            return landscapes.landscape(detail.lower(), random)
        case "product":
            return products.product(detail, random)
        case "wallpaper":
            return landscapes.wallpaper(random)
        case "map":
            return landscapes.street_map(random)
        case "qr":
            return _code(random)
        case _:
            return plain_pattern(random)


def _code(random: Random) -> Image.Image:
    """Looks like a two-dimensional bar code; says nothing."""
    cells = 29
    image = Image.new("L", (cells, cells), 255)
    for x in range(2, cells - 2):
        for y in range(2, cells - 2):
            if random.random() < 0.48:
                image.putpixel((x, y), 0)
    for x, y in ((2, 2), (cells - 9, 2), (2, cells - 9)):
        image.paste(255, (x - 1, y - 1, x + 8, y + 8))
        image.paste(0, (x, y, x + 7, y + 7))
        image.paste(255, (x + 1, y + 1, x + 6, y + 6))
        image.paste(0, (x + 2, y + 2, x + 5, y + 5))
    return image.resize((cells * 8, cells * 8), Image.Resampling.NEAREST).convert("RGB")
