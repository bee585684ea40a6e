"""Who gets a touch: the topmost view under the finger that takes touches, else what is below or around."""

from __future__ import annotations

from collections.abc import Iterator

from handrail_sim.view.units import contains
from handrail_sim.view.view import ExternalView, View


def takes_touch(view: View) -> bool:
    """Views that consume a touch, disabled ones included: a tap on them goes no further."""
    if view.is_clickable or view.is_long_clickable or view.layout in ("scroll", "hscroll", "list", "pager"):
        return True
    return takes_gesture(view) or is_slider(view)


def takes_gesture(view: View) -> bool:
    return any(
        (view.on_touch, view.on_drag, view.on_scale, view.on_rotate, view.on_swipe, view.on_double_tap)
    )


def is_slider(view: View) -> bool:
    return view.style.kind == "slider"


def hit(view: View, x: float, y: float) -> View | None:
    if not contains(view.clip, x, y) or not view.visible:
        return None
    if view.drawn is not None:  # what is told to be inside is drawn elsewhere
        return view
    for child in reversed(view.children):
        match = hit(child, x, y)
        if match is not None:
            return match
    return view if takes_touch(view) else None


def chain(view: View | None) -> Iterator[View]:
    while view is not None:
        yield view
        view = view.parent


def drawn_around(view: View) -> ExternalView | None:
    """Who draws this view, if the phone itself does not."""
    return next((entry.drawn for entry in chain(view) if entry.drawn is not None), None)
