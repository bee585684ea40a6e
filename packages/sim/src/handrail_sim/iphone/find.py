"""Finding elements: predicate strings, class chains, XPath, names and class names.

The grammar of predicates is NSPredicate's as people use it with XCUITest; what it cannot read is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Any

from lxml import etree

from handrail_sim.channels.appium.xpath import BadXPath, evaluate
from handrail_sim.iphone.source import xml_attributes
from handrail_sim.iphone.tree import Element, attribute_values
from handrail_sim.iphone.wda import Refused, refusal
from handrail_sim.resources import table

TYPES: Sequence[str] = table("iphone/wda.toml")["types"]
"""Every type in the order of XCUIElementType's numbers."""
Test = Callable[[Element], bool]
Operand = Callable[[Element], Any]

_OPERAND = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\{[^{}]*\}|-?\d+(?:\.\d+)?|[A-Za-z_][\w.]*)"""
_COMPARISON = re.compile(
    rf"\s*({_OPERAND})\s*(==|!=|<>|>=|=>|<=|=<|[=<>]|[A-Za-z]+)\s*(?:\[([cdnCDN]+)\])?\s*({_OPERAND})"
)
_GLUE = re.compile(r"\s*(\(|\)|&&|\|\||!(?!=)|(?:AND|OR|NOT|TRUEPREDICATE|FALSEPREDICATE)\b)", re.IGNORECASE)
_PYTHON = {"&&": "and", "||": "or", "!": "not", "TRUEPREDICATE": "True", "FALSEPREDICATE": "False"}
_ALIASES = {"=": "==", "<>": "!=", "=>": ">=", "=<": "<="}
_CONSTANTS: dict[str, Any] = {
    "TRUE": True,
    "YES": True,
    "FALSE": False,
    "NO": False,
    "NIL": None,
    "NULL": None,
}


class BadQuery(Exception):
    """The text can't be read."""


def predicate(text: str) -> Test:
    """Comparisons, joined as Python joins them: AND, OR and NOT bind alike in both."""
    bad = BadQuery(f'Unable to parse the format string "{text}"')
    tests: list[Test] = []
    words, place = [], 0
    while text[place:].strip():
        if match := _GLUE.match(text, place):
            words.append(_PYTHON.get(match[1].upper(), match[1].lower()))
        elif match := _COMPARISON.match(text, place):
            words.append(f"tests[{len(tests)}](element)")
            tests.append(_comparison(bad, *match.groups()))
        else:
            raise bad
        place = match.end()
    try:
        code = compile(" ".join(words), "predicate", "eval")
    except SyntaxError:
        raise bad from None
    return lambda element: bool(eval(code, {"tests": tests, "element": element}))  # noqa: S307 - words of ours


def _comparison(bad: BadQuery, left: str, sign: str, flags: str | None, right: str) -> Test:
    compare = _COMPARE.get(_ALIASES.get(sign, sign.upper()))
    if compare is None:
        raise bad
    fold, first, second = "c" in (flags or "").lower(), _operand(left), _operand(right)
    return lambda element: compare(_folded(first(element), fold), _folded(second(element), fold))


def _operand(text: str) -> Operand:
    if text[0] == "{":
        entries = [_operand(part) for part in re.findall(_OPERAND, text[1:-1])]
        return lambda element: [entry(element) for entry in entries]
    if text[0] not in "'\"" and text.upper() not in _CONSTANTS and not text[0].isdigit() and text[0] != "-":
        return attribute(text.removeprefix("SELF."))
    if text[0] in "'\"":
        value: Any = re.sub(r"\\(.)", r"\1", text[1:-1])
    else:
        value = _CONSTANTS[text.upper()] if text.upper() in _CONSTANTS else float(text)
    return lambda _: value


def attribute(path: str) -> Operand:
    """An attribute by any of its names: `name`, `wdName`, `isWDVisible`, `rect.x`."""
    first, _, rest = path.partition(".")
    plain = re.sub(r"^(?:isWD|wd|is)(?=[A-Z])", "", first)
    name = plain[:1].lower() + plain[1:] if plain != "UID" else plain

    def read(element: Element) -> Any:
        values = attribute_values(element)
        if name not in values:
            valid = ", ".join(sorted(values))
            raise refusal("no-such-attribute", first, valid)
        if name == "elementType":
            return float(TYPES.index(element.type))
        value = values[name]
        return value.get(rest) if rest and isinstance(value, dict) else value

    return read


def _folded(value: Any, fold: bool) -> Any:
    if not fold:
        return value
    return (
        [_folded(entry, True) for entry in value] if isinstance(value, list) else str(value or "").casefold()
    )


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, str) != isinstance(right, str) and left is not None and right is not None:
        left, right = _number(left), _number(right)
    return bool(left == right)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _ordered(check: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        first, second = _number(left), _number(right)
        return first is not None and second is not None and check(first, second)

    return compare


def _worded(check: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: isinstance(left, str) and isinstance(right, str) and check(left, right)


def _is_match(text: str, pattern: str) -> bool:
    try:
        return re.fullmatch(pattern, text, re.DOTALL) is not None
    except re.error as problem:
        raise BadQuery(f"Can't do regex matching, reason: {problem}") from None


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": _same,
    "!=": lambda left, right: not _same(left, right),
    "<": _ordered(lambda left, right: left < right),
    ">": _ordered(lambda left, right: left > right),
    "<=": _ordered(lambda left, right: left <= right),
    ">=": _ordered(lambda left, right: left >= right),
    "BEGINSWITH": _worded(str.startswith),
    "ENDSWITH": _worded(str.endswith),
    "CONTAINS": _worded(lambda left, right: right in left),
    "LIKE": _worded(lambda left, right: re.fullmatch(translate(right), left) is not None),
    "MATCHES": _worded(_is_match),
    "IN": lambda left, right: (
        left in right if isinstance(right, list) else _worded(lambda a, b: a in b)(left, right)
    ),
    "BETWEEN": lambda left, right: (
        isinstance(right, list)
        and len(right) == 2
        and _COMPARE[">="](left, right[0])
        and _COMPARE["<="](left, right[1])
    ),
}


# class chains


@dataclass(frozen=True, slots=True)
class Link:
    """One part of a chain: any depth or children, a type, what must hold, and which of them."""

    deep: bool
    type: str
    tests: tuple[Test, ...]
    inside: tuple[Test, ...]
    position: int | None


_LINK = re.compile(
    r"(?P<deep>\*\*/)?(?P<type>\*|XCUIElementType\w+)(?P<rest>(?:\[(?:`(?:[^`]|``)*`|\$(?:[^$]|\$\$)*\$|-?\d+)\])*)"
)
_PART = re.compile(r"\[(?:`((?:[^`]|``)*)`|\$((?:[^$]|\$\$)*)\$|(-?\d+))\]")


def parse_chain(text: str) -> list[Link]:
    links, place = [], 0
    while place < len(text):
        match = _LINK.match(text, place)
        if match is None or (match.end() < len(text) and text[match.end()] != "/"):
            raise BadQuery(f"Cannot parse class chain query '{text}' at position {place}")
        links.append(_link(match))
        place = match.end() + 1
    if not links or text.endswith("/"):
        raise BadQuery(f"Class chain query '{text}' should contain at least one element type")
    return links


def _link(match: re.Match[str]) -> Link:
    tests: list[Test] = []
    inside: list[Test] = []
    position: int | None = None
    for own, descendant, number in _PART.findall(match["rest"]):
        if number:
            if int(number) == 0:
                raise BadQuery("Position must be a positive or a negative number, not zero")
            position = int(number)
        elif own:
            tests.append(predicate(own.replace("``", "`")))
        else:
            inside.append(predicate(descendant.replace("$$", "$")))
    kind = match["type"].removeprefix("XCUIElementType")
    return Link(
        bool(match["deep"]),
        "Any" if kind == "*" else checked_type(kind),
        tuple(tests),
        tuple(inside),
        position,
    )


def checked_type(kind: str) -> str:
    if kind not in TYPES:
        raise refusal("no-such-type", kind, kind)
    return kind


def by_chain(start: Element, text: str) -> list[Element]:
    matches = [start]
    for link in parse_chain(text):
        pool = (element for top in matches for element in (top.descendants if link.deep else top.children))
        chosen = [
            element
            for element in dict.fromkeys(pool)
            if link.type in ("Any", element.type)
            and all(test(element) for test in link.tests)
            and all(any(test(below) for below in element.descendants) for test in link.inside)
        ]
        if link.position is not None:
            number = link.position - 1 if link.position > 0 else link.position
            chosen = chosen[number : number + 1 or None] if -len(chosen) <= number < len(chosen) else []
        matches = chosen
    return matches


# XPath


def by_xpath(start: Element, expression: str) -> list[Element]:
    elements: dict[etree._Element, Element] = {}

    def copy(element: Element) -> etree._Element:
        settings = dict.fromkeys(("includeHittableInPageSource", "includeNativeFrameInPageSource"), True)
        words = {
            name: re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f]", "", text)
            for name, text in xml_attributes(element, settings).items()
        }
        node = etree.Element(element.full_type, words)
        elements[node] = element
        node.extend(map(copy, element.children))
        return node

    root = copy(start)
    context = etree.ElementTree(root) if start.parent is None else root
    nodes = evaluate(expression.replace("XCUIElementTypeAny", "*"), context)
    return [elements[node] for node in nodes if node in elements]


# every strategy


def find(start: Element, using: str, value: str) -> list[Element]:
    """In the order of the tree. Raises `Refused` for what can't be searched for."""
    try:
        return list(_find(start, using, value))
    except (BadQuery, BadXPath) as problem:
        if using in ("predicate string", "-ios predicate string"):
            raise Refused("unknown error", str(problem)) from None
        raise Refused("invalid selector", str(problem)) from None


def _find(start: Element, using: str, value: str) -> Iterator[Element]:
    match using:
        case "class name":
            if not value.startswith("XCUIElementType"):
                checked_type(value if value not in TYPES else f"{value}?")
            kind = checked_type(value.removeprefix("XCUIElementType"))
            return (element for element in start.descendants if kind in ("Any", element.type))
        case "class chain" | "-ios class chain":
            return iter(by_chain(start, value))
        case "predicate string" | "-ios predicate string":
            test = predicate(value)
            return (element for element in start.descendants if test(element))
        case "xpath":
            return iter(by_xpath(start, value))
        case "name" | "id" | "accessibility id":
            return (element for element in start.descendants if element.name == value)
        case "link text" | "partial link text":
            name, _, wanted = value.rpartition("=")
            read = attribute(name or "name")
            partial = using.startswith("partial")
            return (
                element
                for element in start.descendants
                if isinstance(text := read(element), str) and (wanted in text if partial else wanted == text)
            )
    raise Refused("invalid argument", f"{using} locator strategy is not supported")
