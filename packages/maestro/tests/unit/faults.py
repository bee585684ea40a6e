"""Single faults put into good Maestro flows, each with the line that must be named."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from handrail.flow.parse import Scalar
from handrail_maestro.expressions import EXPRESSION
from handrail_maestro.read import read, walk
from handrail_maestro.words import WORDS, options_of

_ITEM = re.compile(r"^(\s*- )([a-zA-Z]+)(:.*|)$")
_OPTION = re.compile(r"^(\s+)([a-zA-Z]+):( .+|)$")


GONE = ("parts/gone.yaml", "gone.js", "parts", "/etc/hostname", "../../../etc/passwd", "parts/write_note.yml")
"""Files that are not there, or not inside."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A text with one thing wrong, and where."""

    kind: str
    text: str
    line: int


class Faults:
    """The faults of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text()
        self.lines = self.text.split("\n")
        made = read(self.text, path)
        self.commands = list(walk(made.every))

    def all(self) -> Iterator[Fault]:
        for make in (self._names, self._options, self._values, self._scripts, self._files, self._shapes):
            yield from make()

    def _with(self, kind: str, line: int, change: Callable[[str], str]) -> Iterator[Fault]:
        """The line changed, if that changes it."""
        new = change(self.lines[line - 1])
        if new != self.lines[line - 1]:
            text = "\n".join([*self.lines[: line - 1], new, *self.lines[line:]])
            yield Fault(kind, text, line)

    def _names(self) -> Iterator[Fault]:
        for one in self.commands:
            for wrong in (one.name + "s", one.name[:-1], one.name[0].upper() + one.name[1:], "wait"):
                if wrong not in WORDS:
                    yield from self._with(
                        "unknown command",
                        one.mark.line,
                        lambda text, w=wrong, n=one.name: text.replace(n, w, 1),
                    )

    def _options(self) -> Iterator[Fault]:
        for one in self.commands:
            for key, entry in one.options.entries.items():
                at = entry.key.start
                if at.line == one.mark.line or WORDS[one.name].loose:
                    continue
                for wrong in (key + "x", key[:-1] + "q", key.upper()):
                    if wrong not in options_of(one.name):
                        yield from self._with(
                            "misspelt option", at.line, lambda text, w=wrong, k=key: text.replace(k, w, 1)
                        )
                spare = " " * (at.column - 1)
                line = self.lines[at.line - 1]
                text = "\n".join(
                    [*self.lines[: at.line - 1], f"{spare}bogus: 1", line, *self.lines[at.line :]]
                )
                yield Fault("unknown option", text, at.line)

    def _values(self) -> Iterator[Fault]:
        wrong = {
            "switch": ("maybe", "yes", "1"), "whole": ("many", "1.5x", "${1}"), "number": ("soon", "3 s"),
            "direction": ("SIDEWAYS", "NORTH"), "key": ("Entr", "F13"), "point": ("middle", "50%;50%"),
            "onoff": ("on", "maybe"), "orientation": ("SLANTED",), "selectors": ("one",), "points": ("here",),
            "condition": ("visible",), "env": ("NAME",),
        }  # fmt: skip
        for one in self.commands:
            known = options_of(one.name)
            for key, entry in one.options.entries.items():
                node = entry.value
                if not isinstance(node, Scalar) or node.start.line != entry.key.start.line:
                    continue
                for value in wrong.get(known.get(key, ""), ()):
                    yield from self._with(
                        "wrong type",
                        node.start.line,
                        lambda text, v=value, n=node: text[: n.start.column - 1] + v,
                    )
                if known.get(key) == "pattern" and "${" not in node.text:
                    for value in ('"[abc"', '"(x"', '"*a"'):
                        yield from self._with(
                            "bad pattern",
                            node.start.line,
                            lambda text, v=value, n=node: text[: n.start.column - 1] + v,
                        )

    def _scripts(self) -> Iterator[Fault]:
        for number, line in enumerate(self.lines, 1):
            if "${" in line and "\\${" not in line and not re.search(r"(start|end|file):", line):
                for wrong in ("${1 +}", "${(}", "${let = }", "${a b}"):
                    yield from self._with(
                        "broken script",
                        number,
                        lambda text, w=wrong: EXPRESSION.sub(lambda _: w, text, count=1),
                    )

    def _files(self) -> Iterator[Fault]:
        for one in self.commands:
            if one.name in ("runFlow", "retry", "runScript") and one.text("file"):
                node = one.option("file")
                assert isinstance(node, Scalar)
                for name in (*GONE, self.path.name):
                    if one.name == "runScript" and name == self.path.name:
                        continue
                    kind = "circular file" if name == self.path.name else "missing file"
                    yield from self._with(
                        kind, node.start.line, lambda text, n=node, v=name: text[: n.start.column - 1] + v
                    )

    def _shapes(self) -> Iterator[Fault]:
        for one in self.commands:
            line = self.lines[one.mark.line - 1]
            if not one.options.entries and WORDS[one.name].bare and line.rstrip().endswith(one.name):
                yield from self._with("no value", one.mark.line, lambda text: text + ":")
            if re.fullmatch(rf"\s*- {one.name}: \S.*", line):
                spare = " " * (line.index("-") + 2)
                text = "\n".join(
                    [*self.lines[: one.mark.line], f"{spare}tapOn: Save", *self.lines[one.mark.line :]]
                )
                yield Fault("two commands in one", text, one.mark.line + 1)


def drawn(paths: list[Path], count: int, seed: int = 23) -> list[tuple[Path, Fault]]:
    """So many faults, every kind about as often as the others."""
    luck = random.Random(seed)
    kinds: dict[str, list[tuple[Path, Fault]]] = {}
    for path in paths:
        for one in Faults(path).all():
            kinds.setdefault(one.kind, []).append((path, one))
    for many in kinds.values():
        luck.shuffle(many)
    found: list[tuple[Path, Fault]] = []
    while len(found) < count and any(kinds.values()):
        for many in kinds.values():
            if many and len(found) < count:
                found.append(many.pop())
    return found
