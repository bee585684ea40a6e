"""Reads XML dumps: the one shape of Android's own dumper quickly, every other by a general parser.

Only an exact match of that shape is read; on anything else `read_stock` answers None, and expat decides.
It accepts nothing that expat would read differently: tests compare the two over real and mutated dumps.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from xml.parsers import expat

from handrail.errors import TreeParseError
from handrail.screen.node import Bounds, Node, class_role
from handrail.screen.parse.build import (
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
    if len(data.translate(None, _CONTROL)) != len(data):
        return None
    try:
        return _StockReader(data.decode("utf-8")).read()
    except (_OtherShapeError, UnicodeDecodeError):
        return None


class _StockReader:
    """One pass over the tags of a text."""

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
            elif tag == "/node>" or tag.rstrip() == "/node>":
                if not self._stack:
                    raise _OtherShapeError
                self._stack.pop().end = len(self._draft.nodes)
            else:
                self._frame(tag)
        if self._stack or self._open_frames or not self._draft.nodes:
            raise _OtherShapeError
        return self._draft

    def _frame(self, tag: str) -> None:
        frame = _FRAME.fullmatch(tag)
        if not frame or self._stack:
            raise _OtherShapeError
        closing, name, attributes, closed = frame.groups()
        if closing:
            if attributes or closed or not self._open_frames or self._open_frames.pop() != name:
                raise _OtherShapeError
            self._is_over = not self._open_frames
            return
        if closed or self._is_over:  # an empty frame, or a second document
            raise _OtherShapeError
        self._frames.open(name, _all_pairs(attributes))  # a window has an index and bounds as well
        self._open_frames.append(name)

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
    """The part between `checkable="` and `bounds`: the flags, and the other attributes."""
    pairs = _pairs(f' checkable="{flag_text}"')
    return read_flags(pairs), {name: value for name, value in pairs.items() if name not in _FLAG_WORDS}


@lru_cache(maxsize=4096)
def _read_tail(tail: str) -> tuple[bool, dict[str, str]]:
    """The part after `bounds`: whether the tag closes itself, and its attributes."""
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
    numbers = _BOX.fullmatch(box)
    if not numbers:
        raise _OtherShapeError
    left, top, right, bottom = numbers.groups()
    return Bounds(int(left), int(top), int(right), int(bottom))


def _refuse() -> int:
    raise _OtherShapeError


def _pairs(text: str) -> dict[str, str]:
    pairs = _all_pairs(text)
    if not _BASE_NAMES.isdisjoint(pairs):
        raise _OtherShapeError
    return pairs


def _all_pairs(text: str) -> dict[str, str]:
    """`name="value"` pairs that fill the whole text, each name once."""
    attributes = _ATTRIBUTE.findall(text)
    pairs = dict(attributes)
    length = sum(len(name) + len(value) + 4 for name, value in attributes)
    if length != len(text) or len(pairs) != len(attributes):
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
    """Turns start and end tags into a `ScreenDraft`."""

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


_ATTRIBUTE_NAMES = frozenset(
    """
    NAF index text resource-id class package content-desc checkable checked clickable enabled focusable
    focused scrollable long-clickable password selected bounds visible-to-user drawing-order hint display-id
    displayed
    rotation width height editable tooltip-text state-description pane-title showing-hint important instance
    text-selection-start text-selection-end a11y-important a11y-focused screen-reader-focusable text-entry-key
    dismissable heading live-region context-clickable content-invalid id title type layer active
    """.split()  # noqa: SIM905 (a table, not a list)
)
_TAG = re.compile(
    r"<(/?)(node|hierarchy|displays?|window|[A-Za-z_][\w$]{0,99}(?:\.[\w$]{1,99}){1,20})(?=[\s/>]|$)"
)
_NAME = re.compile(r"""(?<![\w:-])([A-Za-z][\w-]{0,40})\s{0,9}=\s{0,9}(["'])""")
_TAG_END = re.compile(r"""["']\s{0,99}(/?)>""")
_LAX_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,9})|#[xX]([0-9a-fA-F]{1,8}));")
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_TAGS = 2 * MAX_NODES  # opening and closing
_MAX_ATTRIBUTES = 200  # candidates in one tag
_SPACE = str.maketrans("\n\r\t", "   ")

_WARNINGS = {
    "control": "control characters removed: {n}",
    "quote": "attribute values without a closing quote: {n}",
    "twin": "attributes given twice, the first one counts: {n}",
    "cut": "the dump ends in the middle of a tag",
    "open": "nodes left open by a cut dump: {n}",
    "stray": "closing tags without an open node: {n}",
    "many": "there are too many tags: the rest is left out",
    "bare": "tags skipped, without any attribute: {n}",
}


def recover_xml(text: str) -> ScreenDraft:
    """Whatever nodes can be found in the text, with warnings; a draft without windows if there are none."""
    return _Recovery(text).read()


class _Recovery:
    def __init__(self, text: str) -> None:
        self._mended: Counter[str] = Counter()
        self._text, self._mended["control"] = _CONTROL_CHARACTERS.subn("", text)
        self._reader = XmlReader()

    def read(self) -> ScreenDraft:
        tags = list(islice(_TAG.finditer(self._text), _MAX_TAGS))
        self._mended["many"] = len(tags) == _MAX_TAGS
        for tag, following in zip(tags, [*tags[1:], None], strict=False):
            end = following.start() if following else len(self._text)
            if tag[1]:
                self._close(tag[2])
            else:
                self._open(tag[2], self._text[tag.end() : end])
        self._mended["open"] = self._reader.depth
        draft = self._reader.finish()
        for what, count in self._mended.items():
            if count:
                draft.warn(_WARNINGS[what].format(n=count))
        return draft

    def _open(self, tag: str, body: str) -> None:
        attrs, rest = self._attributes(body)
        end = _TAG_END.search(rest) or re.search(r"(/?)>", rest)
        if end is None:
            self._mended["cut"] += 1
        is_frame = tag in ("hierarchy", "displays", "display", "window")
        if not attrs and not is_frame:
            self._mended["bare"] += 1
            return
        if end is None and "bounds" not in attrs and not is_frame:
            return
        self._reader.start(tag, attrs)
        if end and end[1] and not is_frame:
            self._reader.end(tag)

    def _close(self, tag: str) -> None:
        if tag in ("hierarchy", "displays", "display", "window"):
            while self._reader.depth:
                self._mended["open"] += 1
                self._reader.end("node")
        elif self._reader.depth:
            self._reader.end(tag)
        else:
            self._mended["stray"] += 1

    def _attributes(self, body: str) -> tuple[dict[str, str], str]:
        """The attributes of a tag, and the text from the last value on, where the tag's end must be."""
        attrs: dict[str, str] = {}
        names = islice(_NAME.finditer(body), _MAX_ATTRIBUTES)
        starts = [name for name in names if self._starts_attribute(name, body)]
        for name, following in zip(starts, [*starts[1:], None], strict=False):
            value = body[name.end() : following.start() if following else len(body)]
            if following is None:
                value = self._last_value(value, name[2])
            else:
                value = self._quoted_value(value.rstrip(), name[2])
            if name[1] in attrs:
                self._mended["twin"] += 1
            else:
                attrs[name[1]] = _plain_lax(value)
        return attrs, body[starts[-1].end() :] if starts else body

    @staticmethod
    def _starts_attribute(name: re.Match[str], body: str) -> bool:
        """A known attribute name always does; others only after a closed value."""
        if name[1] in _ATTRIBUTE_NAMES:
            return True
        at = name.start()
        while at and body[at - 1].isspace():
            at -= 1
        return at == 0 or body[at - 1] in "\"'"

    def _quoted_value(self, value: str, quote: str) -> str:
        if value.endswith(quote):
            return value[:-1]
        self._mended["quote"] += 1
        return value

    def _last_value(self, value: str, quote: str) -> str:
        closed, quote_mark, _ = value.partition(quote)
        if quote_mark:
            return closed
        self._mended["quote"] += 1
        return value.partition(">")[0].rstrip("/ ")


def _plain_lax(value: str) -> str:
    if not value.isprintable():
        value = value.translate(_SPACE)
    if "&" in value:
        value = _LAX_REFERENCE.sub(_resolve_lax, value)
    if not value.isascii() and _SURROGATE.search(value):
        # Emoji written as two numeric references, one per UTF-16 half.
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def _resolve_lax(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return _CONTROL_CHARACTERS.sub("", chr(code)) if code < 0x110000 else ""


# Everything up to the next bracket or comma. An unfinished string counts as a string, and nothing is given
# back (`++`), so that no character is looked at twice.
_NEXT_MARK = re.compile(r'(?:[^\[\]{},"]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))*+([\[\]{},])', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


class _Open(NamedTuple):
    """An immutable stack of open brackets."""

    closing: str
    around: _Open | None


def mend_json(text: str) -> str | None:
    """The longest prefix that is valid JSON once its brackets are closed, or None."""
    now: _Open | None = None
    at_cut: _Open | None = None
    cut = at = 0
    # `match`, not `finditer`: where no mark follows, a search would try again from every character.
    while token := _NEXT_MARK.match(text, at):
        at = token.end()
        mark = token[1]
        if mark == ",":  # what stands before it is complete
            cut, at_cut = at - 1, now
        elif mark in "{[":
            now = _Open(_CLOSING[mark], now)
        elif now is None or now.closing != mark:
            break
        else:
            now = now.around
            if now is None:
                return text[:at]
    return text[:cut] + _closers(at_cut) if cut else None


def _closers(open_mark: _Open | None) -> str:
    closers = []
    while open_mark is not None:
        closers.append(open_mark.closing)
        open_mark = open_mark.around
    return "".join(closers)
