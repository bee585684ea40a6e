"""Checks Maestro files without a phone: how far each would get, and everything that is wrong with it.

Level 1 it can be read, 2 every word is known, 3 scripts and patterns compile, 4 the files that it names are
there and are at level 3 themselves, 5 nothing in it is left out by Handrail.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handrail.errors import InvalidAction, ScriptFailed
from handrail.flow.check import CheckedFile
from handrail.flow.parse import Fields, Items, Mark, Node, Problem, Scalar, scalars_below
from handrail_maestro.expressions import codes, has_default, is_secret, names_in
from handrail_maestro.files import Workspace, read_text
from handrail_maestro.patterns import pattern
from handrail_maestro.read import MaestroCommand, MaestroFile, read, walk
from handrail_maestro.scripts import Scripts
from handrail_maestro.words import CONDITION, SELECTOR, Kind, options_of

_LEVELS = {
    "syntax": 0, "invalid": 1, "unknown-command": 1, "unknown-option": 1, "duplicate-key": 1, "bad-script": 2,
    "bad-pattern": 2, "missing-file": 3, "broken-file": 3, "circle": 3, "outside": 3, "unsupported": 4,
}  # fmt: skip
"""The level that a file with such an error still reaches."""


@dataclass(frozen=True, slots=True)
class MaestroCheck:
    """One file: the level that it reaches, its problems, and the variables that somebody has to give."""

    file: MaestroFile
    problems: tuple[Problem, ...]
    needs: tuple[str, ...] = ()

    @property
    def level(self) -> int:
        """A warning lowers it where Handrail leaves the command out."""
        reached = [
            _LEVELS.get(problem.rule, 1)
            for problem in self.problems
            if problem.level == "error" or problem.rule == "unsupported"
        ]
        return min(reached, default=5)


@dataclass(slots=True)
class Checker:
    """Reads each file once; `alone` leaves out the files that a flow names."""

    scripts: Scripts
    workspace: Workspace
    alone: bool = False
    _known: dict[Path, MaestroFile] = field(default_factory=dict)
    _broken: dict[Path, bool] = field(default_factory=dict)

    async def check(self, path: Path, text: str | None = None) -> MaestroCheck:
        """`text` where somebody has read it already."""
        made = self.file(path, text)
        found = [*made.problems, *await self._inside(made)]
        if not self.alone:
            found += [one async for one in self._outside(made)]
        found.sort(key=lambda one: one.mark.offset)
        return MaestroCheck(made, tuple(found), tuple(_needs(made)))

    def file(self, path: Path, text: str | None = None) -> MaestroFile:
        """The file, read once. Raises `InvalidAction` where it can't be."""
        key = path.resolve()
        if key not in self._known:
            self._known[key] = read(read_text(path) if text is None else text, path)
        return self._known[key]

    async def _inside(self, made: MaestroFile) -> list[Problem]:
        """Scripts and patterns of one file."""
        found: list[Problem] = []
        for value, kind, is_typed in _values(made):
            if kind == "pattern":
                found += _pattern_problems(value)
            if is_secret(value.text) and not is_typed:
                hint = "Write ${secret:NAME} in inputText, or in env for one that is typed."
                found.append(Problem("", "a secret can only be typed", value.start, hint, rule="bad-script"))
            for code in codes(value.text):
                found += await self._compiled(code, value.start, value)
        return found

    async def _compiled(self, code: str, mark: Mark, value: Scalar | None = None) -> list[Problem]:
        if "faker." in code:
            hint = "Use inputRandom…, or a value of your own."
            return [Problem("", "faker is not there", mark, hint, rule="unsupported")]
        if names_in(code) is not None:
            return []
        try:
            wrong = await self.scripts.compiled(code)
        except ScriptFailed as error:
            return [Problem("", error.message, mark, error.hint, rule="bad-script")]
        if wrong is None:
            return []
        line = mark.line + wrong[1] - 1 if value is None else mark.line
        place = Mark(line, mark.column if value else 1, mark.offset)
        return [
            Problem(
                "", f"the script can't be read: {wrong[0]}", place, "It is JavaScript.", rule="bad-script"
            )
        ]

    async def _outside(self, made: MaestroFile) -> AsyncIterator[Problem]:
        for one in walk(made.every):
            for kind, value in _files(one):
                problem = await self._named(made, kind, value)
                if problem is not None:
                    yield problem

    async def _named(self, made: MaestroFile, kind: str, value: Scalar) -> Problem | None:
        """What is wrong with a file that this one names."""
        try:
            path = self.workspace.resolve(made.path, value.text)
        except InvalidAction as error:
            return Problem("", error.message, value.start, error.hint, rule=error.details["rule"])
        if kind == "flow":
            way = self._circle(path, made.path)
            if way:
                names = " → ".join(one.name for one in way)
                return Problem("", f"runs in a circle: {names}", value.start, "Take one out.", rule="circle")
            if await self._is_broken(path):
                return Problem(
                    "", f"{value.text[:200]} has errors itself", value.start, None, rule="broken-file"
                )
        if kind == "script":
            wrong = await self._compiled(read_text(path), Mark(1, 1, 0))
            if wrong:
                message = f"{value.text[:200]}:{wrong[0].mark.line}: {wrong[0].message}"
                return Problem("", message, value.start, wrong[0].suggestion, rule="broken-file")
        return None

    async def _is_broken(self, path: Path) -> bool:
        key = path.resolve()
        if key not in self._broken:
            self._broken[key] = False  # a circle ends here
            made = self.file(path)
            found = [*made.problems, *await self._inside(made)]
            self._broken[key] = any(one.level == "error" and _LEVELS.get(one.rule, 1) < 3 for one in found)
        return self._broken[key]

    def _circle(self, start: Path, goal: Path | None) -> list[Path]:
        """The way from the named file back to the one that names it."""
        if goal is None:
            return []
        end = goal.resolve()
        ways: list[list[Path]] = [[end, start.resolve()]]
        seen: set[Path] = set()
        while ways:
            way = ways.pop()
            if way[-1] == end:
                return way
            if way[-1] in seen:
                continue
            seen.add(way[-1])
            ways += [[*way, call] for call in self._calls(way[-1])]
        return []

    def _calls(self, path: Path) -> Iterator[Path]:
        try:
            made = self.file(path)
        except InvalidAction:
            return
        for one in walk(made.every):
            for kind, value in _files(one):
                try:
                    found = self.workspace.resolve(made.path, value.text)
                except InvalidAction:
                    continue
                if kind == "flow":
                    yield found.resolve()


def _pattern_problems(value: Scalar) -> Iterator[Problem]:
    if "${" in value.text:
        return
    read_as = pattern(value.text)
    if read_as.compiled is None:
        message = f"is not a valid pattern ({read_as.why}), so only this exact text is looked for"
        yield Problem("", message, value.start, r"Escape it: \( \[ \* …", "warning", "bad-pattern")


def _files(one: MaestroCommand) -> Iterator[tuple[str, Scalar]]:
    """The files that a command names, with what they are."""
    kinds = {"runFlow": "flow", "retry": "flow", "runScript": "script", "addMedia": "media"}
    node = one.option("files" if one.name == "addMedia" else "file")
    if one.name in kinds and node is not None:
        yield from ((kinds[one.name], value) for value in scalars_below(node) if "${" not in value.text)


def _values(made: MaestroFile) -> Iterator[tuple[Scalar, Kind, bool]]:
    """Every value that is filled while the flow runs: its kind, and whether a secret may stand there."""
    env = made.header.get("env")
    for value in scalars_below(env) if env is not None else ():
        yield value, "text", True
    app = made.header.get("appId")
    if isinstance(app, Scalar):
        yield app, "app", False
    for one in walk(made.every):
        known = options_of(one.name)
        for key, entry in one.options.entries.items():
            if key in known and known[key] != "commands":
                typed = (one.name, key) == ("inputText", "text") or known[key] == "env"
                yield from _of_kind(entry.value, known[key], typed)


def _of_kind(node: Node, kind: Kind, is_typed: bool) -> Iterator[tuple[Scalar, Kind, bool]]:
    if kind == "selector":
        yield from _fields(node, SELECTOR)
    elif kind == "condition":
        yield from _fields(node, CONDITION)
    elif kind == "selectors" and isinstance(node, Items):
        for one in node.items:
            yield from _fields(one, SELECTOR)
    elif kind not in ("file", "word", "key", "direction", "whole", "switch", "points", "ends"):
        yield from ((value, kind, is_typed) for value in scalars_below(node))


def _fields(node: Node, known: object) -> Iterator[tuple[Scalar, Kind, bool]]:
    if isinstance(node, Scalar):
        yield node, "pattern", False
    elif isinstance(node, Fields) and isinstance(known, dict):
        for key, entry in node.entries.items():
            if key in known:
                yield from _of_kind(entry.value, known[key], False)


def _needs(made: MaestroFile) -> Iterator[str]:
    """Variables that the file asks for and does not give."""
    env = made.header.get("env")
    given: set[str] = set(env.entries) if isinstance(env, Fields) else set()
    for one in walk(made.every):
        inside = one.option("env")
        given |= set(inside.entries) if isinstance(inside, Fields) else set()
    seen: dict[str, None] = {}
    for value, _, _ in _values(made):
        for code in codes(value.text):
            name = names_in(code)
            if name and name not in given and not has_default(code) and not name.startswith("MAESTRO_"):
                seen.setdefault(name)
    yield from seen


async def check_files(
    paths: Sequence[Path], outside: Iterable[str] = (), *, alone: bool = False
) -> list[CheckedFile]:
    """Every file with its level and problems; variables that nobody gives are warnings."""
    scripts, given = Scripts(), set(outside)
    made: list[CheckedFile] = []
    try:
        for path in paths:
            try:
                found = await Checker(scripts, Workspace.of(path), alone).check(path)
            except InvalidAction as error:
                problem = Problem(
                    "",
                    error.message,
                    Mark(int(error.details.get("line", 1)), 1, 0),
                    error.hint,
                    rule="syntax",
                )
                made.append(CheckedFile(path, "", (problem,), level=0))
                continue
            missing = [name for name in found.needs if name not in given]
            told = (*found.problems, *_undefined(found.file, missing))
            made.append(
                CheckedFile(
                    path, found.file.text, told, found.file.name, len(found.file.commands), found.level
                )
            )
    finally:
        await scripts.close()
    return made


def _undefined(made: MaestroFile, names: Sequence[str]) -> Iterator[Problem]:
    """An unknown name is the word "undefined" in Maestro."""
    left = set(names)
    for value, _, _ in _values(made):
        for code in codes(value.text):
            name = names_in(code)
            if name in left:
                left.remove(name)
                message = f"{name} has no value, so it becomes the word undefined"
                hint = f"Give it with -e {name}=…, in env, or write ${{{name} || 'default'}}."
                yield Problem("", message, value.start, hint, "warning", "unknown-variable")
