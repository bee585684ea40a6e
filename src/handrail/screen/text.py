"""Text of a screen: made harmless, what a node is called, and which words last.

Every string of a dump that reaches an agent passes through `clean`, `cut` and `quoted`: one line, nothing
invisible, never readable as a ref, a header or a state.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from handrail.screen.node import MASK, PASSWORD, Bounds, Node, Screen

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_SPACES = re.compile(r" {2,}")
_REF_LIKE = re.compile(r"@[a-z]\d")
_SPECIAL = re.compile(
    r"[\"\\]|<(?=[/!?a-zA-Z])|`(?=``)"
)  # `</screen>` and code fences frame what a model reads
_LOOSE_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_JOINERS = "\u200c\u200d"  # part of words in Persian and of emoji; everywhere else only a disguise
_SYMBOLS = "\u2600"  # emoji and other scripts begin here; arrows, bullets, dots and quotes come before
_SAFE_NAME = re.compile(r"[\w.$:/-]+", re.ASCII)

# What may follow a label on a line; a label that ends or runs on like this is quoted.
_STATE_LIKE = re.compile(
    r"(?: |^)(?:on|off|empty|disabled|focused|selected|password|long-press|\d+ ?%|[←→↑↓↔↕]+)$"
    r"| = | (?:hint|state|pane) |\((?:right|left) of|\((?:above|below|top|middle|bottom|left|right)\b| #\w"
    r"|\d× |…\+\d"
)


class CharacterTable(dict[int, str]):
    """A table for `str.translate` that asks `replace` about each character when it first meets it."""

    def __init__(self, replace: Callable[[str], str]) -> None:
        self._replace = replace

    def __missing__(self, code: int) -> str:
        replacement = self._replace(chr(code))
        if len(self) < 4096:  # a bound for hostile screens that show every character there is
            self[code] = replacement
        return replacement


def _visible(char: str) -> str:
    """Blanks and controls become a space, what can't be seen disappears."""
    kind = unicodedata.category(char)
    if kind in {"Cc", "Zs", "Zl", "Zp"}:
        return " "
    return "" if kind in {"Cf", "Co", "Cs"} and char not in _JOINERS else char


_VISIBLE = CharacterTable(_visible)
_TURNED = re.compile("\u202e([^\u202c\n]*)\u202c?")
"""Shown from right to left, whatever its letters are."""


@lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """The text as a person sees it: one line, single spaces, no control, bidi or zero-width characters."""
    if not text:  # as most texts of a screen are
        return ""
    if not text.isprintable():
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        if "\u202e" in text:
            text = _TURNED.sub(lambda turned: turned[1][::-1], text)
        text = text.translate(_VISIBLE)
        if "\u200c" in text or "\u200d" in text:
            text = _LOOSE_JOINER.sub("", text)
    if "  " in text:
        text = _SPACES.sub(" ", text)
    return text.strip()


def cut(text: str, limit: int) -> str:
    """At most about `limit` characters; what is missing is counted: `Some long te…+240`. 0 is no limit."""
    # The mark itself costs characters, so a cut that saves fewer is not worth it.
    if not limit or len(text) <= limit + 8:
        return text
    return f"{text[:limit].rstrip()}…+{len(text) - len(text[:limit].rstrip())}"


def quoted(text: str) -> str:
    """In double quotes; quotes, backslashes and whatever could open or close a frame get a backslash."""
    if _SPECIAL.search(text):
        text = _SPECIAL.sub(r"\\\g<0>", text)
    return f'"{text}"'


def can_stand_unquoted(text: str) -> bool:
    """True when a label can stand without quotes and still not be misread."""
    return (
        (text[:1].isalnum() or text[:1] >= _SYMBOLS)
        and not _SPECIAL.search(text)
        and not _REF_LIKE.search(text)
        and not _STATE_LIKE.search(text)
    )


GUESSED = "~"
"""Before a name that nobody told: guessed from what is around, or read in a picture."""


def guessed_name(name: str) -> str:
    return GUESSED + (name if can_stand_unquoted(name) else quoted(name))


def safe_name(name: str, limit: int = 60) -> str:
    """An identifier (package, id, class) if it is one, else ''."""
    return name if len(name) <= limit and _SAFE_NAME.fullmatch(name) else ""


AGGREGATE = 80  # a longer description is what a screen reader would say of everything inside

_READ = 1000  # characters of a label that are compared with others
_SWITCH_WORDS = {"on", "off"}
_OBFUSCATED = re.compile(
    r"(?!(?:add|all|bar|box|btn|cut|day|fab|img|map|new|nav|row|tab|tag|top)\b)[a-z]{1,3}\d*|[a-z]\d[a-z0-9]?|\d.*|.*(?:name_removed|obfuscated).*|(?:[0-9a-f]{4,}-?){4,}",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?) ?(%|percent)?")


def own_label(node: Node, external: str = "") -> tuple[str, str]:
    """(label, source) by text, description, hint, tooltip, external; ('', '') for a node without any."""
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
    """The content of a password field is never shown as a label. A text equal to the hint is the hint."""
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
    if node.role == "switch" and other == "description" and not contains_words(beside, label):
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
    value = clean(node.state_description)
    for other in (node.text, node.description):
        if not value and is_number(amount := clean(other)):
            value = amount
    number = _NUMBER.fullmatch(value)
    if not number:
        return value
    return number[1].removesuffix(".0") + ("%" if number[2] else "")


def slider_label(node: Node, external: str = "") -> tuple[str, str]:
    """Does as `own_label`, but an amount is not a name."""
    label, source = own_label(node, external)
    if source == "text" and is_number(label):
        label, source = label_beside_value(node, external)
    return ("", "") if is_number(label) else (label, source)


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def id_name(node: Node) -> str:
    tail = node.id_tail
    if not tail or _OBFUSCATED.fullmatch(tail):
        return ""
    return safe_name(tail.rpartition("/")[2], 40)


def contains_words(label: str, piece: str) -> bool:
    """True when the beginning of `label` contains `piece` as whole words."""
    label = label[:_READ]
    at = label.find(piece)
    while at >= 0:
        end = at + len(piece)
        if (at == 0 or not label[at - 1].isalnum()) and (end == len(label) or not label[end].isalnum()):
            return True
        at = label.find(piece, at + 1)
    return False


LONGEST = 80
"""Characters; a longer text is content, not a name."""
_VALUES = frozenset({"text_field", "slider", "progress_bar"})
_SWITCHED = frozenset({"switch", "check_box", "radio_button"})
_STATES = frozenset({"on", "off"})
_MADE_UP = re.compile(r"\d{4}|[0-9a-f]{8}", re.IGNORECASE)
_SELECTOR_LIKE = re.compile(r"@[a-z][0-9]+|el_\w+|\s*-?\d{1,5}\s*,\s*-?\d{1,5}\s*", re.ASCII)


def lasting_id(node: Node) -> str:
    """The readable part of the resource id; '' if a shrinker or generator made it up."""
    return "" if not id_name(node) or _MADE_UP.search(node.id_tail) else node.id_tail


def lasting_text(node: Node) -> str:
    """The text, if it is the name of the element and not its value; '' otherwise."""
    if not node.text or node.role in _VALUES or node.flags & PASSWORD:
        return ""
    text = clean(node.text)
    if node.role in _SWITCHED and text.casefold() in _STATES:
        return ""
    return text if is_name(text) or (node.role == "button" and _may_stand_in_flow(text)) else ""


def lasting_description(node: Node) -> str:
    """Its content description; '' where it only says a time or an amount, or what a password field holds."""
    if not node.description or (node.flags & PASSWORD and node.description == node.text):
        return ""
    text = clean(node.description)
    return text if is_name(text) else ""


def lasting_hint(node: Node) -> str:
    if not node.hint_text or (node.flags & PASSWORD and node.hint_text == node.text):
        return ""
    text = clean(node.hint_text)
    return text if is_name(text) else ""


def has_digits(text: str) -> bool:
    """A name with a number in it may be a count: "Inbox, 3 unread"."""
    return any(char.isdecimal() for char in text)


@lru_cache(maxsize=2048)
def is_name(text: str) -> bool:
    """Words that may name something in a flow's file."""
    return _may_stand_in_flow(text) and any(char.isalpha() for char in text)


def _may_stand_in_flow(text: str) -> bool:
    """A flow file reads "@b1" as a ref, "10,20" as a point and "${" as a variable: these are not names."""
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


@lru_cache(maxsize=4096)
def is_clock_like(text: str) -> bool:
    """True if the whole text is a time of day, a running or relative time, or a battery level; no dates."""
    if not text or len(text) > _LONGEST:
        return False
    if not text.isascii():
        text = _MARKS.sub("", text)
    return _CLOCK.fullmatch(text) is not None


_LIMIT = 60  # characters of a label in a message


def name_of(node: Node) -> str:
    """Returns its own label, else the first label inside."""
    stack = [node]
    while stack:
        part = stack.pop()
        label, _ = label_beside_value(part) if part.role == "text_field" else own_label(part)
        if label:
            return label
        stack.extend(reversed(part.children))
    return ""


def describe(node: Node, ref: str | None = None) -> str:
    """Such as `@b1 Button "Save"`; the id stands in for a missing label."""
    words = [ref] if ref else []
    words.append(node.short_class or "Node")
    if name := name_of(node):
        words.append(quoted(cut(name, _LIMIT)))
    elif node.resource_id:
        words.append(f"#{node.id_tail}")
    else:
        words.append(str(node.bounds))
    return " ".join(words)


def element_facts(node: Node, ref: str | None, **more: Any) -> dict[str, Any]:
    """An element as data, for the details of an error; empty fields are left out."""
    facts = {
        "ref": ref,
        "class": node.short_class,
        "label": cut(name_of(node), _LIMIT),
        "id": node.id_tail,
        "bounds": list(node.bounds),
        **more,
    }
    return {key: value for key, value in facts.items() if value not in (None, "")}


_PAGE_SHARE = 0.8  # of the screen's area
TALL = 3  # times as high as a part of it: not a row but a card


def place_in_box(bounds: Bounds, box: Bounds) -> str:
    """In a row from left to right, in a tall card from top to bottom too."""
    x, y = bounds.center
    column = ("left", "middle", "right")[min(2, max(0, 3 * (x - box.left) // max(1, box.width)))]
    if box.height <= TALL * bounds.height:
        return f"({column})"
    row = ("top", "middle", "bottom")[min(2, max(0, 3 * (y - box.top) // max(1, box.height)))]
    return f"({row})" if column == "middle" else f"({row} {column})"


def place_on_screen(bounds: Bounds, screen: Screen) -> str:
    if bounds.area > screen.bounds.area * _PAGE_SHARE:
        return "(whole screen)"
    x, y = bounds.center
    row = ("top", "middle", "bottom")[min(2, max(0, 3 * y // max(1, screen.height)))]
    column = (" left", "", " right")[min(2, max(0, 3 * x // max(1, screen.width)))]
    return f"({row}{column})"
