"""Reads XML dumps: well-formed ones by expat, damaged ones by whatever tags and attributes can be found.

`mend_json` does the same for JSON that was cut short.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import NamedTuple
from xml.parsers import expat

from handrail.errors import TreeParseError
from handrail.screen.node import ROWLIKE, Node, class_role
from handrail.screen.parse.build import (
    MAX_DEPTH,
    MAX_NODES,
    NO_BOUNDS,
    ScreenDraft,
    WindowDraft,
    read_bounds,
    read_extras,
    read_flags,
    small_int,
)
from handrail.screen.parse.ios_nodes import PREFIX, ios_node, mark_touchable

_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


FRAMES = frozenset({"hierarchy", "displays", "display", "window", "AppiumAUT"})
"""Tags around nodes. A `window` has its own layer and focus; a display or hierarchy may have the size."""


class XmlReader:
    """Turns start and end tags into a `ScreenDraft`."""

    def __init__(self) -> None:
        self.draft = ScreenDraft()
        self._stack: list[Node] = []
        self._strings: dict[str, str] = {}
        self._skipping = 0  # open tags that are too deep or too many
        self._left_out = 0
        self._display, self._layer, self._is_focused = "", 0, False  # of the frames around the next root

    def start(self, tag: str, attrs: dict[str, str]) -> None:
        if tag != "node" and tag in FRAMES:
            self._start_frame(tag, attrs)
            return
        stack, nodes = self._stack, self.draft.nodes
        if self._skipping or len(stack) >= MAX_DEPTH or len(nodes) >= MAX_NODES:
            self._skipping += 1
            self._left_out += 1
            return
        node = self._node(tag, attrs)
        node.order = len(nodes)
        nodes.append(node)
        if stack:
            parent = node.parent = stack[-1]
            node.position = len(parent.children)
            parent.children.append(node)
            if parent.role == "list" and node.role in ROWLIKE:
                node.role = "list_item"
        else:
            windows, display = self.draft.windows, attrs.get("display-id") or self._display
            node.position = len(windows)
            windows.append(WindowDraft(node, self._is_focused, self._layer, display))
        stack.append(node)

    def _start_frame(self, tag: str, attrs: dict[str, str]) -> None:
        get, draft = attrs.get, self.draft
        if tag == "window":
            self._is_focused = "true" in (get("focused"), get("active"))
            self._layer = small_int(get("layer", ""))
            return
        if tag == "display":
            self._display = get("id", "")
        elif tag == "hierarchy" and "rotation" in attrs:
            draft.rotation = small_int(attrs["rotation"]) % 4
        width, height = small_int(get("width", "")), small_int(get("height", ""))
        if width > 0 and height > 0:
            draft.width, draft.height = width, height

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
        if tag.startswith(PREFIX):
            node = ios_node(keep(tag, tag), attrs, self._stack[-1] if self._stack else None)
            mark_touchable(node, attrs)
            return node
        class_name = get("class") or ("" if tag == "node" else tag)
        class_name = keep(class_name, class_name)
        package = get("package", "")
        bounds = read_bounds(get("bounds", ""))
        if bounds is None:
            bounds = NO_BOUNDS
            self.draft.warn("some nodes have no readable bounds")
        node = Node(
            class_name,
            get("resource-id", ""),
            get("text", ""),
            get("content-desc", ""),
            keep(package, package),
            bounds,
            read_flags(attrs),
            class_role(class_name),
            small_int(get("index", "")),
        )
        read_extras(node, attrs)
        return node


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
    r"<(/?)(node|hierarchy|displays?|window|AppiumAUT|XCUIElementType\w{1,40}|[A-Za-z_][\w$]{0,99}(?:\.[\w$]{1,99}){1,20})(?=[\s/>]|$)"
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
        is_frame = tag in FRAMES
        if not attrs and not is_frame:
            self._mended["bare"] += 1
            return
        if end is None and "bounds" not in attrs and not is_frame:
            return
        self._reader.start(tag, attrs)
        if end and end[1] and not is_frame:
            self._reader.end(tag)

    def _close(self, tag: str) -> None:
        if tag in FRAMES:
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
                attrs[name[1]] = _resolve_references_leniently(value)
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


def _resolve_references_leniently(value: str) -> str:
    if not value.isprintable():
        value = value.translate(_SPACE)
    if "&" in value:
        value = _LAX_REFERENCE.sub(_resolve_reference_leniently, value)
    if not value.isascii() and _SURROGATE.search(value):
        # Emoji written as two numeric references, one per UTF-16 half.
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def _resolve_reference_leniently(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return _CONTROL_CHARACTERS.sub("", chr(code)) if code < 0x110000 else ""


# Everything up to the next bracket or comma. An unfinished string counts as a string, and nothing is given
# back (`++`), so that no character is looked at twice.
_NEXT_MARK = re.compile(r'(?:[^\[\]{},"]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))*+([\[\]{},])', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


class _OpenBracket(NamedTuple):
    """An immutable stack of open brackets."""

    closing: str
    around: _OpenBracket | None


def mend_json(text: str) -> str | None:
    """The longest prefix that is valid JSON once its brackets are closed, or None."""
    now: _OpenBracket | None = None
    at_cut: _OpenBracket | None = None
    cut = at = 0
    # `match`, not `finditer`: where no mark follows, a search would try again from every character.
    while token := _NEXT_MARK.match(text, at):
        at = token.end()
        mark = token[1]
        if mark == ",":  # what stands before it is complete
            cut, at_cut = at - 1, now
        elif mark in "{[":
            now = _OpenBracket(_CLOSING[mark], now)
        elif now is None or now.closing != mark:
            break
        else:
            now = now.around
            if now is None:
                return text[:at]
    text = text[:cut]
    while at_cut is not None:
        text, at_cut = text + at_cut.closing, at_cut.around
    return text if cut else None
