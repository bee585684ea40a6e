"""Reads XML dumps: the one shape of Android's own dumper quickly, every other by a general parser.

Only an exact match of that shape is read; on anything else `read_stock` answers None, and expat decides.
It accepts nothing that expat would read differently: tests compare the two over real and mutated dumps.
"""

from __future__ import annotations

import re
from functools import lru_cache
from xml.parsers import expat

from handrail.errors import TreeParseError
from handrail.tree.node import Bounds, Node, class_role
from handrail.tree.parse.build import (
    FLAG_NAMES,
    FRAMES,
    MAX_DEPTH,
    MAX_NODES,
    NO_BOUNDS,
    Frames,
    ScreenDraft,
    attach,
    read_bounds,
    read_extras,
    read_flags,
    small_int,
)

# The attributes before the flags, as `split('"')` leaves them.
_HEAD = ["node index=", " text=", " resource-id=", " class=", " package=", " content-desc=", ""]
_NAF = 'node NAF="true" '
_ATTRIBUTE = re.compile(r' ([a-z][a-z-]*)="([^"&<\n\r\t]*)"')
_DECLARATION = re.compile(
    r"""\?xml version=(['"])1\.0\1(?: encoding=(['"])[A-Za-z][\w.-]*\2)?"""
    r"""(?: standalone=(['"])(?:yes|no)\3)? ?\?>\s*""",
    re.ASCII,
)
_FRAME = re.compile(
    r'(/?)(displays|display|window|hierarchy)((?: [a-z][a-z-]*="[^"]*")*) ?(/?)>\s*', re.ASCII
)
_BOX = re.compile(r"\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]", re.ASCII)
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));", re.ASCII)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_BASE_NAMES = frozenset({"index", "text", "resource-id", "class", "package", "content-desc", "bounds", "NAF"})
_FLAG_WORDS = frozenset({*FLAG_NAMES, "enabled"})
_CONTROL = bytes(code for code in range(32) if code not in (9, 10, 13))


class _OtherShapeError(Exception):
    """Not what Android's dumper writes."""


def read_stock(data: bytes) -> ScreenDraft | None:
    """The draft of a dump in the stock shape, or None."""
    if len(data.translate(None, _CONTROL)) != len(data):
        return None
    try:
        return _StockReader(data.decode("utf-8")).read()
    except (_OtherShapeError, UnicodeDecodeError):
        return None


class _StockReader:
    """One pass over the tags of a text; every repeated piece of a tag is understood once."""

    def __init__(self, text: str) -> None:
        self._tags = text.removeprefix("\ufeff").split("<")
        self._strings: dict[str, str] = {}
        self._draft = ScreenDraft()
        self._frames = Frames(self._draft)
        self._open_frames: list[str] = []
        self._is_over = False
        self._stack: list[Node] = []

    def read(self) -> ScreenDraft:
        before, *tags = self._tags
        if tags and _DECLARATION.fullmatch(tags[0]):
            del tags[0]
        if not tags or before.strip(" \t\r\n"):
            raise _OtherShapeError
        for tag in tags:
            if tag.startswith("node "):
                self._open_node(tag)
            elif tag == "/node>" or tag.rstrip() == "/node>":
                self._close_node()
            else:
                self._frame(tag)
        if self._stack or self._open_frames or not self._draft.nodes:
            raise _OtherShapeError
        return self._draft

    def _frame(self, tag: str) -> None:
        found = _FRAME.fullmatch(tag)
        if not found or self._stack:
            raise _OtherShapeError
        closing, name, attributes, closed = found.groups()
        if closing:
            if attributes or closed or not self._open_frames or self._open_frames.pop() != name:
                raise _OtherShapeError
            self._is_over = not self._open_frames
            return
        if closed or self._is_over:  # an empty frame, or a second document
            raise _OtherShapeError
        self._frames.open(name, _all_pairs(attributes))  # a window has an index and bounds as well
        self._open_frames.append(name)

    def _close_node(self) -> None:
        if not self._stack:
            raise _OtherShapeError
        self._stack.pop().end = len(self._draft.nodes)

    def _open_node(self, tag: str) -> None:
        node, closed, extras = self._node(tag)
        nodes, stack = self._draft.nodes, self._stack
        if not attach(node, nodes, stack):
            if not self._open_frames:
                raise _OtherShapeError
            self._frames.add_root(node, extras.get("display-id", ""))
        if closed:
            node.end = len(nodes)
        else:
            stack.append(node)
        if len(stack) >= MAX_DEPTH or len(nodes) >= MAX_NODES:
            raise _OtherShapeError

    def _node(self, tag: str) -> tuple[Node, bool, dict[str, str]]:
        if tag.startswith(_NAF):
            tag = "node " + tag[len(_NAF) :]
        head, _, rest = tag.partition(' checkable="')
        flag_text, _, rest = rest.partition('" bounds="')
        box, _, tail = rest.partition('"')
        parts = head.split('"')
        if len(parts) != 13 or parts[::2] != _HEAD:
            raise _OtherShapeError
        if "&" in head or "\n" in head or "\t" in head or "\r" in head:
            parts = [_plain(part) for part in parts]
        _, index, _, text, _, resource_id, _, class_name, _, package, _, description, _ = parts
        flags, early = _read_flags(flag_text)
        closed, late = _read_tail(tail)
        class_name = self._strings.setdefault(class_name, class_name)
        node = Node(
            class_name,
            resource_id,
            text,
            description,
            self._strings.setdefault(package, package),
            _read_box(box),
            flags,
            class_role(class_name),
            int(index) if index.isdecimal() and len(index) < 7 else _refuse(),
        )
        extras = early | late if early else late
        if extras:
            if len(extras) != len(early) + len(late):
                raise _OtherShapeError
            read_extras(node, extras)
        return node, closed, extras


# The three pieces below repeat within a dump and from dump to dump, so they are understood once per process.


@lru_cache(maxsize=4096)
def _read_flags(flag_text: str) -> tuple[int, dict[str, str]]:
    """What stands between `checkable="` and `bounds`: the flags, and the attributes that are none."""
    pairs = _pairs(f' checkable="{flag_text}"')
    return read_flags(pairs), {name: value for name, value in pairs.items() if name not in _FLAG_WORDS}


@lru_cache(maxsize=4096)
def _read_tail(tail: str) -> tuple[bool, dict[str, str]]:
    """What follows `bounds`: whether the tag closes itself, and the attributes there."""
    end = tail.rstrip()
    if not end.endswith(">"):
        raise _OtherShapeError
    closed = end.endswith("/>")
    pairs = _pairs(end[: -2 if closed else -1].rstrip(" "))
    if not _FLAG_WORDS.isdisjoint(pairs):
        raise _OtherShapeError
    return closed, pairs


@lru_cache(maxsize=8192)
def _read_box(box: str) -> Bounds:
    found = _BOX.fullmatch(box)
    if not found:
        raise _OtherShapeError
    left, top, right, bottom = found.groups()
    return Bounds(int(left), int(top), int(right), int(bottom))


def _refuse() -> int:
    raise _OtherShapeError


def _pairs(text: str) -> dict[str, str]:
    """Those of a node that are not in its head."""
    pairs = _all_pairs(text)
    if not _BASE_NAMES.isdisjoint(pairs):
        raise _OtherShapeError
    return pairs


def _all_pairs(text: str) -> dict[str, str]:
    """`name="value"` pairs that fill the whole text, each name once."""
    found = _ATTRIBUTE.findall(text)
    pairs = dict(found)
    length = sum(len(name) + len(value) + 4 for name, value in found)
    if length != len(text) or len(pairs) != len(found):
        raise _OtherShapeError
    return pairs


def _plain(value: str) -> str:
    """Resolves references and white space as an XML parser does in attributes."""
    value = value.replace("\r\n", " ").replace("\n", " ").replace("\t", " ").replace("\r", " ")
    plain = _REFERENCE.sub(_resolve, value)
    if value.count("&") != len(_REFERENCE.findall(value)):
        raise _OtherShapeError
    return plain


def _resolve(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if not (
        code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
    ):
        raise _OtherShapeError
    return chr(code)


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
