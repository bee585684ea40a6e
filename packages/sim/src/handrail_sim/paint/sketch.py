"""A small language for drawings on a grid, shared by icons and pictures: letters with numbers, split by `;`.

Stroked: `l` polyline, `c` circle, `a` arc (centre, radius, degrees from and to, clockwise from the right),
`r` rounded rectangle (x y width height radius). Filled: `p` polygon, `d` disc, `b` rounded rectangle,
`o` ellipse. `w` sets the stroke width, `-` cuts out of what is there, `#rrggbb` changes a picture's ink.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Ink = int | str | tuple[int, ...]


@lru_cache(maxsize=512)
def _statements(path: str) -> tuple[tuple[str, tuple[float, ...]], ...]:
    parsed = []
    for statement in path.split(";"):
        word, *numbers = statement.split()
        parsed.append((word, tuple(float(number) for number in numbers)))
    return tuple(parsed)


class Sketch:
    """Draws paths of the language at one scale; `ink` is the first colour, `ground` what `-` leaves.

    `origin` shifts the grid right and down, in its own units.
    """

    def __init__(self, draw: ImageDraw, scale: float, ink: Ink, ground: Ink, origin: float = 0.0) -> None:
        self._draw = draw
        self._scale = scale
        self._ink = ink
        self._ground = ground
        self._origin = origin
        self._width = 2.0

    def path(self, path: str) -> None:
        for word, numbers in _statements(path):
            if word == "w":
                self._width = numbers[0]
            elif word.startswith("#"):
                self._ink = word
            else:
                ink = self._ground if word.startswith("-") else self._ink
                kind = word.lstrip("-")
                self._shape(kind, self._placed(kind, numbers), numbers, ink)

    def _placed(self, kind: str, numbers: Sequence[float]) -> list[float]:
        """Grid units to pixels: lines and polygons are all points, other shapes a point and lengths."""
        points = len(numbers) if kind in {"l", "p"} else 2
        return [
            (number + (self._origin if place < points else 0)) * self._scale
            for place, number in enumerate(numbers)
        ]

    def _shape(self, word: str, at: list[float], plain: Sequence[float], ink: Ink) -> None:
        draw = self._draw
        width = round(self._width * self._scale)
        match word:
            case "l":
                points = list(zip(at[::2], at[1::2], strict=True))
                self._draw.line(points, fill=ink, width=width)
                for x, y in points:
                    self._draw.ellipse(_around(x, y, width / 2), fill=ink)
            case "p":
                draw.polygon(at, fill=ink)
            case "c":
                draw.ellipse(_around(at[0], at[1], at[2] + width / 2), outline=ink, width=width)
            case "d":
                draw.ellipse(_around(*at), fill=ink)
            case "o":
                draw.ellipse((at[0] - at[2], at[1] - at[3], at[0] + at[2], at[1] + at[3]), fill=ink)
            case "a":
                start = plain[3]
                end = plain[4]
                self._draw.arc(_around(at[0], at[1], at[2] + width / 2), start, end, fill=ink, width=width)
            case "r":
                draw.rounded_rectangle(_corners(at, width / 2), at[4] + width / 2, outline=ink, width=width)
            case "b":
                draw.rounded_rectangle(_corners(at, 0), at[4], fill=ink)
            case _:
                raise ValueError(f"no such statement: {word}")


def _around(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    return x - radius, y - radius, x + radius, y + radius


def _corners(at: list[float], grow: float) -> tuple[float, float, float, float]:
    x, y, width, height = at[:4]
    return x - grow, y - grow, x + width + grow, y + height + grow
