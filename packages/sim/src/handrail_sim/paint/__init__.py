"""The simulated phone's eyes: pictures of its windows.

Nothing here changes the phone; Pillow is imported only when something is painted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING
from zlib import crc32

from handrail_sim.paint import icons, palette
from handrail_sim.paint.palette import RGBA, fade, hue
from handrail_sim.paint.scene import (
    ALL,
    DISABLED,
    TOP,
    Arc,
    Box,
    Drawing,
    Fill,
    Line,
    Pen,
    Picture,
    Run,
    Scene,
    Shadow,
    Shape,
    Sign,
    dimmed,
    inside,
    is_empty,
    overlap,
    write,
)
from handrail_sim.view import metrics
from handrail_sim.view.units import Units, gravity
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window

if TYPE_CHECKING:
    from PIL.Image import Image


class Reduction:
    """Moves and shrinks shapes from a screen of `source` width to a smaller box."""

    def __init__(self, source: Box, target: Box) -> None:
        self._factor = (target[2] - target[0]) / max(1, source[2] - source[0])
        self._shift = (target[0] - source[0] * self._factor, target[1] - source[1] * self._factor)

    def box(self, box: Box) -> Box:
        left, top = self._point(box[0], box[1])
        right, bottom = self._point(box[2], box[3])
        return round(left), round(top), round(right), round(bottom)

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return x * self._factor + self._shift[0], y * self._factor + self._shift[1]

    def _length(self, length: float) -> int:
        return max(1, round(length * self._factor)) if length else 0

    def shape(self, shape: Shape) -> Shape:
        match shape:
            case Run():
                x, baseline = self._point(shape.x, shape.baseline)
                return shape._replace(x=x, baseline=round(baseline), size=max(1.0, shape.size * self._factor))
            case Sign():
                x, y = self._point(shape.x, shape.y)
                return shape._replace(x=round(x), y=round(y), size=self._length(shape.size))
            case Line():
                return shape._replace(
                    start=self._point(*shape.start),
                    end=self._point(*shape.end),
                    width=shape.width * self._factor,
                )
            case Arc():
                return shape._replace(box=self.box(shape.box), width=self._length(shape.width))
            case Shadow():
                depth, radius = max(2, self._length(shape.depth)), self._length(shape.radius)
                return shape._replace(box=self.box(shape.box), depth=depth, radius=radius)
            case Drawing():
                return shape._replace(box=self.box(shape.box))
            case _:
                return shape._replace(box=self.box(shape.box), radius=self._length(shape.radius))


def wallpaper(pen: Pen, _view: View) -> None:
    pen.wallpaper("wallpaper")


def divider(pen: Pen, view: View) -> None:
    pen.fill(view.bounds, pen.colour(view.style.color or "outline_variant"))


def tab_box(pen: Pen, view: View) -> None:
    """The line under a tab; that of the chosen one is as wide as its words."""
    left, _, right, bottom = view.bounds
    thin = pen.px(1)
    pen.fill((left, bottom - thin, right, bottom), pen.colour("surface_variant"))
    if view.style.role != "selected" or not view.children:
        return
    words = view.children[0]
    thick = pen.px(3)
    box = (words.x, bottom - thick, words.x + words.w, bottom)
    pen.fill(box, pen.colour("primary"), thick, 0b0011)


def destination(pen: Pen, view: View) -> None:
    if view.style.role != "selected":
        return
    for child in view.children:
        if child.style.kind == "icon":
            across, down = child.x + child.w // 2, child.y + child.h // 2
            wide, tall = pen.px(32), pen.px(16)
            box = (across - wide, down - tall, across + wide, down + tall)
            pen.fill(box, pen.colour("secondary_container"), tall)


def badge(pen: Pen, view: View) -> None:
    box = view.bounds
    pen.fill(box, pen.colour(view.style.background or "error"), (box[3] - box[1]) // 2)
    pen.line(view.text, box, view.style.size * pen.sp, pen.colour("on_error"), bold=True, align="center")


def tile(pen: Pen, view: View) -> None:
    """A quick setting; one that is on has a strong ground."""
    if view.style.role == "selected":
        pen.ground(view.bounds, "primary", pen.px(view.style.radius), ALL)


def icon(pen: Pen, view: View) -> None:
    style = view.style
    box = inside(view, pen.dp)
    if style.role == "selected":
        ink = pen.colour(style.color or "on_secondary_container")
    else:
        ink = pen.ink_for(view, "on_surface_variant")
    size = min(box[2] - box[0], box[3] - box[1])
    pen.sign(style.icon, box, ink, size)


def image(pen: Pen, view: View) -> None:
    style = view.style
    if style.image.startswith("wallpaper"):
        pen.wallpaper(style.image)
    elif style.image:
        box = inside(view, pen.dp)
        pen.add(Picture(style.image, box, pen.px(style.radius), style.scale, style.rotation))
    elif style.icon:
        icon(pen, view)


def avatar(pen: Pen, view: View) -> None:
    name = view.style.image.removeprefix("avatar:")
    side = min(view.w, view.h)
    colour = fade(hue(crc32(name.encode()) % 360, 0.45, 0.42), pen.alpha if view.enabled else DISABLED)
    box = (view.x, view.y, view.x + side, view.y + side)
    pen.fill(box, colour, side // 2)
    letter = name[:1].upper()
    if letter.isalnum():
        pen.line(letter, box, side * 0.5, (255, 255, 255, 255), align="center")
    else:
        pen.sign("account", box, (255, 255, 255, 255), round(side * 0.62))


def app_icon(pen: Pen, view: View) -> None:
    """A launcher's icon: a coloured plate with a white sign, the app's name below it if the view has text."""
    left, top, right, bottom = inside(view, pen.dp)
    side = min(right - left, bottom - top, pen.px(54) if view.style.align == "center" else view.h)
    label = metrics.line_height(view.style.size * pen.sp) + pen.px(4) if view.text else 0
    x, y = (left + right - side) // 2, round((top + bottom - side - label) / 2)
    _plate(pen, view, (x, y, x + side, y + side))
    if view.text:
        size = view.style.size * pen.sp
        words = metrics.ellipsise(view.text, size, right - left)
        box = (left, y + side + pen.px(4), right, round(y + side + label))
        pen.line(words, box, size, palette.fade(pen.ink, pen.alpha), align="center")


def _plate(pen: Pen, view: View, plate: Box) -> None:
    style = view.style
    side = plate[2] - plate[0]
    own = hue(crc32(style.icon.encode()) % 997, 0.46, 0.5)
    ground = pen.colour(style.background) if style.background else own
    pen.fill(plate, ground, round(side * 0.3))
    pen.sign(
        style.icon if icons.exists(style.icon) else "apps", plate, (255, 255, 255, 255), round(side * 0.58)
    )


_BLINK_MS = 500
_QUIET = frozenset({"caption", "summary"})


def text(pen: Pen, view: View) -> None:
    """A TextView: words at the top of its box unless gravity says otherwise."""
    role = view.style.role
    ink = pen.ink_for(view, "error" if role == "error" else "on_surface_variant" if role in _QUIET else "")
    down = gravity(view.gravity)[1] if view.gravity else None
    write(pen, view, inside(view, pen.dp), ink, down=0.0 if down is None else down)


def tab(pen: Pen, view: View) -> None:
    chosen = view.style.role == "selected"
    write(pen, view, inside(view, pen.dp), pen.colour("primary" if chosen else "on_surface_variant"))


def bubble_in(pen: Pen, view: View) -> None:
    _bubble(pen, view, "surface_container_highest", "on_surface", corners=0b0111)


def bubble_out(pen: Pen, view: View) -> None:
    _bubble(pen, view, "primary", "on_primary", corners=0b1011)


def _bubble(pen: Pen, view: View, ground: str, ink: str, corners: int) -> None:
    pen.fill(view.bounds, pen.colour(view.style.background or ground), pen.px(18), corners)
    write(pen, view, inside(view, pen.dp), pen.colour(view.style.color or ink))


def field(pen: Pen, view: View) -> None:
    """An EditText in one of three dresses: outlined, filled, plain."""
    role = view.style.role
    box = _frame_of_field(pen, view, role)
    left, top, right, bottom = inside(view, pen.dp)
    top += box[1] - view.y
    if view.style.error:
        right -= pen.px(28)
        mark = (right + pen.px(4), box[1], right + pen.px(28), box[3])
        pen.sign("error", mark, pen.colour("error"), pen.px(22))
    _content(pen, view, (left, top, right, bottom))


def _frame_of_field(pen: Pen, view: View, role: str) -> Box:
    """Paint the field's outline or ground and its label; returns the box it stands in."""
    style = view.style
    accent = "error" if style.error else "primary" if view.focused else "outline"
    box = view.bounds
    if role == "filled":
        radius = pen.px(style.radius or 4)
        pen.fill(
            box,
            pen.colour(style.background or "surface_container_highest"),
            radius,
            0b1111 if style.radius else TOP,
        )
        if not style.radius:
            thick = pen.px(2 if view.focused or style.error else 1)
            pen.fill((box[0], box[3] - thick, box[2], box[3]), pen.colour(accent))
    elif role != "plain":
        label_size = 12 * pen.sp
        if style.label:
            box = (box[0], box[1] + round(label_size / 2), box[2], box[3])
        thick = pen.px(2 if view.focused else 1)
        pen.stroke(box, pen.colour(accent, 1.0 if view.enabled else 0.4), pen.px(style.radius or 4), thick)
        if style.label:
            _label(
                pen,
                style.label,
                box,
                label_size,
                pen.colour("on_surface_variant" if accent == "outline" else accent),
            )
    return box


def _label(pen: Pen, words: str, box: Box, size: float, colour: RGBA) -> None:
    left = box[0] + pen.px(12)
    width = round(metrics.line_width(words, size))
    half = round(metrics.line_height(size) / 2)
    gap = pen.px(4)
    pen.fill((left, box[1] - half, left + width + 2 * gap, box[1] + half), pen.colour("surface"))
    pen.line(words, (left + gap, box[1] - half, left + gap + width, box[1] + half), size, colour)


def _content(pen: Pen, view: View, box: Box) -> None:
    size = view.style.size * pen.sp
    step = metrics.line_height(size)
    empty = not view.text
    lines = list(view.lines) or [""]
    height = step * len(lines)
    room = box[3] - box[1]
    top = box[1] + (room - height) / 2 if height <= room and not view.multiline else float(box[1])
    if view.multiline and len(lines) == 1 and view.h <= pen.px(64):
        top = box[1] + (room - height) / 2
    shift = 0.0 if empty else _shift(view, lines, size, box[2] - box[0])
    outer, pen.clip = (
        pen.clip,
        (max(pen.clip[0], box[0]), pen.clip[1], min(pen.clip[2], box[2] + 2), pen.clip[3]),
    )
    if view.focused and not empty:
        _selection(pen, view, lines, (box[0] - shift, top), size)
    ink = pen.ink_for(view, "on_surface_variant" if empty else "on_surface")
    for number, words in enumerate(lines):
        baseline = round(top + step * number + metrics.ascent(size))
        pen.add(Run(words, box[0] - shift, baseline, size, view.style.bold, ink))
    if view.focused and pen.now_ms // _BLINK_MS % 2 == 0 and view.selection[0] == view.selection[1]:
        _cursor(pen, view, [""] if empty else lines, (box[0] - shift, top), size)
    pen.clip = outer


def _starts(view: View, lines: list[str]) -> list[int]:
    """Offset of each line in the text; a newline between two of them is not part of either."""
    starts = [0]
    for words in lines[:-1]:
        end = starts[-1] + len(words)
        starts.append(end + (view.text[end : end + 1] == "\n"))
    return starts


def _spot(view: View, lines: list[str], position: int, size: float) -> tuple[float, int]:
    """Where an offset of the text stands: px from the left, and its line."""
    starts = _starts(view, lines)
    number = max([n for n, start in enumerate(starts) if start <= position], default=0)
    before = lines[number][: position - starts[number]]
    return metrics.line_width(before, size, view.style.bold), number


def _shift(view: View, lines: list[str], size: float, room: float) -> float:
    if view.multiline or not view.focused:
        return 0.0
    x, _ = _spot(view, lines, view.selection[1], size)
    return max(0.0, x - room)


def _selection(pen: Pen, view: View, lines: list[str], at: tuple[float, float], size: float) -> None:
    first, last = sorted(view.selection)
    if first == last:
        return
    step = metrics.line_height(size)
    tint = pen.colour("primary", 0.3)
    for number, (start, words) in enumerate(zip(_starts(view, lines), lines, strict=True)):
        widths = [0.0, *accumulate(metrics.line_width(letter, size, view.style.bold) for letter in words)]
        low, high = (min(max(0, edge - start), len(words)) for edge in (first, last))
        if low < high:
            top = round(at[1] + step * number)
            pen.fill((round(at[0] + widths[low]), top, round(at[0] + widths[high]), round(top + step)), tint)


def _cursor(pen: Pen, view: View, lines: list[str], at: tuple[float, float], size: float) -> None:
    x, number = _spot(view, lines, view.selection[1], size)
    step = metrics.line_height(size)
    left, top = round(at[0] + x), round(at[1] + step * number)
    colour = palette.fade(palette.resolve("primary", pen.dark, pen.theme), pen.alpha)
    pen.fill((left, top, left + pen.px(2), round(top + step)), colour)


_SPIN_MS = 1400
_SWEEP_MS = 2000

_ACTING_KEYS = frozenset("✓→⏎🔍➤")

# Role of a button: ground, ink, whether it has an outline.
_BUTTONS = {
    "filled": ("primary", "on_primary", False),
    "tonal": ("secondary_container", "on_secondary_container", False),
    "elevated": ("surface_container_low", "primary", False),
    "outlined": ("", "primary", True),
    "text": ("", "primary", False),
    "error": ("error", "on_error", False),
    "danger": ("error", "on_error", False),
}


def button(pen: Pen, view: View) -> None:
    style = view.style
    ground, ink, outlined = _BUTTONS.get(style.role, _BUTTONS["filled"])
    # What is seen of a button of 48 dp is 40 dp high; the rest is only for the finger.
    inset = pen.px(4) if not view.style.background and view.h >= pen.px(47) and view.h <= pen.px(52) else 0
    box = view.x, view.y + inset, view.x + view.w, view.y + view.h - inset
    radius = pen.px(style.radius) if style.radius else (box[3] - box[1]) // 2
    if not view.enabled:
        ink = "on_surface"
    elif pen.ground_name == "inverse_surface" and not ground:
        ink = "inverse_primary"
    if ground and not style.background:
        pen.fill(box, pen.colour(ground) if view.enabled else pen.colour("on_surface", 0.12), radius)
    if outlined:
        pen.stroke(box, pen.colour("outline", 1.0 if view.enabled else 0.3), radius, pen.px(1))
    if style.background:
        colour = pen.ink_for(view)
    else:
        colour = pen.colour(style.color or ink, 1.0 if view.enabled else DISABLED)
    if style.icon:
        side = pen.px(18)
        pen.sign(style.icon, (box[0] + pen.px(12), box[1], box[0] + pen.px(12) + side, box[3]), colour, side)
    write(pen, view, inside(view, pen.dp), colour)


def chip(pen: Pen, view: View) -> None:
    """A small outlined button, filled when chosen."""
    box, radius = view.bounds, pen.px(view.style.radius or 8)
    chosen = view.style.role == "selected" or view.selected or bool(view.checked)
    if chosen:
        pen.fill(box, pen.colour("secondary_container"), radius)
    else:
        pen.stroke(box, pen.colour("outline"), radius, pen.px(1))
    ink = pen.ink_for(view, "on_secondary_container" if chosen else "on_surface_variant")
    write(pen, view, inside(view, pen.dp), ink)


def fab(pen: Pen, view: View) -> None:
    """The sign or words of the floating button; its plate is its ground."""
    ground = view.style.background or "primary_container"
    ink = pen.ink_for(view, "on_primary_container" if ground == "primary_container" else "")
    if view.text:
        write(pen, view, inside(view, pen.dp), ink)
        return
    pen.sign(view.style.icon, view.bounds, ink, pen.px(24))


def checkbox(pen: Pen, view: View) -> None:
    """A box at the start, words after it."""
    box = _leading(pen, view, 20)
    colour = _state_colour(pen, view)
    if view.checked:
        pen.fill(box, colour, pen.px(3))
        pen.sign("check", box, pen.colour("on_primary"), min(pen.px(18), box[2] - box[0]))
    else:
        pen.stroke(box, colour, pen.px(3), pen.px(2))
    _words_after(pen, view)


def radio(pen: Pen, view: View) -> None:
    """A ring at the start, words after it."""
    box = _leading(pen, view, 20)
    colour = _state_colour(pen, view)
    pen.stroke(box, colour, (box[2] - box[0]) // 2, pen.px(2))
    if view.checked:
        pen.disc((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, (box[2] - box[0]) / 4, colour)
    _words_after(pen, view)


def _state_colour(pen: Pen, view: View) -> RGBA:
    colour = pen.colour("primary" if view.checked else "on_surface_variant")
    return colour if view.enabled else fade(colour, DISABLED)


def _leading(pen: Pen, view: View, side_dp: float) -> Box:
    left, top, right, bottom = inside(view, pen.dp)
    side = min(pen.px(side_dp), right - left, bottom - top)
    middle = (top + bottom) // 2
    left += min(pen.px(2), right - left - side)
    return left, middle - side // 2, left + side, middle - side // 2 + side


def _words_after(pen: Pen, view: View) -> None:
    left, top, right, bottom = inside(view, pen.dp)
    write(pen, view, (left + pen.px(32), top, right, bottom), pen.ink_for(view, "on_surface"))


def switch(pen: Pen, view: View) -> None:
    """Words at the start, the switch at the end; smaller where its view is small."""
    left, top, right, bottom = inside(view, pen.dp)
    tall = min(pen.px(32), bottom - top, (right - left) * 8 // 13)
    wide, radius = tall * 13 // 8, tall // 2
    high = (top + bottom - tall) // 2
    box = (right - wide, high, right, high + tall)
    strength = 1.0 if view.enabled else DISABLED
    if view.checked:
        pen.fill(box, pen.colour("primary", strength), radius)
        pen.disc(right - radius, high + radius, tall * 0.375, pen.colour("on_primary"))
    else:
        pen.fill(box, pen.colour("surface_container_highest", strength), radius)
        pen.stroke(box, pen.colour("outline", strength), radius, pen.px(2))
        pen.disc(box[0] + radius, high + radius, tall * 0.25, pen.colour("outline", strength))
    write(pen, view, (left, top, box[0] - pen.px(8), bottom), pen.ink_for(view, "on_surface"))


def _share(view: View) -> float:
    span = view.high - view.low
    return min(1.0, max(0.0, (view.value - view.low) / span)) if span else 0.0


def slider(pen: Pen, view: View) -> None:
    """A track with a thumb; both stay inside the padding."""
    left, top, right, bottom = inside(view, pen.dp)
    middle = (top + bottom) // 2
    half = pen.px(2)
    strength = 1.0 if view.enabled else DISABLED
    x = round(left + (right - left) * _share(view))
    radius = pen.px(10)
    x = min(max(x, left + radius), right - radius)
    pen.fill((left, middle - half, right, middle + half), pen.colour("surface_container_highest"), half)
    pen.fill((left, middle - half, x, middle + half), pen.colour("primary", strength), half)
    pen.disc(x, middle, radius, pen.colour("primary") if view.enabled else pen.colour("outline"))


def progress(pen: Pen, view: View) -> None:
    left, top, right, bottom = inside(view, pen.dp)
    tall = min(bottom - top, pen.px(4)) or 1
    top = (top + bottom - tall) // 2
    pen.fill((left, top, right, top + tall), pen.colour("secondary_container"), tall // 2)
    end = round(left + (right - left) * _share(view))
    pen.fill((left, top, end, top + tall), pen.colour(view.style.color or "primary"), tall // 2)


def spinner(pen: Pen, view: View) -> None:
    """A turning arc: where it is and how long it is follow from the time alone."""
    side = min(view.w, view.h) - pen.px(8)
    if side <= 0:
        return
    left, top = view.x + (view.w - side) // 2, view.y + (view.h - side) // 2
    turn = pen.now_ms % _SPIN_MS / _SPIN_MS
    breath = abs(pen.now_ms % _SWEEP_MS / _SWEEP_MS * 2 - 1)
    box = (left, top, left + side, top + side)
    colour = pen.colour(view.style.color or "primary")
    pen.add(Arc(box, turn * 360 - 90, 60 + 200 * breath, max(2, min(pen.px(4), side // 6)), colour))


def key(pen: Pen, view: View) -> None:
    """A key of the on-screen keyboard; the one that acts is coloured."""
    style = view.style
    margin = pen.px(1)
    box = (view.x + margin, view.y + margin, view.x + view.w - margin, view.y + view.h - margin)
    acts = style.role == "action" or view.text in _ACTING_KEYS
    ground = "primary" if acts else "key_special" if style.role == "special" else "key"
    pen.fill((box[0], box[1] + margin, box[2], box[3] + margin), (0, 0, 0, 40), pen.px(style.radius or 6))
    ground = "primary_container" if view.pressed else style.background or ground
    pen.fill(box, pen.colour(ground), pen.px(style.radius or 6))
    ink = palette.ink_on(ground, pen.dark, pen.theme)
    sign = style.icon or icons.SIGNS.get(view.text, "")
    if sign:
        pen.sign(sign, box, ink, pen.px(22))
    else:
        pen.line(view.text, box, style.size * pen.sp, ink, bold=style.bold, align="center")


Painter = Callable[[Pen, View], None]

PAINTERS: Mapping[str, Painter] = {
    "avatar": avatar,
    "app_icon": app_icon,
    "badge": badge,
    "bubble_in": bubble_in,
    "bubble_out": bubble_out,
    "button": button,
    "checkbox": checkbox,
    "chip": chip,
    "destination": destination,
    "divider": divider,
    "fab": fab,
    "field": field,
    "icon": icon,
    "image": image,
    "key": key,
    "progress": progress,
    "radio": radio,
    "slider": slider,
    "spinner": spinner,
    "switch": switch,
    "tab": tab,
    "tab_box": tab_box,
    "text": text,
    "tile": tile,
    "wallpaper": wallpaper,
}

# Views without a style, such as those of a recorded screen, are dressed by their class.
_BY_CLASS: Mapping[str, str] = {
    "Button": "button",
    "CheckBox": "checkbox",
    "EditText": "field",
    "RadioButton": "radio",
    "SeekBar": "slider",
    "Switch": "switch",
    "ToggleButton": "button",
}


_OPAQUE = frozenset({"application", "recents"})
_BARS = frozenset({"status_bar", "navigation_bar"})


@dataclass(frozen=True, slots=True)
class Frame:
    """What the screen shows at one moment. Painting it is slow (tens of ms) and safe in any thread."""

    scene: Scene

    def image(self) -> Image:
        from handrail_sim.paint.canvas import paint  # noqa: PLC0415 - Pillow only when painting

        return paint(self.scene)

    def png(self) -> bytes:
        from handrail_sim.paint.canvas import encode  # noqa: PLC0415 - Pillow only when painting

        return encode(self.image())

    def rgba(self) -> bytes:
        """Raw pixels, four bytes each, row by row: what a framebuffer holds."""
        return self.image().convert("RGBA").tobytes()


def compose(
    windows: Sequence[Window],
    width: int,
    height: int,
    *,
    dark: bool = False,
    now_ms: float = 0.0,
    theme: str = "",
) -> Frame:
    screen = (0, 0, width, height)
    pen = Pen(dark=dark, now_ms=now_ms, theme=theme)
    for window in windows[_lowest_visible(windows, screen) :]:
        pen.begin(window.units.dp, window.units.sp, screen)
        _window(pen, window, screen)
    return Frame(Scene(width, height, tuple(pen.shapes)))


def _lowest_visible(windows: Sequence[Window], screen: Box) -> int:
    return max([place for place, window in enumerate(windows) if _hides_all(window, screen)], default=0)


def _hides_all(window: Window, screen: Box) -> bool:
    if window.type in _OPAQUE:
        return True
    style = window.root.style
    return (
        window.bounds == screen
        and not style.radius
        and style.background in palette.LIGHT
        and style.alpha == 1
    )


def _window(pen: Pen, window: Window, screen: Box) -> None:
    root = window.root
    if window.dim:
        pen.shapes = [(clip, dimmed(shape, 1 - window.dim)) for clip, shape in pen.shapes]
    if window.secure:
        pen.fill(screen if window.type in _OPAQUE else window.bounds, (0, 0, 0, 255))
        pen.over_picture = True
        return
    if window.type in _OPAQUE:
        pen.fill(screen, pen.colour("surface"))
        pen.over_picture = False
    elif window.type in _BARS:
        pen.ink_over_picture()
    elif window.type == "ime":
        # The strip below the keys, behind the navigation bar, belongs to the keyboard too.
        pen.fill((0, window.bounds[1], *screen[2:]), pen.colour("keyboard"))
        pen.over_picture = False
    view(pen, root)


def view(pen: Pen, shown: View) -> None:
    if not (shown.visible and shown.painted):
        return
    outer = pen.state()
    style = shown.style
    pen.alpha *= style.alpha
    radius = pen.px(style.radius)
    if style.elevation:
        pen.shadow(shown.bounds, radius, style.elevation)
    pen.clip = overlap(shown.clip, pen.clip)
    if not is_empty(pen.clip):
        if style.kind == "sheet":
            # A sheet rises from the foot of the screen, so its ground goes on behind the navigation bar.
            inner, pen.clip = pen.clip, pen.screen
            box = (shown.x, shown.y, shown.x + shown.w, pen.screen[3])
            pen.ground(box, shown.style.background or "surface_container_low", radius, TOP)
            pen.clip = inner
        elif style.background and style.kind not in _OWN_GROUND:
            pen.ground(shown.bounds, style.background, radius, ALL)
        if shown.pixels is not None:
            pen.add(Drawing(shown.pixels, shown.bounds))
        painter = PAINTERS.get(style.kind or _kind_of(shown))
        if painter is not None:
            painter(pen, shown)
        elif style.kind == "thumbnail":
            _thumbnail(pen, shown)
        for child in shown.children:
            view(pen, child)
        if shown.pressed and shown.enabled and style.kind != "key":
            pen.fill(shown.bounds, palette.fade(pen.ink, 0.1), radius)
    pen.restore(outer)


_OWN_GROUND = frozenset({"key", "bubble_in", "bubble_out", "field", "badge", "app_icon"})


def _thumbnail(pen: Pen, shown: View) -> None:
    """A small picture of the window that the view's tag holds, as it would be if it were in front."""
    window = shown.tag
    if window is None or window.secure:
        return
    window.resize(pen.screen, Units(pen.dp, pen.sp))
    inner = Pen(dark=pen.dark, now_ms=pen.now_ms, theme=pen.theme)
    inner.begin(pen.dp, pen.sp, pen.screen)
    view(inner, window.root)
    small = Reduction(pen.screen, shown.bounds)
    for clip, shape in inner.shapes:
        reduced = small.shape(shape)
        if isinstance(shape, Fill | Picture) and shape.box == pen.screen:
            reduced = shape._replace(box=shown.bounds, radius=pen.px(shown.style.radius))
        pen.shapes.append((overlap(small.box(clip), pen.clip), reduced))


def _kind_of(shown: View) -> str:
    kind = _BY_CLASS.get(shown.cls.rpartition(".")[2])
    return kind or ("text" if shown.text and not shown.children else "")


def frame(
    windows: Sequence[Window],
    width: int,
    height: int,
    *,
    dark: bool = False,
    now_ms: float = 0.0,
    theme: str = "",
) -> Frame:
    """What these windows, bottom to top, show now. Quick; `Frame.png` and the like belong in a thread."""
    return compose(windows, width, height, dark=dark, now_ms=now_ms, theme=theme)


def render(
    windows: Sequence[Window], width: int, height: int, *, dark: bool = False, now_ms: float = 0.0
) -> Image:
    """The same as a Pillow image."""
    return frame(windows, width, height, dark=dark, now_ms=now_ms).image()


def png(
    windows: Sequence[Window], width: int, height: int, *, dark: bool = False, now_ms: float = 0.0
) -> bytes:
    """The same as a PNG file."""
    return frame(windows, width, height, dark=dark, now_ms=now_ms).png()
