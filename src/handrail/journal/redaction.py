"""Text in, text without secrets out: whole values in every form they take, and parts of them in plain words.

Knows values and names, no device and no store. What stands in a placeholder already is left alone.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

PLACEHOLDER = re.compile(r"\$\{secret:([^}]*)\}")
Redact = Callable[[str], str]

SHORT = 4
XML_QUOTES: tuple[dict[str, str], ...] = (
    {},
    {'"': "&quot;"},
    {'"': "&quot;", "'": "&apos;"},
    {'"': "&quot;", "'": "&#39;"},
)
"""Which quotes a writer of XML escapes depends on the writer."""


def placeholder(name: str) -> str:
    """What stands for a secret wherever it may not be seen."""
    return f"${{secret:{name}}}"


def is_placeholder(value: object) -> bool:
    """The text is nothing but a placeholder: what is behind it may not be told."""
    return isinstance(value, str) and PLACEHOLDER.fullmatch(value) is not None


def redact_outside_placeholders(text: str, names: Collection[str], redact: Redact) -> str:
    """Redacted between the placeholders of these names: one that stands there already is not torn apart."""
    if "${secret:" not in text:
        return redact(text)
    parts, end = [], 0
    for match in PLACEHOLDER.finditer(text):
        if match[1] in names:
            parts += [redact(text[end : match.start()]), match[0]]
            end = match.end()
    return "".join([*parts, redact(text[end:])])


class Redaction:
    """Callable: text in, text without secrets out."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Every name that was ever given: its placeholder holds no secret."""
        self._forms: dict[str, str] = {}
        self._short: dict[str, str] = {}
        self._all: tuple[str, ...] = ()
        self._pattern: re.Pattern[str]
        """Made with the first value."""

    def add(self, name: str, value: str) -> None:
        """From now on this value is `${secret:NAME}`. The first name of a value stays."""
        if not value:
            return
        self.names.add(name)
        into = self._forms if len(value) >= SHORT else self._short
        for form in forms_of(value):
            into.setdefault(form, placeholder(name))
        longest_first = sorted(self._forms, key=len, reverse=True)
        anywhere = [re.escape(form) for form in longest_first]
        short_values = [rf"(?:(?<=[\"'>=])|^){re.escape(form)}(?=[\"'<]|\Z)" for form in self._short]
        self._pattern = re.compile("|".join([*anywhere, *short_values]))
        self._all = (*self._forms, *self._short)  # last: another thread may redact meanwhile

    def __call__(self, text: str) -> str:
        for form in self._all:  # plain searches are far faster than the pattern, and nearly always fail
            if form in text:
                return redact_outside_placeholders(text, self.names, self._replaced)
        return text

    def _replaced(self, text: str) -> str:
        return self._pattern.sub(lambda match: self._forms.get(match[0]) or self._short[match[0]], text)

    @property
    def longest(self) -> int:
        return max(map(len, self._all), default=0)


RUN = 4
"""Characters in a row that tell too much of a secret."""


class SecretRuns:
    """Callable: hides every run of four or more characters that stands in one of the values like that."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[int, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def add(self, name: str, value: str) -> bool:
        """Whether there was anything new in it. A run of several values gets the longest one's name."""
        before = len(self._of)
        rank = (len(value), placeholder(name))
        for written in {value, " ".join(value.split())}:
            for at in range(len(written) - RUN + 1):
                run = written[at : at + RUN]
                if not run.isspace() and rank[0] > self._of.get(run, (0, ""))[0]:
                    self._of[run] = rank
        return len(self._of) > before

    def name_in(self, text: str) -> str | None:
        """The placeholder of the first run in a text; None where there is none."""
        names = self._of
        for at in range(len(text) - RUN + 1):
            if text[at : at + RUN] in names:
                return names[text[at : at + RUN]][1]
        return None

    def __call__(self, text: str) -> str:
        if self.name_in(text) is None:
            return text
        names, parts, at, shown = self._of, [], 0, 0
        while at <= len(text) - RUN:
            if text[at : at + RUN] not in names:
                at += 1
                continue
            parts += [text[shown:at], names[text[at : at + RUN]][1]]
            while at <= len(text) - RUN and text[at : at + RUN] in names:
                at += 1
            shown = at = at + RUN - 1
        return "".join([*parts, text[shown:]])


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
    # The standard library's function for XML would bring all of its HTTP client along.
    bare = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    marked_up = []
    for quotes in XML_QUOTES:
        text = bare
        for char, entity in quotes.items():
            text = text.replace(char, entity)
        marked_up.append(text)
    in_shell = value.replace("'", "'\"'\"'")
    for text in (value, *marked_up, value.replace(" ", "%s"), in_shell):
        yield text
        for ascii_only in (True, False):
            form = text
            for _ in range(3):  # JSON in JSON in JSON: an event is one document, and may quote others
                form = json.dumps(form, ensure_ascii=ascii_only)[1:-1]
                yield form
    data = value.encode(errors="surrogatepass")
    in_form = quote_plus(data)
    for text in (in_form, in_form.replace("+", "%20"), quote(data)):
        yield text
        yield re.sub("%..", lambda match: match[0].lower(), text)
    # A value looks different at each of three offsets; the letters at its edges also hold its neighbours.
    for before, first in ((0, 0), (1, 2), (2, 3)):
        bits = (before + len(data)) * 8
        inner = base64.b64encode(bytes(before) + data).decode()[first : bits // 6]
        if len(inner) > SHORT:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")
