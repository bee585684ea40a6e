"""Java expressions as `-android uiautomator` takes them: constructors and chains of calls. Runs nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORDS = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?[fFdDlL]?)
    |(?P<name>[A-Za-z_$][\w$]*)|(?P<mark>[().,;]))""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
MOST_DEPTH = 30


class BadExpression(Exception):
    """Java's compiler, or Appium's small one, would not take it."""


@dataclass(frozen=True, slots=True)
class Called:
    """`.name(arguments)`."""

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """`new Name(arguments).call().call()`."""

    name: str
    arguments: tuple[Argument, ...]
    calls: tuple[Called, ...]


Argument = str | float | bool | Made


def read(text: str) -> list[Made]:
    """Every statement of a selector; a bare `.text("x")` and a missing `new` are understood too."""
    parser = _Parser(text)
    found = parser.statements()
    if not found:
        raise BadExpression("the selector is empty")
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._words: list[tuple[str, str]] = []
        self._at = 0
        self._depth = 0
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _WORDS.match(text, at)
            if match is None:
                raise BadExpression(f"unexpected {text[at:].strip()[:1]!r} in {text}")
            self._words.append((str(match.lastgroup), match[match.lastgroup or 0]))
            at = match.end()

    def statements(self) -> list[Made]:
        found: list[Made] = []
        while self._at < len(self._words):
            if self._take(";"):
                continue
            found.append(self._made())
            if self._at < len(self._words) and not self._take(";"):
                raise BadExpression(f"unexpected {self._word()!r}")
        return found

    def _word(self) -> str:
        return self._words[self._at][1] if self._at < len(self._words) else ""

    def _kind(self) -> str:
        return self._words[self._at][0] if self._at < len(self._words) else ""

    def _take(self, word: str) -> bool:
        taken = self._kind() in {"mark", "name"} and self._word() == word
        self._at += taken
        return taken

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise BadExpression(f"expected {word!r}, found {self._word()!r}")

    def _name(self) -> str:
        if self._kind() != "name":
            raise BadExpression(f"expected a name, found {self._word()!r}")
        self._at += 1
        return self._words[self._at - 1][1]

    def _made(self) -> Made:
        if self._word() == ".":
            return Made("UiSelector", (), self._calls())
        self._take("new")
        return Made(self._name(), self._arguments(), self._calls())

    def _calls(self) -> tuple[Called, ...]:
        found: list[Called] = []
        while self._take("."):
            found.append(Called(self._name(), self._arguments()))
        return tuple(found)

    def _arguments(self) -> tuple[Argument, ...]:
        self._expect("(")
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise BadExpression("too deep")
        found: list[Argument] = []
        while not self._take(")"):
            found.append(self._argument())
            if self._word() != ")":
                self._expect(",")
        self._depth -= 1
        return tuple(found)

    def _argument(self) -> Argument:
        kind, word = self._kind(), self._word()
        if kind == "text":
            self._at += 1
            return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), word[1:-1])
        if kind == "number":
            self._at += 1
            return float(word.rstrip("fFdDlL"))
        if word in {"true", "false"}:
            self._at += 1
            return word == "true"
        if word == "new" or word.startswith("Ui"):
            return self._made()
        return self._class()

    def _class(self) -> str:
        """`android.widget.Button.class`."""
        parts = [self._name()]
        while self._take("."):
            parts.append(self._name())
        return ".".join(parts).removesuffix(".class")
