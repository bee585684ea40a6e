"""The shape of a parsed command line: plain data, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as written; quoted ones are neither split nor expanded as patterns."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`, or `${name OP word}` with OP one of :- - := = :+ + :? ? # ## % %% length."""

    name: str
    quoted: bool = False
    operator: str = ""
    word: Word = ()
    index: Word | None = None
    """`${name[index]}`; `@` and `*` are every element."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(script)` or backticks: the output, without its last newlines."""

    script: Script
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((expression))`."""

    expression: Word
    quoted: bool = False


Part: TypeAlias = Text | Variable | Substitution | Arithmetic
Word: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    """`fd OP target`, OP one of < > >> >& <& <<."""

    fd: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=word`, `name[index]=word`, `name+=word`, or with `values` an array `name=(…)`."""

    name: str
    word: Word = ()
    index: Word | None = None
    appends: bool = False
    values: tuple[Word, ...] | None = None


@dataclass(frozen=True, slots=True)
class Test:
    """`[[ … ]]`: its words, and its operators as plain text."""

    tokens: tuple[Word | str, ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, a command with its arguments, redirections."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """`{ … }`, or `( … )` as a subshell."""

    script: Script
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with their bodies in order, and the else part."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """`for name in words; do body; done`; without `in`, over the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """`while` or `until`."""

    condition: Script
    body: Script
    until: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """`case word in pattern|pattern) body;; … esac`."""

    word: Word
    arms: tuple[tuple[tuple[Word, ...], Script], ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """`name() body`."""

    name: str
    body: Node


Node: TypeAlias = Simple | Group | If | For | While | Case | Test | Function


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`, perhaps negated by `!`."""

    stages: tuple[Node, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """Pipelines joined by && and ||; `background` when it ended in &."""

    first: Pipeline
    rest: tuple[tuple[str, Pipeline], ...] = ()
    background: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Statements in order."""

    statements: tuple[Statement, ...]


class ShellSyntaxError(Exception):
    """The text is not a shell command; the message is mksh's, without its prefix."""
