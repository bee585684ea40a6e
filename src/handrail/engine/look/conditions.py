"""Whether a condition holds on one look at the screen. Pure: the looking and the waiting are others' work."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from handrail.engine.look.looks import Look
from handrail.engine.redaction import is_placeholder
from handrail.errors import AmbiguousTarget, ElementNotFound, ElementNotInteractable
from handrail.protocol.target import Condition, Selector, StateIs, TextIs, in_words
from handrail.tree.element.labels import field_value, slider_value
from handrail.tree.match.sketch import scrolls
from handrail.tree.mention import receiver
from handrail.tree.node import Node, Screen
from handrail.tree.reach import tap_point, visible_part
from handrail.tree.select import Handles, find_all
from handrail.tree.select.find import RELATIONS
from handrail.tree.windows import visible

NOT_TOLD = "its placeholder"
"""What may be expected of a field that holds a secret. A part of it, or what was asked for, is no answer."""
_COUNTED = re.compile(r"\d+ visible")
_VALUED = ("slider", "progress_bar", "text_field", "spinner")


NO_ELEMENT = "no such element"
_OURS = frozenset({NO_ELEMENT, "visible", "not visible", "absent"})


@dataclass(frozen=True, slots=True)
class Holds:
    """The verdict on one look, with what was wanted and what was there."""

    met: bool
    expected: Any
    observed: Any

    @property
    def found(self) -> str:
        """What was there, in words: the screen's own words are quoted, ours are not."""
        seen = self.observed if isinstance(self.observed, list) else [self.observed]
        return "; ".join(str(one) if _is_ours(one) else in_words(one) for one in seen)


def _is_ours(seen: Any) -> bool:
    return isinstance(seen, str) and (seen in _OURS or _COUNTED.fullmatch(seen) is not None)


def holds(condition: Condition, seen: Look, handles: Handles, before: Look | None) -> Holds:
    """`before` is the screen that `screen_changed` is measured against."""
    if condition.visible is not None:
        return is_visible(seen.screen, condition.visible, handles)
    if condition.absent is not None:
        return is_absent(seen.screen, condition.absent, handles)
    if condition.text is not None:
        return text_is(seen.screen, condition.text, handles)
    if condition.state is not None:
        return state_is(seen.screen, condition.state, handles)
    if condition.app is not None:
        return Holds(seen.screen.package == condition.app, condition.app, seen.screen.package)
    if condition.fingerprint is not None:
        return Holds(seen.fingerprint == condition.fingerprint, condition.fingerprint, seen.fingerprint)
    if condition.screen_changed is not None:
        changed = before is not None and before.fingerprint != seen.fingerprint
        return Holds(changed, "another screen", seen.fingerprint)
    return _several(condition, seen, handles, before)


def _several(condition: Condition, seen: Look, handles: Handles, before: Look | None) -> Holds:
    parts = [holds(part, seen, handles, before) for part in condition.all or condition.any or ()]
    met = all(part.met for part in parts) if condition.all else any(part.met for part in parts)
    return Holds(met, [part.expected for part in parts], [part.observed for part in parts])


def matches(screen: Screen, target: Any, handles: Handles) -> list[Node]:
    """What a person would see of it: matching, visible, and not covered. A stale ref matches nothing."""
    found = in_tree(screen, target, handles)
    shown = visible(screen) if found else ()
    return [node for node in found if shown[node.order] and visible_part(screen, node).area]


def in_tree(screen: Screen, target: Any, handles: Handles) -> list[Node]:
    """All that match, also what nobody sees: covered, off the screen, or in a window below."""
    try:
        found = find_all(screen, target, handles)
    except ElementNotFound:
        return []
    except AmbiguousTarget:
        return _by_every_anchor(screen, target, handles)
    index = target.index if isinstance(target, Selector) and not target.handle else None
    return found if index is None else found[index : index + 1]


def meeting(condition: Condition, screen: Screen, handles: Handles) -> Node | None:
    """The element by which a condition holds; None where it holds by none."""
    subject, state, text = condition.subject, condition.state, condition.text
    if subject is None or condition.absent is not None:
        return None
    if state is not None and state.property == "exists":
        return next(iter(in_tree(screen, subject, handles)), None)

    def fits(node: Node) -> bool:
        if state is not None:
            return _equal(property_of(screen, node, state.property, handles), state.value)
        return text is None or _says(text, effective_text(screen, node, handles))

    return next(filter(fits, matches(screen, subject, handles)), None)


def _says(wish: TextIs, text: str) -> bool:
    return wish.contains in text if wish.contains is not None else wish.equals == text


def _by_every_anchor(screen: Screen, target: Selector, handles: Handles) -> list[Node]:
    """Several elements fit what the target is measured against: any of them will do to say what is there."""
    for relation in ("within", *RELATIONS):
        anchor = getattr(target, relation)
        if anchor is None or anchor.handle or anchor.index is not None:
            continue
        try:
            count = len(find_all(screen, anchor, handles))
        except (ElementNotFound, AmbiguousTarget):
            continue
        if count > 1:
            each = (anchor.model_copy(update={"index": index}) for index in range(count))
            found = (matches(screen, target.model_copy(update={relation: one}), handles) for one in each)
            return list(dict.fromkeys(node for nodes in found for node in nodes))
    return []


def is_visible(screen: Screen, target: Any, handles: Handles) -> Holds:
    """Somewhere on the screen."""
    found = matches(screen, target, handles)
    return Holds(bool(found), f"{target} is visible", "visible" if found else "not visible")


def is_absent(screen: Screen, target: Any, handles: Handles) -> Holds:
    """Looked for, and not seen anywhere."""
    found = matches(screen, target, handles)
    return Holds(not found, f"{target} is absent", f"{len(found)} visible" if found else "absent")


def text_is(screen: Screen, wish: TextIs, handles: Handles) -> Holds:
    """Any of the matching elements may say it."""
    texts = [effective_text(screen, node, handles) for node in matches(screen, wish.target, handles)]
    if any(map(is_placeholder, texts)):
        return Holds(wish.equals in texts, NOT_TOLD, _one_or_all(texts))
    if wish.contains is not None:
        return Holds(any(_says(wish, text) for text in texts), f"…{wish.contains}…", _one_or_all(texts))
    return Holds(wish.equals in texts, wish.equals, _one_or_all(texts))


def state_is(screen: Screen, wish: StateIs, handles: Handles) -> Holds:
    """Any of the matching elements may have it."""
    if wish.property == "exists":
        there = bool(in_tree(screen, wish.target, handles))
        return Holds(there is wish.value, {"exists": wish.value}, there)
    values = [
        property_of(screen, node, wish.property, handles) for node in matches(screen, wish.target, handles)
    ]
    met = any(_equal(value, wish.value) for value in values)
    if any(map(is_placeholder, values)):
        return Holds(wish.value in values, NOT_TOLD, _one_or_all(values))
    return Holds(met, {wish.property: wish.value}, _one_or_all(values))


def _one_or_all(values: list[Any]) -> Any:
    if not values:
        return NO_ELEMENT
    return values[0] if len(values) == 1 else values


def _equal(value: Any, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    number, other = amount(str(value)), amount(str(wanted))
    if number and other:
        return number.value == other.value
    return str(value) == str(wanted)


def effective_text(screen: Screen, node: Node, handles: Handles) -> str:
    """What a person reads there: its text, else description, hint, or the label it is shown with."""
    if node.role == "text_field":
        return value_of(node)
    own = node.shown_text or node.description or node.hint_text or node.tooltip_text
    return own or handles.label_of(node) or next((n.text for n in screen.inside(node) if n.text), "")


def property_of(screen: Screen, node: Node, name: str, handles: Handles) -> Any:
    """One property by the vocabulary's name. Words stand for the row or the control that they belong to."""
    touched = receiver(node) or node
    match name:
        case "text":
            return effective_text(screen, node, handles)
        case "value":
            control = _only(screen, node, touched, lambda one: one.role in _VALUED)
            return said_by(screen, control) if control.role == "slider" else value_of(control)
        case "checked" | "checkable":
            return getattr(_only(screen, node, touched, lambda one: one.checkable), name)
        case "state":
            return node.state_description or touched.state_description
        case "interactable":
            return _takes_a_tap(screen, node)
        case "enabled":
            return node.enabled and touched.enabled
        case "selected" | "focused" | "clickable" | "long_clickable":
            return getattr(node, name) or getattr(touched, name)
        case _:
            return getattr(node, {"hint": "hint_text"}.get(name, name))


def _takes_a_tap(screen: Screen, node: Node) -> bool:
    """Not what a tap would do, but whether it could do anything."""
    touched = receiver(node)
    if touched is None or not (node.enabled and touched.enabled):
        return False
    try:
        tap_point(screen, touched)
    except ElementNotInteractable:
        return False
    return True


def _only(screen: Screen, node: Node, touched: Node, fits: Callable[[Node], bool]) -> Node:
    """The element itself or its row, if it is of the kind; else the only one of the kind inside."""
    for one in (node, touched):
        if fits(one):
            return one
    inside = [one for one in screen.inside(touched) if fits(one)]
    return inside[0] if len(inside) == 1 else node


def value_of(node: Node) -> str:
    """What a control holds; a placeholder is no value, a password is masked."""
    if node.role == "text_field":
        return node.shown_text if node.password else field_value(node)[0]
    return slider_value(node) if node.role in ("slider", "progress_bar") else node.shown_text


ROW_LEVELS = 4
"""How far up the element that tells a slider's value may be."""
_NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?)\s*(%|percent)?")


class Amount(NamedTuple):
    """A number, and whether it is one of a hundred."""

    value: float
    percent: bool


def amount(text: str) -> Amount | None:
    """ "40", "40%", "40 percent", "0,5"."""
    found = _NUMBER.fullmatch(text.strip())
    return Amount(float(found[1].replace(",", ".")), bool(found[2])) if found else None


def said_by(screen: Screen, slider: Node) -> str:
    """In its own words, else the only number beside it; "" where nothing tells."""
    own = slider_value(slider)
    if own and amount(own):
        return own
    for around in list(slider.ancestors())[:ROW_LEVELS]:
        inside = screen.inside(around)
        if scrolls(around) or any(node.role == "slider" and node is not slider for node in inside):
            return own
        found = [node.text for node in inside if node is not slider and amount(node.text)]
        if found:
            return found[0] if len(found) == 1 else own
    return own


def reading(screen: Screen, slider: Node) -> Amount | None:
    """The same as a number."""
    return amount(said_by(screen, slider))
