"""YAML and JSON into nodes with their places: no tags, no merge keys, no key twice, bounded aliases.

Also a problem with its place, and its code frame. Everything that PyYAML's constructors would guess (dates,
yes and no, octal, 12:30) stays a text. Nodes are built from PyYAML's events: `yaml.compose` has the same
marks, but it refuses an anchor that is used again, lets an alias hold itself, does not tell whether a tag was
written, and recurses before a limit can stop it. JSON has its own reader, because YAML's parser does not take
JSON's escaped surrogate pairs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]  # public since 2008, missing in the stubs
from pathlib import Path
from typing import Any, Literal

import yaml

from handrail.errors import InvalidAction

MAX_BYTES = 2_000_000
MAX_DEPTH = 60
MAX_NODES = 100_000
MAX_STEPS = 10_000
"""Ten thousand steps fit. Aliases count as often as they are used."""

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a text: line and column from 1, offset from 0."""

    line: int
    column: int
    offset: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, a number, true, false or nothing."""

    value: Any
    text: str
    """As written, without quotes."""
    start: Mark
    end: int
    plain: bool = True
    """Without quotes, so that words and numbers are read as such."""
    is_variable: bool = False
    """It is what one variable stands for, so text and number may change places."""
    unknown: tuple[str, ...] = ()
    """Variables in it that have no value yet."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list keeps its place in the file."""

    items: tuple[Node, ...]
    start: Mark
    end: int


@dataclass(frozen=True, slots=True)
class FieldEntry:
    """A key and its value."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping whose keys are texts, each of them once."""

    entries: dict[str, FieldEntry] = field(default_factory=dict)
    start: Mark = Mark(1, 1, 0)
    end: int = 0

    def get(self, key: str) -> Node | None:
        entry = self.entries.get(key)
        return entry.value if entry else None


Node = Scalar | Items | Fields


def read_plain(text: str) -> Any:
    """JSON's words and numbers; everything else is a text: yes, on, 12:30, 2026-04-23, 0123, +49, 0x1F."""
    if text in _WORDS:
        return _WORDS[text]
    return json.loads(text) if _NUMBER.fullmatch(text) else text


def plain_data(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [plain_data(child) for child in node.items]
    return {key: plain_data(entry.value) for key, entry in node.entries.items()}


def scalars_below(node: Node) -> Iterator[Scalar]:
    """Every scalar below, in document order; keys are not values."""
    if isinstance(node, Scalar):
        yield node
        return
    below = node.items if isinstance(node, Items) else [entry.value for entry in node.entries.values()]
    for child in below:
        yield from scalars_below(child)


def child_at(node: Node, part: str | int) -> Node | None:
    if isinstance(node, Fields) and isinstance(part, str):
        return node.get(part)
    if isinstance(node, Items) and isinstance(part, int) and 0 <= part < len(node.items):
        return node.items[part]
    return None


Level = Literal["error", "warning", "hint"]
MANY = 100
"""Who reads more problems than this? Looking for them ends there."""
_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_WIDTH = 100
_LONG = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or could be better, and where."""

    path: str
    message: str
    mark: Mark
    suggestion: str | None = None
    level: Level = "error"
    rule: str = "invalid"

    def to_dict(self) -> dict[str, Any]:
        advice = {"suggestion": self.suggestion} if self.suggestion else {}
        place = {"line": self.mark.line, "column": self.mark.column}
        return {"path": self.short_path, "message": self.message, **place, **advice}

    @property
    def short_path(self) -> str:
        """The path, cut to a length that fits in a message."""
        return self.path if len(self.path) <= _LONG else f"{self.path[:_LONG]}…"

    @property
    def sentence(self) -> str:
        return f"{self.short_path}: {self.message}" if self.path else self.message


class Unreadable(Exception):
    """The text is neither YAML nor JSON, or uses what a flow may not use. Reading can't go on."""

    def __init__(self, message: str, mark: Mark, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem("", message, mark, suggestion, rule="syntax")


def put_entry(
    entries: dict[str, FieldEntry],
    key: Scalar,
    value: Node,
    problems: list[Problem],
    *,
    last_counts: bool = False,
) -> None:
    """The same key again in one mapping is a problem; a warning in a language where the last one counts."""
    first = entries.setdefault(key.text, FieldEntry(key, value))
    if first.key is key:
        return
    message = f"{key.text[:60]!r} is given twice, first in line {first.key.start.line}"
    level: Level = "warning" if last_counts else "error"
    problems.append(Problem("", message, key.start, "Keep one of the two.", level, "duplicate-key"))
    if last_counts:
        entries[key.text] = FieldEntry(key, value)


def invalid_flow(problems: Sequence[Problem], path: Path | None) -> InvalidAction:
    """Every problem as the message, with its place; the first one's suggestion as the hint."""
    first = problems[0]
    lines = [
        f"{path or 'flow'}:{each.mark.line}:{each.mark.column}: {each.sentence}" for each in problems[:MANY]
    ]
    return InvalidAction(
        "\n".join(lines),
        hint=first.suggestion
        or "`handrail flow check` shows every problem with its line; docs/flows.md the language.",
        path=first.short_path,
        file=str(path) if path else None,
        line=first.mark.line,
        column=first.mark.column,
        problems=[problem.to_dict() for problem in problems[:MANY]],
    )


def text_with_caret(text: str, line: int, column: int) -> str:
    """The line before, the line itself, and a caret under the column; long lines are cut around it."""
    lines = _text_lines(text)
    if not 1 <= line <= len(lines):
        return ""
    width = len(str(line))
    cut = max(0, column - 1 - _WIDTH // 2)
    shown = [
        f"{number:>{width}} | {_without_control_characters(lines[number - 1][cut : cut + _WIDTH])}".rstrip()
        for number in range(max(1, line - 1), line + 1)
    ]
    return "\n".join([*shown, f"{' ' * width} | {' ' * (column - 1 - cut)}^"])


@lru_cache(maxsize=4)
def _text_lines(text: str) -> list[str]:
    """Cached, because a file with a hundred problems asks for its lines a hundred times."""
    return _BREAK.split(text)


def _without_control_characters(text: str) -> str:
    """Control characters would move the caret, or the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where it is there; the pure parser reads the same, thirty times slower."""


@dataclass(slots=True)
class _OpenCollection:
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
class _AnchoredNode:
    node: Node
    size: int
    height: int


def read_yaml(text: str, problems: list[Problem]) -> Node | None:
    """The one document's root; keys given twice go to `problems`, anything worse is `Unreadable`."""
    roots = read_documents(text, problems, many=False)
    return roots[0] if roots else None


def read_documents(text: str, problems: list[Problem], *, many: bool = True) -> list[Node]:
    """All roots. Where there may be `many`, the last of two same keys counts, with a warning."""
    try:
        return _YamlComposer(text, problems, many=many).compose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _mark_of_yaml(mark) if mark else Mark(1, 1, 0)
        raise Unreadable(
            f"not valid YAML: {error.problem or error}", place, _hint_for_syntax(text, place)
        ) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        raise Unreadable(
            f"not valid YAML: {error.reason}",
            Mark(before.count("\n") + 1, error.position - (before.rfind("\n") + 1) + 1, error.position),
        ) from None


class _YamlComposer:
    def __init__(self, text: str, problems: list[Problem], *, many: bool) -> None:
        self._text = text
        self._problems = problems
        self._many = many
        self._open: list[_OpenCollection] = []
        self._anchors: dict[str, _AnchoredNode] = {}
        self._count = 0
        self._documents = 0
        self._roots: list[Node] = []

    def compose(self) -> list[Node]:
        for event in yaml.parse(self._text, Loader=_Loader):
            match event:
                case yaml.DocumentStartEvent():
                    self._documents += 1
                    if self._documents > 1 and not self._many:
                        mark = _mark_of_yaml(event.start_mark)
                        raise Unreadable("a second document starts here", mark, "One flow per file.")
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    mark = self._checked(event, event.tag)
                    if len(self._open) >= MAX_DEPTH:
                        raise Unreadable(f"nested deeper than {MAX_DEPTH} levels", mark)
                    is_list = isinstance(event, yaml.SequenceStartEvent)
                    if event.anchor:
                        self._anchors.pop(event.anchor, None)  # not before its end: nothing may hold itself
                    self._open.append(
                        _OpenCollection(mark, is_list, bool(event.flow_style), event.anchor, self._count)
                    )
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._end(event)
                case yaml.AliasEvent():
                    self._alias(event)
        return self._roots

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        mark = self._checked(event, event.tag)
        bare = not event.style
        value = read_plain(event.value) if bare else event.value
        scalar = Scalar(value, event.value, mark, _mark_of_yaml(event.end_mark).offset, bare)
        if event.anchor:
            self._anchors[event.anchor] = _AnchoredNode(scalar, 1, 0)
        self._place(scalar, 0, _mark_of_yaml(event.end_mark).offset)

    def _end(self, event: yaml.SequenceEndEvent | yaml.MappingEndEvent) -> None:
        done = self._open.pop()
        end = _mark_of_yaml(event.end_mark).offset if done.flow_style else max(done.end, done.start.offset)
        node: Node = Fields(done.entries, done.start, end)
        if done.is_list:
            node = Items(tuple(done.items), done.start, end)
        if done.anchor:
            self._anchors[done.anchor] = _AnchoredNode(node, self._count - done.count_before + 1, done.height)
        self._place(node, done.height, end)

    def _alias(self, event: yaml.AliasEvent) -> None:
        mark = _mark_of_yaml(event.start_mark)
        anchored = self._anchors.get(event.anchor or "")
        if anchored is None:
            raise Unreadable(f"*{event.anchor} stands for nothing that is complete before this place", mark)
        self._count_up(anchored.size, mark)
        if len(self._open) + anchored.height > MAX_DEPTH:
            raise Unreadable(f"nested deeper than {MAX_DEPTH} levels", mark)
        self._place(anchored.node, anchored.height, _mark_of_yaml(event.end_mark).offset)

    def _checked(self, event: yaml.NodeEvent, tag: str | None) -> Mark:
        mark = _mark_of_yaml(event.start_mark)
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
            if not isinstance(node, Scalar):
                raise Unreadable("a key must be a text", node.start, "Put { or [ in quotes if it is a text.")
            if node.plain and node.text == "<<":
                raise Unreadable("merge keys (<<) are not allowed", node.start, "Write the keys out.")
            holder.key = node
        else:
            put_entry(holder.entries, holder.key, node, self._problems, last_counts=self._many)
            holder.key = None


def _mark_of_yaml(mark: Any) -> Mark:
    """PyYAML has two classes of marks, and stubs that think an event may have none."""
    return Mark(mark.line + 1, mark.column + 1, mark.index)


def _hint_for_syntax(text: str, mark: Mark) -> str | None:
    """The usual cause of a syntax error at this place."""
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
_JSON_WORDS = ("null", "true", "false")


def read_json(text: str, problems: list[Problem]) -> Node:
    """The one value; keys given twice go to `problems`, anything worse is `Unreadable`."""
    return _JsonReader(text, problems).read()


class _JsonReader:
    def __init__(self, text: str, problems: list[Problem]) -> None:
        self._text = text
        self._problems = problems
        self._at = 0
        self._count = 0
        self._line, self._line_start = 1, 0
        self._counted = 0

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
        return self._string() if first == '"' else self._word()

    def _object(self, depth: int) -> Fields:
        start, entries = self._mark(), dict[str, FieldEntry]()
        self._at += 1
        while self._peek() != "}":
            if self._peek() != '"':
                raise self._wrong('a key in "quotes" should be here')
            key = self._string()
            self._take(":")
            put_entry(entries, key, self._value(depth + 1), self._problems)
            if self._peek() != "}":
                self._take(",", also="}")
                if self._peek() == "}":
                    raise self._wrong("a comma before } is one too many")
        self._at += 1
        return Fields(entries, start, self._at)

    def _string(self) -> Scalar:
        start = self._mark()
        try:
            value, self._at = scanstring(self._text, self._at + 1, True)
        except json.JSONDecodeError as error:
            raise Unreadable(f"not valid JSON: {error.msg}", start) from None
        if not value.isprintable() and any("\ud800" <= char <= "\udfff" for char in value):
            raise Unreadable("not valid JSON: half of a surrogate pair", start)
        return Scalar(value, value, start, self._at, plain=False)

    def _word(self) -> Scalar:
        match = _WORD.match(self._text, self._at)
        value = read_plain(match[0]) if match else ""
        if not match or (isinstance(value, str) and match[0] not in _JSON_WORDS):
            raise self._wrong("a value should be here")
        start = self._mark()
        self._at = match.end()
        return Scalar(value, match[0], start, self._at)

    def _take(self, char: str, also: str = "") -> None:
        if self._peek() != char:
            raise self._wrong(f"{char} should be here" + (f", or {also}" if also else ""))
        self._at += 1

    def _peek(self) -> str:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at : self._at + 1]

    def _wrong(self, message: str) -> Unreadable:
        end = "" if self._peek() else " (the text ends too early)"
        return Unreadable(f"not valid JSON: {message}{end}", self._mark())

    def _mark(self) -> Mark:
        """Marks are asked for in ascending order, so lines are counted on the way."""
        new = self._text.count("\n", self._counted, self._at)
        if new:
            self._line += new
            self._line_start = self._text.rfind("\n", 0, self._at) + 1
        self._counted = self._at
        return Mark(self._line, self._at - self._line_start + 1, self._at)
