"""Measured layout: how big each view wants to be, then where it stands and what is visible of it.

Pure: a tree and the space it has go in, the tree's px come out. Lists are in `lists`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import inf

from handrail_sim.view import lists, metrics
from handrail_sim.view.units import Units, edges, gravity, intersect
from handrail_sim.view.view import Rect, View


def lay_out(root: View, bounds: Rect, units: Units) -> None:
    """Give every view of a tree its px inside `bounds`."""
    left, top, right, bottom = bounds
    measure(root, right - left, bottom - top, units)
    place(root, left, top, bounds, units)


def measure(view: View, width: float, height: float, units: Units) -> None:
    """Set w and h; `width` and `height` are what is there, infinite inside something that scrolls."""
    room = (width, height)
    if view.still and view.measured_for == room:
        return
    view.measured_for, view.placed = room, None
    wish_w, wish_h, padding = view.width, view.height, view.padding
    left, top, right, bottom = edges(padding, units.dp) if padding else _NONE
    wide = None if wish_w == "wrap" else _fixed(wish_w, width, units)
    tall = None if wish_h == "wrap" else _fixed(wish_h, height, units)
    inner_w = (width if wide is None else wide) - left - right
    inner_h = (height if tall is None else tall) - top - bottom
    content_w, content_h = _CONTENT[view.layout](view, inner_w, inner_h, units)
    if wide is None:
        wide = min(max(content_w + left + right, view.min_width * units.dp), width)
    if tall is None:
        tall = min(max(content_h + top + bottom, view.min_height * units.dp), height)
    view.w = int(wide + 0.5) if wide > 0 else 0
    view.h = int(tall + 0.5) if tall > 0 else 0


_NONE = (0, 0, 0, 0)


def _fixed(wish: float | str, available: float, units: Units) -> float | None:
    if wish == "fill":
        return available if available != inf else None
    return float(wish) * units.dp


def _leaf(view: View, width: float, _height: float, units: Units) -> tuple[float, float]:
    words = view.text or view.hint
    style = view.style
    if not words and not view.editable:
        return _beside(view, units)
    size = style.size * units.sp
    if view.password and view.text:
        words = "•" * len(view.text)
    complete = view.editable and not view.multiline
    view.lines, wide = _typeset(words, width, size, style.bold, style.max_lines, complete)
    extra_w, extra_h = _beside(view, units)
    return wide + 1 + extra_w, max(metrics.line_height(size) * max(1, len(view.lines)), extra_h)


@lru_cache(maxsize=4096)
def _typeset(
    words: str, width: float, size: float, bold: bool, max_lines: int, complete: bool
) -> tuple[Sequence[str], float]:
    """The lines that words become in this width, and how wide they are. A `whole` text is never broken."""
    if complete:
        lines: Sequence[str] = (words,)
    elif width == inf:
        lines = tuple(words.split("\n"))
    elif "\n" not in words and metrics.line_width(words, size, bold) <= width:
        lines = (words,)
    else:
        lines = tuple(metrics.wrap(words, size, max(width, size), bold, max_lines))
    return lines, max([metrics.line_width(line, size, bold) for line in lines], default=0.0)


BOX = {"checkbox": 32.0, "radio": 32.0, "switch": 60.0}  # dp for the box and its gap


def _beside(view: View, units: Units) -> tuple[float, float]:
    box = BOX.get(view.style.kind, 0.0)
    return (box * units.dp, 32.0 * units.dp) if box else (0.0, 0.0)


def _measure_child(child: View, width: float, height: float, units: Units) -> tuple[int, int]:
    left, top, right, bottom = edges(child.margin, units.dp) if child.margin else _NONE
    measure(child, width - left - right, height - top - bottom, units)
    return child.w + left + right, child.h + top + bottom


def _column(view: View, width: float, height: float, units: Units) -> tuple[float, float]:
    shown = [child for child in view.children if child.visible]
    used = units.px(view.gap) * max(0, len(shown) - 1)
    widest = 0
    shares = 0.0
    for child in shown:
        if child.weight and height != inf:
            shares += child.weight
            continue
        w, h = _measure_child(child, width, height - used, units)
        widest = max(widest, w)
        used += h
    if shares:
        for child, share in _shares(shown, height - used, shares):
            widest = max(widest, _stretched(child, width, share, units, down=True))
        used = int(max(height, used))
    return widest, used


def _row(view: View, width: float, height: float, units: Units) -> tuple[float, float]:
    shown = [child for child in view.children if child.visible]
    used = units.px(view.gap) * max(0, len(shown) - 1)
    tallest = 0
    shares = 0.0
    cross = height if view.height != "wrap" else inf
    for child in shown:
        if child.weight and width != inf:
            shares += child.weight
            continue
        w, h = _measure_child(child, max(0, width - used), cross if child.height == "fill" else height, units)
        tallest = max(tallest, h)
        used += w
    if shares:
        for child, share in _shares(shown, width - used, shares):
            within = cross if child.height == "fill" else height
            tallest = max(tallest, _stretched(child, share, within, units, down=False))
        used = int(max(width, used))
    for child in shown:
        if child.height == "fill" and cross == inf:
            child.h = tallest - sum(edges(child.margin, units.dp)[1::2])
    return used, tallest


def _shares(shown: list[View], left: float, shares: float) -> Iterator[tuple[View, int]]:
    done = 0
    weight = 0.0
    for child in shown:
        if child.weight:
            weight += child.weight
            end = int(max(0.0, left) * weight / shares)
            yield child, end - done
            done = end


def _stretched(child: View, width: float, height: float, units: Units, *, down: bool) -> int:
    """Measure a weighted child and give it its share exactly; returns its size across, margins included."""
    left, top, right, bottom = edges(child.margin, units.dp) if child.margin else _NONE
    wish = child.height if down else child.width
    if down:
        child.height = "fill"
    else:
        child.width = "fill"
    measure(child, max(0, width - left - right), max(0, height - top - bottom), units)
    if down:
        child.height = wish
        return child.w + left + right
    child.width = wish
    return child.h + top + bottom


def _frame(view: View, width: float, height: float, units: Units) -> tuple[float, float]:
    widest = tallest = 0
    for child in view.children:
        if child.visible:
            w, h = _measure_child(child, width, height, units)
            widest, tallest = max(widest, w), max(tallest, h)
    return widest, tallest


def _grid(view: View, width: float, _height: float, units: Units) -> tuple[float, float]:
    gap = units.px(view.gap)
    cell = (width - gap * (view.columns - 1)) / view.columns
    shown = [child for child in view.children if child.visible]
    total = 0
    for start in range(0, len(shown), view.columns):
        line = [_measure_child(child, cell, inf, units)[1] for child in shown[start : start + view.columns]]
        total += max(line) + (gap if start else 0)
    return width, total


def _scroll(view: View, width: float, height: float, units: Units) -> tuple[float, float]:
    child = view.children[0]
    w, h = _measure_child(child, width, inf, units)
    if height != inf and h < height and child.height == "fill":
        w, h = _measure_child(child, width, height, units)
    view.content = h
    return w, min(h, height)


def _hscroll(view: View, width: float, height: float, units: Units) -> tuple[float, float]:
    w, h = _measure_child(view.children[0], inf, height, units)
    view.content = w
    return min(w, width), h


def _absolute(view: View, width: float, height: float, units: Units) -> tuple[float, float]:
    for child in view.children:
        left, top, right, bottom = child.rect or (0, 0, 0, 0)
        measure(child, right - left, bottom - top, units)
        child.w, child.h = right - left, bottom - top
    return (0.0 if width == inf else width), (0.0 if height == inf else height)


def _pager(view: View, width: float, height: float, units: Units) -> tuple[float, float]:
    if not view.children:
        return 0, 0
    page = min(int(view.value), len(view.children) - 1)
    return _measure_child(view.children[page], width, height, units)


def _list(view: View, width: float, height: float, units: Units) -> tuple[float, float]:
    return lists.fill(view, width, height, lambda child, w, h: _measure_child(child, w, h, units), units)


_CONTENT: dict[str, Callable[[View, float, float, Units], tuple[float, float]]] = {
    "leaf": _leaf,
    "column": _column,
    "row": _row,
    "frame": _frame,
    "grid": _grid,
    "scroll": _scroll,
    "hscroll": _hscroll,
    "absolute": _absolute,
    "pager": _pager,
    "list": _list,
}


def place(view: View, x: int, y: int, clip: Rect, units: Units) -> None:
    if view.still and view.placed == (x, y, clip):
        return
    view.placed, view.written = (x, y, clip), None
    view.x, view.y = x, y
    view.clip = inner = intersect((x, y, x + view.w, y + view.h), clip)
    if not view.children:
        return
    for child, left, top in _PLACES[view.layout](view, units):
        around = clip if view.loose else inner
        place(child, left, top, around if child.visible else NOWHERE, units)


NOWHERE: Rect = (0, 0, 0, 0)
Spot = tuple[View, int, int]


def _inside(view: View, units: Units) -> Rect:
    left, top, right, bottom = edges(view.padding, units.dp) if view.padding else _NONE
    return view.x + left, view.y + top, view.x + view.w - right, view.y + view.h - bottom


def _pull(child: View, holder: View, default: tuple[float, float]) -> tuple[float, float]:
    across, down = gravity(child.align) if child.align else (None, None)
    if holder.gravity and (across is None or down is None):
        wide, tall = gravity(holder.gravity)
        across = wide if across is None else across
        down = tall if down is None else down
    return default[0] if across is None else across, default[1] if down is None else down


def _spots_column(view: View, units: Units) -> list[Spot]:
    left, top, right, bottom = _inside(view, units)
    gap = units.px(view.gap)
    shown = [child for child in view.children if child.visible]
    if view.gravity:
        used = sum([child.h + sum(edges(child.margin, units.dp)[1::2]) for child in shown])
        spare = bottom - top - used - gap * max(0, len(shown) - 1)
        top += int(max(0, spare) * (gravity(view.gravity)[1] or 0.0))
    spots = []
    for child in view.children:
        if not child.visible:
            spots.append((child, left, top))
            continue
        ml, mt, mr, mb = edges(child.margin, units.dp) if child.margin else _NONE
        x = left + ml
        if child.align or view.gravity:
            x += int((right - left - ml - mr - child.w) * _pull(child, view, (0.0, 0.0))[0])
        spots.append((child, x, top + mt))
        top += mt + child.h + mb + gap
    return spots


def _spots_row(view: View, units: Units) -> list[Spot]:
    left, top, right, bottom = _inside(view, units)
    gap = units.px(view.gap)
    shown = [child for child in view.children if child.visible]
    if view.gravity:
        used = sum([child.w + sum(edges(child.margin, units.dp)[::2]) for child in shown])
        spare = right - left - used - gap * max(0, len(shown) - 1)
        left += int(max(0, spare) * (gravity(view.gravity)[0] or 0.0))
    spots = []
    for child in view.children:
        if not child.visible:
            spots.append((child, left, top))
            continue
        ml, mt, mr, mb = edges(child.margin, units.dp) if child.margin else _NONE
        down = _pull(child, view, (0.0, 0.5))[1] if child.align or view.gravity else 0.5
        spare = bottom - top - mt - mb - child.h
        spots.append((child, left + ml, top + mt + int(spare * down)))
        left += ml + child.w + mr + gap
    return spots


def _spots_frame(view: View, units: Units) -> list[Spot]:
    left, top, right, bottom = _inside(view, units)
    spots = []
    for child in view.children:
        ml, mt, mr, mb = edges(child.margin, units.dp) if child.margin else _NONE
        across, down = _pull(child, view, (0.0, 0.0))
        x = left + ml + int((right - left - ml - mr - child.w) * across)
        y = top + mt + int((bottom - top - mt - mb - child.h) * down)
        spots.append((child, x, y))
    return spots


def _spots_grid(view: View, units: Units) -> list[Spot]:
    left, top, right, _ = _inside(view, units)
    gap = units.px(view.gap)
    cell = (right - left - gap * (view.columns - 1)) / view.columns
    spots = []
    tallest = column = 0
    for child in view.children:
        ml, mt, mr, mb = edges(child.margin, units.dp) if child.margin else _NONE
        if column == view.columns:
            top, tallest, column = top + tallest + gap, 0, 0
        across = _pull(child, view, (0.0, 0.0))[0]
        spare = cell - ml - mr - child.w
        spots.append((child, left + ml + int(column * (cell + gap) + spare * across), top + mt))
        if child.visible:
            tallest, column = max(tallest, child.h + mt + mb), column + 1
    return spots


def _spots_scroll(view: View, units: Units) -> list[Spot]:
    left, top, _, _ = _inside(view, units)
    child = view.children[0]
    ml, mt, _, _ = edges(child.margin, units.dp) if child.margin else _NONE
    offset = clamped(view, units)
    if view.layout == "scroll":
        return [(child, left + ml, top + mt - offset)]
    return [(child, left + ml - offset, top + mt)]


def clamped(view: View, units: Units) -> int:
    """A scroller's offset, pulled back when its content shrank."""
    room = reach(view, units)
    memory = view.memory if view.memory is not None else {}
    offset: int = min(memory.get("offset", 0), room)
    memory["offset"] = offset
    return offset


def reach(view: View, units: Units) -> int:
    left, top, right, bottom = edges(view.padding, units.dp) if view.padding else _NONE
    size = view.h - top - bottom if view.layout == "scroll" else view.w - left - right
    return max(0, view.content - size)


def _spots_absolute(view: View, _units: Units) -> list[Spot]:
    return [(child, *(child.rect or NOWHERE)[:2]) for child in view.children]


def _spots_pager(view: View, units: Units) -> list[Spot]:
    left, top, right, _ = _inside(view, units)
    page = int(view.value)
    wide = right - left
    return [(child, left + (number - page) * wide, top) for number, child in enumerate(view.children)]


def _spots_list(view: View, units: Units) -> list[Spot]:
    return lists.spots(view, _inside(view, units), units)


_PLACES: dict[str, Callable[[View, Units], list[Spot]]] = {
    "leaf": _spots_frame,
    "column": _spots_column,
    "row": _spots_row,
    "frame": _spots_frame,
    "grid": _spots_grid,
    "scroll": _spots_scroll,
    "hscroll": _spots_scroll,
    "absolute": _spots_absolute,
    "pager": _spots_pager,
    "list": _spots_list,
}
