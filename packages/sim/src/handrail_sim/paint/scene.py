"""What is to be painted, as plain data: shapes, text runs, icons and pictures, each with its clip.

A scene is made in the event loop and painted in a thread, so a picture never shows a half-changed tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from handrail_sim.paint import palette
from handrail_sim.paint.palette import RGBA
from handrail_sim.view import metrics
from handrail_sim.view.units import edges
from handrail_sim.view.view import View

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
    return box[2] <= box[0] or box[3] <= box[1]


DISABLED = 0.38
_WHITE: RGBA = (255, 255, 255, 255)


State = tuple[Box, RGBA, str, float]


class Pen:
    """`dp` and `sp` are pixels per unit; `ink` is the colour of words where a view names none."""

    def __init__(self, *, dark: bool, now_ms: float, theme: str = "") -> None:
        self.dark, self.theme = dark, theme
        self.now_ms = now_ms
        self.over_picture = False  # whether the lowest thing on the screen is a photograph, or black
        self.shapes: list[tuple[Box, Shape]] = []
        self.begin(1.0, 1.0, (0, 0, 0, 0))

    def begin(self, dp: float, sp: float, screen: Box) -> None:
        """A new window: its units, the theme's own ink, no ground."""
        self.dp = dp
        self.sp = sp
        self.screen = self.clip = screen
        self.alpha = 1.0
        self.ink: RGBA = palette.resolve("on_surface", self.dark, self.theme)
        self.ground_name = ""  # the coloured ground that `ink` was chosen for; "" on plain surfaces

    def ink_over_picture(self) -> None:
        """The system's bars have no ground of their own: white signs where the screen below is a picture."""
        if self.over_picture:
            self.ink, self.ground_name = _WHITE, "picture"

    def wallpaper(self, name: str) -> None:
        """A picture over the whole screen, also behind the bars; words on it are white."""
        self.shapes.append((self.screen, Picture(name, self.screen)))
        self.over_picture = True
        self.ink_over_picture()

    def state(self) -> State:
        return self.clip, self.ink, self.ground_name, self.alpha

    def restore(self, state: State) -> None:
        self.clip, self.ink, self.ground_name, self.alpha = state

    def ground(self, box: Box, name: str, radius: int, corners: int) -> None:
        colour = self.colour(name)
        self.fill(box, colour, radius, corners)
        if box == self.screen:
            self.over_picture = False
        if colour[3]:
            self.ink = palette.ink_on(name, self.dark, self.theme)
            self.ground_name = name if name in palette.INK or name.startswith("#") else ""

    def px(self, dp: float) -> int:
        return max(1, round(dp * self.dp)) if dp > 0 else 0

    def colour(self, name: str, alpha: float = 1.0) -> RGBA:
        return palette.fade(palette.resolve(name, self.dark, self.theme), alpha * self.alpha)

    def ink_for(self, view: View, role: str = "") -> RGBA:
        own = view.style.color
        if own:
            matches = self.colour(own)
        elif self.ground_name or not role:
            matches = palette.fade(self.ink, self.alpha)
        else:
            matches = self.colour(role)
        return matches if view.enabled else palette.fade(matches, DISABLED)

    def add(self, shape: Shape) -> None:
        self.shapes.append((self.clip, shape))

    def fill(self, box: Box, colour: RGBA, radius: int = 0, corners: int = ALL) -> None:
        self.add(Fill(box, colour, radius, corners))

    def stroke(self, box: Box, colour: RGBA, radius: int, width: int) -> None:
        self.add(Stroke(box, colour, radius, width))

    def disc(self, x: float, y: float, radius: float, colour: RGBA) -> None:
        reach = round(radius)
        left, top = round(x) - reach, round(y) - reach
        self.add(Fill((left, top, left + 2 * reach, top + 2 * reach), colour, reach))

    def shadow(self, box: Box, radius: int, elevation: float) -> None:
        """A surface's shadow lies outside its own bounds, so only the holder's clip counts."""
        self.add(Shadow(box, radius, max(2, round(elevation * self.dp)), round(255 * self.alpha)))

    def sign(self, name: str, box: Box, colour: RGBA, size: int = 0) -> None:
        """An icon in the middle of a box, as big as fits or as `size` says."""
        wide, tall = box[2] - box[0], box[3] - box[1]
        side = size or min(wide, tall)
        if side > 0:
            self.add(Sign(name, box[0] + (wide - side) // 2, box[1] + (tall - side) // 2, side, colour))

    def line(
        self, words: str, box: Box, size: float, colour: RGBA, *, bold: bool = False, align: str = "start"
    ) -> None:
        width = metrics.line_width(words, size, bold)
        left = box[0] + _share(align) * (box[2] - box[0] - width)
        top = (box[1] + box[3] - metrics.line_height(size)) / 2
        self.add(Run(words, left, round(top + metrics.ascent(size)), size, bold, colour))


def _share(align: str) -> float:
    return {"center": 0.5, "end": 1.0}.get(align, 0.0)


def inside(view: View, dp: float) -> Box:
    """The view's box without its padding."""
    left, top, right, bottom = edges(view.padding, dp)
    return view.x + left, view.y + top, view.x + view.w - right, view.y + view.h - bottom


def write(pen: Pen, view: View, box: Box, colour: RGBA, *, down: float = 0.5) -> None:
    """A view's lines inside a box; `down` is 0 at its top and 1 at its foot."""
    style = view.style
    size = style.size * pen.sp
    step = metrics.line_height(size)
    lines = view.lines or ([view.text] if view.text else [])
    top = box[1] + max(0.0, box[3] - box[1] - step * len(lines)) * down
    share = _share(style.align)
    for number, words in enumerate(lines):
        shown = words.rstrip(" ") if share else words
        room = box[2] - box[0]
        if style.max_lines == 1:
            shown = metrics.ellipsise(shown, size, room + 1, style.bold)
        left = box[0] + share * (room - metrics.line_width(shown, size, style.bold)) if share else box[0]
        baseline = round(top + step * number + metrics.ascent(size))
        pen.add(Run(shown, left, baseline, size, style.bold, colour))
