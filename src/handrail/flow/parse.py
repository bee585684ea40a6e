"""YAML and JSON into nodes with their places: no tags, no merge keys, no key twice, bounded aliases.

Everything that PyYAML's own constructors would guess (dates, yes and no, octal, 12:30) stays a text. JSON has
its own reader: YAML's parser does not take JSON's escaped surrogate pairs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # public since 2008, missing in the stubs
from typing import Any

import yaml

from handrail.flow.nodes import (
    MAX_DEPTH,
    MAX_NODES,
    FieldEntry,
    Fields,
    Items,
    Mark,
    Node,
    Scalar,
    read_plain,
)
from handrail.flow.problems import Problem, Unreadable, given_twice

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where it is there; the pure parser reads the same, thirty times slower."""


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come."""

    start: Mark
    is_list: bool
    flow_style: bool
    anchor: str | None
    count_before: int
    items: list[Node] = field(default_factory=list)
    entries: dict[str, FieldEntry] = field(default_factory=dict)
    key: Scalar | None = None
    height: int = 1
    end: int = 0


@dataclass(frozen=True, slots=True)
class _Anchored:
    node: Node
    size: int
    height: int


def read_yaml(text: str, problems: list[Problem]) -> Node | None:
    """The one document's root; keys given twice go to `problems`, anything worse is `Unreadable`."""
    roots = _composed(text, problems, many=False)
    return roots[0] if roots else None


def read_documents(text: str, problems: list[Problem]) -> list[Node]:
    """The roots of all documents. Of a key that is given twice the last one counts, with a warning."""
    return _composed(text, problems, many=True)


def _composed(text: str, problems: list[Problem], *, many: bool) -> list[Node]:
    try:
        return _Composer(text, problems, many=many).compose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _mark(mark) if mark else Mark(1, 1, 0)
        raise Unreadable(f"not valid YAML: {error.problem or error}", place, _advice(text, place)) from None
    except yaml.reader.ReaderError as error:
        raise Unreadable(f"not valid YAML: {error.reason}", _mark_at(text, error.position)) from None


class _Composer:
    def __init__(self, text: str, problems: list[Problem], *, many: bool) -> None:
        self._text = text
        self._problems = problems
        self._many = many
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._count = 0
        self._documents = 0
        self._roots: list[Node] = []

    def compose(self) -> list[Node]:
        for event in yaml.parse(self._text, Loader=_Loader):
            match event:
                case yaml.DocumentStartEvent():
                    self._documents += 1
                    if self._documents > 1 and not self._many:
                        raise Unreadable(
                            "a second document starts here", _mark(event.start_mark), "One flow per file."
                        )
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    self._start(event)
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._end(event)
                case yaml.AliasEvent():
                    self._alias(event)
        return self._roots

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        mark = self._checked(event, event.tag)
        bare = not event.style
        value = read_plain(event.value) if bare else event.value
        scalar = Scalar(value, event.value, mark, _mark(event.end_mark).offset, bare)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(scalar, 1, 0)
        self._place(scalar, 0, _mark(event.end_mark).offset)

    def _start(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent) -> None:
        mark = self._checked(event, event.tag)
        if len(self._open) >= MAX_DEPTH:
            raise Unreadable(f"nested deeper than {MAX_DEPTH} levels", mark)
        is_list = isinstance(event, yaml.SequenceStartEvent)
        if event.anchor:
            self._anchors.pop(event.anchor, None)  # not before its end: nothing may hold itself
        self._open.append(_Open(mark, is_list, bool(event.flow_style), event.anchor, self._count))

    def _end(self, event: yaml.SequenceEndEvent | yaml.MappingEndEvent) -> None:
        done = self._open.pop()
        end = _mark(event.end_mark).offset if done.flow_style else max(done.end, done.start.offset)
        node: Node
        if done.is_list:
            node = Items(tuple(done.items), done.start, end)
        else:
            node = Fields(done.entries, done.start, end)
        if done.anchor:
            self._anchors[done.anchor] = _Anchored(node, self._count - done.count_before + 1, done.height)
        self._place(node, done.height, end)

    def _alias(self, event: yaml.AliasEvent) -> None:
        mark = _mark(event.start_mark)
        found = self._anchors.get(event.anchor or "")
        if found is None:
            raise Unreadable(f"*{event.anchor} stands for nothing that is complete before this place", mark)
        self._count_up(found.size, mark)
        if len(self._open) + found.height > MAX_DEPTH:
            raise Unreadable(f"nested deeper than {MAX_DEPTH} levels", mark)
        self._place(found.node, found.height, _mark(event.end_mark).offset)

    def _checked(self, event: yaml.NodeEvent, tag: str | None) -> Mark:
        mark = _mark(event.start_mark)
        self._count_up(1, mark)
        if tag is not None:
            raise Unreadable(
                f"the tag {tag!r:.60} is not allowed", mark, "Leave it out: values have no tags."
            )
        return mark

    def _count_up(self, size: int, mark: Mark) -> None:
        self._count += size
        if self._count > MAX_NODES:
            raise Unreadable(f"more than {MAX_NODES:,} values", mark, "Split the flow with run_flow.")

    def _place(self, node: Node, height: int, end: int) -> None:
        if not self._open:
            self._roots.append(node)
            return
        holder = self._open[-1]
        holder.height = max(holder.height, height + 1)
        holder.end = max(holder.end, end)
        if holder.is_list:
            holder.items.append(node)
        elif holder.key is None:
            holder.key = self._key(node)
        else:
            self._put(holder, holder.key, node)
            holder.key = None

    def _key(self, node: Node) -> Scalar:
        if not isinstance(node, Scalar):
            raise Unreadable("a key must be a text", node.start, "Put { or [ in quotes if it is a text.")
        if node.plain and node.text == "<<":
            raise Unreadable("merge keys (<<) are not allowed", node.start, "Write the keys out.")
        return node

    def _put(self, holder: _Open, key: Scalar, node: Node) -> None:
        first = holder.entries.setdefault(key.text, FieldEntry(key, node))
        if first.key is not key:
            self._problems.append(given_twice(key, first, last_counts=self._many))
            if self._many:
                holder.entries[key.text] = FieldEntry(key, node)


def _mark(mark: Any) -> Mark:
    """PyYAML has two classes of marks, and stubs that think an event may have none."""
    return Mark(mark.line + 1, mark.column + 1, mark.index)


def _mark_at(text: str, offset: int) -> Mark:
    before = text[:offset]
    return Mark(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, offset)


def _advice(text: str, mark: Mark) -> str | None:
    """What usually is behind a syntax error at this place."""
    lines = text.split("\n")
    line = lines[mark.line - 1] if mark.line <= len(lines) else ""
    at = text[mark.offset : mark.offset + 1]
    before = re.fullmatch(r"\s*- (\w+)\s*", lines[mark.line - 2]) if 2 <= mark.line <= len(lines) else None
    if before:
        return f"Write `- {before[1]}:` where something follows."
    if at in {"@", "`", "%", "*", "&"}:
        return f'Put a text that starts with {at} in quotes: "{at}…".'
    if at == "\t" or line.startswith("\t"):
        return "Indent with spaces, not with tabs."
    if "${" in line and "{" in line.replace("${", ""):
        return 'Inside braces put variables in quotes: {text: "${NAME}"}.'
    if line.count(": ") > 1:
        return 'Put a text that has ": " in it in quotes.'
    return "Check the indentation and the quotes of this line and the one before."


_SPACE = re.compile(r"[ \t\r\n]*")
_WORD = re.compile(r"[-+.A-Za-z0-9]+")
_WORDS = ("null", "true", "false")


def read_json(text: str, problems: list[Problem]) -> Node:
    """The one value; keys given twice go to `problems`, anything worse is `Unreadable`."""
    return _Reader(text, problems).read()


class _Reader:
    def __init__(self, text: str, problems: list[Problem]) -> None:
        self._text = text
        self._problems = problems
        self._at = 0
        self._count = 0
        self._line, self._line_start = 1, 0
        self._seen = 0

    def read(self) -> Node:
        node = self._value(0)
        if self._peek():
            raise self._wrong("something follows the value")
        return node

    def _value(self, depth: int) -> Node:
        first = self._peek()
        self._count += 1
        if self._count > MAX_NODES:
            raise self._wrong(f"more than {MAX_NODES:,} values")
        if depth > MAX_DEPTH:
            raise self._wrong(f"nested deeper than {MAX_DEPTH} levels")
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._array(depth)
        return self._string() if first == '"' else self._word()

    def _object(self, depth: int) -> Fields:
        start, entries = self._mark(), dict[str, FieldEntry]()
        self._at += 1
        while self._peek() != "}":
            if self._peek() != '"':
                raise self._wrong('a key in "quotes" should be here')
            key = self._string()
            self._take(":")
            value = self._value(depth + 1)
            self._put(entries, key, value)
            if self._peek() != "}":
                self._take(",", also="}")
                if self._peek() == "}":
                    raise self._wrong("a comma before } is one too many")
        self._at += 1
        return Fields(entries, start, self._at)

    def _array(self, depth: int) -> Items:
        start, items = self._mark(), list[Node]()
        self._at += 1
        while self._peek() != "]":
            items.append(self._value(depth + 1))
            if self._peek() != "]":
                self._take(",", also="]")
                if self._peek() == "]":
                    raise self._wrong("a comma before ] is one too many")
        self._at += 1
        return Items(tuple(items), start, self._at)

    def _string(self) -> Scalar:
        start = self._mark()
        try:
            value, self._at = scanstring(self._text, self._at + 1, True)
        except json.JSONDecodeError as error:
            raise Unreadable(f"not valid JSON: {error.msg}", start) from None
        if not value.isprintable() and _has_surrogate(value):
            raise Unreadable("not valid JSON: half of a surrogate pair", start)
        return Scalar(value, value, start, self._at, plain=False)

    def _word(self) -> Scalar:
        found = _WORD.match(self._text, self._at)
        value = read_plain(found[0]) if found else ""
        if not found or (isinstance(value, str) and found[0] not in _WORDS):
            raise self._wrong("a value should be here")
        start = self._mark()
        self._at = found.end()
        return Scalar(value, found[0], start, self._at)

    def _put(self, entries: dict[str, FieldEntry], key: Scalar, value: Node) -> None:
        first = entries.setdefault(key.text, FieldEntry(key, value))
        if first.key is not key:
            self._problems.append(given_twice(key, first))

    def _take(self, char: str, also: str = "") -> None:
        if self._peek() != char:
            raise self._wrong(f"{char} should be here" + (f", or {also}" if also else ""))
        self._at += 1

    def _peek(self) -> str:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._text[self._at : self._at + 1]

    def _wrong(self, message: str) -> Unreadable:
        end = "" if self._peek() else " (the text ends too early)"
        return Unreadable(f"not valid JSON: {message}{end}", self._mark())

    def _mark(self) -> Mark:
        """Marks are asked for in ascending order, so lines are counted on the way."""
        new = self._text.count("\n", self._seen, self._at)
        if new:
            self._line += new
            self._line_start = self._text.rfind("\n", 0, self._at) + 1
        self._seen = self._at
        return Mark(self._line, self._at - self._line_start + 1, self._at)


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)
