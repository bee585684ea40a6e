"""Which files a flow runs by `run_flow`: what is missing, what goes in circles, what each of them needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from handrail.errors import InvalidAction
from handrail.flow.document import Document
from handrail.flow.lint import every_draft, own_names, uses
from handrail.flow.load import load
from handrail.flow.nodes import Fields, Scalar
from handrail.flow.problems import Problem
from handrail.flow.shorthand import Draft
from handrail.protocol.read import nearest


@dataclass(frozen=True, slots=True)
class Call:
    """One `run_flow` step."""

    caller: Path
    file: Path
    draft: Draft
    given: frozenset[str]


@dataclass(slots=True)
class Files:
    """Every file that was read, each of them once; None where it could not be."""

    known: dict[Path, Document | None] = field(default_factory=dict)

    def read(self, path: Path) -> Document | None:
        path = path.resolve()
        if path not in self.known:
            try:
                self.known[path] = load(path)
            except InvalidAction:
                self.known[path] = None
        return self.known[path]

    def put(self, path: Path, document: Document | None) -> None:
        self.known[path.resolve()] = document


def calls(document: Document) -> Iterator[Call]:
    """The files that this one runs; a name with a variable that has no value yet is left out."""
    if document.path is None:
        return
    for draft in every_draft(document.drafts):
        file = draft.fields.get("file") if draft.head == "run_flow" else None
        if isinstance(file, Scalar) and isinstance(file.value, str) and not file.unknown:
            env = draft.fields.get("env")
            given = frozenset(env.entries) if isinstance(env, Fields) else frozenset[str]()
            yield Call(document.path, document.path.parent / file.value, draft, given)


def call_problems(document: Document, files: Files, outside: frozenset[str]) -> Iterator[Problem]:
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


def needs(document: Document) -> list[str]:
    """Variables that the file uses without a value of its own."""
    own = set(own_names(document))
    wanted = [use.reference for use in uses(document)]
    return list(dict.fromkeys(one.name for one in wanted if one.default is None and one.name not in own))


def _mismatch(call: Call, called: Document, outside: frozenset[str]) -> Iterator[Problem]:
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


def _circle(call: Call, files: Files) -> list[Path]:
    """The way from the called file back to the calling one, if there is one."""
    start, goal = call.file.resolve(), call.caller.resolve()
    ways: list[list[Path]] = [[goal, start]]
    seen = {start}
    while ways:
        way = ways.pop()
        if way[-1] == goal:
            return way
        document = files.read(way[-1])
        for further in calls(document) if document else ():
            file = further.file.resolve()
            if file == goal or file not in seen:
                seen.add(file)
                ways.append([*way, file])
    return []


def _shown(call: Call) -> str:
    file = call.draft.fields.get("file")
    return str(file.value)[:200] if isinstance(file, Scalar) else call.file.name


def _similar(file: Path) -> str:
    there = [one.name for one in file.parent.glob("*")] if file.parent.is_dir() else []
    close = nearest(file.name, there)
    return f"Did you mean {close[0]}?" if close else "The name is relative to this file's folder."
