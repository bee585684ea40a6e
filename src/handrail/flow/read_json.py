"""JSON into nodes. YAML's parser can't be used: it does not take JSON's escaped surrogate pairs."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # public since 2008, missing in the stubs

from handrail.flow.nodes import MAX_DEPTH, MAX_NODES, Entry, Fields, Items, Mark, Node, Scalar, read_plain
from handrail.flow.problems import Problem, Unreadable, given_twice

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
        start, entries = self._mark(), dict[str, Entry]()
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

    def _put(self, entries: dict[str, Entry], key: Scalar, value: Node) -> None:
        first = entries.setdefault(key.text, Entry(key, value))
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
