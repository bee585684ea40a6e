"""Reads what models write instead of JSON: single quotes, trailing commas, bare words, missing ends.

Never raises and never recurses deeper than `DEPTH`; every departure from JSON is noted.
"""

from __future__ import annotations

import re
from typing import Any

DEPTH = 40
_SPACE = re.compile(r"(?:\s|//[^\n]*(?:\n|$)|#[^\n]*(?:\n|$))*")
_SPACE_AND_BLOCKS = re.compile(r"(?:\s|//[^\n]*(?:\n|$)|/\*.*?\*/|#[^\n]*(?:\n|$))*", re.S)
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,4})?(?![\w.])", re.ASCII)
_WORD = re.compile(r"[^\s,:=(){}\[\]\"'`]+")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}
_WORDS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "none": None, "undefined": None, "nan": None, "True": True,
    "False": False, "None": None,
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CLOSERS = {"{": "}", "[": "]", "(": ")"}


class Lenient:
    """One reading of one text, from one place on."""

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self.at = start
        self.repairs: list[str] = []
        self._last_block = text.rfind("*/")  # behind it no `/*` ends: looking again and again is quadratic

    def value(self, depth: int = 0) -> Any:
        """The value that starts here; None where there is none."""
        self._skip_space()
        here = self.text[self.at : self.at + 1]
        if here in ("{", "[", "(") and depth < DEPTH:
            return self.group(here, depth)
        if here in _QUOTES:
            return self._string(here)
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return _to_number(number[0])
        return self._word()

    def group(self, opener: str, depth: int = 0) -> Any:
        """`{…}`, `[…]` or the arguments in `(…)`: pairs become an object, single values a list."""
        self.at += 1
        pairs: dict[str, Any] = {}
        singles: list[Any] = []
        while not self._at_end(_CLOSERS[opener], first=not (pairs or singles)):
            before = self.at
            item = self.value(depth + 1)
            self._skip_space()
            if self.text[self.at : self.at + 1] in (":", "=") and isinstance(item, str | int | float):
                self.at += 1
                pairs[str(item)] = self.value(depth + 1)
            else:
                singles.append(item)
            if self.at == before:  # a stray character: step over it, so that this always ends
                self.at += 1
        if opener == "{" or (pairs and opener == "("):
            return pairs
        return singles if not pairs else [*singles, pairs]

    def _at_end(self, closer: str, *, first: bool) -> bool:
        """Skips separators; true at the closing mark, which it takes, or at the end of the text."""
        commas = 0
        self._skip_space()
        while self.text[self.at : self.at + 1] in (",", ";"):
            commas += 1
            self.at += 1
            self._skip_space()
        here = self.text[self.at : self.at + 1]
        if here == "":
            self._note("a missing end")
            return True
        if here not in "}])":
            if not commas and not first:
                self._note("a missing comma")
            return False
        if commas:
            self._note("a trailing comma")
        if here != closer:
            self._note(f"{here} in place of {closer}")
        self.at += 1
        return True

    def _string(self, opener: str) -> str:
        if opener != '"':
            self._note(f"{opener} as a quote")
        closer = _QUOTES[opener]
        self.at += 1
        out: list[str] = []
        while self.at < len(self.text):
            here = self.text[self.at]
            self.at += 1
            if here == closer:
                return "".join(out)
            out.append(self._escaped() if here == "\\" else here)
        self._note("a missing quote")
        return "".join(out)

    def _escaped(self) -> str:
        here = self.text[self.at : self.at + 1]
        self.at += 1
        if here == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", self.text[self.at : self.at + 4]):
            code = int(self.text[self.at : self.at + 4], 16)
            self.at += 4
            low = self._low_surrogate() if 0xD800 <= code < 0xDC00 else 0
            if 0xD800 <= code < 0xE000 and not low:
                self._note("half a character")
            return _character(code, low)
        return _ESCAPES.get(here, here)

    def _low_surrogate(self) -> int:
        pair = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})").match(self.text, self.at)
        if not pair:
            return 0
        self.at = pair.end()
        return int(pair[1], 16)

    def _word(self) -> Any:
        word = _WORD.match(self.text, self.at)
        if not word:
            return None
        self.at = word.end()
        if word[0] in _WORDS:
            if word[0] not in ("true", "false", "null"):
                self._note(f"{word[0]} as a value")
            return _WORDS[word[0]]
        self._note("a bare word")
        return word[0]

    def _skip_space(self) -> None:
        space = _SPACE_AND_BLOCKS if self.at < self._last_block else _SPACE
        found = space.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _note(self, repair: str) -> None:
        if repair not in self.repairs:
            self.repairs.append(repair)


def _to_number(text: str) -> int | float:
    try:
        return int(text) if len(text) < 400 else float(text)
    except ValueError:
        return float(text)


def _character(code: int, low: int) -> str:
    """Lone surrogates become U+FFFD: they can't be written as UTF-8."""
    if low:
        return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
