"""Recorded screens as values: UI Automator's XML and DroidBot's view lists, read as they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.etree import ElementTree

from handrail_sim.errors import UnreadableDump

_NUMBER = re.compile(r"-?\d+")
_DROIDBOT_NAMES = {
    "content-desc": "content_description",
    "resource-id": "resource_id",
    "long-clickable": "long_clickable",
    "password": "is_password",
    "visible-to-user": "visible",
}
_NOT_XML = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:[0-8]|1[1-2]|1[4-9]|2\d|3[01]|x[0-8bcef]|x1[0-9a-f]);", re.I
)


class Box(NamedTuple):
    """Pixels of the recorded screen."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def area(self) -> int:
        return max(0, self.width) * max(0, self.height)

    @property
    def center(self) -> tuple[int, int]:
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def holds(self, x: int, y: int) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def __str__(self) -> str:
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"


@dataclass(slots=True, eq=False, repr=False)
class Recorded:
    """One recorded element: its attributes under UI Automator's names, and its place among the others."""

    attrs: Mapping[str, str]
    bounds: Box
    parent: Recorded | None = None
    children: list[Recorded] = field(default_factory=list)
    order: int = 0
    end: int = 0  # the order just past its last descendant

    def says(self, name: str) -> str:
        return self.attrs.get(name, "")

    def is_(self, name: str) -> bool:
        return self.attrs.get(name) == "true"

    @property
    def class_name(self) -> str:
        return self.says("class")

    @property
    def short_class(self) -> str:
        return self.class_name.rpartition(".")[2]

    @property
    def resource_id(self) -> str:
        return self.says("resource-id")

    @property
    def id_tail(self) -> str:
        return self.resource_id.rpartition("/")[2]

    @property
    def package(self) -> str:
        return self.says("package")

    @property
    def text(self) -> str:
        return self.says("text")

    @property
    def description(self) -> str:
        return self.says("content-desc")

    @property
    def clickable(self) -> bool:
        return self.is_("clickable")

    @property
    def long_clickable(self) -> bool:
        return self.is_("long-clickable")

    @property
    def enabled(self) -> bool:
        return self.attrs.get("enabled") != "false"

    @property
    def hidden(self) -> bool:
        return "false" in (self.attrs.get("visible-to-user"), self.attrs.get("displayed"))

    @property
    def is_field(self) -> bool:
        return self.short_class.endswith(("EditText", "AutoCompleteTextView"))

    @property
    def path(self) -> str:
        """Its place in the tree, such as `0.1.3`; names a view for as long as the screen is shown."""
        at = "0" if self.parent is None else str(self.parent.children.index(self))
        return at if self.parent is None else f"{self.parent.path}.{at}"

    def ancestors(self) -> Iterator[Recorded]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Screen:
    """One dump: its windows, and all elements in the order in which they were written."""

    def __init__(self, windows: Sequence[Recorded]) -> None:
        self.windows = tuple(windows)
        self.nodes: list[Recorded] = []
        for window in windows:
            self._count(window)
        seen = [node.bounds for node in self.nodes if node.bounds.area]
        if not seen:
            raise UnreadableDump("it shows nothing that has a size")
        self.width = max(box.right for box in seen)
        self.height = max(box.bottom for box in seen)
        self.package = max(self.windows, key=lambda window: window.bounds.area).package

    def _count(self, node: Recorded) -> None:
        node.order = len(self.nodes)
        self.nodes.append(node)
        for child in node.children:
            self._count(child)
        node.end = len(self.nodes)

    @property
    def area(self) -> int:
        return self.width * self.height

    def inside(self, node: Recorded) -> list[Recorded]:
        return self.nodes[node.order + 1 : node.end]


def read_screen(data: bytes) -> Screen:
    """The screen that a dump shows; `UnreadableDump` when it is none."""
    if data.lstrip().startswith((b"{", b"[")):
        return Screen(_droidbot(data))
    start = data.find(b"<")
    try:
        root = ElementTree.fromstring(_NOT_XML.sub(b"", data[max(0, start) :]))  # noqa: S314 - a file of one's own
    except ElementTree.ParseError as error:
        raise UnreadableDump(f"no XML: {error}") from None
    tops = list(root) if root.tag == "hierarchy" else [root]
    windows = [_element(top, None) for top in tops if _is_node(top)]
    if not windows:
        raise UnreadableDump(f"<{root.tag}> holds no elements of a screen")
    return Screen(windows)


def _is_node(element: ElementTree.Element) -> bool:
    return "bounds" in element.attrib


def _element(element: ElementTree.Element, parent: Recorded | None) -> Recorded:
    attrs = dict(element.attrib)
    attrs.setdefault("class", element.tag)
    node = Recorded(attrs, _box(attrs["bounds"]), parent)
    node.children = [_element(child, node) for child in element if _is_node(child)]
    return node


def _box(text: str) -> Box:
    numbers = [int(number) for number in _NUMBER.findall(text)]
    if len(numbers) != 4:
        raise UnreadableDump(f"bounds are {text!r}")
    return Box(*numbers)


def _droidbot(data: bytes) -> list[Recorded]:
    """DroidBot keeps a screen as a list of views that name their parents by number."""
    try:
        views: list[Mapping[str, Any]] = json.loads(data)["views"]
        nodes = [Recorded(_named(view), Box(*view["bounds"][0], *view["bounds"][1])) for view in views]
        for node, view in zip(nodes, views, strict=True):
            above = view.get("parent", -1)
            if isinstance(above, int) and 0 <= above < len(nodes):
                node.parent = nodes[above]
                nodes[above].children.append(node)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UnreadableDump(f"no list of views: {error}") from None
    windows = [node for node in nodes if node.parent is None]
    if not windows:
        raise UnreadableDump("no view stands at the top")
    return windows


def _named(view: Mapping[str, Any]) -> dict[str, str]:
    names = ("class", "text", "package", "checkable", "checked", "clickable", "enabled", "focusable")
    listed = {name: view.get(name) for name in (*names, "focused", "scrollable", "selected")}
    listed |= {name: view.get(theirs) for name, theirs in _DROIDBOT_NAMES.items()}
    return {name: _word(value) for name, value in listed.items() if value is not None}


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
