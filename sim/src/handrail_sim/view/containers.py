"""Builders of views that hold views: columns, rows, frames, grids, scrolling things, lists, pagers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from handrail_sim.view.view import View

T = TypeVar("T")


def _shown(children: Sequence[View | None]) -> list[View]:
    return [child for child in children if child is not None]


def _build(made: dict[str, Any], options: dict[str, Any], **fixed: Any) -> View:
    """`made` holds the defaults and is the builder's own: it may be changed."""
    made.update(options, **fixed)
    return View.built(made)


def column(*children: View | None, **options: Any) -> View:
    """Children below each other; `None` is left out, so `cond and …` reads well as `… if cond else None`."""
    defaults: dict[str, Any] = {"cls": "android.widget.LinearLayout", "width": "fill"}
    return _build(defaults, options, layout="column", children=_shown(children))


def row(*children: View | None, **options: Any) -> View:
    """Children beside each other, centred vertically unless `gravity` says otherwise."""
    defaults: dict[str, Any] = {"cls": "android.widget.LinearLayout", "width": "fill"}
    return _build(defaults, options, layout="row", children=_shown(children))


def frame(*children: View | None, **options: Any) -> View:
    """Children on top of each other, each placed by its own `align`."""
    defaults: dict[str, Any] = {"cls": "android.widget.FrameLayout", "width": "fill"}
    return _build(defaults, options, layout="frame", children=_shown(children))


def grid(columns: int, *children: View | None, **options: Any) -> View:
    """Children in equal columns, row by row."""
    defaults: dict[str, Any] = {"cls": "android.widget.GridLayout", "width": "fill"}
    return _build(defaults, options, layout="grid", columns=columns, children=_shown(children))


def absolute(*children: View | None, **options: Any) -> View:
    """Children where their `rect` says, in px on the screen."""
    defaults: dict[str, Any] = {"cls": "android.view.ViewGroup", "width": "fill", "height": "fill"}
    return _build(defaults, options, layout="absolute", children=_shown(children))


def scroll(child: View, **options: Any) -> View:
    """One tall child behind a window of the given height."""
    defaults: dict[str, Any] = {"cls": "android.widget.ScrollView", "width": "fill", "height": "fill"}
    return _build(defaults, options, layout="scroll", children=[child])


def hscroll(child: View, **options: Any) -> View:
    """One wide child behind a window of the given width."""
    defaults: dict[str, Any] = {"cls": "android.widget.HorizontalScrollView", "width": "fill"}
    return _build(defaults, options, layout="hscroll", children=[child])


def lazy_list(
    items: Sequence[T],
    build_item: Callable[[T], View],
    item_key: Callable[[T], str] | None = None,
    columns: int = 1,
    **options: Any,
) -> View:
    """A RecyclerView: only rows in sight are built. `item_key` keeps a row's memory when rows move."""
    defaults: dict[str, Any] = {
        "cls": "androidx.recyclerview.widget.RecyclerView",
        "width": "fill",
        "height": "fill",
    }
    return _build(
        defaults,
        options,
        layout="list",
        items=items,
        build_item=build_item,
        item_key=item_key,
        columns=columns,
    )


def pager(page: int, *pages: View, **options: Any) -> View:
    """Pages side by side, one in sight; a sideways swipe calls `on_change(page)`."""
    defaults: dict[str, Any] = {
        "cls": "androidx.viewpager.widget.ViewPager",
        "width": "fill",
        "height": "fill",
    }
    return _build(defaults, options, layout="pager", value=float(page), children=list(pages))
