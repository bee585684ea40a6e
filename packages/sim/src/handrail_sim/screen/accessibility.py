"""The accessibility tree that UiAutomation hands to helpers: nodes of what is visible, as the dump has them.

A tree is a picture of one moment; it keeps the view behind each node, so that an action can be made on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from zlib import crc32

from handrail_sim.screen.dump import by_place, is_important, is_scrollable, resource_id, text_of
from handrail_sim.system.android import Android
from handrail_sim.view.view import Rect, View
from handrail_sim.view.windows import Window


@dataclass(slots=True, eq=False)
class Node:
    """What AccessibilityNodeInfo tells; `bounds` is the visible part in screen px."""

    view: View
    window: Window
    index: int
    parent: Node | None
    package: str
    cls: str
    text: str
    desc: str
    resource_id: str
    hint: str
    bounds: Rect
    checkable: bool
    checked: bool
    clickable: bool
    enabled: bool
    focusable: bool
    focused: bool
    scrollable: bool
    long_clickable: bool
    password: bool
    selected: bool
    state: str
    pane: str
    tooltip: str
    drawing_order: int = 0
    """Among its siblings, from 1; 0 for a window's root. `index` is its place in accessibility's order."""
    children: list[Node] = field(default_factory=list)

    @property
    def center(self) -> tuple[int, int]:
        left, top, right, bottom = self.bounds
        return (left + right) // 2, (top + bottom) // 2

    def __iter__(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child


def tree(window: Window, *, compressed: bool = False) -> Node:
    """One window's nodes; compressed leaves out plain containers."""
    return _node(window.root, window, 0, None, window.package, compressed)


def roots(phone: Android, *, compressed: bool = False) -> list[Node]:
    """Every window's tree, in no order: the server that asks collects them in a hash set."""
    shown = sorted(phone.windows(), key=lambda window: crc32(f"{window.number} {window.title}".encode()))
    if phone.faults.get("windows_shuffled") is not None:
        shown = phone.faults.shuffled(shown)
    return [tree(window, compressed=compressed) for window in shown]


def active_window(phone: Android) -> Window | None:
    return next((window for window in reversed(phone.windows()) if window.has_focus), None)


def active_root(phone: Android, *, compressed: bool = False) -> Node | None:
    window = active_window(phone)
    return None if window is None else tree(window, compressed=compressed)


def _node(
    view: View, window: Window, index: int, parent: Node | None, package: str, compressed: bool
) -> Node:
    package = view.package or package
    node = Node(
        view=view,
        window=window,
        index=index,
        parent=parent,
        package=package,
        cls=view.cls,
        text=text_of(view),
        desc=view.desc,
        resource_id=resource_id(view.id, package),
        hint=view.hint,
        bounds=view.clip,
        checkable=view.checked is not None,
        checked=bool(view.checked),
        clickable=view.is_clickable,
        enabled=view.enabled,
        focusable=view.is_focusable,
        focused=view.focused,
        scrollable=is_scrollable(view),
        long_clickable=view.is_long_clickable,
        password=view.password,
        selected=view.selected,
        state=view.state,
        pane=view.pane,
        tooltip=view.tooltip,
    )
    if view.attrs:
        _override(node, view.attrs)
    node.children = list(_children(view, node, compressed))
    return node


def _children(view: View, parent: Node, compressed: bool) -> Iterator[Node]:
    """The nodes below a view; in a compressed tree the children of what is left out move up."""
    for number, (drawn, child) in enumerate(by_place(view)):
        if not (child.visible and child.accessible and child.on_screen):
            continue
        if compressed and not is_important(child):
            yield from _children(child, parent, compressed)
            continue
        index = number if child.index is None else child.index
        node = _node(child, parent.window, index, parent, parent.package, compressed)
        node.drawing_order = drawn + 1 if child.index is None else child.index + 1
        yield node


_TEXTS = {"text": "text", "content-desc": "desc", "class": "cls", "package": "package"}
_TEXTS |= {"resource-id": "resource_id", "hint": "hint"}
_FLAGS = frozenset({"checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable"})
_FLAGS |= {"long-clickable", "password", "selected"}


def _override(node: Node, attrs: dict[str, str]) -> None:
    for name, value in attrs.items():
        if name in _TEXTS:
            setattr(node, _TEXTS[name], value)
        elif name in _FLAGS:
            setattr(node, name.replace("-", "_"), value == "true")
