"""What is to be painted, as plain data: shapes, text runs, icons and pictures, each with its clip.

A scene is made in the event loop and painted in a thread, so a picture never shows a half-changed tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from handrail_sim.paint.palette import RGBA

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are outside."""

TOP, ALL = 0b0011, 0b1111


class Fill(NamedTuple):
    """A filled rectangle; `corners` are the rounded ones: top left, top right, bottom right, bottom left."""

    box: Box
    colour: RGBA
    radius: int = 0
    corners: int = ALL


class Stroke(NamedTuple):
    """The outline of a rounded rectangle, drawn inside its box."""

    box: Box
    colour: RGBA
    radius: int
    width: int


class Shadow(NamedTuple):
    """The soft shadow that a raised surface throws around itself."""

    box: Box
    radius: int
    depth: int
    alpha: int = 255


class Line(NamedTuple):
    """A straight stroke with round ends."""

    start: tuple[float, float]
    end: tuple[float, float]
    width: float
    colour: RGBA


class Arc(NamedTuple):
    """Part of a ring; degrees clockwise from three o'clock."""

    box: Box
    start: float
    sweep: float
    width: int
    colour: RGBA


class Run(NamedTuple):
    """One line of text on its baseline."""

    text: str
    x: float
    baseline: int
    size: float
    bold: bool
    colour: RGBA


class Sign(NamedTuple):
    """An icon, square, in one colour."""

    name: str
    x: int
    y: int
    size: int
    colour: RGBA


class Picture(NamedTuple):
    """A picture known by its name, covering the box; `scale` and `rotation` are around its middle."""

    name: str
    box: Box
    radius: int = 0
    scale: float = 1.0
    rotation: float = 0.0
    light: float = 1.0


class Drawing(NamedTuple):
    """Pixels that something else has drawn: `source.png`, stretched over the box."""

    source: Any
    box: Box
    light: float = 1.0


Shape = Fill | Stroke | Shadow | Line | Arc | Run | Sign | Picture | Drawing


def dimmed(shape: Shape, light: float) -> Shape:
    """The shape under a black veil. Blending is linear, so dimming every shape dims the whole picture."""
    if isinstance(shape, Picture | Drawing):
        return shape._replace(light=shape.light * light)
    if isinstance(shape, Shadow):
        return shape
    red, green, blue, alpha = shape.colour
    return shape._replace(colour=(round(red * light), round(green * light), round(blue * light), alpha))


class Scene(NamedTuple):
    """A whole frame: its size and, in painting order, shapes with the box they may touch."""

    width: int
    height: int
    shapes: tuple[tuple[Box, Shape], ...]


def overlap(first: Box, second: Box) -> Box:
    """What two boxes share; empty (right <= left or bottom <= top) when nothing."""
    return (
        max(first[0], second[0]),
        max(first[1], second[1]),
        min(first[2], second[2]),
        min(first[3], second[3]),
    )


def is_empty(box: Box) -> bool:
    """Whether there is nothing in it."""
    return box[2] <= box[0] or box[3] <= box[1]
