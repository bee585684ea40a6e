"""What one request to a model has cost, read from the bytes themselves, whatever the maker's protocol.

A server's own count is believed where it can be true. Else the words are counted, and that is said.
Knows neither HTTP nor prices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from handrail.agent.model import LETTERS, PICTURE_TOKENS

FRAME_BYTES = 8_192
"""What an answer has around its words; what it repeats of the question comes on top."""
TOKEN_BYTES = 24
"""The most that a token's share of an answer takes: four letters, each written as `\\uXXXX`."""
EVENT_BYTES = 1_000
"""The same in a stream, where every token has an event of its own."""
TOKEN_LETTERS = 8
"""A stream that has said more letters for each token that it may use does not keep to its limit."""
SLACK_LETTERS = 500
_FEWEST_OUT, _FEWEST_IN = 16, 64
"""Letters for one token, at most: a server that counts fewer tokens has not counted. What it is sent may be
cut by its template, so that is taken less strictly."""
_TEMPLATE_TOKENS = 2_000
_PICTURE_MOST = 20_000
_WORDS = frozenset(("arguments", "content", "delta", "partial_json", "refusal", "text", "thinking")) | {
    "reasoning",
    "reasoning_content",
}
_CALLS = frozenset(("input", "action", "actions"))
_IN = ("prompt_tokens", "input_tokens")
_OUT = ("completion_tokens", "output_tokens")
_CACHE = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Anthropic's alone: what its `input_tokens` leaves out."""
_FRAMING = (b"", b"data", b"event", b"id", b"retry")
"""What lines of a stream begin with; a comment has no name."""
_PICTURE = re.compile(rb'"(?:data:image/[^"]*|[A-Za-z0-9+/=]{1000,})"')


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of one request."""

    read: int = 0
    written: int = 0
    from_cache: int = 0
    to_cache: int = 0
    is_estimate: bool = False
    model: str = ""
    """Who answered, where that is said."""


@dataclass(slots=True)
class _Said:
    letters: int = 0
    reported: dict[str, int] = field(default_factory=dict)
    model: str = ""

    def add(self, more: _Said) -> None:
        """A later event of the same answer: its counts are sums so far."""
        self.letters += more.letters
        self.model = self.model or more.model
        for name, count in more.reported.items():
            self.reported[name] = max(count, self.reported.get(name, 0))


@dataclass(slots=True)
class HttpTry:
    """One request that was sent, and what has come back so far."""

    sent: bytes
    most_tokens: int
    """What the answer may use."""
    status: int | None = None
    is_stream: bool = False
    body: bytearray = field(default_factory=bytearray)
    _letters: int = 0
    _pictures: int = 0
    _read: int = 0
    _said: _Said = field(default_factory=_Said)

    def __post_init__(self) -> None:
        plain, self._pictures = _PICTURE.subn(b"", self.sent)
        self._letters = len(plain)

    def is_too_long(self) -> bool:
        """Whether more has come than a server sends that keeps to its limit."""
        each = EVENT_BYTES if self.is_stream else TOKEN_BYTES
        if len(self.body) > FRAME_BYTES + 2 * self._letters + each * self.most_tokens:
            return True
        return self.is_stream and self._heard().letters > SLACK_LETTERS + TOKEN_LETTERS * self.most_tokens

    def counted(self) -> TokenCount:
        """As the server says, or about. What was refused has cost what the refusal says."""
        heard, refused = self._heard(), self.status is not None and self.status >= 300
        said = heard.reported
        most_in = self._letters + self._pictures * _PICTURE_MOST + _TEMPLATE_TOKENS
        is_in = 0 < said.get("in", 0) <= most_in and said["in"] * _FEWEST_IN >= self._letters
        most_out = max(self.most_tokens, heard.letters)
        is_out = 0 <= said.get("out", -1) <= most_out and said["out"] * _FEWEST_OUT >= heard.letters
        about_in = 0 if refused else self._letters // LETTERS + self._pictures * PICTURE_TOKENS
        about_out = 0 if refused else -(-heard.letters // LETTERS)
        return TokenCount(
            said["in"] if is_in else about_in,
            said["out"] if is_out else about_out,
            said.get("read", 0) if is_in else 0,
            said.get("written", 0) if is_in else 0,
            is_estimate=not refused and not (is_in and is_out),
            model=heard.model,
        )

    def _heard(self) -> _Said:
        """All that the body says so far; a stream's finished lines are read once."""
        if not self.is_stream:
            return _said_in(bytes(self.body)) if self.body else _Said()
        end = self.body.rfind(b"\n") + 1
        for line in bytes(self.body[self._read : end]).splitlines():
            self._said.add(_said_by(line))
        self._read = end
        heard = _said_by(bytes(self.body[end:]))
        heard.add(self._said)
        return heard


def _said_by(line: bytes) -> _Said:
    """One line of a stream, or the beginning of one."""
    name, _, value = line.partition(b":")
    if name == b"data" and value.strip() != b"[DONE]":
        return _said_in(value)
    return _Said() if name in _FRAMING else _Said(letters=len(line))


def _said_in(data: bytes) -> _Said:
    """The words and the bill in one JSON value, also in the beginning of one; of anything else its size."""
    try:
        value = from_json(data, allow_partial="trailing-strings")
    except ValueError:
        return _Said(letters=len(data))
    found = _Said()
    for name, inner in _fields(value):
        if name == "usage" and isinstance(inner, dict):
            found.add(_Said(reported=_reported(inner)))
        elif name == "model" and isinstance(inner, str):
            found.model = found.model or inner
        elif isinstance(inner, str) and name in _WORDS:
            found.letters += len(inner.encode(errors="replace"))
        elif name in _CALLS and inner:
            found.letters += len(json.dumps(inner, ensure_ascii=False, default=str))
    is_answer = isinstance(value, dict) and bool(found.letters or found.reported or "choices" in value)
    return found if is_answer or _is_event(value) else _Said(letters=len(data))


def _is_event(value: Any) -> bool:
    """Anthropic's streams have events that say nothing."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and "error" not in value


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Of every object in it. Usage is a leaf: its parts are told apart by whoever reads it."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            yield from one.items()
            waiting += [inner for name, inner in one.items() if name != "usage" and name not in _CALLS]


def _reported(usage: dict[str, Any]) -> dict[str, int]:
    """What nobody can have counted is left out: fractions, texts, numbers below nothing."""

    def number(*names: str) -> int | None:
        found = [usage[name] for name in names if isinstance(usage.get(name), int)]
        return next((one for one in found if not isinstance(one, bool) and one >= 0), None)

    written, read = (number(name) or 0 for name in _CACHE)
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    told = {"in": number(*_IN), "out": number(*_OUT)}
    found = {name: count for name, count in told.items() if count is not None}
    if "in" in found:
        found["in"] += written + read
        found["read"] = cached if isinstance(cached, int) and cached > 0 else read
        found["written"] = written
    return found
