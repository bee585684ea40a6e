"""One flow's file, read: the flow itself, where everything in it stands, and its variables filled.

Takes YAML, JSON, and AgenTest's steps as they are. Whatever the bytes are, only `InvalidAction` comes out of
it, with every problem of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from handrail.dialects import agentest
from handrail.errors import InvalidAction, NoSuchFile, did_you_mean
from handrail.flow.parse import (
    MANY,
    MAX_BYTES,
    FieldEntry,
    Fields,
    Items,
    Mark,
    Node,
    Problem,
    Scalar,
    Unreadable,
    child_at,
    invalid_flow,
    plain_data,
    read_json,
    read_yaml,
)
from handrail.flow.shorthand import BRANCHES, OPTIONS, StepDraft, StepExpander
from handrail.flow.variables import as_text, fill_node, late_names, name_problems, read_scalar
from handrail.protocol.flow import AnyStep, Branch, Flow, Parallel, Step
from handrail.protocol.observe import Finish
from handrail.protocol.read import invalid_action, nearest

KEYS = ("name", "app", "tags", "env", "devices", "retry", "attempts", "steps")
"""What a flow says of itself."""


@dataclass(frozen=True, slots=True)
class FlowDocument:
    """One file, read. `flow` has its variables filled as far as they have values."""

    path: Path | None
    text: str
    places: Places
    is_agentest: bool
    root: Fields = field(repr=False)
    """As written, variables not filled."""
    drafts: list[StepDraft | None] = field(repr=False)
    valid_flow: Flow | None = field(repr=False)
    missing: tuple[Problem, ...] = ()
    """Variables without a value where a text can't stand."""
    within: Path | None = None
    """Files that it runs lie in this folder, or are refused: it is somebody else's. None: anywhere."""

    @property
    def flow(self) -> Flow:
        """The flow; `InvalidAction` where it can't be made before somebody gives a variable its value."""
        if self.valid_flow is None:
            raise invalid_flow(self.missing, self.path)
        return self.valid_flow

    @property
    def name(self) -> str:
        """What reports call it; known before the variables are."""
        name = self.root.get("name")
        return str(name.value) if isinstance(name, Scalar) else _name_from_path(self.path)

    @property
    def late_variables(self) -> frozenset[str]:
        """The variables that its steps fill while it runs."""
        return frozenset(late_names(self.root.get("steps")))

    @property
    def tags(self) -> tuple[str, ...]:
        """Runs are chosen by them; they are known before the variables are."""
        tags = self.root.get("tags")
        return tuple(plain_data(tags)) if isinstance(tags, Items) else ()

    def bind(self, env: Mapping[str, str]) -> FlowDocument:
        """The same file with these values over its own `env`; every variable must have one."""
        return replace(make_document(self.root, self.path, self.text, [], env), within=self.within)

    def step_source(self, path: StepPath) -> dict[str, Any]:
        """The step as it stands in the file: variables filled in, secrets not."""
        draft = self.places.draft(path)
        step = plain_data(draft.source) if draft else {}
        return step if isinstance(step, dict) else {str(step): None}

    def element(self, path: StepPath) -> dict[str, Any] | None:
        """What a recording knew of the element that this step touches."""
        draft = self.places.draft(path)
        recorded = plain_data(draft.element) if draft and draft.element else None
        return recorded if isinstance(recorded, dict) else None


def make_document(
    root: Fields, path: Path | None, text: str, problems: list[Problem], env: Mapping[str, str] | None = None
) -> FlowDocument:
    """Checks everything; without `env` (not yet bound) variables may still lack their values."""
    is_agentest = _is_agentest(root)
    builder = ModelBuilder(problems)
    filled = root if is_agentest else _VariableFiller(env, problems).fill_flow(root)
    if is_agentest:
        drafts, steps = _agentest_steps(filled, builder)
    else:
        drafts = StepExpander(problems).steps(filled.get("steps"), filled, "steps")
        steps = builder.steps(drafts)
    flow = _build_flow(filled, steps, path, builder)
    if problems:
        raise invalid_flow(sorted(problems, key=lambda problem: problem.mark.offset), path)
    places = Places(path, filled, drafts)
    valid_flow = None if builder.later else flow
    return FlowDocument(path, text, places, is_agentest, root, drafts, valid_flow, tuple(builder.later))


def _is_agentest(root: Fields) -> bool:
    """Steps that name what they do by `action`: one is enough to read all of them so."""
    steps = root.get("steps")
    items = steps.items if isinstance(steps, Items) else ()
    return any(isinstance(step.get("action"), Scalar) for step in items if isinstance(step, Fields))


def _agentest_steps(
    root: Fields, builder: ModelBuilder
) -> tuple[list[StepDraft | None], tuple[AnyStep, ...]]:
    steps = root.get("steps")
    drafts: list[StepDraft | None] = []
    valid_steps: list[AnyStep] = []
    for index, node in enumerate(steps.items if isinstance(steps, Items) else ()):
        if len(builder.problems) >= MANY:
            break
        draft = StepDraft(Step, f"steps[{index}]", "", node, node if isinstance(node, Fields) else Fields())
        step = builder.agentest(draft)
        drafts.append(draft)
        valid_steps += [step] if step else []
    return drafts, tuple(valid_steps)


def _build_flow(
    root: Fields, steps: tuple[AnyStep, ...], path: Path | None, builder: ModelBuilder
) -> Flow | None:
    for key, entry in root.entries.items():
        if key not in KEYS:
            hint = did_you_mean(nearest(key, KEYS), f"A flow has: {', '.join(KEYS)}.")
            builder.problems.append(Problem(key[:60], "is not a key of a flow", entry.key.start, hint))
    own = {key: entry for key, entry in root.entries.items() if key in KEYS and key != "steps"}
    for key, entry in own.items():
        if isinstance(entry.value, Scalar) and entry.value.value is None:
            hint = "Give it a value, or remove it."
            builder.problems.append(Problem(key, "has no value", entry.key.start, hint))
    inside: dict[str, Any] = {"steps": steps or STAND_IN}
    if "name" not in own:
        inside["name"] = _name_from_path(path)
    flow = builder.model(Flow, replace(root, entries=own), inside, "")
    return flow if isinstance(flow, Flow) else None


def _name_from_path(path: Path | None) -> str:
    return path.stem[:200] if path and path.stem else "flow"


class _VariableFiller:
    """Fills the variables of one file: its own `env` are defaults, what is given from outside wins."""

    def __init__(self, env: Mapping[str, str] | None, problems: list[Problem]) -> None:
        self._outside = env or {}
        self._strict = env is not None
        self._problems = problems

    def fill_flow(self, root: Fields) -> Fields:
        entries = dict(root.entries)
        scope: dict[str, str] = dict(self._outside)
        if "env" in entries:
            entries["env"] = FieldEntry(entries["env"].key, self._env(entries["env"].value, scope))
        late = {name: f"${{{name}}}" for name in late_names(root.get("steps"))}
        for key, values in (("app", scope), ("steps", {**scope, **late})):
            if key in entries:
                entries[key] = FieldEntry(
                    entries[key].key, fill_node(entries[key].value, values, self._add_field_problem)
                )
        return replace(root, entries=entries)

    def _env(self, node: Node, scope: dict[str, str]) -> Node:
        """Adds the file's own values to the scope; one may use those above it."""
        if not isinstance(node, Fields):
            return node
        self._problems += name_problems(node, "env")
        filled: dict[str, FieldEntry] = {}
        for name, entry in node.entries.items():
            value = as_text(fill_node(entry.value, scope, self._add_field_problem))
            filled[name] = FieldEntry(entry.key, value)
            if isinstance(value, Scalar) and isinstance(value.value, str) and not value.unknown:
                scope.setdefault(name, value.value)
        return replace(node, entries=filled)

    def _add_field_problem(self, node: Scalar, error: InvalidAction) -> None:
        if self._strict or "variable" not in error.details:
            rule = "unknown-variable" if "variable" in error.details else "invalid"
            self._problems.append(Problem("", error.message, node.start, error.hint, rule=rule))


def load(path: Path) -> FlowDocument:
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        kind = NoSuchFile if isinstance(error, FileNotFoundError) else InvalidAction
        raise kind(f"{path}: {reason}", path="", hint="Give a file that exists.", file=str(path)) from None
    if len(data) > MAX_BYTES:
        raise _too_large(len(data), path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        mark = Mark(line, 1, error.start)
        problem = Problem("", f"not UTF-8: byte {error.start}", mark, "Save it as UTF-8.")
        raise invalid_flow([problem], path) from None
    return loads(text, path)


def loads(text: str, path: Path | None = None) -> FlowDocument:
    if len(text) > MAX_BYTES:
        raise _too_large(len(text), path)
    problems: list[Problem] = []
    try:
        root = _read(text, path, problems)
    except Unreadable as error:
        raise invalid_flow([*problems, error.problem], path) from None
    top = _flow_keys(root, problems)
    if top is None:
        raise invalid_flow(problems, path)
    return make_document(top, path, text, problems)


def _read(text: str, path: Path | None, problems: list[Problem]) -> Node | None:
    """Reads JSON by its suffix, or where the text starts like it and is it; otherwise YAML."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Unreadable("half of a surrogate pair", Mark(1, 1, error.start)) from None
    if path is not None and path.suffix.lower() == ".json":
        return read_json(text, problems)
    if text.lstrip()[:1] in ("{", "["):
        json_problems: list[Problem] = []
        try:
            node = read_json(text, json_problems)
        except Unreadable:
            pass  # a YAML flow may start with a bracket, too
        else:
            problems.extend(json_problems)
            return node
    return read_yaml(text, problems)


def _flow_keys(root: Node | None, problems: list[Problem]) -> Fields | None:
    """The flow's own keys; a bare list is a flow of steps alone."""
    if isinstance(root, Items):
        key = Scalar("steps", "steps", root.start, root.end)
        return Fields({"steps": FieldEntry(key, root)}, root.start, root.end)
    if isinstance(root, Fields):
        return root
    hint = "A flow has `name:` and `steps:`; docs/flows.md has examples."
    mark = root.start if root else Mark(1, 1, 0)
    empty = root is None or root.value is None
    problems.append(Problem("", "is empty" if empty else "is not a flow", mark, hint))
    return None


def _too_large(size: int, path: Path | None) -> InvalidAction:
    message = f"{size:,} bytes are too many; at most {MAX_BYTES:,} are read"
    return invalid_flow([Problem("", message, Mark(1, 1, 0), "Split the flow with run_flow.")], path)


StepPath = tuple[int | str, ...]
"""Indices of steps, with the branch (`then`, `else`) or the device's name before those inside.

A last word that names a field, such as `target`, means the field's value.
"""
_WORDS: dict[int | str, int | str] = {"otherwise": "else"}
"""The model's names are accepted beside the file's words."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line and column, from 1."""

    file: Path | None
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file or 'flow'}:{self.line}:{self.column}"


class Places:
    """Answers where a step or one of its values stands."""

    def __init__(self, file: Path | None, root: Node, drafts: list[StepDraft | None]) -> None:
        self._file = file
        self._root = root
        self._drafts = drafts

    def of(self, path: StepPath) -> Place:
        """The place of what lies at the path, or of the nearest thing around it."""
        mark = self._node(path).start
        return Place(self._file, mark.line, mark.column)

    def draft(self, path: StepPath) -> StepDraft | None:
        return self._walk(path)[0]

    def _node(self, path: StepPath) -> Node:
        draft, rest = self._walk(path)
        if draft is None:
            return child_at(self._root, path[0]) or self._root if path else self._root
        if rest == ("element",) and draft.element is not None:
            return draft.element
        node: Node = draft.fields
        action = draft.fields.get("action")
        if rest and isinstance(action, Fields) and child_at(action, rest[0]) is not None:
            node = action
        for part in rest:
            below = child_at(node, part)
            if below is None:
                break
            node = below
        return draft.source if node is draft.fields or node is action else node

    def _walk(self, path: StepPath) -> tuple[StepDraft | None, StepPath]:
        """The deepest step on the path, and what is left of the path."""
        here: StepDraft | None = None
        steps: dict[str, list[StepDraft | None]] = {"steps": self._drafts}
        at = 0
        while at < len(path):
            word = _WORDS.get(path[at], path[at])
            if word == "devices" and "devices" not in steps and at + 1 < len(path) and path[at + 1] in steps:
                at += 1
                word = path[at]
            if isinstance(word, str) and word in steps:
                at, name = at + 1, word
            elif isinstance(word, int) and "steps" in steps:
                name = "steps"
            else:
                break
            index = path[at] if at < len(path) else None
            if not isinstance(index, int) or not 0 <= index < len(steps[name]):
                return here, ()
            inner = steps[name][index]
            if inner is None:
                return here, ()
            here, steps, at = inner, inner.inner, at + 1
        return here, path[at:]


_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
JsonPath = tuple[str | int, ...]
_STRAY = re.compile(r"is not a (known )?field|is given twice")
_NO_TEXT = re.compile(r"valid (dictionary|tuple|list)")
"""Where no text can stand, whatever a variable's value is."""
STAND_IN = (Step(action=Finish()),)
"""For inner steps that are wrong themselves, so that the step around them is still checked."""


class ModelBuilder:
    """Makes models; `later` are problems that only a variable without a value causes."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.later: list[Problem] = []

    def steps(self, drafts: list[StepDraft | None]) -> tuple[AnyStep, ...]:
        valid_steps: list[AnyStep] = []
        for draft in drafts:
            if len(self.problems) >= MANY:
                break
            step = self.step(draft) if draft else None
            valid_steps += [step] if step else []
        return tuple(valid_steps)

    def step(self, draft: StepDraft) -> AnyStep | None:
        inner = {word: self.steps(drafts) or STAND_IN for word, drafts in draft.inner.items()}
        if draft.model is Parallel:
            inside: dict[str, Any] = {"devices": inner}
        elif draft.model is Branch:
            inside = {BRANCHES[word]: steps for word, steps in inner.items()}
        else:
            inside = dict(inner)
        step = self.model(draft.model, draft.fields, inside, draft.path, draft.head)
        return step if isinstance(step, draft.model) else None

    def agentest(self, draft: StepDraft) -> Step | None:
        step = plain_data(draft.source)
        if not isinstance(step, dict):
            hint = 'Write {"action": "tap", "target": {…}}.'
            self.problems.append(Problem(draft.path, "should be an object", draft.source.start, hint))
            return None
        try:
            return agentest.read_step(step)
        except InvalidAction as error:
            path = str(error.details.get("path", ""))
            message = error.message.removeprefix(f"{path}: ")
            node = nearest_node(draft.source, split_path(path), key=bool(_STRAY.match(message)))
            self.problems.append(Problem(_join_paths(draft.path, path), message, node.start, error.hint))
            return None

    def model(
        self, model: type[BaseModel], fields: Fields, inside: Mapping[str, Any], path: str, head: str = ""
    ) -> BaseModel | None:
        """One model from its fields; what a variable stands for becomes a number or a text as wanted."""
        try:
            return model.model_validate({**plain_data(fields), **inside})
        except ValidationError as error:
            wrong = invalid_action(error, plain_data(fields)).details["problems"]
        read = fields
        for problem in wrong:
            read = _read_variable_otherwise(read, split_path(problem["path"]))
        if read is not fields:
            return self.model(model, read, inside, path, head)
        # A value that a variable could mend; a wrong key is not one, nor a place where no text can stand.
        mendable = [
            problem
            for problem in wrong
            if not (_STRAY.match(problem["message"]) or _NO_TEXT.search(problem["message"]))
        ]
        nodes = (nearest_node(fields, split_path(problem["path"])) for problem in mendable)
        open_texts = {node.start.offset for node in nodes if isinstance(node, Scalar) and node.unknown}
        for problem in wrong:
            self._add_problem(problem, fields, open_texts, path, head)
        return None

    def _add_problem(
        self, problem: dict[str, Any], fields: Fields, open_texts: set[int], path: str, head: str
    ) -> None:
        node = nearest_node(fields, split_path(problem["path"]))
        shown = re.sub(r"^(action|condition)\b", head, problem["path"]) if head else problem["path"]
        where = _join_paths(path, shown)
        if isinstance(node, Scalar) and node.start.offset in open_texts:
            name = node.unknown[0]
            give = f"Give it with --env {name}=…."
            missing = Problem(
                where, f"the variable {name} has no value", node.start, give, rule="unknown-variable"
            )
            self.later.append(missing)
            return
        node = nearest_node(fields, split_path(problem["path"]), key=bool(_STRAY.match(problem["message"])))
        suggestion = problem.get("suggestion")
        hint = f"Did you mean {suggestion}?" if suggestion else _hint_for_field(node, problem)
        self.problems.append(Problem(where, problem["message"], node.start, hint))


def _hint_for_field(node: Node, problem: dict[str, Any]) -> str | None:
    message = problem["message"]
    key = problem["path"].rpartition(".")[2]
    if _STRAY.match(message) and key in OPTIONS:
        return f"Put `{key}` beside the action, one level further out."
    wants_text = any(word in message for word in ("valid string", "Selector", "Condition", "Point"))
    if isinstance(node, Scalar) and wants_text and isinstance(node.value, bool | int | float):
        return f'Put it in quotes if it is a text: "{node.text}".'
    return None


def _read_variable_otherwise(node: Any, parts: JsonPath) -> Any:
    """The same tree with the value at this path read the other way, once, if a variable stands for it."""
    if isinstance(node, Scalar):
        if not node.is_variable:
            return node
        other = read_scalar(node.text) if isinstance(node.value, str) else node.text
        return node if other == node.value else replace(node, value=other, is_variable=False)
    below = child_at(node, parts[0]) if parts else None
    if below is None:
        return node
    read = _read_variable_otherwise(below, parts[1:])
    if read is below:
        return node
    if isinstance(node, Items):
        items = tuple(read if index == parts[0] else child for index, child in enumerate(node.items))
        return replace(node, items=items)
    key = str(parts[0])
    return replace(node, entries={**node.entries, key: FieldEntry(node.entries[key].key, read)})


def nearest_node(node: Node, path: JsonPath, *, key: bool = False) -> Node:
    """What lies at the path (or its key), or the nearest thing around it that is there."""
    for index, part in enumerate(path):
        below = child_at(node, part)
        if below is None:
            return node
        if key and index == len(path) - 1 and isinstance(node, Fields):
            return node.entries[str(part)].key
        node = below
    return node


def split_path(path: str) -> JsonPath:
    """`expect.all[1]` → ("expect", "all", 1)."""
    return tuple(int(index) if index else name for index, name in _PART.findall(path))


def _join_paths(path: str, below: str) -> str:
    return f"{path}.{below}" if path and below else path or below
