"""How things that hold things are painted, besides their ground: bars, tabs, rules."""

from __future__ import annotations

from handrail_sim.paint.pen import Pen
from handrail_sim.paint.scene import ALL
from handrail_sim.view.view import View


def wallpaper(pen: Pen, _view: View) -> None:
    """The ground of an activity that lets the wallpaper be seen."""
    pen.wallpaper("wallpaper")


def divider(pen: Pen, view: View) -> None:
    """A rule between things."""
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
    """The chosen destination of a bottom bar has a pill behind its icon."""
    if view.style.role != "selected":
        return
    for child in view.children:
        if child.style.kind == "icon":
            across, down = child.x + child.w // 2, child.y + child.h // 2
            wide, tall = pen.px(32), pen.px(16)
            box = (across - wide, down - tall, across + wide, down + tall)
            pen.fill(box, pen.colour("secondary_container"), tall)


def badge(pen: Pen, view: View) -> None:
    """A small count on a coloured disc."""
    box = view.bounds
    pen.fill(box, pen.colour(view.style.background or "error"), (box[3] - box[1]) // 2)
    pen.line(view.text, box, view.style.size * pen.sp, pen.colour("on_error"), bold=True, align="center")


def tile(pen: Pen, view: View) -> None:
    """A quick setting; one that is on has a strong ground."""
    if view.style.role == "selected":
        pen.ground(view.bounds, "primary", pen.px(view.style.radius), ALL)
