"""What a window remembers of its views between builds: text and cursor, scroll positions, focus.

Plain data under the view's name; knows no layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from handrail_sim.view.view import SCROLLING, View

Memory = dict[str, dict[str, Any]]


def name_of(view: View) -> str:
    """What the view is called in memory: its key or id, else its path from one that has; rows come first."""
    parts: list[str] = []
    anchored = False
    node: View | None = view
    while node is not None:
        if not anchored:
            own = node.key or node.id
            parts.append(own or _place(node))
            anchored = bool(own)
        if node.row_key is not None:
            parts.append(node.row_key)
            break
        node = node.parent
    return "/".join(reversed(parts))


def _place(view: View) -> str:
    """The number among the siblings, marked so that it can't be taken for an id."""
    if view.parent is not None:
        for number, sibling in enumerate(view.parent.children):
            if sibling is view:
                return f"#{number}"
    return "#"


def walk(root: View) -> Iterator[View]:
    """Every view, parents first."""
    stack = [root]
    while stack:
        view = stack.pop()
        yield view
        if view.children:
            stack.extend(reversed(view.children))


def find_named(root: View, name: str) -> View | None:
    """The first view with this name."""
    by_path = "#" in name
    for view in walk(root):
        own = view.key or view.id
        if (name.endswith(own) if own else by_path) and name_of(view) == name:
            return view
    return None


def adopt(view: View, memory: Memory) -> None:
    """Tie a new tree to what is remembered: parents, texts of fields, scroll positions."""
    if view.editable or view.layout in SCROLLING:
        remember(view, memory)
    for child in view.children:
        child.parent = view
        if child.children or child.editable or child.layout in SCROLLING:
            adopt(child, memory)


def remember(view: View, memory: Memory) -> None:
    """Give a stateful view its memory, and a field the text that was typed."""
    name = name_of(view)
    kept = memory.get(name)
    if kept is None:
        kept = memory[name] = {}
    view.memory = kept
    view.shelf = memory
    if not view.editable:
        return
    if "text" not in kept or (view.given is not None and view.given != kept.get("given")):
        if view.text != kept.get("text"):
            kept.update(text=view.text, start=len(view.text), end=len(view.text))
        kept["given"] = view.given
    view.text = kept["text"]
    view.selection = (kept["start"], kept["end"])
