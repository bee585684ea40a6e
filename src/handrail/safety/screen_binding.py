"""What a yes is bound to: all that a person could read in the window in front, and around what was quoted.

Settling leaves out what changes by itself: clocks, progress, restless texts, values of sliders. An approval
leaves out nothing. Elements that change by themselves are named in the question, and a person may let single
ones of them change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

from handrail.screen.node import (
    ACTIONABLE,
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    HIDDEN,
    LONG_CLICKABLE,
    PASSWORD,
    SCROLLABLE,
    SELECTED,
    UNCLEAR,
    Bounds,
    Node,
    Screen,
)
from handrail.screen.text import clean, is_clock_like
from handrail.screen.windows import front_window

_STATES = ENABLED | SELECTED | CHECKED | CHECKABLE | CLICKABLE | SCROLLABLE | LONG_CLICKABLE | PASSWORD
_SET_BY_PEOPLE = frozenset({"text_field", "slider", "spinner", "switch", "check_box", "radio_button"})
_NEAR = 0.15
"""Of the screen's width and height: shapes so near to a quoted element are bound with it."""
_SWAPPED_PX = 8
"""How far two elements are apart at least, on both screens, for their order to have changed."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """One element: what it is, and what it says."""

    what: tuple[str, ...]
    says: tuple[str, ...]
    bounds: Bounds

    @classmethod
    def of(cls, node: Node) -> _Bound:
        pixels = node.drawn.pixels if node.drawn is not None else ""
        what = (node.role, node.resource_id, str(node.flags & _STATES), node.place, pixels)
        return cls(what, _says(node), node.bounds)

    def key(self, number: int) -> str:
        return f"{number} {self.what[0]} {self.what[1]}"


@dataclass(frozen=True, slots=True)
class ScreenBinding:
    """What was shown when a person was asked."""

    elements: tuple[_Bound, ...]
    volatile: Mapping[str, str]
    """Elements that are known to change by themselves: key → what they say. Nothing that can be touched."""

    @classmethod
    def of(
        cls, screen: Screen, quoted: Collection[Node] = (), restless: Collection[int] = ()
    ) -> ScreenBinding:
        """`quoted` are the nodes that the question is about, `restless` the orders of nodes that tick.

        Of a picture its texts are bound with all their pixels, and what is drawn near the quoted nodes.
        """
        windows = {front_window(screen).order: front_window(screen)}
        for node in quoted:
            for window in screen.windows:  # what has no node of its own is in none of them
                if window.order <= node.order < window.end:
                    windows[window.order] = window
        nodes = [
            node
            for order in sorted(windows)
            for node in screen.nodes[order : windows[order].end]
            if not node.flags & HIDDEN
            and (any(_says(node)) or node.resource_id or node.flags & ACTIONABLE or node.role == "image")
            and not (node.drawn is not None and node.role == UNCLEAR and not _is_near(screen, node, quoted))
        ]
        elements = tuple(_Bound.of(node) for node in nodes)
        volatile = {
            element.key(number): clean(" ".join(filter(None, element.says)))
            for number, (node, element) in enumerate(zip(nodes, elements, strict=True))
            if _is_volatile(node, restless)
        }
        return cls(elements, volatile)

    @property
    def fingerprint(self) -> str:
        """Equal where every text, value, state and title is."""
        parts = ("\x1f".join((*element.what, "", *element.says)) for element in self.elements)
        return blake2b("\x1e".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

    def changes(self, now: ScreenBinding) -> set[str] | None:
        """Keys of the volatile elements that say something else now; None where anything else changed."""
        if len(self.elements) != len(now.elements) or _is_reordered(self.elements, now.elements):
            return None
        changed = set()
        for number, (old, new) in enumerate(zip(self.elements, now.elements, strict=True)):
            if old.what == new.what and old.says == new.says:
                continue
            key = old.key(number)
            if old.what != new.what or key not in self.volatile:
                return None
            changed.add(key)
        return changed


def _says(node: Node) -> tuple[str, ...]:
    return (
        node.text,
        node.description,
        node.state_description,
        node.hint_text,
        node.pane_title,
        node.tooltip_text,
    )


def _is_near(screen: Screen, node: Node, quoted: Collection[Node]) -> bool:
    across, down = screen.width * _NEAR, screen.height * _NEAR
    left, top, right, bottom = node.bounds
    return any(
        left - across < box.right
        and box.left < right + across
        and top - down < box.bottom
        and box.top < bottom + down
        for box in (quote.bounds for quote in quoted)
    )


def _is_volatile(node: Node, restless: Collection[int]) -> bool:
    """What a person sets, or an agent could press, does not change by itself."""
    touched = CLICKABLE | LONG_CLICKABLE | CHECKABLE
    is_clock = any(is_clock_like(text) for text in _says(node) if text)
    if node.drawn is not None:  # every text of a picture can be touched, as far as anybody knows
        return is_clock
    if node.role in _SET_BY_PEOPLE or node.flags & touched:
        return False
    return is_clock or node.role == "progress_bar" or node.order in restless


def _is_reordered(old: tuple[_Bound, ...], new: tuple[_Bound, ...]) -> bool:
    """Whether two neighbours have changed places. A shift of both, or a wider text, has not."""
    for (first, second), (first_now, second_now) in zip(pairwise(old), pairwise(new), strict=True):
        for axis in (0, 1):
            before = second.bounds[axis] - first.bounds[axis]
            after = second_now.bounds[axis] - first_now.bounds[axis]
            if min(abs(before), abs(after)) > _SWAPPED_PX and (before > 0) != (after > 0):
                return True
    return False
