"""What XPath computes with: a tree of elements, values of four kinds, functions. Knows no grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil, floor, isnan, nan

from handrail_sim.channels.appium.xpath_tokens import BadXPath
from handrail_sim.screen.accessibility import Node


@dataclass(slots=True, eq=False)
class Element:
    """An element of the source; the document itself has no tag."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    node: Node | None = None
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    order: int = 0

    def descendants(self) -> Iterator[Element]:
        for child in self.children:
            yield child
            yield from child.descendants()

    def ancestors(self) -> Iterator[Element]:
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def siblings(self, *, after: bool) -> Iterator[Element]:
        """Those after it in order, or those before it, the nearest first."""
        around = self.parent.children if self.parent is not None else [self]
        at = next(number for number, one in enumerate(around) if one is self)
        return iter(around[at + 1 :] if after else around[:at][::-1])


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute as a node."""

    owner: Element
    name: str

    @property
    def value(self) -> str:
        return self.owner.attributes[self.name]

    @property
    def order(self) -> int:
        return self.owner.order


Found = Element | Attribute
Value = list[Found] | str | float | bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression is evaluated."""

    at: Found
    position: int = 1
    size: int = 1


def string(value: Value) -> str:
    """As the function `string`; elements of a source have no text of their own."""
    if isinstance(value, list):
        return "" if not value or isinstance(value[0], Element) else value[0].value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if isnan(value) else str(int(value)) if value == int(value) else str(value)
    return value


def number(value: Value) -> float:
    """As the function `number`."""
    if isinstance(value, float | bool):
        return float(value)
    try:
        return float(string(value).strip())
    except ValueError:
        return nan


def truth(value: Value) -> bool:
    """As the function `boolean`."""
    if isinstance(value, float) and not isinstance(value, bool):
        return value != 0 and not isnan(value)
    return bool(value)


def compare(operator: str, one: Value, other: Value) -> bool:
    """A node-set holds if one of its nodes does."""
    if isinstance(one, list) and not isinstance(other, bool):
        return any(compare(operator, string([each]), other) for each in one)
    if isinstance(other, list) and not isinstance(one, bool):
        return any(compare(operator, one, string([each])) for each in other)
    if operator in {"=", "!="}:
        if isinstance(one, bool) or isinstance(other, bool):
            same = truth(one) is truth(other)
        elif isinstance(one, float) or isinstance(other, float):
            same = number(one) == number(other)
        else:
            same = string(one) == string(other)
        return same is (operator == "=")
    left, right = number(one), number(other)
    return {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[operator]


def arithmetic(operator: str, one: Value, other: Value) -> float:
    """`+ - * div mod` on numbers."""
    left, right = number(one), number(other)
    if operator in {"div", "mod"} and right == 0:
        return nan
    results: dict[str, Callable[[], float]] = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "div": lambda: left / right,
        "mod": lambda: left - right * int(left / right),
    }
    return results[operator]()


def _substring(text: str, start: float, *length: float) -> str:
    first = round(start) - 1
    last = len(text) if not length else first + round(length[0])
    return text[max(0, first) : max(0, last)]


def _translate(text: str, old: str, new: str) -> str:
    return text.translate({ord(one): new[at : at + 1] or None for at, one in reversed(list(enumerate(old)))})


def _matches(text: str, pattern: str, flags: str = "") -> bool:
    try:
        return re.search(pattern, text, re.IGNORECASE if "i" in flags else 0) is not None
    except re.error as problem:
        raise BadXPath(f"{pattern}: {problem}") from None


TEXTS: dict[str, Callable[..., str | bool | float]] = {
    "contains": lambda text, part: part in text,
    "starts-with": lambda text, part: text.startswith(part),
    "ends-with": lambda text, part: text.endswith(part),
    "matches": _matches,
    "concat": lambda *parts: "".join(parts),
    "string-length": lambda text: float(len(text)),
    "normalize-space": lambda text: " ".join(text.split()),
    "substring-before": lambda text, part: text.partition(part)[0] if part in text else "",
    "substring-after": lambda text, part: text.partition(part)[2],
    "translate": _translate,
    "lower-case": str.lower,
    "upper-case": str.upper,
    "string": lambda text: text,
}
"""Functions of texts, those of XPath 2 that people use included: Appium's engine has them."""
NUMBERS: dict[str, Callable[[float], float]] = {
    "floor": lambda value: float(floor(value)),
    "ceiling": lambda value: float(ceil(value)),
    "round": lambda value: float(floor(value + 0.5)),
    "number": lambda value: value,
    "abs": abs,
}


def apply(name: str, given: list[Value], place: Place) -> Value:
    """A function by its name."""
    try:
        if name in PLAIN:
            return PLAIN[name](given, place)
        if name in NUMBERS:
            return NUMBERS[name](number(given[0] if given else [place.at]))
        if name in TEXTS:
            return TEXTS[name](*(string(one) for one in given or [[place.at]]))
    except (TypeError, IndexError, ValueError, OverflowError):
        raise BadXPath(f"wrong arguments of {name}()") from None
    raise BadXPath(f"unknown function {name}()")


def _count(given: list[Value], _: Place) -> float:
    if not isinstance(given[0], list):
        raise BadXPath("count() needs nodes")
    return float(len(given[0]))


def _name(given: list[Value], place: Place) -> str:
    nodes = given[0] if given else [place.at]
    if not isinstance(nodes, list) or not nodes:
        return ""
    return nodes[0].tag if isinstance(nodes[0], Element) else nodes[0].name


PLAIN: dict[str, Callable[[list[Value], Place], Value]] = {
    "last": lambda _, place: float(place.size),
    "position": lambda _, place: float(place.position),
    "true": lambda _given, _place: True,
    "false": lambda _given, _place: False,
    "not": lambda given, _: not truth(given[0]),
    "boolean": lambda given, _: truth(given[0]),
    "count": _count,
    "name": _name,
    "local-name": _name,
    "substring": lambda given, _: _substring(string(given[0]), *(number(one) for one in given[1:])),
}
