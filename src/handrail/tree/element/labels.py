"""What a node calls itself: its own label, the value of a field or slider, and the readable part of its id.

Looks at one node only; names that come from the surroundings are in `naming`.
"""

from __future__ import annotations

import re

from handrail.tree.node import MASK, PASSWORD, Node
from handrail.tree.quote import clean, safe_name

AGGREGATE = 80  # a longer description is what a screen reader would say of everything inside

_READ = 1000  # characters of a label that are compared with others
_SWITCH_WORDS = {"on", "off"}
_OBFUSCATED = re.compile(
    r"(?!(?:add|all|bar|box|btn|cut|day|fab|img|map|new|nav|row|tab|tag|top)\b)[a-z]{1,3}\d*|[a-z]\d[a-z0-9]?|\d.*|.*(?:name_removed|obfuscated).*|(?:[0-9a-f]{4,}-?){4,}",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?) ?(%|percent)?")


def own_label(node: Node, external: str = "") -> tuple[str, str]:
    """(label, source) by text, description, hint, tooltip, external; ('', '') for a silent node."""
    if node.text and not node.flags & PASSWORD and (label := clean(node.text)):
        return label, "text"
    return label_beside_value(node, external)


def label_beside_value(node: Node, external: str = "") -> tuple[str, str]:
    """As `own_label` for a node whose text is its value: a field, a slider."""
    if node.description and (label := clean(node.description)) and not _is_secret(node, label):
        return label, "description"
    if node.hint_text and (label := clean(node.hint_text)) and not _is_secret(node, label):
        return label, "hint"
    if node.tooltip_text and (label := clean(node.tooltip_text)):
        return label, "tooltip"
    if external and (label := clean(external)):
        return label, "external"
    if node.pane_title and (label := clean(node.pane_title)):
        return label, "pane"
    return "", ""


def _is_secret(node: Node, label: str) -> bool:
    """What a password field holds is never said, by any name. A text equal to the hint is the hint."""
    if not node.flags & PASSWORD:
        return False
    return label == clean(node.text) != clean(node.hint_text)


def check_label(node: Node, external: str = "") -> tuple[str, str]:
    """As `own_label`, but a switch's text may be its state, in any language: its description names it."""
    label, source = own_label(node, external)
    if source != "text":
        return label, source
    beside, other = label_beside_value(node, external)
    if label.casefold() in _SWITCH_WORDS:
        return beside, other
    if node.role == "switch" and other == "description" and not says(beside, label):
        return f"{beside} · {label}", other
    return label, source


def field_value(node: Node) -> tuple[str, str]:
    """(value, hint) of a field: a text equal to the hint is the placeholder, not a value."""
    hint = clean(node.hint_text)
    text = clean(node.text)
    if text == hint:
        return "", hint
    return (MASK if node.flags & PASSWORD and text else text), hint


def slider_value(node: Node) -> str:
    """`40%`, `3`, or the words of its state; '' when the dump does not tell."""
    said = clean(node.state_description)
    for other in (node.text, node.description):
        if not said and is_number(amount := clean(other)):
            said = amount
    number = _NUMBER.fullmatch(said)
    if not number:
        return said
    return number[1].removesuffix(".0") + ("%" if number[2] else "")


def slider_label(node: Node, external: str = "") -> tuple[str, str]:
    """As `own_label`, but an amount is no name."""
    label, source = own_label(node, external)
    if source == "text" and is_number(label):
        label, source = label_beside_value(node, external)
    return ("", "") if is_number(label) else (label, source)


def is_number(said: str) -> bool:
    """True for an amount such as "40", "40.0" or "40 percent"."""
    return _NUMBER.fullmatch(said) is not None


def id_name(node: Node) -> str:
    """The id's tail when it is readable, else ''."""
    tail = node.id_tail
    if not tail or _OBFUSCATED.fullmatch(tail):
        return ""
    return safe_name(tail.rpartition("/")[2], 40)


def says(label: str, piece: str) -> bool:
    """True when the beginning of `label` contains `piece` as whole words."""
    label = label[:_READ]
    at = label.find(piece)
    while at >= 0:
        end = at + len(piece)
        if (at == 0 or not label[at - 1].isalnum()) and (end == len(label) or not label[end].isalnum()):
            return True
        at = label.find(piece, at + 1)
    return False
