"""Secrets by name: `${secret:NAME}` is filled at dispatch and replaces the value wherever it is written.

Values come from the environment, a private file, the keyring, or an answer to an approval. They leave only
through `fill`; neither `repr` nor an error shows one.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from handrail.errors import InvalidAction
from handrail.journal.redaction import PLACEHOLDER, Redaction, redact_data

PREFIX = "HANDRAIL_SECRET_"
SERVICE = "handrail"
"""Our service name in the keyring."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class Keyring(Protocol):
    """The part of the `keyring` package that is used."""

    def get_password(self, service_name: str, username: str) -> str | None: ...


def system_keyring() -> Keyring | None:
    """Returns None if the optional `keyring` package is not installed."""
    try:
        keyring: Keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    return keyring


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with its secrets filled in, which must not be written anywhere; `repr` does not show it."""

    text: str = field(repr=False)
    names: tuple[str, ...] = ()
    template: str = ""
    """The text with placeholders."""


class Secrets:
    """The secrets that can be filled in. Every value is redacted, whether it was used or not."""

    def __init__(
        self,
        env: Mapping[str, str],
        file: Path | None = None,
        keyring: Callable[[], Keyring | None] = lambda: None,
    ) -> None:
        """`keyring` is called only if a secret is nowhere else: its package is slow to import."""
        self._variables = env
        self._keyring = keyring
        self._added: dict[str, str] = {}
        self._dropped: dict[str, list[str]] = {}
        self._redaction = Redaction()
        self._refused: InvalidAction | None = None
        self._file: dict[str, str] = {}
        try:
            self._file = read_file(file) if file is not None else {}
        except InvalidAction as error:  # raised only when a secret is needed
            self._refused = error
        for name, value in self._file.items():
            self._redaction.add(name, value)
        self.learn_environment()

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self.names())})"

    @property
    def _env(self) -> dict[str, str]:
        """Those of the client that acts now, if several share this process."""
        env = self._variables
        return {key.removeprefix(PREFIX): env[key] for key in env if key.startswith(PREFIX) and env[key]}

    def learn_environment(self) -> None:
        """Redacts the values in the environment from now on."""
        for name, value in self._env.items():
            self._redaction.add(name, value)

    def names(self) -> list[str]:
        """Known names, without those of the keyring, which can't be listed."""
        return sorted({*self._env, *self._file, *self._added})

    def add(self, name: str, value: str) -> None:
        """Adds a temporary secret, such as a code from an approval."""
        self._added[name] = value
        self._redaction.add(name, value)

    def drop(self, name: str) -> None:
        """It can't be filled in any more. Its value stays redacted as long as this process lives."""
        if name in self._added:
            self._dropped.setdefault(name, []).append(self._added.pop(name))

    def placeholders(self, text: str) -> list[str]:
        """Names in a text, in order, each once."""
        return list(dict.fromkeys(PLACEHOLDER.findall(text)))

    def fill(self, text: str) -> Filled:
        """Raises `InvalidAction` for a name without a value."""
        names = self.placeholders(text)
        values = {name: self.value(name) for name in names}
        return Filled(PLACEHOLDER.sub(lambda match: values[match[1]], text), tuple(names), text)

    def value(self, name: str) -> str:
        """The value is redacted from now on. Raises `InvalidAction`."""
        if not NAME.fullmatch(name):
            raise _missing(name, "is not a secret's name", self.names())
        secret = self._find(name)
        if secret is None and self._refused is not None:
            raise self._refused
        if secret is None:
            raise _missing(name, "is not known", self.names())
        self._redaction.add(name, secret)
        return secret

    def values_of(self, name: str) -> list[str]:
        """Every value that this process knows for a name, including dropped ones."""
        value = self._find(name) if NAME.fullmatch(name) else None
        return [*([value] if value is not None else []), *self._dropped.get(name, ())]

    def redact(self, text: str) -> str:
        """Replaces every known value, in every encoding, by its placeholder."""
        return self._redaction(text)

    def redact_data(self, value: Any) -> Any:
        return redact_data(value, self.redact)

    def names_in(self, text: str) -> list[str]:
        """Names of the secrets whose full value is in a text, in order, each once."""
        return self.placeholders(self._redaction(text)) if self.used else []

    @property
    def placeholder_names(self) -> set[str]:
        """Names whose placeholders are never redacted again."""
        return self._redaction.names

    @property
    def used(self) -> bool:
        """Whether there is anything to redact."""
        return bool(self._redaction.longest)

    @property
    def longest(self) -> int:
        """Length of the longest form of a value, which a cut through a text may leave half of."""
        return self._redaction.longest

    def _find(self, name: str) -> str | None:
        for source in (self._added, self._env, self._file):
            for spelling in (name, name.upper()):
                if spelling in source:
                    return source[spelling]
        keyring = self._keyring()
        return keyring.get_password(SERVICE, name) if keyring else None


def _missing(name: str, what: str, available: list[str]) -> InvalidAction:
    listed = ", ".join(available) or "none"
    return InvalidAction(
        f"secret {name!r} {what}; there are: {listed}",
        hint=f"Set {PREFIX}{name.upper()}, or add a line {name}=… to the file config/secrets (mode 0600).",
        path="text",
        known=available,
    )


def read_file(path: Path) -> dict[str, str]:
    """`NAME=value` lines; the value is everything after the first `=`. Empty if there is no file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a FIFO would block
        with open(handle, encoding="utf-8") as file:
            _must_be_private(path, os.fstat(handle))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidAction(f"{path} can't be read: {type(error).__name__}", path="secrets") from None
    secrets = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            name, separator, value = line.partition("=")
            if not separator or not NAME.fullmatch(name.strip()) or not value:
                raise InvalidAction(
                    f"{path} line {number} is not NAME=value",
                    hint="Write one NAME=value a line.",
                    path="secrets",
                )
            secrets[name.strip()] = value
    return secrets


def _must_be_private(path: Path, opened: os.stat_result) -> None:
    """Nobody else may read, write or replace the file or what it links to."""
    real = path.resolve()
    if not stat.S_ISREG(opened.st_mode):
        raise _refused(path, "is not a regular file", f"rm {shlex.quote(str(path))}")
    if opened.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        what = f"can be read by others (mode {stat.S_IMODE(opened.st_mode):04o})"
        raise _refused(real, what, f"chmod 600 {shlex.quote(str(real))}")
    if opened.st_uid not in (os.getuid(), 0):
        raise _refused(real, "belongs to another user", f"chown {os.getuid()} {shlex.quote(str(real))}")
    for file in {path.absolute(), real}:
        for folder in file.parents:
            mode = folder.stat().st_mode
            others = stat.S_IWOTH | (stat.S_IWGRP if folder == file.parent else 0)
            if mode & others and not mode & stat.S_ISVTX:
                what = f"is in {folder}, which others can write (mode {stat.S_IMODE(mode):04o})"
                raise _refused(file, what, f"chmod go-w {shlex.quote(str(folder))}")


def _refused(path: Path, what: str, hint: str) -> InvalidAction:
    return InvalidAction(f"{path} {what}", hint=hint, path="secrets")
