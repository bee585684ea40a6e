"""Pictures by name, drawn once at a modest size and scaled to cover a box: the phone's photographs.

`kind:detail`, such as `landscape:12` or `product:kettle`; the same name is always the same picture.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from random import Random
from zlib import crc32

from PIL import Image, ImageDraw

from handrail_sim.paint.palette import hue
from handrail_sim.paint.scene import Box
from handrail_sim.paint.sketch import Sketch
from handrail_sim.resources import table

RGB = tuple[int, int, int]


def gradient(size: tuple[int, int], top: RGB, bottom: RGB) -> Image.Image:
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


_LANDSCAPE_SIDE = 720

_SKIES: tuple[tuple[RGB, RGB], ...] = (
    ((88, 150, 214), (214, 234, 246)),
    ((46, 68, 128), (246, 176, 130)),
    ((112, 98, 160), (250, 206, 190)),
    ((120, 190, 220), (250, 244, 220)),
    ((20, 26, 60), (90, 80, 130)),
)


def landscape(subject: str, random: Random) -> Image.Image:
    sky = random.choice(_SKIES)
    image = gradient((_LANDSCAPE_SIDE, _LANDSCAPE_SIDE), *sky)
    draw = ImageDraw.Draw(image)
    x, y = random.uniform(0.2, 0.8) * _LANDSCAPE_SIDE, random.uniform(0.14, 0.36) * _LANDSCAPE_SIDE
    reach = random.uniform(0.05, 0.085) * _LANDSCAPE_SIDE
    draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=(255, 246, 214))
    suiting = [view for words, view in _VIEWS.items() if any(word in subject for word in words.split())]
    random.choice(suiting or list(_VIEWS.values()))(draw, random, sky)
    return image


def _ridge(random: Random, base: float, height: float, rough: int) -> list[tuple[float, float]]:
    """A line of hills from left to right: a sum of waves with random phases."""
    waves = [(random.uniform(0, 6.28), number + random.random()) for number in range(1, rough + 1)]
    points = []
    for step in range(73):
        x = step / 72
        rise = sum(math.sin(phase + x * 6.28 * turns) / turns for phase, turns in waves)
        points.append((x * _LANDSCAPE_SIDE, (base - height * rise) * _LANDSCAPE_SIDE))
    return [*points, (_LANDSCAPE_SIDE, _LANDSCAPE_SIDE), (0, _LANDSCAPE_SIDE)]


def _between(first: RGB, second: RGB, share: float) -> RGB:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def _hills(draw: ImageDraw.ImageDraw, random: Random, sky: tuple[RGB, RGB]) -> None:
    near = random.choice(((46, 92, 58), (74, 108, 48), (38, 84, 84)))
    for layer in range(4):
        colour = _between(sky[1], near, 0.35 + 0.2 * layer)
        draw.polygon(_ridge(random, 0.52 + 0.13 * layer, 0.05, 3), fill=colour)


def _dunes(draw: ImageDraw.ImageDraw, random: Random, sky: tuple[RGB, RGB]) -> None:
    for layer in range(3):
        colour = _between(sky[1], (196, 138, 78), 0.5 + 0.22 * layer)
        draw.polygon(_ridge(random, 0.6 + 0.13 * layer, 0.07, 2), fill=colour)


def _mountains(draw: ImageDraw.ImageDraw, random: Random, sky: tuple[RGB, RGB]) -> None:
    for layer in range(3):
        rock = _between(sky[1], (58, 66, 92), 0.45 + 0.25 * layer)
        for _ in range(3):
            _peak(draw, random, 0.34 + 0.14 * layer, rock)
    draw.polygon(_ridge(random, 0.88, 0.03, 3), fill=(44, 82, 66))


def _peak(draw: ImageDraw.ImageDraw, random: Random, top: float, rock: RGB) -> None:
    x, y = random.uniform(0.05, 0.95) * _LANDSCAPE_SIDE, (top + random.uniform(-0.05, 0.08)) * _LANDSCAPE_SIDE
    slope = random.uniform(0.75, 1.15)
    foot = (_LANDSCAPE_SIDE - y) * slope
    draw.polygon([(x, y), (x + foot, _LANDSCAPE_SIDE), (x - foot, _LANDSCAPE_SIDE)], fill=rock)
    cap = 0.07 * _LANDSCAPE_SIDE
    snow = [
        (x, y),
        (x + cap * slope, y + cap),
        (x + cap * 0.3, y + cap * 0.7),
        (x - cap * 0.1, y + cap * 1.1),
    ]
    draw.polygon([*snow, (x - cap * 0.4, y + cap * 0.75), (x - cap * slope, y + cap)], fill=(240, 244, 250))


def _sea(draw: ImageDraw.ImageDraw, random: Random, sky: tuple[RGB, RGB]) -> None:
    horizon = random.uniform(0.5, 0.62) * _LANDSCAPE_SIDE
    deep = (24, 78, 120)
    rows = 26
    for number in range(rows):
        top = horizon + (_LANDSCAPE_SIDE - horizon) * (number / rows) ** 1.4
        draw.rectangle(
            (0, top, _LANDSCAPE_SIDE, _LANDSCAPE_SIDE),
            fill=_between(sky[1], deep, 0.45 + 0.5 * number / rows),
        )
    x = random.uniform(0.25, 0.75) * _LANDSCAPE_SIDE
    mast = horizon - 0.12 * _LANDSCAPE_SIDE
    draw.polygon([(x, mast), (x, horizon - 8), (x + 52, horizon - 8)], fill=(250, 250, 246))
    draw.polygon(
        [(x - 40, horizon), (x + 60, horizon), (x + 40, horizon + 16), (x - 26, horizon + 16)],
        fill=(120, 56, 48),
    )
    draw.polygon(_ridge(random, 0.93, 0.02, 2), fill=(224, 200, 150))


def _city(draw: ImageDraw.ImageDraw, random: Random, sky: tuple[RGB, RGB]) -> None:
    for layer in range(2):
        wall = _between(sky[1], (34, 38, 60), 0.5 + 0.4 * layer)
        x = -20.0
        while x < _LANDSCAPE_SIDE:
            wide, tall = random.uniform(50, 110), random.uniform(0.2, 0.5 - 0.14 * layer) * _LANDSCAPE_SIDE
            draw.rectangle((x, _LANDSCAPE_SIDE * 0.94 - tall, x + wide, _LANDSCAPE_SIDE), fill=wall)
            if layer:
                _lights(draw, random, (x, _LANDSCAPE_SIDE * 0.94 - tall, x + wide))
            x += wide + random.uniform(0, 12)


def _lights(draw: ImageDraw.ImageDraw, random: Random, wall: tuple[float, float, float]) -> None:
    left, top, right = wall
    y = top + 16
    while y < _LANDSCAPE_SIDE - 40:
        x = left + 10
        while x < right - 14:
            if random.random() < 0.45:
                draw.rectangle((x, y, x + 8, y + 10), fill=(252, 218, 142))
            x += 18
        y += 24


# Words of a subject that ask for a view.
_VIEWS: dict[str, Callable[[ImageDraw.ImageDraw, Random, tuple[RGB, RGB]], None]] = {
    "hill meadow field valley farm": _hills,
    "desert dune sand": _dunes,
    "mountain peak snow alp": _mountains,
    "sea harbour harbor island ferry lighthouse lake beach boat": _sea,
    "city town market station street roof": _city,
}


def wallpaper(random: Random) -> Image.Image:
    image = gradient((_LANDSCAPE_SIDE, _LANDSCAPE_SIDE), (40, 58, 110), (132, 108, 160))
    draw = ImageDraw.Draw(image)
    for layer in range(5):
        colour = _between((96, 92, 150), (26, 34, 72), layer / 4)
        draw.polygon(_ridge(random, 0.58 + 0.1 * layer, 0.035, 2), fill=colour)
    # What a tall screen shows of it, at half the usual width of a screen.
    return image.resize(
        (540, 1200), Image.Resampling.BICUBIC, box=(0, 0, _LANDSCAPE_SIDE / 2, _LANDSCAPE_SIDE)
    )


def street_map(random: Random) -> Image.Image:
    image = Image.new("RGB", (_LANDSCAPE_SIDE, _LANDSCAPE_SIDE), (238, 236, 230))
    draw = ImageDraw.Draw(image)
    x, y = random.uniform(0.1, 0.6) * _LANDSCAPE_SIDE, random.uniform(0.1, 0.6) * _LANDSCAPE_SIDE
    draw.rectangle((x, y, x + 0.3 * _LANDSCAPE_SIDE, y + 0.24 * _LANDSCAPE_SIDE), fill=(196, 226, 190))
    river = [
        (step * _LANDSCAPE_SIDE / 12, (0.7 + 0.06 * math.sin(step)) * _LANDSCAPE_SIDE) for step in range(13)
    ]
    draw.line(river, fill=(164, 204, 236), width=60, joint="curve")
    for _ in range(7):
        place = random.uniform(0, _LANDSCAPE_SIDE)
        lean = random.uniform(-60, 60)
        draw.line((place, 0, place + lean, _LANDSCAPE_SIDE), fill=(255, 255, 255), width=20)
        draw.line((0, place, _LANDSCAPE_SIDE, place + lean), fill=(255, 255, 255), width=20)
    draw.line(
        (0, 0.3 * _LANDSCAPE_SIDE, _LANDSCAPE_SIDE, 0.55 * _LANDSCAPE_SIDE), fill=(252, 214, 120), width=28
    )
    return image


_PRODUCT_SIDE = 480
_OVERSAMPLING = 2

# The first ink of each drawing is the product's own colour, chosen by its name.
_THINGS = table("paint/things.toml")
DRAWINGS: dict[str, str] = _THINGS["drawings"]

_WORDS: dict[str, str] = _THINGS["words"]

_COLOURS: dict[str, tuple[int, int, int]] = {name: tuple(rgb) for name, rgb in _THINGS["colours"].items()}


def product(name: str, random: Random) -> Image.Image:
    side = _PRODUCT_SIDE * _OVERSAMPLING
    image = gradient((side, side), (248, 247, 244), (228, 229, 234))
    draw = ImageDraw.Draw(image)
    scale = side / 60
    draw.ellipse((14 * scale, 47.4 * scale, 46 * scale, 51 * scale), fill=(208, 208, 212))
    # A blue mug is blue.
    own = (
        next((_COLOURS[word] for word in _words(name) if word in _COLOURS), None)
        or hue(crc32(name.encode()) % 997 + random.randrange(3), 0.45, 0.5)[:3]
    )
    sketch = Sketch(draw, scale, ink=own, ground=(236, 237, 240), origin=6)
    sketch.path(DRAWINGS[_drawing_of(name)])
    return image.reduce(_OVERSAMPLING)


def _words(name: str) -> list[str]:
    return re.split(r"[^a-z]+", name.lower())


def _drawing_of(name: str) -> str:
    for word in _words(name):
        for candidate in (word, word.removesuffix("s")):
            if candidate in DRAWINGS:
                return candidate
            if candidate in _WORDS:
                return _WORDS[candidate]
    return "box"


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
            return landscape(detail.lower(), random)
        case "product":
            return product(detail, random)
        case "wallpaper":
            return wallpaper(random)
        case "map":
            return street_map(random)
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
