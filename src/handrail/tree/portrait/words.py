"""Which words of a screen will still be there tomorrow: no time, no amount, nothing that a field holds."""

from __future__ import annotations

import re

from handrail.tree.clocks import is_clock_like
from handrail.tree.element.labels import id_name
from handrail.tree.node import PASSWORD, Node
from handrail.tree.quote import clean

LONGEST = 80
"""Characters; a longer text is content, not a name."""
_VALUES = frozenset({"text_field", "slider", "progress_bar"})
_SWITCHED = frozenset({"switch", "check_box", "radio_button"})
_STATES = frozenset({"on", "off"})
_MADE_UP = re.compile(r"\d{4}|[0-9a-f]{8}", re.IGNORECASE)
_SELECTOR_LIKE = re.compile(r"@[a-z][0-9]+|el_\w+|\s*-?\d{1,5}\s*,\s*-?\d{1,5}\s*", re.ASCII)


def lasting_id(node: Node) -> str:
    """The readable part of the resource id; '' where a shrinker or a generator made it up."""
    return "" if not id_name(node) or _MADE_UP.search(node.id_tail) else node.id_tail


def lasting_text(node: Node) -> str:
    """What the element says, where that is its name and not its value; '' otherwise."""
    if not node.text or node.role in _VALUES or node.flags & PASSWORD:
        return ""
    text = clean(node.text)
    if node.role in _SWITCHED and text.casefold() in _STATES:
        return ""
    return text if is_name(text) or (node.role == "button" and _fits(text)) else ""


def lasting_description(node: Node) -> str:
    """Its content description; '' where it only says a time or an amount, or what a password field holds."""
    if not node.description or (node.flags & PASSWORD and node.description == node.text):
        return ""
    text = clean(node.description)
    return text if is_name(text) else ""


def lasting_hint(node: Node) -> str:
    """The hint of a field."""
    if not node.hint_text or (node.flags & PASSWORD and node.hint_text == node.text):
        return ""
    text = clean(node.hint_text)
    return text if is_name(text) else ""


def has_digits(text: str) -> bool:
    """A name with a number in it may be a count: "Inbox, 3 unread"."""
    return any(char.isdecimal() for char in text)


def is_name(text: str) -> bool:
    """Words that may name something in a flow's file."""
    return _fits(text) and any(char.isalpha() for char in text)


def _fits(text: str) -> bool:
    """Also: a flow file reads "@b1" as a ref, "10,20" as a point, and "${" as a variable."""
    return (
        0 < len(text) <= LONGEST
        and not is_clock_like(text)
        and "${" not in text
        and not _SELECTOR_LIKE.fullmatch(text)
    )
