"""Evaluates conditions on one snapshot. Pure: capturing and waiting happen elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from handrail.engine.snapshot import UiSnapshot
from handrail.errors import AmbiguousTarget, ElementNotFound, ElementNotInteractable
from handrail.journal.redaction import is_placeholder
from handrail.protocol.envelope import Verification, VerificationMode
from handrail.protocol.target import Condition, Selector, StateIs, TextIs, value_in_words
from handrail.screen.node import Node, Screen, receiver, scrolls
from handrail.screen.reach import tap_point, visible_part
from handrail.screen.select import RELATIONS, Handles, find_all
from handrail.screen.text import field_value, slider_value
from handrail.screen.windows import is_system_bar, is_toast, visible

NOT_TOLD = "its placeholder"
"""The expected value that is reported for a field with a secret: neither the secret nor the guess."""
_VALUED = ("slider", "progress_bar", "text_field", "spinner")
NO_ELEMENT = "no such element"
NO_TOAST = "no toast"
_OWN_WORDS = re.compile(rf"{NO_ELEMENT}|{NO_TOAST}|visible|not visible|absent|\d+ visible")


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """The result for one snapshot: what was expected and what was there."""

    met: bool
    expected: Any
    observed: Any

    def verification(self, mode: VerificationMode) -> Verification:
        outcome: Literal["verified", "failed"] = "verified" if self.met else "failed"
        return Verification(mode=mode, expected=self.expected, observed=self.observed, outcome=outcome)

    @property
    def observed_text(self) -> str:
        """Quotes text from the screen, and not the engine's own words."""
        shown = self.observed if isinstance(self.observed, list) else [self.observed]
        return "; ".join(str(v) if _OWN_WORDS.fullmatch(str(v)) else value_in_words(v) for v in shown)


def check_condition(
    condition: Condition, snapshot: UiSnapshot, handles: Handles, before: UiSnapshot | None
) -> ConditionResult:
    """`before` is the snapshot that `screen_changed` compares with."""
    if condition.visible is not None:
        nodes = visible_matches(snapshot.screen, condition.visible, handles)
        return ConditionResult(bool(nodes), str(condition), "visible" if nodes else "not visible")
    if condition.absent is not None:
        nodes = visible_matches(snapshot.screen, condition.absent, handles)
        return ConditionResult(not nodes, str(condition), f"{len(nodes)} visible" if nodes else "absent")
    if condition.text is not None:
        return check_text_is(snapshot.screen, condition.text, handles)
    if condition.state is not None:
        return check_state_is(snapshot.screen, condition.state, handles)
    for wanted, there in (
        (condition.app, snapshot.screen.package),
        (condition.fingerprint, snapshot.fingerprint),
    ):
        if wanted is not None:
            return ConditionResult(wanted == there, wanted, there)
    if condition.toast is not None:
        texts = toast_texts(snapshot.screen)
        is_shown = any(condition.toast in text for text in texts)
        return ConditionResult(is_shown, condition.toast, texts or NO_TOAST)
    if condition.screen_changed is not None:
        changed = before is not None and before.fingerprint != snapshot.fingerprint
        return ConditionResult(changed, "another screen", snapshot.fingerprint)
    parts = [
        check_condition(part, snapshot, handles, before) for part in condition.all or condition.any or ()
    ]
    met = all(part.met for part in parts) if condition.all else any(part.met for part in parts)
    return ConditionResult(met, [part.expected for part in parts], [part.observed for part in parts])


def toast_texts(screen: Screen) -> list[str]:
    """Plain adb sees toasts on no real phone: there only the helper hears of them."""
    toasts = (w for w in screen.windows if is_toast(screen, w) and not is_system_bar(screen, w))
    return [node.text for window in toasts for node in (window, *screen.inside(window)) if node.text]


def visible_matches(screen: Screen, target: Any, handles: Handles) -> list[Node]:
    """Matching nodes that are visible and not covered. A stale ref matches nothing."""
    nodes = matches_in_tree(screen, target, handles)
    shown = visible(screen) if nodes else ()
    return [node for node in nodes if shown[node.order] and visible_part(screen, node).area]


def matches_in_tree(screen: Screen, target: Any, handles: Handles) -> list[Node]:
    """All matching nodes, also if covered, off the screen, or in a window below."""
    try:
        nodes = find_all(screen, target, handles)
    except ElementNotFound:
        return []
    except AmbiguousTarget:
        return _by_every_anchor(screen, target, handles)
    index = target.index if isinstance(target, Selector) and not target.handle else None
    return nodes if index is None else nodes[index : index + 1]


def fulfilling_node(condition: Condition, screen: Screen, handles: Handles) -> Node | None:
    subject, state, text = condition.subject, condition.state, condition.text
    if subject is None or condition.absent is not None:
        return None
    if state is not None and state.property == "exists":
        return next(iter(matches_in_tree(screen, subject, handles)), None)

    def fits(node: Node) -> bool:
        if state is not None:
            return _is_equal(property_of(screen, node, state.property, handles), state.value)
        return text is None or _has_text(text, effective_text(screen, node, handles))

    return next(filter(fits, visible_matches(screen, subject, handles)), None)


def _has_text(wish: TextIs, text: str) -> bool:
    return wish.contains in text if wish.contains is not None else wish.equals == text


def _by_every_anchor(screen: Screen, target: Selector, handles: Handles) -> list[Node]:
    """If several nodes match the target's anchor, a node relative to any of them counts."""
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
            matched = (
                visible_matches(screen, target.model_copy(update={relation: single}), handles)
                for single in each
            )
            return list(dict.fromkeys(node for nodes in matched for node in nodes))
    return []


def check_text_is(screen: Screen, wish: TextIs, handles: Handles) -> ConditionResult:
    """Any of the matching nodes may have the text."""
    texts = [effective_text(screen, node, handles) for node in visible_matches(screen, wish.target, handles)]
    observed = _single_or_list(texts)
    if any(map(is_placeholder, texts)):
        return ConditionResult(wish.equals in texts, NOT_TOLD, observed)
    expected = wish.equals if wish.contains is None else f"…{wish.contains}…"
    return ConditionResult(any(_has_text(wish, text) for text in texts), expected, observed)


def check_state_is(screen: Screen, wish: StateIs, handles: Handles) -> ConditionResult:
    """Any of the matching nodes may have the state."""
    if wish.property == "exists":
        there = bool(matches_in_tree(screen, wish.target, handles))
        return ConditionResult(there is wish.value, {"exists": wish.value}, there)
    values = [
        property_of(screen, node, wish.property, handles)
        for node in visible_matches(screen, wish.target, handles)
    ]
    met = any(_is_equal(value, wish.value) for value in values)
    if any(map(is_placeholder, values)):
        return ConditionResult(wish.value in values, NOT_TOLD, _single_or_list(values))
    return ConditionResult(met, {wish.property: wish.value}, _single_or_list(values))


def _single_or_list(values: list[Any]) -> Any:
    if not values:
        return NO_ELEMENT
    return values[0] if len(values) == 1 else values


def _is_equal(value: Any, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    number, other = parse_amount(str(value)), parse_amount(str(wanted))
    if number and other:
        return number.value == other.value
    return str(value) == str(wanted)


def effective_text(screen: Screen, node: Node, handles: Handles) -> str:
    """What a person reads there: the text, else description, hint, or the label of its row."""
    if node.role == "text_field":
        return value_of(node)
    own = node.masked_text or node.description or node.hint_text or node.tooltip_text
    return own or handles.label_of(node) or next((n.masked_text for n in screen.inside(node) if n.text), "")


def property_of(screen: Screen, node: Node, name: str, handles: Handles) -> Any:
    """A property by its name in the protocol. A text stands for the row or control that it belongs to."""
    touched = receiver(node) or node
    match name:
        case "text":
            return effective_text(screen, node, handles)
        case "value":
            control = _only_fitting_node(screen, node, touched, lambda candidate: candidate.role in _VALUED)
            return slider_text(screen, control) if control.role == "slider" else value_of(control)
        case "checked" | "checkable":
            control = _only_fitting_node(screen, node, touched, lambda candidate: candidate.checkable)
            return getattr(control, name)
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
    """Whether a tap could have any effect, not what it would do."""
    touched = receiver(node)
    if touched is None or not (node.enabled and touched.enabled):
        return False
    try:
        tap_point(screen, touched)
    except ElementNotInteractable:
        return False
    return True


def _only_fitting_node(screen: Screen, node: Node, touched: Node, fits: Callable[[Node], bool]) -> Node:
    """The node itself or its row, if it fits; else the only descendant that does."""
    for candidate in (node, touched):
        if fits(candidate):
            return candidate
    inside = [candidate for candidate in screen.inside(touched) if fits(candidate)]
    return inside[0] if len(inside) == 1 else node


def value_of(node: Node) -> str:
    """What a control holds. A placeholder is not a value; a password is masked."""
    if node.role == "text_field":
        return node.masked_text if node.password else field_value(node)[0]
    return slider_value(node) if node.role in ("slider", "progress_bar") else node.masked_text


ROW_LEVELS = 4
"""How many levels up a label with the slider's value may be."""
_NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?)\s*(%|percent)?")


class Amount(NamedTuple):
    """A number, and whether it is a percentage."""

    value: float
    percent: bool


def parse_amount(text: str) -> Amount | None:
    """Parses "40", "40%", "40 percent", "0,5"."""
    number = _NUMBER.fullmatch(text.strip())
    return Amount(float(number[1].replace(",", ".")), bool(number[2])) if number else None


def slider_text(screen: Screen, slider: Node) -> str:
    """The slider's own value, else the only number beside it; "" if there is none."""
    own = slider_value(slider)
    if own and parse_amount(own):
        return own
    for around in list(slider.ancestors())[:ROW_LEVELS]:
        inside = screen.inside(around)
        if scrolls(around) or any(node.role == "slider" and node is not slider for node in inside):
            return own
        texts = [node.text for node in inside if node is not slider and parse_amount(node.text)]
        if texts:
            return texts[0] if len(texts) == 1 else own
    return own


def slider_amount(screen: Screen, slider: Node) -> Amount | None:
    return parse_amount(slider_text(screen, slider))
