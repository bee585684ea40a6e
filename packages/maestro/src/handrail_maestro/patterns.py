"""Maestro's patterns: Java's regular expressions over a whole text, or the very same text.

Translated to Python's; what could take for ever is left to the script process, which can be ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]  # the public `re` has no way to look into a pattern

FLAGS = int(re.IGNORECASE | re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL)
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \\t\\n\\x0b\\f\\r"}
_MANY_LOOPS = 4
_FEW = 8
"""Rounds that a loop may differ by without counting as one."""
LONGEST = 5_000
"""Characters of a text that a pattern is held against."""


@dataclass(frozen=True, slots=True)
class TextPattern:
    """One pattern as written, and as Python reads it; without the latter only the same text matches."""

    written: str
    compiled: re.Pattern[str] | None
    is_slow: bool = False
    """It holds loops in loops: a text could keep it busy for years."""
    why: str = ""
    """Why it can't be read as a pattern."""

    def is_like(self, text: str, *, exact: bool = True) -> bool:
        """Whole, or equal where `exact`; once more with line breaks as spaces."""
        forms = {text[:LONGEST], text[:LONGEST].replace("\n", " ")}
        if exact and self.written in forms:
            return True
        return self.compiled is not None and any(self.compiled.fullmatch(form) for form in forms)


@lru_cache(maxsize=2_000)
def pattern(written: str) -> TextPattern:
    """What cannot be compiled is taken literally."""
    try:
        translated = translate(written)
        compiled = re.compile(translated, FLAGS)
        return TextPattern(written, compiled, _is_slow(translated))
    except (re.error, RecursionError, OverflowError) as error:
        return TextPattern(written, None, why=str(error))


def translate(written: str) -> str:
    """Java's form in Python's words. Raises `re.error` for what Python has no word for."""
    text = _QUOTED.sub(lambda found: re.escape(found[1]), written)
    made: list[str] = []
    at, in_class = 0, False
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            made.append(_escape(text[at + 1], in_class))
            at += 2
            continue
        if text.startswith("(?<", at) and text[at + 3 : at + 4] not in ("=", "!"):
            made.append("(?P<")
            at += 3
            continue
        if in_class and text.startswith("&&", at):
            raise re.error("classes can't be intersected with &&")
        in_class = (in_class or char == "[") and not (in_class and char == "]")
        made.append(char)
        at += 1
    return "".join(made)


def _escape(letter: str, in_class: bool) -> str:
    """ASCII classes, as Java's are; Python's own would know every script."""
    if letter.lower() in _CLASSES:
        inside = _CLASSES[letter.lower()]
        if letter.islower():
            return inside if in_class else f"[{inside}]"
        if in_class:
            return f"\\{letter}"
        return f"[^{inside}]"
    if letter in "pPhRXk":
        raise re.error(f"\\{letter} is not known here")
    if letter == "z":
        return "\\Z"
    return f"\\{letter}"


def _is_slow(translated: str) -> bool:
    loops = list(_loops(_parser.parse(translated, FLAGS), 0))
    return any(depth > 0 for depth in loops) or len(loops) >= _MANY_LOOPS


def _loops(parsed: Iterable[tuple[object, object]], depth: int) -> Iterable[int]:
    """How deep every loop without an end lies in others; a choice inside one counts as a loop."""
    for kind, inside in parsed:
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and isinstance(inside, tuple):
            low, high, what = inside
            if high - low > _FEW:
                yield depth
            yield from _loops(what, depth + (high > 1))
        elif name == "BRANCH" and isinstance(inside, tuple):
            if depth:
                yield depth
            for way in inside[1]:
                yield from _loops(way, depth)
        elif isinstance(inside, tuple):
            for part in inside:
                if isinstance(part, _parser.SubPattern):
                    yield from _loops(part, depth)
