"""XPath over the page source by libxml2, with those functions of XPath 2 that people use: Appium has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from handrail_sim.screen.accessibility import Node

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BadXPath(Exception):
    """The expression can't be read."""


@dataclass(slots=True, eq=False)
class Element:
    """An element of the source; the document itself has no tag."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    node: Node | None = None
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)

    def descendants(self) -> Iterator[Element]:
        for child in self.children:
            yield child
            yield from child.descendants()


def _string(argument: Any) -> str:
    """As the function `string`; libxml2 hands in a node-set as a list. Elements have no text of their own."""
    if isinstance(argument, list):
        return argument[0] if argument and isinstance(argument[0], str) else ""
    return str(argument)


def _matches(_: object, text: Any, pattern: Any, flags: Any = "") -> bool:
    return (
        re.search(_string(pattern), _string(text), re.IGNORECASE if "i" in _string(flags) else 0) is not None
    )


_FUNCTIONS = {
    (None, "matches"): _matches,
    (None, "ends-with"): lambda _, text, part: _string(text).endswith(_string(part)),
    (None, "lower-case"): lambda _, text: _string(text).lower(),
    (None, "upper-case"): lambda _, text: _string(text).upper(),
    (None, "abs"): lambda _, number: abs(float(_string(number))),
}


def find(expression: str, start: Element) -> list[Element]:
    """The elements that an expression means, in the document's order, seen from `start`."""
    top = start
    while top.parent is not None:
        top = top.parent
    elements: dict[etree._Element, Element] = {}

    def copy(element: Element) -> etree._Element:
        written = {name: _NOT_XML.sub("\ufffd", text) for name, text in element.attributes.items()}
        out = etree.Element(element.tag, written)
        elements[out] = element
        out.extend(map(copy, element.children))
        return out

    root = copy(top.children[0])
    here = next((out for out, element in elements.items() if element is start), etree.ElementTree(root))
    return [elements[node] for node in evaluate(expression, here)]


def evaluate(expression: str, context: etree._Element | etree._ElementTree) -> list[etree._Element]:
    """The elements that an expression means. Raises `BadXPath`."""
    try:
        nodes = etree.XPathEvaluator(context, extensions=_FUNCTIONS)(expression)
    except (etree.XPathError, re.error, TypeError, ValueError) as problem:
        raise BadXPath(str(problem) or expression) from None
    if not isinstance(nodes, list):
        raise BadXPath(f"{expression} gives no elements")
    return [node for node in nodes if isinstance(node, etree._Element)]
