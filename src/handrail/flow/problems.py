"""What is wrong in a file: each problem with its place, and all of them as one `InvalidAction`.

Also the code frame: the line in question with a caret under the column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from handrail.errors import InvalidAction
from handrail.flow.nodes import FieldEntry, Mark, Scalar

Level = Literal["error", "warning", "hint"]
MANY = 100
"""Who reads more problems than this? Looking for them ends there."""

_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_WIDTH = 100
_LONG = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or could be better, and where."""

    path: str
    message: str
    mark: Mark
    suggestion: str | None = None
    level: Level = "error"
    rule: str = "invalid"

    def to_dict(self) -> dict[str, Any]:
        meant = {"suggestion": self.suggestion} if self.suggestion else {}
        place = {"line": self.mark.line, "column": self.mark.column}
        return {"path": self.where, "message": self.message, **place, **meant}

    @property
    def where(self) -> str:
        """The path, cut where somebody wrote a book as a key."""
        return self.path if len(self.path) <= _LONG else f"{self.path[:_LONG]}…"

    @property
    def sentence(self) -> str:
        return f"{self.where}: {self.message}" if self.path else self.message


class Unreadable(Exception):
    """The text is neither YAML nor JSON, or uses what a flow may not use. Reading can't go on."""

    def __init__(self, message: str, mark: Mark, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem("", message, mark, suggestion, rule="syntax")


def given_twice(key: Scalar, first: FieldEntry, *, last_counts: bool = False) -> Problem:
    """The same key again in one mapping; a warning in a language where the last one counts."""
    message = f"{key.text[:60]!r} is given twice, first in line {first.key.start.line}"
    level: Level = "warning" if last_counts else "error"
    return Problem("", message, key.start, "Keep one of the two.", level, "duplicate-key")


def invalid_flow(problems: Sequence[Problem], path: Path | None) -> InvalidAction:
    """The first problem as the message, all of them as details."""
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    where = f"{path or 'flow'}:{first.mark.line}:{first.mark.column}: "
    return InvalidAction(
        f"{where}{first.sentence}{more}",
        hint=first.suggestion
        or "`handrail flow check` shows every problem with its line; docs/flows.md the language.",
        path=first.where,
        file=str(path) if path else None,
        line=first.mark.line,
        column=first.mark.column,
        problems=[one.to_dict() for one in problems[:MANY]],
    )


def frame(text: str, line: int, column: int) -> str:
    """The line before, the line itself, and a caret under the column; long lines are cut around it."""
    lines = _lines(text)
    if not 1 <= line <= len(lines):
        return ""
    width = len(str(line))
    cut = max(0, column - 1 - _WIDTH // 2)
    shown = [
        f"{number:>{width}} | {_visible(lines[number - 1][cut : cut + _WIDTH])}".rstrip()
        for number in range(max(1, line - 1), line + 1)
    ]
    return "\n".join([*shown, f"{' ' * width} | {' ' * (column - 1 - cut)}^"])


@lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    """A file with a hundred problems is asked a hundred times."""
    return _BREAK.split(text)


def _visible(text: str) -> str:
    """Control characters would move the caret, or the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)
