"""A step's screens before and after, with the touched element marked over the picture."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.flow.records import Picture, StepRecord
from handrail.flow.report.markup import Html, tag
from handrail.flow.report.pictures import Album, Placed
from handrail.tree.node import Bounds

_ROUND = 12
"""Device pixels; about what buttons have."""
_POINT = 48
"""Radius of the ring around a touched point, in device pixels."""


def shots(step: StepRecord, album: Album) -> Html | None:
    """None for a step that shows nothing."""
    figures = [*_one(step, step.before, "Before", album), *_one(step, step.after, "After", album)]
    return tag("div", figures, class_="shots") if figures else None


def _one(step: StepRecord, picture: Picture | None, title: str, album: Album) -> Iterator[Html]:
    if picture is None:
        return
    placed = album.place(picture)
    if isinstance(placed, str):
        shown = tag("p", f"No picture: {placed}.", class_="missing")
    else:
        marks = list(_marks(step, placed)) if title == "Before" else []
        words = f"Screen {title.lower()} the step{', touched element marked' if marks else ''}"
        shown = tag("button", _svg(placed, marks, words), type="button", class_="zoom", title="Enlarge")
    yield tag("figure", tag("figcaption", title), shown)


def _svg(placed: Placed, marks: list[Html], words: str) -> Html:
    box = f"0 0 {placed.width} {placed.height}"
    size = {"width": placed.width, "height": placed.height}
    return tag(
        "svg", tag("use", href=f"#{placed.anchor}", **size), marks, viewBox=box, role="img", aria_label=words
    )


def _marks(step: StepRecord, placed: Placed) -> Iterator[Html]:
    """Each twice: a light line under a coloured one is seen on every picture."""
    touched = _on_screen(step.touched, placed)
    if touched is not None:
        for name in ("casing", "touched"):
            box = {"x": touched.left, "y": touched.top, "width": touched.width, "height": touched.height}
            yield tag("rect", class_=name, rx=_ROUND, **box)
    elif (point := _point(step)) is not None:
        for name in ("casing", "touched"):
            yield tag("circle", class_=name, cx=point[0], cy=point[1], r=_POINT)


def _on_screen(bounds: Bounds | None, placed: Placed) -> Bounds | None:
    if bounds is None:
        return None
    seen = bounds.intersect(Bounds(0, 0, placed.width, placed.height))
    return seen if seen.area else None


def _point(step: StepRecord) -> tuple[int, int] | None:
    """Where a finger went down without an element: a tap on coordinates."""
    selector = step.envelope.target.selector if step.envelope and step.envelope.target else None
    x, y = (selector.get("x"), selector.get("y")) if selector else (None, None)
    return (x, y) if isinstance(x, int) and isinstance(y, int) else None
