"""A dump read by a few lines of its own, for judges: nothing of `handrail.screen` is used here.

Takes what a node says and no more: no roles, no stacking of windows, no recovery beyond what lxml does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

FLAGS = ("checkable", "checked", "clickable", "enabled", "focused", "scrollable", "password", "selected")
FLAGS += ("long-clickable",)
Box = tuple[int, int, int, int]


@dataclass(eq=False)
class Raw:
    """One node. `at` is its place in document order, `end` the place just past what it holds."""

    cls: str
    id: str
    text: str
    desc: str
    hint: str
    package: str
    box: Box
    flags: frozenset[str]
    hidden: bool
    drawn: int
    parent: Raw | None
    at: int = 0
    end: int = 0
    children: list[Raw] = field(default_factory=list)

    def up(self) -> Iterator[Raw]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def has(self, *flags: str) -> bool:
        return any(flag in self.flags for flag in flags)

    @property
    def key(self) -> tuple[str, str, Box]:
        """What tells one node from another without its place in the tree."""
        return self.cls, self.id, self.box


def area(box: Box) -> int:
    return max(0, box[2] - box[0]) * max(0, box[3] - box[1])


def common(one: Box, other: Box) -> Box:
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def covers(one: Box, other: Box) -> bool:
    return one[0] <= other[0] and one[1] <= other[1] and one[2] >= other[2] and one[3] >= other[3]


def read(raw: bytes) -> list[Raw]:
    """All nodes in document order; [] for what this reader does not understand."""
    nodes: list[Raw] = []
    start = raw.find(b"<")
    if raw.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"{", b"["):
        _json(json.loads(raw.decode("utf-8", "replace"), strict=False), nodes)
    elif start >= 0:
        root = etree.fromstring(raw[start:], etree.XMLParser(recover=True, huge_tree=True))
        if root is not None:
            _xml(root, None, nodes)
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.at + 1
    return nodes


_FRAMES = {"hierarchy", "displays", "display", "window"}


def _xml(tag: Any, parent: Raw | None, nodes: list[Raw]) -> None:
    if not isinstance(tag.tag, str):
        return
    inside = parent
    if tag.tag not in _FRAMES:
        get = tag.attrib.get
        inside = Raw(
            get("class") or ("" if tag.tag == "node" else tag.tag),
            get("resource-id", ""),
            get("text", ""),
            get("content-desc", ""),
            get("hint", ""),
            get("package", ""),
            _box(re.findall(r"-?\d+", get("bounds", ""))),
            frozenset(name for name in FLAGS if get(name) == "true")
            | ({"enabled"} if get("enabled") is None else set()),
            "false" in (get("visible-to-user"), get("displayed")),
            int(get("drawing-order") or 0),
            parent,
        )
        _add(inside, nodes)
    for child in tag:
        _xml(child, inside, nodes)


def _box(numbers: list[Any]) -> Box:
    if len(numbers) != 4:
        return 0, 0, 0, 0
    left, top, right, bottom = (int(one) for one in numbers)
    return left, top, right, bottom


def _add(node: Raw, nodes: list[Raw]) -> None:
    node.at = len(nodes)
    nodes.append(node)
    if node.parent is not None:
        node.parent.children.append(node)


def _json(value: Any, nodes: list[Raw]) -> None:
    if isinstance(value, dict) and isinstance(value.get("views"), list):
        views = value["views"]
        for view in views:
            if view.get("parent") in (None, -1):
                _object(view, None, nodes, views)
    elif isinstance(value, dict):
        tree = value.get("tree") or (value.get("activity") or {}).get("root") or value
        for one in tree if isinstance(tree, list) else [tree]:
            _object(one, None, nodes, None)


def _object(item: Any, parent: Raw | None, nodes: list[Raw], views: list[Any] | None) -> None:
    if not isinstance(item, Mapping):
        return
    get = item.get
    node = Raw(
        str(get("class") or get("className") or ""),
        str(get("resource-id") or get("resource_id") or get("resourceId") or ""),
        str(get("text") or ""),
        _words(get("content_description") or get("content-desc") or get("contentDescription")),
        str(get("hintText") or get("text-hint") or ""),
        str(get("package") or get("packageName") or ""),
        _corners(get("bounds")),
        frozenset(name for name in FLAGS if get(name) is True or get(name.replace("-", "_")) is True)
        | ({"enabled"} if "enabled" not in item else set())
        | ({"password"} if get("is_password") is True else set()),
        get("visible") is False
        or get("visible-to-user") is False
        or get("visibility") in ("gone", "invisible"),
        0,
        parent,
    )
    _add(node, nodes)
    for child in get("children") or ():
        one = views[child] if views is not None and isinstance(child, int) else child
        _object(one, node, nodes, views)


def _words(value: Any) -> str:
    return (
        " ".join(one for one in value if isinstance(one, str))
        if isinstance(value, list)
        else str(value or "")
    )


def _corners(value: Any) -> Box:
    if isinstance(value, Mapping):
        value = [value.get(side, 0) for side in ("left", "top", "right", "bottom")]
    if isinstance(value, list) and len(value) == 2:
        value = [*value[0], *value[1]]
    return _box(value) if isinstance(value, list) else _box(re.findall(r"-?\d+", str(value or "")))
