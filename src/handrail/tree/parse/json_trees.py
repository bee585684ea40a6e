"""Reads JSON trees: the helper's `/tree` answer or bare tree, DroidBot `views`, RICO's `activity.root`.

One table knows how each of them spells a field. Gets decoded JSON of any shape and trusts none of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

from handrail.errors import TreeParseError
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
    ROLES,
    SCROLLABLE,
    SELECTED,
    Bounds,
    Node,
    class_role,
    role_of,
)
from handrail.tree.parse.build import (
    MAX_DEPTH,
    MAX_NODES,
    NO_BOUNDS,
    ScreenDraft,
    WindowDraft,
    clamp,
    read_bounds,
)

_TEXTS = {
    "class_name": ("className", "class", "class_name"),
    "resource_id": ("resourceId", "resource-id", "resource_id"),
    "text": ("text",),
    "description": (
        "description",
        "contentDescription",
        "content-desc",
        "content_description",
        "contentDesc",
    ),
    "package_name": ("packageName", "package", "package_name"),
    "hint_text": ("hintText", "hint", "text-hint", "hint_text"),
    "state_description": ("stateDescription", "state-description", "state_description"),
    "pane_title": ("paneTitle", "pane-title", "pane_title"),
    "tooltip_text": ("tooltipText", "tooltip-text", "tooltip_text"),
}
_FLAGS = {
    "enabled": ENABLED,
    "focused": FOCUSED,
    "selected": SELECTED,
    "checked": CHECKED,
    "checkable": CHECKABLE,
    "clickable": CLICKABLE,
    "scrollable": SCROLLABLE,
    "scrollable-horizontal": SCROLLABLE,
    "scrollable-vertical": SCROLLABLE,
    "longClickable": LONG_CLICKABLE,
    "long-clickable": LONG_CLICKABLE,
    "long_clickable": LONG_CLICKABLE,
    "password": PASSWORD,
    "is_password": PASSWORD,
    "focusable": FOCUSABLE,
}
_EXTRAS = ("hint_text", "state_description", "pane_title", "tooltip_text")
_HIDING: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("visible", "visible-to-user", "visibleToUser", "displayed"), (False, "false")),
    "visibility": ("gone", "invisible"),
}
_FIELD_OF = {key: name for name, keys in _TEXTS.items() for key in keys}
_KNOWN = {*_FIELD_OF, *_FLAGS, "bounds", "children"}
_TYPABLE = frozenset({"container", "unknown", "text_view", "list_item"})
_UNDECIDED = frozenset({"container", "unknown"})
_SURROGATE = re.compile("[\ud800-\udfff]")
Json = dict[str, Any]


def read_json(value: Any) -> ScreenDraft:
    """The draft of a decoded JSON answer."""
    if isinstance(value, list):
        return _read_trees(value, ScreenDraft())
    if not isinstance(value, dict):
        raise TreeParseError("The JSON is neither an object nor a list", offset=0)
    draft = ScreenDraft(width=_pixels(value.get("width")), height=_pixels(value.get("height")))
    if isinstance(views := value.get("views"), list):
        draft.package = _owner(value.get("foreground_activity"))
        return _read_views(views, draft)
    if isinstance(activity := value.get("activity"), dict):
        draft.package = _owner(value.get("activity_name"))
        return _read_trees([activity.get("root")], draft)
    if "tree" in value:
        tree = value["tree"]
        draft.package = _text(value.get("packageName"))
        return _read_trees(tree if isinstance(tree, list) else [tree], draft)
    if len(_KNOWN.intersection(value)) >= 2:
        return _read_trees([value], ScreenDraft())
    said = _text(value.get("error") or value.get("message"))
    raise TreeParseError(f"The JSON holds no UI tree{': ' + said[:200] if said else ''}", offset=0)


def _read_trees(trees: list[Any], draft: ScreenDraft) -> ScreenDraft:
    """Nested objects with `children`."""
    if len(trees) == 1 and isinstance(trees[0], dict) and _is_frame(trees[0]):
        trees = trees[0]["children"]
    _grow(draft, trees, lambda item: item.get("children"))
    return draft


def _is_frame(tree: Json) -> bool:
    """A root that only holds windows together: no class, no size."""
    name = _text(tree.get("className") or tree.get("class"))
    children = tree.get("children")
    return name in ("", "root") and isinstance(children, list) and not _bounds(tree.get("bounds")).area


def _read_views(views: list[Any], draft: ScreenDraft) -> ScreenDraft:
    """A flat list whose members name their children by position."""
    taken: set[int] = set()

    def fetch(numbers: Iterable[Any]) -> list[Any]:
        found = []
        for number in numbers:
            if isinstance(number, int) and 0 <= number < len(views) and number not in taken:
                taken.add(number)
                found.append(views[number])
        return found

    def children(item: Json) -> list[Any]:
        numbers = item.get("children")
        return fetch(numbers) if isinstance(numbers, list) else []

    roots = [
        at for at, view in enumerate(views) if isinstance(view, dict) and view.get("parent") in (None, -1)
    ]
    _grow(draft, fetch(roots), children)
    if len(taken) < len(views):
        draft.warn(f"views left out, without a parent: {len(views) - len(taken)}")
    return draft


def _grow(draft: ScreenDraft, roots: list[Any], children_of: Callable[[Json], Any]) -> None:
    """Builds the nodes in document order, without recursion."""
    nodes = draft.nodes
    stack: list[tuple[Any, Node | None, int]] = [(root, None, 0) for root in reversed(roots)]
    left_out = 0
    while stack:
        item, parent, depth = stack.pop()
        if not isinstance(item, dict):
            continue  # RICO writes null for children that it could not read
        if depth >= MAX_DEPTH or len(nodes) >= MAX_NODES:
            left_out += 1
            continue
        node = _node(item, parent)
        node.order = len(nodes)
        nodes.append(node)
        if parent is None:
            node.position = len(draft.windows)
            draft.windows.append(WindowDraft(node))
        else:
            node.position = len(parent.children)
            parent.children.append(node)
        children = children_of(item)
        if isinstance(children, list):
            stack.extend((child, node, depth + 1) for child in reversed(children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    if left_out:
        draft.warn(f"nodes left out, nested too deeply or too many: {left_out}")


def _node(item: Json, parent: Node | None) -> Node:
    texts = dict.fromkeys(_TEXTS, "")
    flags = 0 if "enabled" in item else ENABLED
    for key, value in item.items():
        if name := _FIELD_OF.get(key):
            if value and not texts[name]:
                texts[name] = _text(value)
        elif flag := _FLAGS.get(key):
            if value is True or value == "true":
                flags |= flag
        elif key in _HIDING and value in _HIDING[key]:
            flags |= HIDDEN
    index = item.get("index")
    node = Node(
        texts["class_name"],
        texts["resource_id"],
        texts["text"],
        texts["description"],
        texts["package_name"],
        _bounds(item.get("bounds")),
        flags,
        _role(item, texts["class_name"], parent),
        index if isinstance(index, int) and abs(index) < 1_000_000 else 0,
        parent=parent,
    )
    for name in _EXTRAS:
        setattr(node, name, texts[name])
    return node


def _role(item: Json, class_name: str, parent: Node | None) -> str:
    role = role_of(class_name, parent.role if parent else "")
    if role in _TYPABLE and item.get("editable") is True:
        return "text_field"
    if role in _UNDECIDED and isinstance(ancestors := item.get("ancestors"), list):
        # RICO lists the superclasses, which tell what an app's own class is.
        found = (class_role(name) for name in ancestors if isinstance(name, str))
        role = next((known for known in found if known not in _UNDECIDED), role)
    if role == "unknown" and item.get("role") in ROLES:
        return str(item["role"])
    return role


def _text(value: Any) -> str:
    if isinstance(value, list):  # RICO: the description of a node is a list
        value = " ".join(part for part in value if isinstance(part, str))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _bounds(value: Any) -> Bounds:
    if isinstance(value, str):
        return read_bounds(value) or NO_BOUNDS
    if isinstance(value, dict):
        value = [value.get(side) for side in ("left", "top", "right", "bottom")]
    if not isinstance(value, list):
        return NO_BOUNDS
    if len(value) == 2 and all(isinstance(corner, list) for corner in value):
        value = [*value[0], *value[1]]
    if len(value) != 4 or not all(map(_is_number, value)):
        return NO_BOUNDS
    return clamp(int(side) for side in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _pixels(value: Any) -> int:
    return value if isinstance(value, int) and 0 < value < 100_000 else 0


def _owner(activity: Any) -> str:
    """The package of `package/activity`."""
    return _text(activity).partition("/")[0]
