"""The text of a screen as a program reads it back: every line with its ref, name, value and states.

Nothing else of a page is known to a scripted solution.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = re.compile(r"(?P<indent> *)(?:@(?P<letter>[a-z])(?P<first>\d+)(?:-(?P<last>\d+))? ?)?(?P<rest>.*)")
_COUNT = re.compile(r"\d+× ")
_NOT_A_NAME = re.compile(r"[(#↑↓←→]")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class SeenLine:
    """One line. `ref` is empty for what can't be acted on; its letter is the kind."""

    ref: str
    name: str
    value: str | None = None
    """What a field holds; None for what is no field."""
    tail: str = ""
    """Everything after the name: states, and where it is."""
    depth: int = 0

    @property
    def kind(self) -> str:
        return self.ref[1:2]

    @property
    def parts(self) -> list[str]:
        return self.name.split(" · ")


@dataclass(frozen=True, slots=True)
class SeenScreen:
    """All lines, from top to bottom."""

    lines: list[SeenLine] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> SeenScreen:
        return cls([line for splitline in text.splitlines()[1:] for line in _read(splitline)])

    def of(self, kinds: str) -> list[SeenLine]:
        """Those of these kinds."""
        return [line for line in self.lines if line.ref and line.kind in kinds]

    def named(self, name: str, kinds: str = "") -> SeenLine | None:
        """What can be acted on by this name: exactly so, else without case."""
        able = [line for line in self.lines if line.ref and (not kinds or line.kind in kinds)]
        exact = next((line for line in able if line.name == name), None)
        return exact or next((line for line in able if line.name.casefold() == name.casefold()), None)

    def says(self) -> list[str]:
        """Every text and name, piece by piece."""
        return [part for line in self.lines for part in (*line.parts, line.value or "") if part]


def _read(text: str) -> Iterator[SeenLine]:
    found = _LINE.fullmatch(text)
    if found is None:
        return
    rest, name, value = _COUNT.sub("", found["rest"], count=1), "", None
    if rest.startswith('"'):
        name, rest = _quoted(rest)
    elif found["letter"] and not _NOT_A_NAME.match(rest):
        name, rest = rest, ""
    if " = " in rest:
        before, _, after = rest.partition(" = ")
        value, rest = _quoted(after)
        rest = f"{before} {rest}"
    elif re.search(r"(?:^| )empty\b", rest):
        value = ""
    depth, letter = len(found["indent"]), found["letter"]
    if not letter:
        yield SeenLine("", name, value, rest.strip(), depth)
        return
    for number in range(int(found["first"]), int(found["last"] or found["first"]) + 1):
        yield SeenLine(f"@{letter}{number}", name, value, rest.strip(), depth)


def _quoted(text: str) -> tuple[str, str]:
    try:
        value, end = _DECODER.raw_decode(text)
    except ValueError:
        return text, ""
    return str(value), text[end:]
