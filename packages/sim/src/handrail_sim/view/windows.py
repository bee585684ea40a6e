"""A window: a rectangle of the screen with a view tree that is built and laid out when somebody looks.

Knows no app: what it shows comes from the function it was made with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from handrail_sim.view.layout import lay_out, measure, place
from handrail_sim.view.memory import Memory, adopt, find_named, walk
from handrail_sim.view.reuse import forget_written, take_over
from handrail_sim.view.units import Units
from handrail_sim.view.view import Rect, View

MODAL = frozenset({"dialog", "sheet", "menu", "system_dialog"})


@dataclass(slots=True, eq=False)
class Window:
    """`type`: application, dialog, sheet, menu, system_dialog, recents, ime, toast, toolbar, status_bar,
    navigation_bar, shade, heads_up, volume. `placement`: fill, center, bottom, top."""

    title: str
    package: str
    type: str
    build: Callable[[], View]
    placement: str = "fill"
    area: Rect = (0, 0, 0, 0)  # where it may stand; its bounds when it fills
    units: Units = field(default_factory=lambda: Units(1.0, 1.0))
    layer: int = 0
    number: int = 0
    component: str = ""
    focusable: bool = True
    touchable: bool = True
    secure: bool = False
    user: int = 0  # whose it is
    has_focus: bool = False
    cancelable: bool = True
    dim: float = 0.0
    entered_ms: float = 0.0
    enter_duration_ms: float = 0.0
    on_outside: Callable[[], object] | None = None
    memory: Memory = field(default_factory=dict)
    focus: str | None = None  # the focused view's name
    bounds: Rect = (0, 0, 0, 0)
    version: int = 0  # grows with every layout
    anchor: Rect | None = None  # a menu stands below this
    frozen: bool = False  # its app hangs: what is shown stays as it is
    dirty: bool = True
    moved: bool = False
    tree: View | None = None
    built_for: Units | None = None
    dumped: dict[object, tuple[int, str]] = field(default_factory=dict)

    @property
    def modal(self) -> bool:
        return self.type in MODAL

    @property
    def root(self) -> View:
        if self.frozen and self.tree is not None:
            return self.tree
        if self.dirty or self.tree is None:
            before, self.tree = self.tree, self.build()
            take_over(self.tree, before if self.built_for == self.units else None)
            self.built_for = self.units
            adopt(self.tree, self.memory)
            self.moved = True
            self.dirty = False
        if self.moved:
            self._arrange(self.tree)
        return self.tree

    def _arrange(self, tree: View) -> None:
        left, top, right, bottom = self.area
        if self.placement == "fill":
            lay_out(tree, self.area, self.units)
        else:
            measure(tree, right - left, bottom - top, self.units)
            x, y = self._corner(tree)
            place(tree, x, y, self.area, self.units)
        self.bounds = tree.bounds
        self.moved = False
        self.version += 1
        view = find_named(tree, self.focus) if self.focus is not None else None
        if view is not None and not view.focused:
            view.focused = True
            forget_written(view)

    def _corner(self, tree: View) -> tuple[int, int]:
        left, top, right, bottom = self.area
        if self.placement == "bottom":
            return left, bottom - tree.h
        if self.placement == "top":
            return left, top
        if self.anchor is not None:  # below it, pushed back into the screen
            return max(left, min(self.anchor[0], right - tree.w - self.units.px(8.0))), min(
                top, bottom - tree.h
            )
        return left + (right - left - tree.w) // 2, top + (bottom - top - tree.h) // 2

    def find(self, name: str) -> View | None:
        return find_named(self.root, name)

    def views(self) -> Iterator[View]:
        return walk(self.root)

    def focused_view(self) -> View | None:
        return None if self.focus is None else self.find(self.focus)

    def invalidate(self) -> None:
        self.dirty = True

    def relayout(self) -> None:
        """The tree is right, its px are not: something scrolled."""
        self.moved = True

    def resize(self, area: Rect, units: Units) -> None:
        if (area, units) != (self.area, self.units):
            self.area, self.units = area, units
            self.moved = True
            self.dirty = True
