"""`policy.toml` to rules. What is wrong with a file is said with its line, its key and what was meant."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, get_args

from handrail.engine.policy.parts import PARTS
from handrail.engine.policy.rule import Rule
from handrail.engine.policy.subject import SPANS, Kind
from handrail.engine.policy.values import Patterns, check_word, read_texts
from handrail.errors import InvalidAction, PolicyUnusable
from handrail.owned import open_plain
from handrail.protocol.read import nearest

_HEADER = re.compile(r"\s*\[\[\s*rule\s*\]\]\s*(?:#.*)?")
_MOST_RULES = 1_000


@dataclass(frozen=True, slots=True)
class ScriptRules:
    """What `run_script` may do once it is allowed."""

    shell: bool = False
    """A real shell, under the same limits."""
    allow: tuple[str, ...] = ()
    """Commands beyond the built-in list."""


@dataclass(frozen=True, slots=True)
class Document:
    """A policy file, read and checked."""

    rules: list[Rule] = field(default_factory=list)
    known_hosts: list[str] = field(default_factory=list)
    secrets: dict[str, Patterns] = field(default_factory=dict)
    """Which apps may be given a secret, by its name in capitals."""
    script: ScriptRules = field(default_factory=ScriptRules)
    uploads: list[str] = field(default_factory=list)
    """Patterns of files that a page may be given."""
    downloads: list[str] = field(default_factory=list)
    """Patterns of origins whose files are kept."""


MOST_BYTES = 1_000_000


def read_policy(path: Path) -> Document:
    """The rules of any file, for whoever looks at it. Raises `InvalidAction` with file, line and key."""
    try:
        with open_plain(path) as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, PolicyUnusable) as error:
        why = error.message if isinstance(error, PolicyUnusable) else f"{path}: {error.strerror or error}"
        raise InvalidAction(why, hint="Give a policy file that can be read.", path="") from None
    return parse_bytes(data, str(path))


def parse_bytes(data: bytes, name: str) -> Document:
    """As `read_policy`, from what a file holds."""
    if len(data) > MOST_BYTES:
        raise InvalidAction(f"{name}: more than {MOST_BYTES:,} bytes", hint="Shorten it.", path="")
    try:
        return parse_policy(data.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        hint = "Give a policy file that can be read."
        raise InvalidAction(f"{name}: it is not UTF-8: {error.reason}", hint=hint, path="") from None


def parse_policy(text: str, name: str = "policy.toml") -> Document:
    """As `read_policy`, from text."""
    return _Reading(text, name).document()


class _Reading:
    """One file being read; knows where its rules begin."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._lines = text.splitlines()
        try:
            self._data = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            line = re.search(r"line (\d+)", str(error))
            where = f"{name}:{line[1]}" if line else name
            place: dict[str, Any] = {"line": int(line[1])} if line else {}
            raise InvalidAction(
                f"{where}: not valid TOML: {error}", hint="Correct the line.", path="", file=name, **place
            ) from None

    def document(self) -> Document:
        self._only(self._data, ("rule", "known_hosts", "secrets", "script", "uploads", "downloads"), "")
        rules = self._data.get("rule", [])
        if not isinstance(rules, list) or not all(isinstance(one, dict) for one in rules):
            self._bad("rule", "rules are written as [[rule]] tables")
        if len(rules) > _MOST_RULES:
            self._bad("rule", f"{len(rules)} rules are too many; at most {_MOST_RULES} are read")
        heads = [number for number, line in enumerate(self._lines, 1) if _HEADER.fullmatch(line)]
        lines = heads if len(heads) == len(rules) else [None] * len(rules)  # inline tables have no header
        return Document(
            [self._rule(one, at, line) for at, (one, line) in enumerate(zip(rules, lines, strict=True))],
            self._texts(self._data, "known_hosts", "known_hosts"),
            self._secrets(),
            self._script(),
            self._texts(self._data, "uploads", "uploads"),
            self._texts(self._data, "downloads", "downloads"),
        )

    def _secrets(self) -> dict[str, Patterns]:
        table = self._data.get("secrets", {})
        if not isinstance(table, dict):
            self._bad("secrets", 'is a table: [secrets], then NAME = "https://bank.example"')
        found = {}
        for name, value in table.items():
            try:
                found[name.upper()] = Patterns.read(value)
            except ValueError as error:
                self._bad(f"secrets.{name}", str(error))
        return found

    def _script(self) -> ScriptRules:
        table = self._data.get("script", {})
        if not isinstance(table, dict):
            self._bad("script", "is a table: [script]")
        self._only(table, ("shell", "allow"), "script.")
        shell = table.get("shell", False)
        if not isinstance(shell, bool):
            self._bad("script.shell", "must be true or false")
        return ScriptRules(shell, tuple(self._texts(table, "allow", "script.allow")))

    def _rule(self, table: Mapping[str, Any], at: int, line: int | None) -> Rule:
        prefix = f"rule[{at}]."
        self._only(table, READERS, prefix, line)
        if "verdict" not in table:
            self._bad(f"{prefix}verdict", f"is required: {', '.join(get_args(Kind))}", line=line)
        values: dict[str, Any] = {}
        for key, value in table.items():
            try:
                values[key] = READERS[key](value)
            except ValueError as error:
                self._bad(prefix + key, str(error), line=self._line_of(key, line))
        self._no_empty_memory(values, prefix, line)
        parts = [values.pop(name) for name in PARTS if name in values]
        if values["verdict"] != "allow":
            parts = [part.for_limit() for part in parts]
        parts.sort(key=lambda part: part.key.needs_screen)  # what the act alone tells is cheaper to ask
        values["name"] = values.get("name") or f"rule {at + 1}"
        return Rule(**values, line=line, parts=tuple(parts))

    def _no_empty_memory(self, values: Mapping[str, Any], prefix: str, line: int | None) -> None:
        if values.get("remember", "never") != "never" and values["verdict"] != "ask":
            where = self._line_of("remember", line)
            self._bad(f"{prefix}remember", "only an answer to `ask` can be remembered", line=where)

    def _texts(self, table: Mapping[str, Any], key: str, path: str) -> list[str]:
        try:
            return read_texts(table.get(key, []))
        except ValueError as error:
            self._bad(path, str(error))

    def _only(
        self, table: Mapping[str, Any], known: Iterable[str], prefix: str, line: int | None = None
    ) -> None:
        for key in table:
            if key not in known:
                close = nearest(key, known)
                hint = f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(known)}."
                self._bad(prefix + key, "is not a known key", hint, self._line_of(key, line))

    def _line_of(self, key: str, after: int | None) -> int | None:
        """Where a key stands: below its rule's header, or the first time in the file."""
        wanted = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=\].]")
        for number, line in enumerate(self._lines[after or 0 :], (after or 0) + 1):
            if after and _HEADER.fullmatch(line):
                return after
            if wanted.match(line):
                return number
        return after

    def _bad(self, path: str, what: str, hint: str = "", line: int | None = None) -> NoReturn:
        where = f"{self._name}:{line}" if line else self._name
        place: dict[str, Any] = {"line": line} if line else {}
        raise InvalidAction(
            f"{where}: {path}: {what}",
            hint=hint or "docs/safety.md has every key of a rule.",
            path=path,
            file=self._name,
            **place,
        )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


READERS: dict[str, Callable[[object], Any]] = {
    **{name: key.part for name, key in PARTS.items()},
    "verdict": partial(check_word, known=get_args(Kind)),
    "remember": partial(check_word, known=SPANS),
    "name": _text,
    "why": _text,
}
"""Every key of a rule and how it is read."""
