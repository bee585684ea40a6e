"""A screen in the shapes that seeds ask for.

`full_text` is the text of the interaction tools: nothing pruned, one line per node, indented by depth,
`Class "text" [left,top][right,bottom] clickable=…`. `elements_text` has one line for each thing that a person
would point at, `Class "text" [left,top][right,bottom]`, for callers that aim at points.
`outline` is AgenTest's LlmTreeNode: nested JSON without defaults, wrappers and unseen nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from handrail.screen.diff import ComparedItem, items_of
from handrail.screen.node import (
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    FOCUSABLE,
    FOCUSED,
    HIDDEN,
    LONG_CLICKABLE,
    PASSWORD,
    SCROLLABLE,
    SELECTED,
    Elements,
    Node,
    Screen,
    actions_of,
)
from handrail.screen.text import cut, quoted
from handrail.screen.windows import SYSTEM_UI

_NAME = 80  # characters of a label or value

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_MARKED = (
    ("long_clickable", LONG_CLICKABLE),
    ("scrollable", SCROLLABLE),
    ("selected", SELECTED),
    ("password", PASSWORD),
    ("hidden", HIDDEN),
)
_TEXTS = (
    ("desc", "description"),
    ("hint", "hint_text"),
    ("state", "state_description"),
    ("pane", "pane_title"),
    ("tooltip", "tooltip_text"),
)


def full_text(screen: Screen) -> str:
    lines: list[str] = []
    for window in screen.windows:
        lines.append(f"Window: {_escaped(window.package_name or screen.package)}")
        lines.extend(_window_lines(screen, window))
    return "\n".join(lines)


def _window_lines(screen: Screen, window: Node) -> Iterator[str]:
    open_until: list[int] = []
    for node in (window, *screen.inside(window)):
        while open_until and open_until[-1] <= node.order:
            open_until.pop()
        yield f"{'  ' * (len(open_until) + 1)}{node_line(node)}"
        open_until.append(node.end)


def node_line(node: Node) -> str:
    """One line per node: `clickable` always, `focused` where the node can have focus, the rest only if
    true.
    """
    words = [_escaped(node.short_class) or "View"]
    if node.text:
        words.append(_quoted(node.masked_text))
    words.append(str(node.bounds))
    words.append(f"clickable={_flag_word(node, CLICKABLE)}")
    if node.flags & (FOCUSABLE | FOCUSED):
        words.append(f"focused={_flag_word(node, FOCUSED)}")
    if node.flags & (CHECKABLE | CHECKED):
        words.append(f"checked={_flag_word(node, CHECKED)}")
    if not node.flags & ENABLED:
        words.append("enabled=false")
    words.extend(f"{name}=true" for name, flag in _MARKED if node.flags & flag)
    if node.drawn is not None:
        words.append(f"source=picture confidence={node.drawn.confidence:.2f}")
    if node.resource_id:
        words.append(f"id={_quoted(node.resource_id)}")
    words.extend(f"{name}={_quoted(text)}" for name, field in _TEXTS if (text := getattr(node, field)))
    return " ".join(words)


def elements_text(elements: Elements, most: int = 200) -> str:
    """One line per element and text, with the states that differ from the default."""
    lines = [_item_line(item) for item in items_of(elements).values() if item.node.bounds.area]
    cut_off = [f"... +{len(lines) - most} more; get_textual_state has all"] if len(lines) > most else []
    return "\n".join([*lines[:most], *cut_off])


def _item_line(item: ComparedItem) -> str:
    node = item.node
    words = [_escaped(node.short_class) or "View", *([quoted(cut(item.name, _NAME))] if item.name else [])]
    words.append(str(node.bounds))
    for name, value in item.by_name.items():
        if name == "enabled":
            words += [] if value else ["enabled=false"]
        elif name == "checked" or (isinstance(value, bool) and value):
            words.append(f"{name}={'true' if value else 'false'}")
        elif isinstance(value, str) and value and name != "label" and value != item.name:
            words.append(f"{name}={quoted(cut(value, _NAME))}")
    return " ".join(words)


def _flag_word(node: Node, flag: int) -> str:
    return "true" if node.flags & flag else "false"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Line breaks and control characters become escapes, so the text stays on one line."""
    text = text.translate(_ESCAPES)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


Outline = dict[str, Any]

_TRUE_FLAGS = (
    ("checked", CHECKED),
    ("focused", FOCUSED),
    ("selected", SELECTED),
    ("password", PASSWORD),
    ("scrollable", SCROLLABLE),
)
_WRAPPERS = frozenset({"container", "unknown", "list_item"})


def outline(screen: Screen, *, max_depth: int = 0, only_interactive: bool = False) -> Outline:
    """The whole screen as one object. `max_depth` 0 is no limit; what a limit drops is counted in `cut`.

    `only_interactive` leaves out what can't be acted on and holds nothing that can.
    """
    outlines: dict[int, list[Outline]] = {}
    keeps_bars = screen.package == SYSTEM_UI
    for node in reversed(screen.nodes):
        children = [child_outline for child in node.children for child_outline in outlines.pop(child.order)]
        is_wrapper = len(children) == 1 and (
            node.role in _WRAPPERS
            and not _is_labelled(node)
            and not node.resource_id
            and not actions_of(node)
        )
        is_idle = only_interactive and not children and not actions_of(node)
        is_hidden = node.flags & HIDDEN or (node.package_name == SYSTEM_UI and not keeps_bars)
        is_seen = not (is_wrapper or is_idle or is_hidden) and node.bounds.intersect(screen.bounds).area > 0
        if node is screen.root or is_seen:
            outlines[node.order] = [_outline_of_node(node) | ({"children": children} if children else {})]
        else:
            outlines[node.order] = children
    (root,) = outlines[screen.root.order]
    if max_depth:
        stack = [(root, 1)]
        while stack:
            branch, depth = stack.pop()
            if depth < max_depth:
                stack.extend((child, depth + 1) for child in branch.get("children", ()))
            elif "children" in branch:
                branch["cut"] = _count_nodes(branch.pop("children"))
    return root


def _count_nodes(outlines: list[Outline]) -> int:
    stack, count = list(outlines), 0
    while stack:
        node = stack.pop()
        count += 1
        stack.extend(node.get("children", ()))
    return count


def _is_labelled(node: Node) -> bool:
    return bool(node.text or any(getattr(node, name) for _, name in _TEXTS))


def _outline_of_node(node: Node) -> Outline:
    texts = {
        "id": node.resource_id,
        "role": node.role,
        "text": node.masked_text,
        "desc": node.description,
        "cls": "" if _is_labelled(node) else node.short_class,
        "hint": node.hint_text,
        "state": node.state_description,
        "pane": node.pane_title,
        "tooltip": node.tooltip_text,
        "bounds": str(node.bounds),
    }
    fields: Outline = {name: text for name, text in texts.items() if text}
    if node.flags & CLICKABLE and not _is_labelled(node):
        fields["clickable"] = True
    if not node.flags & ENABLED and node.class_name:
        fields["enabled"] = False
    fields |= {name: True for name, flag in _TRUE_FLAGS if node.flags & flag}
    if actions := actions_of(node):
        fields["actions"] = list(actions)
    return fields
