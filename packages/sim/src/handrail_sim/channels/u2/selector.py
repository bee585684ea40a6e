"""Selectors of the uiautomator2 server: which nodes a selector object means, and how Java prints it.

Two searches, as in androidx.test.uiautomator: plain selectors look through every window (`By`), those with a
child, a sibling, an index or an instance only through the active one (`UiSelector`). Knows no phone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from handrail_sim import resources
from handrail_sim.screen.accessibility import Node

INDEX = 0x800000
INSTANCE = 0x1000000


@dataclass(frozen=True, slots=True)
class Field:
    """One criterion: its bit in the mask, where it looks, how it compares, how Java prints it."""

    bit: int
    look: str  # the attribute of a node
    compare: str
    java: str
    order: int


FIELDS = {
    name: Field(int(bit, 16), look, compare, java, int(order))
    for name, bit, look, compare, java, order in resources.rows("channels/u2/fields.txt")
}


class BadSelector(Exception):
    """A pattern that Java's regex can't read; the message is that of PatternSyntaxException."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Criteria that all have to hold, then a step to a child or a sibling, then criteria again."""

    criteria: tuple[tuple[str, Any], ...]
    instance: int | None = None
    step: str = ""  # "child" or "sibling" leads to `then`
    then: Selector | None = None

    @property
    def is_plain(self) -> bool:
        """Whether Java would search with `By`: nothing that counts, nothing nested, and not empty."""
        names = {name for name, _ in self.criteria}
        return bool(names) and "index" not in names and self.instance is None and self.then is None

    @property
    def last(self) -> Selector:
        return self.then.last if self.then is not None else self

    def then_child(self, inner: Selector) -> Selector:
        return _chain(self, [("child", inner)])

    def then_sibling(self, inner: Selector) -> Selector:
        return _chain(self, [("sibling", inner)])

    def with_instance(self, number: int) -> Selector:
        if self.then is not None:
            return Selector(self.criteria, self.instance, self.step, self.then.with_instance(number))
        return Selector(self.criteria, number)

    def matches(self, node: Node, *, fold: bool) -> bool:
        return all(_holds(FIELDS[name], value, node, fold=fold) for name, value in self.criteria)

    def __str__(self) -> str:
        parts = [(FIELDS[name].order, f"{FIELDS[name].java}={_java(value)}") for name, value in self.criteria]
        if self.instance is not None:
            parts.append((9, f"INSTANCE={self.instance}"))
        if self.then is not None:
            parts.append((19, f"CHILD={self.then}") if self.step == "child" else (22, f"PARENT={self.then}"))
        return f"UiSelector[{', '.join(text for _, text in sorted(parts))}]"


def _java(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _holds(field: Field, wanted: Any, node: Node, *, fold: bool) -> bool:
    match = getattr(node, field.look)
    if field.compare == "equals":
        return bool(match == wanted)
    if field.compare == "matches":
        return pattern(wanted).fullmatch(match) is not None
    if fold:  # UiSelector folds case where By does not
        match, wanted = match.lower(), str(wanted).lower()
    return match.startswith(wanted) if field.compare == "starts" else wanted in match


def pattern(java: str) -> re.Pattern[str]:
    """A Java pattern; the few spellings that Python has not are translated."""
    text = (
        java.replace("\\p{L}", r"[^\W\d_]")
        .replace("\\p{N}", r"\d")
        .replace("\\z", r"\Z")
        .replace("\\h", r"[ \t]")
    )
    try:
        return re.compile(text)
    except re.error as problem:
        position = problem.pos or 0
        raise BadSelector(f"{problem.msg} near index {position}\n{java}") from None


def parse(data: dict[str, Any]) -> Selector:
    """A selector object from the wire: only fields whose bit is in the mask count."""
    mask = int(data.get("mask", 0))
    criteria = tuple(
        (name, data.get(name))
        for name, field in FIELDS.items()
        if mask & field.bit and name != "instance" and data.get(name) is not None
    )
    instance = int(data.get("instance") or 0) if mask & INSTANCE else None
    steps = list(
        zip(data.get("childOrSibling") or [], data.get("childOrSiblingSelector") or [], strict=False)
    )
    return _chain(Selector(criteria, instance), [(str(word).lower(), parse(inner)) for word, inner in steps])


def _chain(first: Selector, steps: list[tuple[str, Selector]]) -> Selector:
    if not steps:
        return first
    (word, inner), *rest = steps
    if first.then is not None:
        return Selector(first.criteria, first.instance, first.step, _chain(first.then, steps))
    return Selector(first.criteria, first.instance, word, _chain(inner, rest))


class Counter:
    """How many matches each part of a selector has passed by; one search has one."""

    def __init__(self) -> None:
        self._passed: dict[int, int] = {}

    def reached(self, depth: int, selector: Selector) -> bool:
        """Whether this match is the wanted instance; once reached, every later match is."""
        passed = self._passed.get(depth, 0)
        if passed == (selector.instance or 0):
            return True
        self._passed[depth] = passed + 1
        return False


def find_in_active(selector: Selector, root: Node | None) -> Node | None:
    return None if root is None else _walk(selector, root, Counter(), 0)


def _walk(selector: Selector, node: Node, counter: Counter, depth: int) -> Node | None:
    """Below a match only the next part is searched; a part that failed there is tried at later matches."""
    if selector.matches(node, fold=True) and counter.reached(depth, selector):
        if selector.then is None:
            return node
        start = node if selector.step == "child" else node.parent
        if start is None:
            return None
        selector, node, depth = selector.then, start, depth + 1
    for child in node.children:
        match = _walk(selector, child, counter, depth)
        if match is not None:
            return match
    return None


def find(selector: Selector, roots: Sequence[Node], active: Node | None) -> Node | None:
    """What `objInfo`, `click` and the waits mean by a selector."""
    if not selector.is_plain:
        return find_in_active(selector, active)
    for root in roots:
        for node in root:
            if selector.matches(node, fold=False):
                return node
    return None


def count(selector: Selector, active: Node | None) -> int:
    """How many instances there are; one or none if the selector names its instance."""
    if selector.last.instance is not None:
        return int(find_in_active(selector, active) is not None)
    number = 0
    while find_in_active(selector.with_instance(number), active) is not None:
        number += 1
    return number
