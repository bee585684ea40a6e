"""Secrets by name: `${secret:NAME}` is filled at dispatch and put back wherever a value would be written.

Values come from the environment, a file that only its owner can read, the keyring, or an approval's answer.
They leave this object through `fill` alone; neither `repr` nor an error shows one.
"""

from __future__ import annotations

import base64
import importlib
import json
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, quote_plus

from handrail.errors import InvalidAction

PREFIX = "HANDRAIL_SECRET_"
SERVICE = "handrail"
"""The keyring's name for us."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
PLACEHOLDER = re.compile(r"\$\{secret:([^}]*)\}")


class Keyring(Protocol):
    """What we ask of the `keyring` package."""

    def get_password(self, service_name: str, username: str) -> str | None: ...


def system_keyring() -> Keyring | None:
    """The desktop's keyring where the optional `keyring` package is installed."""
    try:
        found: Keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    return found


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with its secrets in it. It must not be written anywhere, so `repr` does not show it."""

    text: str = field(repr=False)
    names: tuple[str, ...] = ()


class Secrets:
    """What may be filled in, and what must not be seen. Every value known here is redacted, used or not."""

    def __init__(
        self, env: Mapping[str, str], file: Path | None = None, keyring: Keyring | None = None
    ) -> None:
        self._env = {key.removeprefix(PREFIX): env[key] for key in env if key.startswith(PREFIX) and env[key]}
        self._keyring = keyring
        self._added: dict[str, str] = {}
        self._redaction = Redaction()
        self._refused: InvalidAction | None = None
        self._file: dict[str, str] = {}
        try:
            self._file = read_file(file) if file is not None else {}
        except InvalidAction as error:  # only who needs a secret has to hear of it
            self._refused = error
        for name, value in (*self._file.items(), *self._env.items()):
            self._redaction.add(name, value)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self.names())})"

    def names(self) -> list[str]:
        """The names there are; a keyring can't be listed."""
        return sorted({*self._env, *self._file, *self._added})

    def add(self, name: str, value: str) -> None:
        """A secret for a while: a code that a person gave with an approval."""
        self._added[name] = value
        self._redaction.add(name, value)

    def drop(self, name: str) -> None:
        """It can't be filled in any more; its value is redacted as long as this process lives."""
        self._added.pop(name, None)

    def placeholders(self, text: str) -> list[str]:
        """The names in a text, in order, each once."""
        return list(dict.fromkeys(PLACEHOLDER.findall(text)))

    def fill(self, text: str) -> Filled:
        """The text with values for placeholders. Raises `InvalidAction` for a name without a value."""
        names = self.placeholders(text)
        values = {name: self.value(name) for name in names}
        return Filled(PLACEHOLDER.sub(lambda found: values[found[1]], text), tuple(names))

    def value(self, name: str) -> str:
        """The value behind a name, which from now on is redacted."""
        if not NAME.fullmatch(name):
            raise _missing(name, "is not a secret's name", self.names())
        found = self._find(name)
        if found is None and self._refused is not None:
            raise self._refused
        if found is None:
            raise _missing(name, "is not known", self.names())
        self._redaction.add(name, found)
        return found

    def redact(self, text: str) -> str:
        """The text with `${secret:NAME}` in place of every value known here, in every form."""
        return self._redaction(text)

    def redact_data(self, value: Any) -> Any:
        """A copy of JSON data with every string redacted."""
        return redact_data(value, self.redact)

    @property
    def used(self) -> bool:
        """Whether there is anything to redact."""
        return bool(self._redaction.longest)

    @property
    def longest(self) -> int:
        """Length of the longest form of a value: what a cut through a text may leave half of."""
        return self._redaction.longest

    def _find(self, name: str) -> str | None:
        for source in (self._added, self._env, self._file):
            for spelling in (name, name.upper()):
                if spelling in source:
                    return source[spelling]
        return self._keyring.get_password(SERVICE, name) if self._keyring else None


def _missing(name: str, what: str, known: list[str]) -> InvalidAction:
    listed = ", ".join(known) or "none"
    return InvalidAction(
        f"secret {name!r} {what}; there are: {listed}",
        hint=f"Set {PREFIX}{name.upper()}, or add a line {name}=… to the file config/secrets (mode 0600).",
        path="text",
        known=known,
    )


def read_file(path: Path) -> dict[str, str]:
    """`NAME=value` lines; the value is everything after the first `=`. Empty when there is no file."""
    try:
        mode = path.stat().st_mode
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InvalidAction(
                f"{path} can be read by others (mode {stat.S_IMODE(mode):04o})",
                hint=f"chmod 600 {path}",
                path="secrets",
            )
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidAction(f"{path} can't be read: {type(error).__name__}", path="secrets") from None
    found = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            name, separator, value = line.partition("=")
            if not separator or not NAME.fullmatch(name.strip()) or not value:
                raise InvalidAction(
                    f"{path} line {number} is not NAME=value",
                    hint="Write one NAME=value a line.",
                    path="secrets",
                )
            found[name.strip()] = value
    return found


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
        self._pattern: re.Pattern[str]
        """Made with the first value."""

    def add(self, name: str, value: str) -> None:
        """From now on this value is `${secret:NAME}`. The first name of a value stays."""
        if not value:
            return
        into = self._forms if len(value) >= SHORT else self._short
        for form in forms_of(value):
            into.setdefault(form, f"${{secret:{name}}}")
        self._pattern = self._compile()
        self._all = (*self._forms, *self._short)  # last: another thread may redact meanwhile

    def __call__(self, text: str) -> str:
        for form in self._all:  # plain searches are far faster than the pattern, and nearly always fail
            if form in text:
                return self._pattern.sub(self._name, text)
        return text

    @property
    def longest(self) -> int:
        return max(map(len, self._all), default=0)

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
    marked_up = [_escaped(value, quotes) for quotes in XML_QUOTES]
    in_shell = value.replace("'", "'\"'\"'")
    for text in (value, *marked_up, value.replace(" ", "%s"), in_shell):
        yield text
        yield from _json_forms(text)
    data = value.encode(errors="surrogatepass")
    in_form = quote_plus(data)
    for text in (in_form, in_form.replace("+", "%20"), quote(data)):
        yield text
        yield re.sub("%..", lambda found: found[0].lower(), text)
    yield from _base64_forms(data)


def _json_forms(text: str) -> Iterator[str]:
    """JSON in JSON in JSON: an event is one document, and may quote others."""
    for ascii_only in (True, False):
        form = text
        for _ in range(3):
            form = json.dumps(form, ensure_ascii=ascii_only)[1:-1]
            yield form


def _base64_forms(data: bytes) -> Iterator[str]:
    """A value looks different at each of three offsets; the letters at its edges also hold its neighbours."""
    for before, first in ((0, 0), (1, 2), (2, 3)):
        bits = (before + len(data)) * 8
        inner = base64.b64encode(bytes(before) + data).decode()[first : bits // 6]
        if len(inner) > SHORT:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")


def _escaped(value: str, quotes: dict[str, str]) -> str:
    """As XML writes it. The standard library's own function would bring all of its HTTP client along."""
    for char, entity in {"&": "&amp;", "<": "&lt;", ">": "&gt;", **quotes}.items():
        value = value.replace(char, entity)
    return value
