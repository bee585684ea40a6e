"""Calls that models print as text: `click(point='<point>10 20</point>')`, `do(action="Tap", element=[1, 2])`.

Nothing is evaluated. Quotes inside a text are taken from the first to the last one, as models write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from handrail.dialects.lenient import Lenient
from handrail.errors import InvalidAction

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


def cut(text: Any) -> str:
    """What is read of a model's answer. Raises `InvalidAction` for what is no text."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        raise InvalidAction("should be the text that the model wrote", path="")
    return text[:LONGEST]


def calls_in(text: str) -> list[TextCall]:
    """Every call that begins a line or the text, in order."""
    found: list[TextCall] = []
    at = 0
    while len(found) < MOST_CALLS and (call := _CALL.search(text, at)):
        before = text[: call.start()].rpartition("\n")[2].strip(" \t*`-#0123456789.")
        if before and not before.lower().endswith(("action:", ">")):
            at = call.end()
            continue
        end, is_closed = _end(text, call.end())
        repairs = () if is_closed else ("a missing end",)
        found.append(TextCall(call[1], _fields(text[call.end() : end]), repairs))
        at = end + 1
    return found


def _end(text: str, start: int) -> tuple[int, bool]:
    """Where the call's own bracket closes: before the next call, else as far right as one is."""
    following = next((one for one in _CALL.finditer(text, start) if _begins_line(text, one.start())), None)
    stop = following.start() if following else len(text)
    tag = text.find("</", start)
    if start <= tag < stop and text[start:tag].rstrip().endswith(")"):
        stop = tag
    last = text.rfind(")", start, stop)
    return (last, True) if last >= 0 else (stop, False)


def _begins_line(text: str, at: int) -> bool:
    return text[:at].rpartition("\n")[2].strip() in ("", "Action:") and "\n" in text[:at]


def _fields(inside: str) -> dict[str, Any]:
    """`name=value` pairs; what stands before the first name is no field."""
    found: dict[str, Any] = {}
    at = 0
    while name := _FIELD.search(inside, at):
        value, at = _value(inside, name.end())
        found.setdefault(name[1], value)
    return found


def _value(inside: str, at: int) -> tuple[Any, int]:
    here = inside[at : at + 1]
    if here and here in _QUOTES:
        following = _NEXT.search(inside, at + 1)
        while following and inside[following.start() - 1] not in _QUOTES:  # a comma inside the text
            following = _NEXT.search(inside, following.end())
        end = following.start() if following else len(inside)
        body = inside[at + 1 : end].rstrip()
        if body and body[-1] in _QUOTES:
            body = body[:-1]
        return _ESCAPE.sub(lambda one: _ESCAPED.get(one[1], one[0]), body), max(end, at + 1)
    reader = Lenient(inside, at)
    value = reader.value()
    return value, max(reader.at, at + 1)


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
    reader = Lenient(stripped, at)
    value = reader.value()
    prose = ("the action was inside other text",) if at else ()
    if {"a missing end", "a missing quote"} & set(reader.repairs):
        raise InvalidAction("the JSON of the answer has no end", path="", hint="Send it whole.")
    return value, (*prose, *reader.repairs)
