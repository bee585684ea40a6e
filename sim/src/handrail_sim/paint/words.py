"""How words are painted: labels, message bubbles, and fields with hint, cursor, selection and error."""

from __future__ import annotations

from itertools import accumulate

from handrail_sim.paint import palette
from handrail_sim.paint.palette import RGBA
from handrail_sim.paint.pen import Pen, inside, write
from handrail_sim.paint.scene import TOP, Box, Run
from handrail_sim.view import metrics
from handrail_sim.view.units import gravity
from handrail_sim.view.view import View

_BLINK_MS = 500
_QUIET = frozenset({"caption", "summary"})


def text(pen: Pen, view: View) -> None:
    """A TextView: words at the top of its box unless gravity says otherwise."""
    role = view.style.role
    ink = pen.ink_for(view, "error" if role == "error" else "on_surface_variant" if role in _QUIET else "")
    down = gravity(view.gravity)[1] if view.gravity else None
    write(pen, view, inside(view, pen.dp), ink, down=0.0 if down is None else down)


def tab(pen: Pen, view: View) -> None:
    """A tab's label."""
    chosen = view.style.role == "selected"
    write(pen, view, inside(view, pen.dp), pen.colour("primary" if chosen else "on_surface_variant"))


def bubble_in(pen: Pen, view: View) -> None:
    """A message that came."""
    _bubble(pen, view, "surface_container_highest", "on_surface", corners=0b0111)


def bubble_out(pen: Pen, view: View) -> None:
    """A message that was sent."""
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
    """A small label that interrupts the upper edge of the outline."""
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
    """How far a long single line is pushed left so that its cursor, or else its start, is seen."""
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
    colour = palette.fade(palette.resolve("primary", pen.dark), pen.alpha)
    pen.fill((left, top, left + pen.px(2), round(top + step)), colour)
