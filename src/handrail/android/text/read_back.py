"""Did a text arrive? Pure comparison of what a field said before and after. Knows no devices."""

from __future__ import annotations

import re

from handrail.android.text.field import Field, units

# uiautomator's dump writes a dot for what XML 1.0 forbids or discourages.
_NOT_IN_XML = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]"
)


def readable(text: str) -> str:
    """The text as a dump can show it."""
    return _NOT_IN_XML.sub(".", text)


def arrived(before: Field | None, text: str, after: Field | None) -> bool | None:
    """True if the field reads as before with the text typed into it; None where that can't be told."""
    if before is None or after is None:
        return None
    if before.password or after.password:
        return units(after.text) == units(before.text) + units(text)
    if after.vacant and text and text == after.hint:
        return None
    return was_typed(readable(before.text), readable(text), readable(after.text))


def was_typed(before: str, text: str, after: str) -> bool:
    """True if `after` is `before` with `text` at the cursor, wherever that was, or over a selection.

    A placeholder that was taken for content falls under the latter: typing replaces it.
    """
    if after == before:
        return not text
    rest = len(after) - len(text)
    if not 0 <= rest <= len(before):
        return False
    head, tail = common_start(before, after), common_start(before[::-1], after[::-1])
    first, last = max(0, rest - tail), min(head, rest)
    return any(after.startswith(text, at) for at in range(first, last + 1))


def common_start(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return number
    return min(len(one), len(other))


def may_be_there_already(before: Field, text: str) -> bool:
    """An unchanged field proves nothing if typing may have replaced a selection by the same words."""
    return readable(text) in readable(before.text)


def is_cleared(before: Field, after: Field) -> bool | None:
    """True when nothing is left. None when what is left may be a placeholder as well as a rest of the text:
    dumps without hints show both alike."""
    if after.vacant:
        return True
    if after.password or after.hint:
        return False
    return None if is_rest(after.text, before.text) else True


def is_rest(rest: str, whole: str) -> bool:
    """True if deleting characters of `whole` can give `rest`."""
    letters = iter(whole)
    return all(character in letters for character in rest)
