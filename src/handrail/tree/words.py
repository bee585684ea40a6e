"""Which words of a screen last until tomorrow, and which change by themselves.

Times, durations, "5 min ago" and battery levels change; so do amounts and what a field holds.
"""

from __future__ import annotations

import re

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


_MARKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")  # zero-width and bidi
_HALF = r"(?:[ap]\.?\s?m\.?|上午|下午|午前|午後|오전|오후|ص|م)"
_TIME = rf"(?:{_HALF}\s*)?-?\d{{1,3}}[:：∶]\d\d(?:[:：∶]\d\d)?(?:[.,]\d{{1,3}})?(?:\s*{_HALF})?"
_UNIT = r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|mo|months?|y|yrs?|years?)\.?"
_AGO = rf"(?:an?|\d{{1,3}})\s*{_UNIT}(?:\s*(?:,|and)?\s*\d{{1,2}}\s*{_UNIT})?\s+(?:ago|left|remaining)"
_AGO_HAN = (
    r"\d{1,3}\s*(?:秒|分|分钟|分鐘|小时|小時|時間|天|日|초|분|시간|일)\s*(?:之?前|전)"
    r"|刚刚|剛剛|たった今|방금(?:\s전)?"
)
_BATTERY = r"battery(?:\s+level)?[:,]?\s*\d{1,3}\s*(?:%|percent)\.?|\d{1,3}\s*(?:%|percent)\s+battery"
_CLOCK = re.compile(
    rf"\s*(?:{_TIME}(?:\s*[/–—-]\s*{_TIME})?|{_AGO}|{_AGO_HAN}|(?:just\s+)?now|{_BATTERY})\s*", re.IGNORECASE
)
_LONGEST = 40  # characters; longer texts are sentences


def is_clock_like(text: str) -> bool:
    """True if the whole text is a time of day, a running or relative time, or a battery level; no dates."""
    if not text or len(text) > _LONGEST:
        return False
    if not text.isascii():
        text = _MARKS.sub("", text)
    return _CLOCK.fullmatch(text) is not None
