"""What a dump shows, read by the tests' own eyes: nothing here is shared with the phone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree import ElementTree


class Box(NamedTuple):
    """Pixels."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def center(self) -> tuple[int, int]:
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2


STATES = (
    "checkable",
    "checked",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "long-clickable",
    "password",
    "scrollable",
    "selected",
)


@dataclass(slots=True, eq=False)
class Node:
    """One element, its attributes under their own names."""

    attrs: Mapping[str, str]
    bounds: Box
    parent: Node | None = field(default=None, repr=False)
    children: list[Node] = field(default_factory=list, repr=False)

    @property
    def text(self) -> str:
        return self.attrs["text"]

    @property
    def description(self) -> str:
        return self.attrs["content-desc"]

    @property
    def resource_id(self) -> str:
        return self.attrs["resource-id"]

    @property
    def id_tail(self) -> str:
        return self.resource_id.rpartition("/")[2]

    @property
    def class_name(self) -> str:
        return self.attrs["class"]

    @property
    def package(self) -> str:
        return self.attrs["package"]

    @property
    def center(self) -> tuple[int, int]:
        return self.bounds.center

    @property
    def clickable(self) -> bool:
        return self.is_("clickable")

    @property
    def checked(self) -> bool:
        return self.is_("checked")

    @property
    def enabled(self) -> bool:
        return self.is_("enabled")

    def inside(self) -> Iterator[Node]:
        """Everything below it, in document order."""
        for child in self.children:
            yield child
            yield from child.inside()

    def is_(self, state: str) -> bool:
        return self.attrs.get(state) == "true"


@dataclass(frozen=True, slots=True)
class Screen:
    """Its windows, and all elements in document order."""

    windows: list[Node]

    @property
    def nodes(self) -> list[Node]:
        return [node for window in self.windows for node in (window, *window.inside())]

    @property
    def packages(self) -> set[str]:
        return {window.package for window in self.windows}


def parse(dump: bytes | str) -> Screen:
    return Screen([_node(one, None) for one in ElementTree.fromstring(dump)])


def _node(element: ElementTree.Element, parent: Node | None) -> Node:
    box = Box(*map(int, re.findall(r"-?\d+", element.attrib["bounds"])))
    node = Node(dict(element.attrib), box, parent)
    node.children = [_node(child, node) for child in element]
    return node
