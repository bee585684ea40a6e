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
    if view.parent is not None:
        for number, sibling in enumerate(view.parent.children):
            if sibling is view:
                return f"#{number}"
    return "#"


def walk(root: View) -> Iterator[View]:
    stack = [root]
    while stack:
        view = stack.pop()
        yield view
        if view.children:
            stack.extend(reversed(view.children))


def find_named(root: View, name: str) -> View | None:
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
    name = name_of(view)
    saved = memory.get(name)
    if saved is None:
        saved = memory[name] = {}
    view.memory = saved
    view.shelf = memory
    if not view.editable:
        return
    if "text" not in saved or (view.app_text is not None and view.app_text != saved.get("given")):
        if view.text != saved.get("text"):
            saved.update(text=view.text, start=len(view.text), end=len(view.text))
        saved["given"] = view.app_text
    view.text = saved["text"]
    view.selection = (saved["start"], saved["end"])
