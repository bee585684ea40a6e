"""Finding secret values in text: as they are, and as JSON, XML, URLs, shells and base64 write them.

Pure. A value of fewer than four characters is found only where it is a whole string or a whole quoted value:
anywhere else it would tear holes into numbers and words that have nothing to do with it.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

Redact = Callable[[str], str]

SHORT = 4
XML_QUOTES: tuple[dict[str, str], ...] = (
    {},
    {'"': "&quot;"},
    {'"': "&quot;", "'": "&apos;"},
    {'"': "&quot;", "'": "&#39;"},
)
"""Which quotes a writer of XML escapes depends on the writer."""


class Redaction:
    """Callable: text in, text without secrets out."""

    def __init__(self) -> None:
        self._forms: dict[str, str] = {}
        self._short: dict[str, str] = {}
        self._all: tuple[str, ...] = ()
        self._pattern: re.Pattern[str] | None = None

    def add(self, name: str, value: str) -> None:
        """From now on this value is `${secret:NAME}`. The first name of a value stays."""
        if not value or value in self._forms or value in self._short:
            return
        into = self._forms if len(value) >= SHORT else self._short
        for form in forms_of(value):
            into.setdefault(form, f"${{secret:{name}}}")
        self._all = (*self._forms, *self._short)
        self._pattern = self._compile()

    def __call__(self, text: str) -> str:
        if self._pattern is None or not self._may_hold(text):
            return text
        return self._pattern.sub(self._name, text)

    @property
    def longest(self) -> int:
        return max(map(len, self._all), default=0)

    def _may_hold(self, text: str) -> bool:
        """Plain searches are far faster than the pattern, and nearly always the answer is no."""
        for form in self._all:  # noqa: SIM110  (`any` with a generator takes three times as long)
            if form in text:
                return True
        return False

    def _name(self, found: re.Match[str]) -> str:
        return self._forms.get(found[0]) or self._short[found[0]]

    def _compile(self) -> re.Pattern[str]:
        longest_first = sorted(self._forms, key=len, reverse=True)
        anywhere = [re.escape(form) for form in longest_first]
        whole = [rf"(?:(?<=[\"'>=])|^){re.escape(form)}(?=[\"'<]|\Z)" for form in self._short]
        return re.compile("|".join([*anywhere, *whole]))


def redact_data(value: Any, redact: Redact) -> Any:
    """JSON data with every string in it redacted, keys included. What was given stays as it is."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(str(key)): redact_data(inner, redact) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_data(inner, redact) for inner in value]
    return value


def forms_of(value: str) -> Iterator[str]:
    """The value, and what it looks like where it was written by a program."""
    yield value
    marked_up = [_escaped(value, quotes) for quotes in XML_QUOTES]
    for text in (value, *marked_up, value.replace(" ", "%s"), shlex.quote(value)[1:-1]):
        for form in (text, *_json_forms(text)):
            yield from _worth(value, form)
    for text in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield from _worth(value, text)
        yield from _worth(value, re.sub("%..", lambda found: found[0].lower(), text))
    if len(value) >= SHORT:
        yield from _base64_forms(value.encode(errors="surrogatepass"))


def _json_forms(text: str) -> Iterator[str]:
    """JSON in JSON in JSON: an event is one document, and may quote others."""
    for ascii_only in (True, False):
        form = text
        for _ in range(3):
            form = json.dumps(form, ensure_ascii=ascii_only)[1:-1]
            yield form


def _worth(value: str, form: str) -> Iterator[str]:
    """Not the half of a value: `shlex.quote` quotes only what needs it."""
    if len(form) >= len(value):
        yield form


def _base64_forms(data: bytes) -> Iterator[str]:
    """A value looks different at each of three offsets; the letters at its edges also hold its neighbours."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        first = -(-before * 8 // 6)
        bits = (before + len(data)) * 8
        inner = whole[first : bits // 6]
        if len(inner) >= SHORT + 1:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")


def _escaped(value: str, quotes: dict[str, str]) -> str:
    """As XML writes it. The standard library's own function would bring all of its HTTP client along."""
    for char, entity in {"&": "&amp;", "<": "&lt;", ">": "&gt;", **quotes}.items():
        value = value.replace(char, entity)
    return value
