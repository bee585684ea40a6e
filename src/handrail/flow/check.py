"""`flow check`: files and folders of flows are read, checked and linted without a device. Runs nothing.

Follows `run_flow` into other files: what is missing, what goes in circles, what each of them needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.document import FlowDocument, load, loads
from handrail.flow.parse import Fields, Items, Mark, Node, Problem, Scalar, scalars_below
from handrail.flow.plan import SUFFIXES, real_path
from handrail.flow.shorthand import StepDraft
from handrail.flow.variables import VariableReference, references
from handrail.flow.write import is_point, is_ref
from handrail.protocol.actions import ACTIONS
from handrail.protocol.observe import Finish, Wait
from handrail.protocol.read import nearest


@dataclass(frozen=True, slots=True)
class CheckedFile:
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
        return any(problem.level == "error" for problem in self.problems)

    def problem_rows(self) -> list[dict[str, Any]]:
        return [{"level": each.level, "rule": each.rule, **each.to_dict()} for each in self.problems]

    def to_dict(self) -> dict[str, Any]:
        level = {} if self.level is None else {"level": self.level}
        return {"file": str(self.path), "ok": not self.broken, **level, "problems": self.problem_rows()}


def find_flow_files(paths: Iterable[Path]) -> list[Path]:
    """Files as they are given, folders with every flow in them, hidden ones left out."""
    files: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        files |= {file: None for file in inside if file == path or _is_flow(file, path)}
    return list(files)


def check(paths: Sequence[Path], outside: Iterable[str] = ()) -> list[CheckedFile]:
    """Every file with its problems; `outside` are the variables that a run will give."""
    outer_names = frozenset(outside)
    read = {path: _load_or_error(path) for path in paths}
    files = FlowFiles({real_path(path): document for path, document in read.items()})
    called = {
        real_path(call.file)
        for document in read.values()
        if isinstance(document, FlowDocument)
        for call in called_files(document)
    }
    return [
        _check_document(path, document, files, outer_names, real_path(path) in called)
        for path, document in read.items()
    ]


def check_text(text: str, path: Path) -> CheckedFile:
    """A text that an editor holds, as if it stood in this file; files that it runs are found beside it."""
    try:
        read: FlowDocument | InvalidAction = loads(text, path)
    except InvalidAction as error:
        return CheckedFile(path, text, tuple(_problems_from(error)))
    return replace(_check_document(path, read, FlowFiles(), frozenset(), is_called=False), text=text)


def _is_flow(path: Path, folder: Path) -> bool:
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    if any(part.startswith(".") for part in path.relative_to(folder).parts):
        return False
    return path.suffix.lower() != ".json" or b'"steps"' in path.read_bytes() or path.read_bytes()[:1] == b"["


def _load_or_error(path: Path) -> FlowDocument | InvalidAction:
    try:
        return load(path)
    except InvalidAction as error:
        return error


def _check_document(
    path: Path, read: FlowDocument | InvalidAction, files: FlowFiles, outside: frozenset[str], is_called: bool
) -> CheckedFile:
    if isinstance(read, InvalidAction):
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        return CheckedFile(path, text, tuple(_problems_from(read)))
    problems = [*lint(read), *call_problems(read, files, outside)]
    if not is_called:  # what a called file lacks is told at the call
        problems += _unknown_variables(read, outside)
    problems.sort(key=lambda problem: problem.mark.offset)
    return CheckedFile(path, read.text, tuple(problems), read.name, len(read.drafts))


def _unknown_variables(document: FlowDocument, outside: frozenset[str]) -> Iterable[Problem]:
    missing = set(variables_without_value(document)) - outside
    names = [*names_of_own_variables(document), *outside]
    for use in variable_uses(document):
        name = use.reference.name
        if name in missing:
            close = nearest(name, names)
            guess = f"Did you mean ${{{close[0]}}}? " if close else ""
            hint = f"{guess}Give it in env, with --env {name}=…, or write ${{{name}:-default}}."
            message = f"the variable {name} has no value"
            yield Problem("", message, use.scalar.start, hint, rule="unknown-variable")


def _problems_from(error: InvalidAction) -> Iterable[Problem]:
    for problem in error.details.get("problems", ()):
        mark = Mark(problem["line"], problem["column"], 0)
        yield Problem(problem["path"], problem["message"], mark, problem.get("suggestion"))
    if "problems" not in error.details:
        yield Problem("", error.message, Mark(1, 1, 0), error.hint)


@dataclass(frozen=True, slots=True)
class FlowCall:
    """A `run_flow` step calls `file` from `caller`."""

    caller: Path
    file: Path
    draft: StepDraft
    name: str
    """As the step spells it."""
    variables: frozenset[str]


@dataclass(slots=True)
class FlowFiles:
    """Every file that was read, each of them once, or the error where it could not be."""

    documents: dict[Path, FlowDocument | InvalidAction] = field(default_factory=dict)

    def read(self, path: Path) -> FlowDocument | None:
        path = real_path(path)
        if path not in self.documents:
            self.documents[path] = _load_or_error(path)
        document = self.documents[path]
        return document if isinstance(document, FlowDocument) else None


def called_files(document: FlowDocument) -> Iterator[FlowCall]:
    """The files that this one runs; a name with a variable that has no value yet is left out."""
    if document.path is None:
        return
    for draft in every_draft(document.drafts):
        file = draft.fields.get("file") if draft.head == "run_flow" else None
        if isinstance(file, Scalar) and isinstance(file.value, str) and not file.unknown:
            env = draft.fields.get("env")
            variables = frozenset(env.entries) if isinstance(env, Fields) else frozenset[str]()
            path = document.path.parent / file.value
            yield FlowCall(document.path, path, draft, str(file.value)[:200], variables)


def call_problems(document: FlowDocument, files: FlowFiles, outside: frozenset[str]) -> Iterator[Problem]:
    """What is wrong with the files that this one runs, told at the steps that run them."""
    for call in called_files(document):
        where = call.draft.fields.get("file") or call.draft.source
        path = f"{call.draft.path}.run_flow"
        if not call.file.is_file():
            folder = call.file.parent
            close = nearest(
                call.file.name, [file.name for file in folder.glob("*")] if folder.is_dir() else []
            )
            hint = f"Did you mean {close[0]}?" if close else "The name is relative to this file's folder."
            yield Problem(path, f"there is no file {call.name}", where.start, hint, rule="missing-file")
            continue
        if circle := _chain_back_to_caller(call, files):
            names = " → ".join(file.name for file in circle)
            yield Problem(path, f"runs itself: {names}", where.start, "Break the circle.", rule="circle")
            continue
        called = files.read(call.file)
        if called is None:
            hint = f"`handrail flow check {call.name}` shows them."
            yield Problem(path, f"{call.name} has problems", where.start, hint, rule="broken-file")
        elif call.draft.fields.get("env") is not None or variables_without_value(called):
            yield from _problems_of_call(call, called, outside)


def variables_without_value(document: FlowDocument) -> list[str]:
    """Variables that the file uses without a value of its own."""
    own = set(names_of_own_variables(document))
    needed = (use.reference.name for use in variable_uses(document) if use.reference.default is None)
    return list(dict.fromkeys(name for name in needed if name not in own))


def _problems_of_call(call: FlowCall, called: FlowDocument, outside: frozenset[str]) -> Iterator[Problem]:
    path, mark = f"{call.draft.path}.run_flow", call.draft.source.start
    for name in variables_without_value(called):
        if name not in call.variables | outside:
            hint = f"Give it: `run_flow: {{file: …, env: {{{name}: …}}}}`."
            message = f"{call.name} needs the variable {name}"
            yield Problem(path, message, mark, hint, rule="unknown-variable")
    used = {use.reference.name for use in variable_uses(called)} | set(names_of_own_variables(called))
    for name in sorted(call.variables - used):
        close = nearest(name, used)
        hint = f"Did you mean {close[0]}?" if close else "Remove it."
        yield Problem(path, f"{call.name} does not use {name}", mark, hint, "warning", "unused-variable")


def _chain_back_to_caller(call: FlowCall, files: FlowFiles) -> list[Path]:
    """The way from the called file back to the calling one, if there is one."""
    start, goal = real_path(call.file), real_path(call.caller)
    ways: list[list[Path]] = [[goal, start]]
    visited = {start}
    while ways:
        way = ways.pop()
        if way[-1] == goal:
            return way
        document = files.read(way[-1])
        for further in called_files(document) if document else ():
            file = real_path(further.file)
            if file == goal or file not in visited:
                visited.add(file)
                ways.append([*way, file])
    return []


_HANDLES = ("ref", "element_id", "elementId")
_ANCHORS = frozenset({
    "target", "from", "to", "within", "near", "left_of", "right_of", "above", "below", "leftOf", "rightOf",
    "visible", "absent", "scrollTarget", "when", "condition", "expect", "while", "until", "all", "any",
})  # fmt: skip
"""Keys whose bare text may be a ref."""


@dataclass(frozen=True, slots=True)
class VariableUse:
    """A variable in a text, and where."""

    reference: VariableReference
    scalar: Scalar


def every_draft(drafts: list[StepDraft | None]) -> Iterator[StepDraft]:
    """All steps, outer ones first."""
    for draft in drafts:
        if draft:
            yield draft
            for inner in draft.inner.values():
                yield from every_draft(inner)


def variable_uses(document: FlowDocument) -> list[VariableUse]:
    places = [document.root.get(key) for key in ("env", "app", "steps")]
    texts = [scalar for node in places if node and not document.is_agentest for scalar in scalars_below(node)]
    named = [text for text in texts if isinstance(text.value, str) and "${" in text.value]
    return [VariableUse(reference, scalar) for scalar in named for reference in references(scalar.value)]


def names_of_own_variables(document: FlowDocument) -> list[str]:
    env = document.root.get("env")
    return [*(env.entries if isinstance(env, Fields) else ()), *sorted(document.late_variables)]


def lint(document: FlowDocument) -> list[Problem]:
    problems = (problem for rule in RULES for problem in rule(document))
    return sorted(problems, key=lambda problem: problem.mark.offset)


def _unused_variables(document: FlowDocument) -> Iterator[Problem]:
    used = {use.reference.name for use in variable_uses(document)}
    env = document.root.get("env")
    for name, entry in env.entries.items() if isinstance(env, Fields) else ():
        if name not in used:
            yield _warning(f"env.{name}", "is not used", entry.key, "Remove it.", "unused-variable")


def _unreachable_steps(document: FlowDocument) -> Iterator[Problem]:
    lists = [
        document.drafts,
        *(steps for draft in every_draft(document.drafts) for steps in draft.inner.values()),
    ]
    for steps in lists:
        drafts = [step for step in steps if step]
        for draft, following in pairwise(drafts):
            if ACTIONS.get(draft.head) is Finish and draft.fields.get("when") is None:
                hint = "Remove them, or give `finish` a `when`."
                yield _warning(
                    following.path, "and what follows is never reached", following.source, hint, "unreachable"
                )
                break


def _stale_refs(document: FlowDocument) -> Iterator[Problem]:
    for draft in every_draft(document.drafts):
        for ref in _refs_in(draft.fields, False):
            hint = "Refs belong to one screen. Name the element by id, text or description."
            yield _warning(draft.path, f"{ref.text} will be stale when this runs", ref, hint, "stale-ref")


def _refs_in(node: Node, anchors: bool) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        if anchors and isinstance(node.value, str) and is_ref(node.value):
            yield node
    elif isinstance(node, Items):
        for child in node.items:
            yield from _refs_in(child, anchors)
    else:
        for key, entry in node.entries.items():
            yield from _refs_in(entry.value, key in _HANDLES or key in _ANCHORS)


def _taps_at_coordinates(document: FlowDocument) -> Iterator[Problem]:
    for draft in every_draft(document.drafts):
        target = _action_field(draft, "target")
        cls = ACTIONS.get(draft.head)
        if (cls is not None and cls.traits.effect != "read") and target is not None and _is_point(target):
            hint = "Name the element by id, text or description: it survives another screen size."
            yield _hint(f"{draft.path}.{draft.head}", "aims at a point", target, hint, "coordinates")


def _is_point(node: Node) -> bool:
    if isinstance(node, Fields):
        return "x" in node.entries
    return isinstance(node, Scalar) and isinstance(node.value, str) and is_point(node.value)


def _fixed_waits(document: FlowDocument) -> Iterator[Problem]:
    for draft in every_draft(document.drafts):
        if ACTIONS.get(draft.head) is Wait:
            hint = (
                "wait_for a condition, or wait_for_stable: faster when the phone is, and safe when it is not."
            )
            yield _hint(f"{draft.path}.{draft.head}", "waits a fixed time", draft.source, hint, "fixed-wait")


def _undeclared_devices(document: FlowDocument) -> Iterator[Problem]:
    node = document.root.get("devices")
    declared = [scalar.text for scalar in scalars_below(node)] if node else []
    for draft in every_draft(document.drafts):
        for name, key in _device_names(draft):
            if name in declared:
                continue
            close = nearest(name, declared)
            add = f"Add it: `devices: [{', '.join([*declared, name])}]`."
            hint = f"Did you mean {close[0]}?" if close else add
            path = f"{draft.path}.{draft.head}"
            yield _warning(path, f"the device {name!r:.60} is not declared", key, hint, "undeclared-device")


def _device_names(draft: StepDraft) -> Iterator[tuple[str, Node]]:
    if draft.head == "parallel" and isinstance(draft.source, Fields):
        devices = draft.source.get("parallel")
        for name, entry in devices.entries.items() if isinstance(devices, Fields) else ():
            yield name, entry.key
    device = _action_field(draft, "device")
    if isinstance(device, Scalar):
        yield device.text, device


def _same_labels(document: FlowDocument) -> Iterator[Problem]:
    labels: dict[str, Scalar] = {}
    for draft in every_draft(document.drafts):
        label = draft.fields.get("label")
        if isinstance(label, Scalar):
            first = labels.setdefault(label.text, label)
            if first is not label:
                message = f"{label.text!r:.60} is also the label of the step in line {first.start.line}"
                hint = "Reports tell steps apart by their labels."
                yield _warning(f"{draft.path}.label", message, label, hint, "same-label")


def _action_field(draft: StepDraft, name: str) -> Node | None:
    action = draft.fields.get("action")
    return action.get(name) if isinstance(action, Fields) else None


def _warning(path: str, message: str, node: Node, hint: str, rule: str) -> Problem:
    return Problem(path, message, node.start, hint, "warning", rule)


def _hint(path: str, message: str, node: Node, hint: str, rule: str) -> Problem:
    return Problem(path, message, node.start, hint, "hint", rule)


RULES: tuple[Callable[[FlowDocument], Iterator[Problem]], ...] = (
    _unused_variables,
    _unreachable_steps,
    _stale_refs,
    _taps_at_coordinates,
    _fixed_waits,
    _undeclared_devices,
    _same_labels,
)
