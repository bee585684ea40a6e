"""A screen as text with every node in it, nothing pruned: the textual state of the interaction tools.

One line per node, indented by depth: `Class "text" [left,top][right,bottom] clickable=…`.
"""

from __future__ import annotations

from collections.abc import Iterator

from handrail.tree.node import (
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
    Node,
    Screen,
)

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
    """Every window, every node."""
    lines: list[str] = []
    for window in screen.windows:
        lines.append(f"Window: {_escaped(window.package_name or screen.package)}")
        lines.extend(_lines(screen, window))
    return "\n".join(lines)


def _lines(screen: Screen, window: Node) -> Iterator[str]:
    open_until: list[int] = []
    for node in (window, *screen.inside(window)):
        while open_until and open_until[-1] <= node.order:
            open_until.pop()
        yield f"{'  ' * (len(open_until) + 1)}{node_line(node)}"
        open_until.append(node.end)


def node_line(node: Node) -> str:
    """One element; clickable is always said, focused where focus can be, the rest only where it holds."""
    words = [_escaped(node.short_class) or "View"]
    if node.text:
        words.append(_quoted(node.shown_text))
    words.append(str(node.bounds))
    words.append(f"clickable={_word(node, CLICKABLE)}")
    if node.flags & (FOCUSABLE | FOCUSED):
        words.append(f"focused={_word(node, FOCUSED)}")
    if node.flags & (CHECKABLE | CHECKED):
        words.append(f"checked={_word(node, CHECKED)}")
    if not node.flags & ENABLED:
        words.append("enabled=false")
    words.extend(f"{name}=true" for name, flag in _MARKED if node.flags & flag)
    if node.resource_id:
        words.append(f"id={_quoted(node.resource_id)}")
    words.extend(f"{name}={_quoted(text)}" for name, field in _TEXTS if (text := getattr(node, field)))
    return " ".join(words)


def _word(node: Node, flag: int) -> str:
    return "true" if node.flags & flag else "false"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """One line, whatever the screen says: line breaks and control characters become escapes."""
    text = text.translate(_ESCAPES)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
