"""An element's label: what it says itself, then what is hoisted from the texts inside it."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.tree.element.labels import (
    AGGREGATE,
    check_label,
    field_value,
    label_beside_value,
    own_label,
    says,
    slider_label,
    slider_value,
)
from handrail.tree.element.parts import LABEL, Element
from handrail.tree.node import CLICKABLE, Screen

_CROWD = 4  # elements; what holds more is a region of the screen, not a thing with a name
_REGION_SHARE = 0.5  # of the screen's area


def name(element: Element, external_labels: Mapping[str, str], screen: Screen) -> None:
    """Fills label, value and hint from the node, its wrapper and the texts inside."""
    node, kind = element.node, element.kind
    external = external_labels.get(node.id, "") if external_labels else ""
    if kind == "f":
        element.value, element.hint = field_value(node)
        label, source = label_beside_value(node, external)
    elif kind == "v":
        element.value = slider_value(node)
        label, source = slider_label(node, external)
    else:
        label, source = (check_label if kind == "c" else own_label)(node, external)
    if not label and element.wrapper is not None:
        label, source = own_label(element.wrapper)
    aggregate = source == "description" and len(label) > AGGREGATE and bool(element.texts or element.inner)
    if label and not aggregate:
        _call(element, label, source)
    if kind != "s" and not _is_region(element, screen):
        _hoist(element)
    if aggregate and not element.pieces:
        _call(element, label, source)


def _call(element: Element, label: str, source: str) -> None:
    element.pieces.append(label)
    element.source = source
    if label == element.hint:
        element.hint = ""


def _is_region(element: Element, screen: Screen) -> bool:
    """A tappable box so large or full that its texts are the screen's, not its name."""
    inner = element.inner
    if not inner:
        return False
    if len(inner) >= _CROWD or any(one.kind == "s" for one in inner):
        return True
    return element.outer.bounds.area > screen.width * screen.height * _REGION_SHARE


def _hoist(element: Element) -> None:
    """Texts inside, and for a row that has none the label of a check that only the row can toggle."""
    if not element.texts and not element.pieces:
        element.pieces.extend(_passive_check(element))
    label = element.label
    room = LABEL - len(label)  # what is more stays below the element as plain lines
    for text in element.texts:
        if says(label, text.text) or text.text == element.value:
            text.taken = True
            continue
        room -= len(text.text)
        if room < 0 and element.pieces:
            return
        text.taken = True
        element.pieces.append(text.text)
        label = element.label
        element.source = element.source or "inside"


def _passive_check(element: Element) -> list[str]:
    for check in element.inner:
        if check.kind == "c" and not check.node.flags & CLICKABLE and (label := check_label(check.node)[0]):
            element.source = "inside"
            return [label]
    return []
