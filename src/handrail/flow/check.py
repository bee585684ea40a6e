"""`flow check`: files and folders of flows read, checked and linted without a device. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.calls import Files, call_problems, calls, needs
from handrail.flow.document import Document
from handrail.flow.lint import lint, own_names, uses
from handrail.flow.load import load
from handrail.flow.nodes import Mark
from handrail.flow.problems import Problem
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

    @property
    def broken(self) -> bool:
        return any(one.level == "error" for one in self.problems)

    def to_dict(self) -> dict[str, Any]:
        found = [{"level": one.level, "rule": one.rule, **one.to_dict()} for one in self.problems]
        return {"file": str(self.path), "ok": not self.broken, "problems": found}


def find(paths: Iterable[Path]) -> list[Path]:
    """Files as they are given, folders with every flow in them, hidden ones left out."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        found |= {one: None for one in inside if one == path or _is_flow(one, path)}
    return list(found)


def check(paths: Sequence[Path], outside: Iterable[str] = ()) -> list[Checked]:
    """Every file with its problems; `outside` are the variables that a run will give."""
    files, given = Files(), frozenset(outside)
    read = {path: _read(path, files) for path in paths}
    called = {
        call.file.resolve() for one in read.values() if isinstance(one, Document) for call in calls(one)
    }
    return [_checked(path, one, files, given, path.resolve() in called) for path, one in read.items()]


def _is_flow(path: Path, folder: Path) -> bool:
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    if any(part.startswith(".") for part in path.relative_to(folder).parts):
        return False
    return path.suffix.lower() != ".json" or b'"steps"' in path.read_bytes() or path.read_bytes()[:1] == b"["


def _read(path: Path, files: Files) -> Document | InvalidAction:
    try:
        document = load(path)
    except InvalidAction as error:
        files.put(path, None)
        return error
    files.put(path, document)
    return document


def _checked(
    path: Path, read: Document | InvalidAction, files: Files, outside: frozenset[str], is_called: bool
) -> Checked:
    if isinstance(read, InvalidAction):
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        return Checked(path, text, tuple(_from_error(read)))
    found = [*lint(read), *call_problems(read, files, outside)]
    if not is_called:  # what a called file lacks is told at the call
        found += _unknown_variables(read, outside)
    found.sort(key=lambda one: one.mark.offset)
    return Checked(path, read.text, tuple(found), read.name, len(read.drafts))


def _unknown_variables(document: Document, outside: frozenset[str]) -> Iterable[Problem]:
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
