"""A tappable box around exactly one element is that element to a person: the two become one."""

from __future__ import annotations

from handrail.tree.element.labels import own_label
from handrail.tree.element.parts import Element
from handrail.tree.node import CLICKABLE, ENABLED, SCROLLABLE

_SAME_SHARE = 0.5  # of the box's area; a smaller button in a box is another target than the box


def merge_wrappers(found: list[Element]) -> list[Element]:
    """The elements without the boxes; each survivor has its box's texts, and its place in the tree."""
    gone: set[int] = set()
    for box in reversed(found):
        if box.kind or not box.inner:
            continue
        if len(box.inner) == 1 and _is_one(box, box.inner[0]):
            _merge(box, box.inner[0])
            gone.add(box.node.order)
        elif _is_inert(box):
            gone.add(box.node.order)
    return _without(found, gone) if gone else found


def _without(found: list[Element], gone: set[int]) -> list[Element]:
    """Parents come before what is inside them, so one look upwards is enough."""
    for element in found:
        if element.parent is not None and element.parent.node.order in gone:
            element.parent = element.parent.parent
    return [element for element in found if element.node.order not in gone]


def _is_one(box: Element, element: Element) -> bool:
    if _scrolls(box) or _scrolls(element) or not element.node.flags & ENABLED:
        return False
    mine, _ = own_label(box.node)
    its, _ = own_label(element.node)
    if element.kind != "f" and mine and its and mine != its:
        return False
    if not element.node.flags & CLICKABLE:
        return not element.inner
    if box.texts and element.kind != "f":
        return False
    common = element.outer.bounds.intersect(box.node.bounds)
    return common.area >= box.node.bounds.area * _SAME_SHARE


def _scrolls(element: Element) -> bool:
    """Scrolling is an action of its own, except in a field, where it belongs to typing."""
    return bool(element.node.flags & SCROLLABLE) and element.kind != "f"


def _merge(box: Element, element: Element) -> None:
    element.wrapper = box.node
    element.texts = sorted(box.texts + element.texts, key=lambda text: text.node.order)
    if box.parent is not None and len(box.parent.inner) == 1:
        box.parent.inner[0] = element


def _is_inert(box: Element) -> bool:
    """A disabled box that says nothing only keeps touches from what is behind it."""
    return not box.node.flags & ENABLED and not box.texts and own_label(box.node) == ("", "")
