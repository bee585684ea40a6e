"""Lists that build only what is in sight: the first row and its offset are kept, the rest follows.

The memory is {"first": line number, "offset": px of that line above the edge}; a line holds `columns` rows.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from handrail_sim.view.memory import adopt, name_of
from handrail_sim.view.reuse import let_go, take_over
from handrail_sim.view.units import Units, edges
from handrail_sim.view.view import Rect, View

Measure = Callable[[View, float, float], tuple[int, int]]
UNBOUNDED_ROWS = 500  # rows built when a list stands inside something that scrolls without end
KEPT_ROWS = 24  # rows out of sight whose sizes and texts are kept, as a RecyclerView keeps a few views


def line_count(view: View) -> int:
    return -(-len(view.items) // view.columns)


def build_line(view: View, line: int) -> list[View]:
    """The rows of one line, named in memory. They get their parent once they were compared: a row that
    was born knowing its list would be like no row of another tree."""
    if view.build_item is None:
        return []
    rows = []
    name = name_of(view)
    for number in range(line * view.columns, min(len(view.items), (line + 1) * view.columns)):
        child = view.build_item(view.items[number])
        key = view.item_key(view.items[number]) if view.item_key else str(number)
        child.row_key = f"{name}[{key}]"
        rows.append(child)
    return rows


class Filler:
    """Builds and measures lines of one list on demand, each once."""

    def __init__(self, view: View, width: float, measure: Measure, units: Units) -> None:
        self.view = view
        self.measure = measure
        self.gap = units.px(view.gap)
        self.cell = (width - self.gap * (view.columns - 1)) / view.columns
        before = view.rows_before
        if before is None:  # the same tree again: it scrolled
            before = view.rows_kept | {row.row_key: row for row in view.children}
        self.before = before
        self.built: dict[int, tuple[list[View], int]] = {}

    def line(self, number: int) -> tuple[list[View], int]:
        """Rows and height of a line, the gap after it included."""
        matches = self.built.get(number)
        if matches is None:
            rows = build_line(self.view, number)
            for child in rows:  # the tree was compared and adopted before its rows were there
                old = self.before.pop(child.row_key, None)
                if child is not old:  # an app may hand out the rows it has made before
                    take_over(child, old)
                child.parent = self.view
                adopt(child, self.view.shelf if self.view.shelf is not None else {})
            matches = rows, max(self.measure(child, self.cell, inf)[1] for child in rows) + self.gap
            self.built[number] = matches
        return matches

    def left_over(self) -> dict[str | None, View]:
        left = self.before
        for key in list(left)[:-KEPT_ROWS]:
            let_go(left.pop(key))
        return left


def settle(filler: Filler, memory: dict[str, Any], height: float) -> None:
    """Bring first and offset back into range: never above the first line, never past the last."""
    count = line_count(filler.view)
    if filler.view.from_end and memory.get("stuck", True) and _grew(memory, count, height):
        memory["first"], memory["offset"] = count - 1, 0
    first, offset = min(memory.get("first", 0), max(0, count - 1)), memory.get("offset", 0)
    while offset < 0 and first > 0:
        first -= 1
        offset += filler.line(first)[1]
    offset = max(0, offset)
    while first < count - 1 and offset >= filler.line(first)[1]:
        offset -= filler.line(first)[1]
        first += 1
    memory["first"], memory["offset"] = first, offset
    _pull_down(filler, memory, height)


def _grew(memory: dict[str, Any], count: int, height: float) -> bool:
    """Rows came or the keyboard did, since the last look: a list that stands at its end stays there."""
    existing = memory.get("seen")
    memory["seen"] = [count, height]
    return bool(existing != memory["seen"])


def _pull_down(filler: Filler, memory: dict[str, Any], height: float) -> None:
    """When the last line ends above the bottom edge, show more at the top, if there is more."""
    count = line_count(filler.view)
    first, offset = memory["first"], memory["offset"]
    below = -offset
    for number in range(first, count):
        below += filler.line(number)[1]
        if below >= height:
            return
    below -= filler.gap
    missing = int(height - below)
    while missing > 0 and (first > 0 or offset > 0):
        step = min(offset, missing)
        offset -= step
        missing -= step
        if missing > 0 and first > 0:
            first -= 1
            offset = filler.line(first)[1]
    memory["first"], memory["offset"] = first, offset


def fill(view: View, width: float, height: float, measure: Measure, units: Units) -> tuple[float, float]:
    """Build the rows in sight as the view's children; returns the size of what is shown."""
    if not view.items:
        view.children = []
        return width, 0
    filler = Filler(view, width, measure, units)
    memory = view.memory if view.memory is not None else {}
    if height == inf:
        memory.update(first=0, offset=0)
    else:
        settle(filler, memory, height)
    below = -memory.get("offset", 0)
    number = memory.get("first", 0)
    rows: list[View] = []
    while number < line_count(view) and below < height and len(rows) < UNBOUNDED_ROWS:
        built, tall = filler.line(number)
        rows += built
        below += tall
        number += 1
    view.children, view.rows_before, view.rows_kept = rows, None, filler.left_over()
    complete = memory.get("first", 0) == 0 and number == line_count(view)
    view.content = int(below) + memory.get("offset", 0) if complete else 1 << 30
    view.scrollable = not (complete and below - filler.gap <= height and memory.get("offset", 0) == 0)
    memory["last"] = number - 1
    memory["stuck"] = number == line_count(view) and below - filler.gap <= height
    return width, below


def spots(view: View, inside: Rect, units: Units) -> list[tuple[View, int, int]]:
    left, top, right, _ = inside
    gap = units.px(view.gap)
    cell = (right - left - gap * (view.columns - 1)) / view.columns
    y = top - (view.memory or {}).get("offset", 0)
    matches = []
    for start in range(0, len(view.children), view.columns):
        tallest = 0
        for number, child in enumerate(view.children[start : start + view.columns]):
            ml, mt, _, mb = edges(child.margin, units.dp) if child.margin else (0, 0, 0, 0)
            matches.append((child, left + ml + int(number * (cell + gap)), y + mt))
            tallest = max(tallest, child.h + mt + mb)
        y += tallest + gap
    return matches
