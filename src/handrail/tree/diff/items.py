"""What a diff compares: a screen's elements and texts as an agent reads them, with their attributes."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.tree.clocks import is_clock_like
from handrail.tree.element.parts import Element, Elements
from handrail.tree.node import CHECKABLE, CHECKED, ENABLED, FOCUSED, SELECTED, Node
from handrail.tree.packages import is_input_method

Value = str | bool | None

ATTRIBUTES = ("label", "text", "value", "hint", "state", "enabled", "focused", "checked", "selected")
"""In the order they are reported; None is an attribute that the item does not have."""


@dataclass(slots=True, eq=False)
class Item:
    """An element or a plain text."""

    node: Node
    name: str
    attributes: tuple[Value, ...]
    wrapper: Node | None = None

    @property
    def by_name(self) -> dict[str, Value]:
        """The attributes it has."""
        return {
            name: value for name, value in zip(ATTRIBUTES, self.attributes, strict=True) if value is not None
        }


def items_of(elements: Elements) -> dict[int, Item]:
    """By node order, in document order. The keyboard's keys are not part of the screen."""
    found = {element.node.order: _of_element(element) for element in elements}
    for text in elements.texts:
        node = text.node
        if node.order not in found:
            name = "" if is_clock_like(text.text) else text.text
            found[node.order] = Item(node, text.text, (None, name, *_NO_STATES))
    return {
        order: item for order, item in sorted(found.items()) if not is_input_method(item.node.package_name)
    }


_NO_STATES = (None,) * 7


def _of_element(element: Element) -> Item:
    node, kind = element.node, element.kind
    flags = node.flags
    name = element.label
    if kind == "f":
        label, text, value = name, element.value, None
    elif kind == "v":
        label, text, value = name, None, element.value
    else:
        label, text, value = None, _without_clocks(element), None
    attributes = (
        label,
        text,
        value,
        element.hint or None,
        node.state_description or None,
        flags & ENABLED != 0,
        flags & FOCUSED != 0 if kind != "s" else None,
        flags & CHECKED != 0 if kind == "c" or flags & CHECKABLE else None,
        flags & SELECTED != 0,
    )
    return Item(node, name, attributes, element.wrapper)


def _without_clocks(element: Element) -> str:
    name = element.label
    if ":" not in name:
        return name
    return " · ".join([piece for piece in element.pieces if not is_clock_like(piece)])
