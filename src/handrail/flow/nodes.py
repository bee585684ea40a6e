"""A file's values with their places: what the readers of YAML and JSON give, and what everything else walks.

Knows limits and the reading of plain words; nothing of steps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

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
    whole: bool = False
    """It is what one variable stands for, so text and number may change places."""
    unknown: tuple[str, ...] = ()
    """Variables in it that have no value yet."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

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
        found = self.entries.get(key)
        return found.value if found else None


Node = Scalar | Items | Fields


def read_plain(text: str) -> Any:
    """JSON's words and numbers; everything else is a text: yes, on, 12:30, 2026-04-23, 0123, +49, 0x1F."""
    if text in _WORDS:
        return _WORDS[text]
    return json.loads(text) if _NUMBER.fullmatch(text) else text


def plain(node: Node) -> Any:
    """The value as data, without places."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [plain(one) for one in node.items]
    return {key: plain(entry.value) for key, entry in node.entries.items()}


def scalars(node: Node) -> Iterator[Scalar]:
    """Every scalar below, in document order; keys are not values."""
    if isinstance(node, Scalar):
        yield node
        return
    below = node.items if isinstance(node, Items) else [entry.value for entry in node.entries.values()]
    for one in below:
        yield from scalars(one)


def child(node: Node, part: str | int) -> Node | None:
    """What lies at this key or index."""
    if isinstance(node, Fields) and isinstance(part, str):
        return node.get(part)
    if isinstance(node, Items) and isinstance(part, int) and 0 <= part < len(node.items):
        return node.items[part]
    return None
