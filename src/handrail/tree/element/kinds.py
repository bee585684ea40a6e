"""The letter of a ref and the state words beside it."""

from __future__ import annotations

from handrail.tree.element.arrows import arrows
from handrail.tree.element.parts import Element
from handrail.tree.node import (
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    FOCUSED,
    LONG_CLICKABLE,
    PASSWORD,
    SCROLLABLE,
    SELECTED,
    Node,
)
from handrail.tree.quote import clean

_TAPPABLE = CLICKABLE | LONG_CLICKABLE
_ACTIONABLE = _TAPPABLE | CHECKABLE | SCROLLABLE
_BY_ROLE = {"text_field": "f", "slider": "v"}
_BUTTONS = {"button", "image_button"}
_CHECKS = {"check_box", "switch", "radio_button"}
_SCROLLERS = {"list", "scroll_view", "web_view"}
_SAID_BY_STATES = {"on", "off", "checked", "not checked", "unchecked", "selected", "not selected"}
_ROW_SHAPE = 3  # width to height
_SHORT = 80  # characters; a longer label belongs to a card


def first_kind(node: Node) -> str | None:
    """f, v, c, s, b or l where the node alone decides it; '' for another actionable; None for the rest.

    A row with a name that also slides sideways is a row; a list that reports clicks is a list.
    """
    flags, role = node.flags, node.role
    kind = _BY_ROLE.get(role)
    if kind is not None:
        return kind
    if not flags & _ACTIONABLE:
        return "b" if role in _BUTTONS and not flags & ENABLED and (node.text or node.description) else None
    if flags & CHECKABLE or role in _CHECKS:
        return "c"
    if flags & SCROLLABLE and (
        not flags & CLICKABLE or role in _SCROLLERS or not (node.text or node.description)
    ):
        return "s"
    if role in _BUTTONS:
        return "b"
    return "l" if role == "text_view" and flags & CLICKABLE else ""


def settle_kind(element: Element) -> None:
    """Decides the letter of what `first_kind` left open, and the states."""
    if not element.kind:
        element.kind = _tappable_kind(element)
    element.states = _states(element)
    if element.node.state_description and element.kind != "v":
        element.state = _state(element)
    if element.kind == "s":
        element.arrows = arrows(element.node)


def _tappable_kind(element: Element) -> str:
    node = element.outer
    if node.role == "list_item" or (node.children and _is_row(element)):
        return "i"
    return "b" if node.flags & CLICKABLE and not element.inner and 0 < len(element.label) <= _SHORT else "g"


def _is_row(element: Element) -> bool:
    """Several texts, or a name and elements inside a box much wider than high."""
    bounds = element.outer.bounds
    return len(element.pieces) > 1 or bool(
        element.pieces and element.inner and bounds.width >= _ROW_SHAPE * bounds.height
    )


def _states(element: Element) -> tuple[str, ...]:
    flags, kind = element.node.flags, element.kind
    words = []
    if kind == "c" and flags & (CHECKABLE | CHECKED):
        words.append("on" if flags & CHECKED else "off")
    if kind != "s":
        if flags & SELECTED or any(text.taken and text.is_selected for text in element.texts):
            words.append("selected")
        if flags & FOCUSED:
            words.append("focused")
        if flags & PASSWORD:
            words.append("password")
    if not flags & ENABLED:
        words.append("disabled")
    if kind == "g" and not (flags | element.outer.flags) & (CLICKABLE | CHECKABLE):
        words.append("long-press")
    return tuple(words)


def _state(element: Element) -> str:
    state = clean(element.node.state_description)
    return "" if state.casefold() in _SAID_BY_STATES or state in element.pieces else state
