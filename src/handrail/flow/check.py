"""`flow check`: files and folders of flows are read, checked and linted without a device. Runs nothing.

Follows `run_flow` into other files: what is missing, what goes in circles, what each of them needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.document import FlowDocument, load
from handrail.flow.lint import every_draft, lint, own_names, uses
from handrail.flow.nodes import Fields, Mark, Scalar
from handrail.flow.problems import Problem
from handrail.flow.select_flows import real_path
from handrail.flow.shorthand import StepDraft
from handrail.protocol.read import nearest

SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Checked:
    """One file and what was found in it."""

    path: Path
    text: str
    problems: tuple[Problem, ...]
    name: str = ""
    steps: int = 0
    level: int | None = None
    """How far a Maestro file gets: 5 is all the way (docs/maestro.md)."""

    @property
    def broken(self) -> bool:
        return any(one.level == "error" for one in self.problems)

    def to_dict(self) -> dict[str, Any]:
        found = [{"level": one.level, "rule": one.rule, **one.to_dict()} for one in self.problems]
        level = {} if self.level is None else {"level": self.level}
        return {"file": str(self.path), "ok": not self.broken, **level, "problems": found}


def find(paths: Iterable[Path]) -> list[Path]:
    """Files as they are given, folders with every flow in them, hidden ones left out."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        found |= {one: None for one in inside if one == path or _is_flow(one, path)}
    return list(found)


def check(paths: Sequence[Path], outside: Iterable[str] = ()) -> list[Checked]:
    """Every file with its problems; `outside` are the variables that a run will give."""
    files, given = FlowFiles(), frozenset(outside)
    read = {path: _read(path, files) for path in paths}
    called = {
        real_path(call.file) for one in read.values() if isinstance(one, FlowDocument) for call in calls(one)
    }
    return [_checked(path, one, files, given, real_path(path) in called) for path, one in read.items()]


def _is_flow(path: Path, folder: Path) -> bool:
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    if any(part.startswith(".") for part in path.relative_to(folder).parts):
        return False
    return path.suffix.lower() != ".json" or b'"steps"' in path.read_bytes() or path.read_bytes()[:1] == b"["


def _read(path: Path, files: FlowFiles) -> FlowDocument | InvalidAction:
    try:
        document = load(path)
    except InvalidAction as error:
        files.put(path, None)
        return error
    files.put(path, document)
    return document


def _checked(
    path: Path, read: FlowDocument | InvalidAction, files: FlowFiles, outside: frozenset[str], is_called: bool
) -> Checked:
    if isinstance(read, InvalidAction):
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        return Checked(path, text, tuple(_from_error(read)))
    found = [*lint(read), *call_problems(read, files, outside)]
    if not is_called:  # what a called file lacks is told at the call
        found += _unknown_variables(read, outside)
    found.sort(key=lambda one: one.mark.offset)
    return Checked(path, read.text, tuple(found), read.name, len(read.drafts))


def _unknown_variables(document: FlowDocument, outside: frozenset[str]) -> Iterable[Problem]:
    missing = set(needs(document)) - outside
    known = [*own_names(document), *outside]
    for use in uses(document):
        name = use.reference.name
        if name in missing:
            close = nearest(name, known)
            meant = f"Did you mean ${{{close[0]}}}? " if close else ""
            hint = f"{meant}Give it in env, with --env {name}=…, or write ${{{name}:-default}}."
            message = f"the variable {name} has no value"
            yield Problem("", message, use.scalar.start, hint, rule="unknown-variable")


def _from_error(error: InvalidAction) -> Iterable[Problem]:
    for one in error.details.get("problems", ()):
        mark = Mark(one["line"], one["column"], 0)
        yield Problem(one["path"], one["message"], mark, one.get("suggestion"))
    if "problems" not in error.details:
        yield Problem("", error.message, Mark(1, 1, 0), error.hint)


@dataclass(frozen=True, slots=True)
class FlowCall:
    """One `run_flow` step."""

    caller: Path
    file: Path
    draft: StepDraft
    given: frozenset[str]


@dataclass(slots=True)
class FlowFiles:
    """Every file that was read, each of them once; None where it could not be."""

    known: dict[Path, FlowDocument | None] = field(default_factory=dict)

    def read(self, path: Path) -> FlowDocument | None:
        path = real_path(path)
        if path not in self.known:
            try:
                self.known[path] = load(path)
            except InvalidAction:
                self.known[path] = None
        return self.known[path]

    def put(self, path: Path, document: FlowDocument | None) -> None:
        self.known[real_path(path)] = document


def calls(document: FlowDocument) -> Iterator[FlowCall]:
    """The files that this one runs; a name with a variable that has no value yet is left out."""
    if document.path is None:
        return
    for draft in every_draft(document.drafts):
        file = draft.fields.get("file") if draft.head == "run_flow" else None
        if isinstance(file, Scalar) and isinstance(file.value, str) and not file.unknown:
            env = draft.fields.get("env")
            given = frozenset(env.entries) if isinstance(env, Fields) else frozenset[str]()
            yield FlowCall(document.path, document.path.parent / file.value, draft, given)


def call_problems(document: FlowDocument, files: FlowFiles, outside: frozenset[str]) -> Iterator[Problem]:
    """What is wrong with the files that this one runs, told at the steps that run them."""
    for call in calls(document):
        where = call.draft.fields.get("file") or call.draft.source
        path = f"{call.draft.path}.run_flow"
        if not call.file.is_file():
            hint = _similar(call.file)
            yield Problem(path, f"there is no file {_shown(call)}", where.start, hint, rule="missing-file")
            continue
        circle = _circle(call, files)
        if circle:
            names = " → ".join(one.name for one in circle)
            yield Problem(path, f"runs itself: {names}", where.start, "Break the circle.", rule="circle")
            continue
        called = files.read(call.file)
        if called is None:
            hint = f"`handrail flow check {_shown(call)}` shows them."
            yield Problem(path, f"{_shown(call)} has problems", where.start, hint, rule="broken-file")
        elif call.draft.fields.get("env") is not None or needs(called):
            yield from _mismatch(call, called, outside)


def needs(document: FlowDocument) -> list[str]:
    """Variables that the file uses without a value of its own."""
    own = set(own_names(document))
    wanted = [use.reference for use in uses(document)]
    return list(dict.fromkeys(one.name for one in wanted if one.default is None and one.name not in own))


def _mismatch(call: FlowCall, called: FlowDocument, outside: frozenset[str]) -> Iterator[Problem]:
    path, mark = f"{call.draft.path}.run_flow", call.draft.source.start
    for name in needs(called):
        if name not in call.given | outside:
            hint = f"Give it: `run_flow: {{file: …, env: {{{name}: …}}}}`."
            yield Problem(
                path, f"{_shown(call)} needs the variable {name}", mark, hint, rule="unknown-variable"
            )
    used = {use.reference.name for use in uses(called)} | set(own_names(called))
    for name in sorted(call.given - used):
        close = nearest(name, used)
        hint = f"Did you mean {close[0]}?" if close else "Remove it."
        yield Problem(path, f"{_shown(call)} does not use {name}", mark, hint, "warning", "unused-variable")


def _circle(call: FlowCall, files: FlowFiles) -> list[Path]:
    """The way from the called file back to the calling one, if there is one."""
    start, goal = real_path(call.file), real_path(call.caller)
    ways: list[list[Path]] = [[goal, start]]
    seen = {start}
    while ways:
        way = ways.pop()
        if way[-1] == goal:
            return way
        document = files.read(way[-1])
        for further in calls(document) if document else ():
            file = real_path(further.file)
            if file == goal or file not in seen:
                seen.add(file)
                ways.append([*way, file])
    return []


def _shown(call: FlowCall) -> str:
    file = call.draft.fields.get("file")
    return str(file.value)[:200] if isinstance(file, Scalar) else call.file.name


def _similar(file: Path) -> str:
    there = [one.name for one in file.parent.glob("*")] if file.parent.is_dir() else []
    close = nearest(file.name, there)
    return f"Did you mean {close[0]}?" if close else "The name is relative to this file's folder."
