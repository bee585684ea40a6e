"""Calls that models print as text: `click(point='<point>10 20</point>')`, `do(action="Tap", element=[1, 2])`.

Nothing is evaluated. Quotes inside a text are taken from the first to the last one, as models write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from handrail.errors import InvalidAction

DEPTH = 40
_SPACE = re.compile(r"(?:\s|//[^\n]*(?:\n|$)|#[^\n]*(?:\n|$))*")
_SPACE_AND_BLOCKS = re.compile(r"(?:\s|//[^\n]*(?:\n|$)|/\*.*?\*/|#[^\n]*(?:\n|$))*", re.S)
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,4})?(?![\w.])", re.ASCII)
_WORD = re.compile(r"[^\s,:=(){}\[\]\"'`]+")
_LENIENT_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}
_WORDS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "none": None, "undefined": None, "nan": None, "True": True,
    "False": False, "None": None,
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_CLOSERS = {"{": "}", "[": "]", "(": ")"}


class LenientReader:
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
        if here in _LENIENT_QUOTES:
            return self._string(here)
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            text = number[0]
            try:
                return int(text) if len(text) < 400 else float(text)
            except ValueError:
                return float(text)
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
        closer = _LENIENT_QUOTES[opener]
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
            if not 0xD800 <= code < 0xE000:
                return chr(code)
            if code < 0xDC00 and (pair := _LOW_SURROGATE.match(self.text, self.at)):
                self.at = pair.end()
                return chr(0x10000 + ((code - 0xD800) << 10) + (int(pair[1], 16) - 0xDC00))
            self._note("half a character")
            return "\ufffd"  # lone surrogates can't be written as UTF-8
        return _ESCAPES.get(here, here)

    def _skip_space(self) -> None:
        space = _SPACE_AND_BLOCKS if self.at < self._last_block else _SPACE
        match = space.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _note(self, repair: str) -> None:
        if repair not in self.repairs:
            self.repairs.append(repair)


LONGEST = 50_000
"""Characters that are read; more no step needs."""
MOST_CALLS = 20
_CALL = re.compile(r"([A-Za-z_]\w{0,40})\s*\(")
_FIELD = re.compile(r"([A-Za-z_]\w{0,40})\s*=\s*")
_NEXT = re.compile(r"\s*,\s*[A-Za-z_]\w{0,40}\s*=\s*[\"'\[(\d-]")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(.)", re.S)
_QUOTES = "'\"“”‘’`"


@dataclass(frozen=True, slots=True)
class TextCall:
    """A name with its arguments, and what had to be mended."""

    name: str
    fields: dict[str, Any]
    repairs: tuple[str, ...] = ()


def cut_output(text: Any) -> str:
    """What is read of a model's answer. Raises `InvalidAction` for what is no text."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        raise InvalidAction("should be the text that the model wrote", path="")
    return text[:LONGEST]


def calls_in(text: str) -> list[TextCall]:
    """Every call that begins a line or the text, in order."""
    calls: list[TextCall] = []
    at = 0
    while len(calls) < MOST_CALLS and (call := _CALL.search(text, at)):
        before = text[: call.start()].rpartition("\n")[2].strip(" \t*`-#0123456789.")
        if before and not before.lower().endswith(("action:", ">")):
            at = call.end()
            continue
        # Where the call's own bracket closes: before the next call, else as far right as one is.
        start = call.end()
        following = (match.start() for match in _CALL.finditer(text, start))
        heads = ((at, text[:at].rpartition("\n")) for at in following)
        stop = next(
            (at for at, (_, end, head) in heads if end and head.strip() in ("", "Action:")), len(text)
        )
        tag = text.find("</", start)
        if start <= tag < stop and text[start:tag].rstrip().endswith(")"):
            stop = tag
        last = text.rfind(")", start, stop)
        end, repairs = (last, ()) if last >= 0 else (stop, ("a missing end",))
        calls.append(TextCall(call[1], _read_fields(text[start:end]), repairs))
        at = end + 1
    return calls


def _read_fields(inside: str) -> dict[str, Any]:
    """Reads `name=value` pairs; what stands before the first name is no field."""
    parsed: dict[str, Any] = {}
    at = 0
    while name := _FIELD.search(inside, at):
        at = name.end()
        here = inside[at : at + 1]
        if here and here in _QUOTES:
            following = _NEXT.search(inside, at + 1)
            while following and inside[following.start() - 1] not in _QUOTES:  # a comma inside the text
                following = _NEXT.search(inside, following.end())
            end = following.start() if following else len(inside)
            body = inside[at + 1 : end].rstrip()
            if body and body[-1] in _QUOTES:
                body = body[:-1]
            value: Any = _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), body)
        else:
            reader = LenientReader(inside, at)
            value, end = reader.value(), reader.at
        parsed.setdefault(name[1], value)
        at = max(end, at + 1)
    return parsed


def json_in(text: str) -> tuple[Any, tuple[str, ...]]:
    """The first object of a text, mended where it has to be, with what was. Raises `InvalidAction`."""
    stripped = text.strip()
    try:
        return from_json(stripped, allow_inf_nan=False), ()
    except (ValueError, TypeError):
        pass
    at = stripped.find("{")
    if at < 0:
        raise InvalidAction("there is no action in the answer", path="", hint="Answer with one JSON object.")
    reader = LenientReader(stripped, at)
    value = reader.value()
    prose = ("the action was inside other text",) if at else ()
    if {"a missing end", "a missing quote"} & set(reader.repairs):
        raise InvalidAction("the JSON of the answer has no end", path="", hint="Send it whole.")
    return value, (*prose, *reader.repairs)
