"""Photographs that were never taken: hills, sea, mountains, dunes, cities; also wallpaper and maps."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from PIL import Image, ImageDraw

from handrail_sim.paint.ground import RGB, gradient

_SIDE = 720

_SKIES: tuple[tuple[RGB, RGB], ...] = (
    ((88, 150, 214), (214, 234, 246)),
    ((46, 68, 128), (246, 176, 130)),
    ((112, 98, 160), (250, 206, 190)),
    ((120, 190, 220), (250, 244, 220)),
    ((20, 26, 60), (90, 80, 130)),
)


def landscape(subject: str, random: Random) -> Image.Image:
    """A view that suits a word of the subject, else any, under one of several skies."""
    sky = random.choice(_SKIES)
    image = gradient((_SIDE, _SIDE), *sky)
    draw = ImageDraw.Draw(image)
    _sun(draw, random)
    suiting = [view for words, view in _VIEWS.items() if any(word in subject for word in words.split())]
    random.choice(suiting or list(_VIEWS.values()))(draw, random, sky)
    return image


def _sun(draw: ImageDraw.ImageDraw, random: Random) -> None:
    x, y = random.uniform(0.2, 0.8) * _SIDE, random.uniform(0.14, 0.36) * _SIDE
    reach = random.uniform(0.05, 0.085) * _SIDE
    draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=(255, 246, 214))


def _ridge(random: Random, base: float, height: float, rough: int) -> list[tuple[float, float]]:
    """A line of hills from left to right: a sum of waves with random phases."""
    waves = [(random.uniform(0, 6.28), number + random.random()) for number in range(1, rough + 1)]
    points = []
    for step in range(73):
        x = step / 72
        rise = sum(math.sin(phase + x * 6.28 * turns) / turns for phase, turns in waves)
        points.append((x * _SIDE, (base - height * rise) * _SIDE))
    return [*points, (_SIDE, _SIDE), (0, _SIDE)]


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
    x, y = random.uniform(0.05, 0.95) * _SIDE, (top + random.uniform(-0.05, 0.08)) * _SIDE
    slope = random.uniform(0.75, 1.15)
    foot = (_SIDE - y) * slope
    draw.polygon([(x, y), (x + foot, _SIDE), (x - foot, _SIDE)], fill=rock)
    cap = 0.07 * _SIDE
    snow = [
        (x, y),
        (x + cap * slope, y + cap),
        (x + cap * 0.3, y + cap * 0.7),
        (x - cap * 0.1, y + cap * 1.1),
    ]
    draw.polygon([*snow, (x - cap * 0.4, y + cap * 0.75), (x - cap * slope, y + cap)], fill=(240, 244, 250))


def _sea(draw: ImageDraw.ImageDraw, random: Random, sky: tuple[RGB, RGB]) -> None:
    horizon = random.uniform(0.5, 0.62) * _SIDE
    deep = (24, 78, 120)
    rows = 26
    for number in range(rows):
        top = horizon + (_SIDE - horizon) * (number / rows) ** 1.4
        draw.rectangle((0, top, _SIDE, _SIDE), fill=_between(sky[1], deep, 0.45 + 0.5 * number / rows))
    x = random.uniform(0.25, 0.75) * _SIDE
    mast = horizon - 0.12 * _SIDE
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
        while x < _SIDE:
            wide, tall = random.uniform(50, 110), random.uniform(0.2, 0.5 - 0.14 * layer) * _SIDE
            draw.rectangle((x, _SIDE * 0.94 - tall, x + wide, _SIDE), fill=wall)
            if layer:
                _lights(draw, random, (x, _SIDE * 0.94 - tall, x + wide))
            x += wide + random.uniform(0, 12)


def _lights(draw: ImageDraw.ImageDraw, random: Random, wall: tuple[float, float, float]) -> None:
    left, top, right = wall
    y = top + 16
    while y < _SIDE - 40:
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
    """Calm layers in one family of colours, so that icons and their names stay readable."""
    image = gradient((_SIDE, _SIDE), (40, 58, 110), (132, 108, 160))
    draw = ImageDraw.Draw(image)
    for layer in range(5):
        colour = _between((96, 92, 150), (26, 34, 72), layer / 4)
        draw.polygon(_ridge(random, 0.58 + 0.1 * layer, 0.035, 2), fill=colour)
    # What a tall screen shows of it, at half the usual width of a screen.
    return image.resize((540, 1200), Image.Resampling.BICUBIC, box=(0, 0, _SIDE / 2, _SIDE))


def street_map(random: Random) -> Image.Image:
    """Streets, a park and a river."""
    image = Image.new("RGB", (_SIDE, _SIDE), (238, 236, 230))
    draw = ImageDraw.Draw(image)
    x, y = random.uniform(0.1, 0.6) * _SIDE, random.uniform(0.1, 0.6) * _SIDE
    draw.rectangle((x, y, x + 0.3 * _SIDE, y + 0.24 * _SIDE), fill=(196, 226, 190))
    river = [(step * _SIDE / 12, (0.7 + 0.06 * math.sin(step)) * _SIDE) for step in range(13)]
    draw.line(river, fill=(164, 204, 236), width=60, joint="curve")
    for _ in range(7):
        place = random.uniform(0, _SIDE)
        lean = random.uniform(-60, 60)
        draw.line((place, 0, place + lean, _SIDE), fill=(255, 255, 255), width=20)
        draw.line((0, place, _SIDE, place + lean), fill=(255, 255, 255), width=20)
    draw.line((0, 0.3 * _SIDE, _SIDE, 0.55 * _SIDE), fill=(252, 214, 120), width=28)
    return image
