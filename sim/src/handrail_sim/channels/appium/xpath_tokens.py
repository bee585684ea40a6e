"""The words of an XPath expression. Knows no grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORDS = re.compile(
    r"""\s*(?:
        (?P<text>"[^"]*"|'[^']*')
      | (?P<number>\d+(?:\.\d*)?|\.\d+)
      | (?P<mark>//|::|\.\.|!=|<=|>=|[/@()\[\],.|=<>+*$-])
      | (?P<name>[^\W\d][\w.$-]*(?::(?!:)[^\W\d][\w.-]*)?)
    )""",
    re.VERBOSE,
)
_OPERATORS = frozenset({"and", "or", "div", "mod"})


class BadXPath(Exception):
    """The expression can't be read."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is text, number, mark, name, operator (a name or * between two values) or end."""

    kind: str
    word: str


END = Token("end", "")


def tokens(text: str) -> list[Token]:
    """All words; a name after a value is an operator, as XPath 1.0 tells them apart."""
    found: list[Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _WORDS.match(text, at)
        if match is None:
            raise BadXPath(f"unexpected {text[at:].strip()[:1]!r} at {at} in {text}")
        kind, word = str(match.lastgroup), match[match.lastgroup or 0]
        if kind == "text":
            word = word[1:-1]
        elif _after_value(found) and (word in _OPERATORS or word == "*"):
            kind = "operator"
        found.append(Token(kind, word))
        at = match.end()
    return found


def _after_value(found: list[Token]) -> bool:
    if not found:
        return False
    last = found[-1]
    if last.kind in {"text", "number", "name"}:
        return True
    return last.kind == "mark" and last.word in {")", "]", ".", "..", "*"}
