"""Mends JSON that was cut short: drops the unfinished value, closes what is open. Knows JSON, no UI tree."""

from __future__ import annotations

import re
from typing import NamedTuple

# Everything up to the next bracket or comma. An unfinished string counts as a string, and nothing is given
# back (`++`), so that no character is looked at twice.
_NEXT_MARK = re.compile(r'(?:[^\[\]{},"]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))*+([\[\]{},])', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


class _Open(NamedTuple):
    """An open bracket and those around it: a stack that can be kept as it was."""

    closing: str
    around: _Open | None


def mend_json(text: str) -> str | None:
    """The longest beginning of the text that is JSON once closed, or None if there is none."""
    now: _Open | None = None
    at_cut: _Open | None = None
    cut = at = 0
    # `match`, not `finditer`: where no mark follows, a search would try again from every character.
    while found := _NEXT_MARK.match(text, at):
        at = found.end()
        mark = found[1]
        if mark == ",":  # what stands before it is complete
            cut, at_cut = at - 1, now
        elif mark in "{[":
            now = _Open(_CLOSING[mark], now)
        elif now is None or now.closing != mark:
            break
        else:
            now = now.around
            if now is None:
                return text[:at]
    return text[:cut] + _closers(at_cut) if cut else None


def _closers(open_mark: _Open | None) -> str:
    closers = []
    while open_mark is not None:
        closers.append(open_mark.closing)
        open_mark = open_mark.around
    return "".join(closers)
