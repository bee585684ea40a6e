"""Reads well-formed XML dumps with expat, straight into nodes: uiautomator, `--windows`, u2, Appium.

Strict: whatever is not well-formed is `recover`'s business. A DTD is refused, so no entity is ever expanded.
"""

from __future__ import annotations

from xml.parsers import expat

from handrail.errors import TreeParseError
from handrail.tree.node import Bounds, Node
from handrail.tree.parse.attributes import (
    FRAMES,
    NO_BOUNDS,
    Frames,
    read_bounds,
    read_extras,
    read_flags,
    small_int,
)
from handrail.tree.parse.build import MAX_DEPTH, MAX_NODES, ScreenDraft, attach
from handrail.tree.roles import class_role


class XmlReader:
    """Takes start and end tags, gives a `Draft`."""

    def __init__(self) -> None:
        self.draft = ScreenDraft()
        self._frames = Frames(self.draft)
        self._stack: list[Node] = []
        self._bounds: dict[str, Bounds] = {}
        self._strings: dict[str, str] = {}
        self._skipping = 0  # open tags that are too deep or too many
        self._left_out = 0

    def start(self, tag: str, attrs: dict[str, str]) -> None:
        if tag != "node" and tag in FRAMES:
            self._frames.open(tag, attrs)
            return
        stack, nodes = self._stack, self.draft.nodes
        if self._skipping or len(stack) >= MAX_DEPTH or len(nodes) >= MAX_NODES:
            self._skipping += 1
            self._left_out += 1
            return
        node = self._node(tag, attrs)
        if not attach(node, nodes, stack):
            self._frames.add_root(node, attrs.get("display-id", ""))
        stack.append(node)

    def end(self, tag: str) -> None:
        if tag != "node" and tag in FRAMES:
            return
        if self._skipping:
            self._skipping -= 1
            return
        self._stack.pop().end = len(self.draft.nodes)

    def finish(self) -> ScreenDraft:
        """Closes what is still open, as at the end of a cut dump."""
        while self._stack:
            self._stack.pop().end = len(self.draft.nodes)
        if self._left_out:
            self.draft.warn(f"nodes left out, nested too deeply or too many: {self._left_out}")
        return self.draft

    @property
    def depth(self) -> int:
        """How many nodes are open."""
        return len(self._stack) + self._skipping

    def _node(self, tag: str, attrs: dict[str, str]) -> Node:
        get = attrs.get
        keep = self._strings.setdefault
        class_name = get("class") or ("" if tag == "node" else tag)
        class_name = keep(class_name, class_name)
        package = get("package", "")
        box = get("bounds", "")
        node = Node(
            class_name,
            get("resource-id", ""),
            get("text", ""),
            get("content-desc", ""),
            keep(package, package),
            self._bounds.get(box) or self._read_bounds(box),
            read_flags(attrs),
            class_role(class_name),
            small_int(get("index", "")),
        )
        read_extras(node, attrs)
        return node

    def _read_bounds(self, box: str) -> Bounds:
        bounds = read_bounds(box)
        if bounds is None:
            bounds = NO_BOUNDS
            self.draft.warn("some nodes have no readable bounds")
        self._bounds[box] = bounds
        return bounds


def _refuse_doctype(*_: object) -> None:
    raise TreeParseError("The dump has a DTD, which no UI dump needs", offset=0)


def read_xml(data: bytes) -> ScreenDraft:
    """Reads UTF-8 bytes that are one well-formed document; raises `expat.ExpatError` otherwise."""
    reader = XmlReader()
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.Parse(data, True)
    return reader.finish()
