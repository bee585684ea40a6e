"""One flow's file, read: the flow itself, where everything in it stands, and its variables filled.

Takes YAML, JSON, and AgenTest's steps as they are. Whatever the bytes are, only `InvalidAction` comes out of
it, with every problem of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.build import STAND_IN, Builder
from handrail.flow.nodes import MAX_BYTES, FieldEntry, Fields, Items, Mark, Node, Scalar, plain
from handrail.flow.parse import read_json, read_yaml
from handrail.flow.places import Places, StepPath
from handrail.flow.problems import MANY, Problem, Unreadable, invalid_flow
from handrail.flow.shorthand import Expander, StepDraft
from handrail.flow.variables import as_text, fill_node, late_names, name_problems
from handrail.protocol.flow import AnyStep, Flow, Step
from handrail.protocol.read import nearest

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
    made: Flow | None = field(repr=False)
    missing: tuple[Problem, ...] = ()
    """Variables without a value where a text can't stand."""
    within: Path | None = None
    """Files that it runs lie in this folder, or are refused: it is somebody else's. None: anywhere."""

    @property
    def flow(self) -> Flow:
        """The flow; `InvalidAction` where it can't be made before somebody gives a variable its value."""
        if self.made is None:
            raise invalid_flow(self.missing, self.path)
        return self.made

    @property
    def name(self) -> str:
        """What reports call it; known before the variables are."""
        name = self.root.get("name")
        return str(name.value) if isinstance(name, Scalar) else _stem(self.path)

    @property
    def late(self) -> frozenset[str]:
        """The variables that its steps fill while it runs."""
        return frozenset(late_names(self.root.get("steps")))

    @property
    def tags(self) -> tuple[str, ...]:
        """By which runs are chosen; known before the variables are."""
        tags = self.root.get("tags")
        return tuple(plain(tags)) if isinstance(tags, Items) else ()

    def bind(self, env: Mapping[str, str]) -> FlowDocument:
        """The same file with these values over its own `env`; every variable must have one."""
        return replace(make_document(self.root, self.path, self.text, [], env), within=self.within)

    def given(self, path: StepPath) -> dict[str, Any]:
        """The step as it stands in the file: variables filled in, secrets not."""
        draft = self.places.draft(path)
        step = plain(draft.source) if draft else {}
        return step if isinstance(step, dict) else {str(step): None}

    def element(self, path: StepPath) -> dict[str, Any] | None:
        """What a recording knew of the element that this step touches."""
        draft = self.places.draft(path)
        found = plain(draft.element) if draft and draft.element else None
        return found if isinstance(found, dict) else None


def make_document(
    root: Fields,
    path: Path | None,
    text: str,
    problems: list[Problem],
    env: Mapping[str, str] | None = None,
) -> FlowDocument:
    """Checks everything; without `env` (not yet bound) variables may still lack their values."""
    is_agentest = _is_agentest(root)
    builder = Builder(problems)
    filled = root if is_agentest else _Filler(env, problems).flow(root)
    if is_agentest:
        drafts, steps = _agentest_steps(filled, builder)
    else:
        drafts = Expander(problems).steps(filled.get("steps"), filled, "steps")
        steps = builder.steps(drafts)
    flow = _flow(filled, steps, path, builder)
    if problems:
        raise invalid_flow(sorted(problems, key=lambda one: one.mark.offset), path)
    places = Places(path, filled, drafts)
    made = None if builder.later else flow
    return FlowDocument(path, text, places, is_agentest, root, drafts, made, tuple(builder.later))


def _is_agentest(root: Fields) -> bool:
    """Steps that name what they do by `action`: one is enough to read all of them so."""
    steps = root.get("steps")
    items = steps.items if isinstance(steps, Items) else ()
    return any(isinstance(one.get("action"), Scalar) for one in items if isinstance(one, Fields))


def _agentest_steps(root: Fields, builder: Builder) -> tuple[list[StepDraft | None], tuple[AnyStep, ...]]:
    steps = root.get("steps")
    drafts: list[StepDraft | None] = []
    made: list[AnyStep] = []
    for index, one in enumerate(steps.items if isinstance(steps, Items) else ()):
        if len(builder.problems) >= MANY:
            break
        draft = StepDraft(Step, f"steps[{index}]", "", one, one if isinstance(one, Fields) else Fields())
        step = builder.agentest(draft)
        drafts.append(draft)
        made += [step] if step else []
    return drafts, tuple(made)


def _flow(root: Fields, steps: tuple[AnyStep, ...], path: Path | None, builder: Builder) -> Flow | None:
    for key, entry in root.entries.items():
        if key not in KEYS:
            close = nearest(key, KEYS)
            hint = f"Did you mean {' or '.join(close)}?" if close else f"A flow has: {', '.join(KEYS)}."
            builder.problems.append(Problem(key[:60], "is not a key of a flow", entry.key.start, hint))
    own = {key: entry for key, entry in root.entries.items() if key in KEYS and key != "steps"}
    for key, entry in own.items():
        if isinstance(entry.value, Scalar) and entry.value.value is None:
            hint = "Give it a value, or remove it."
            builder.problems.append(Problem(key, "has no value", entry.key.start, hint))
    inside: dict[str, Any] = {"steps": steps or STAND_IN}
    if "name" not in own:
        inside["name"] = _stem(path)
    made = builder.model(Flow, replace(root, entries=own), inside, "")
    return made if isinstance(made, Flow) else None


def _stem(path: Path | None) -> str:
    return path.stem[:200] if path and path.stem else "flow"


class _Filler:
    """Fills the variables of one file: its own `env` are defaults, what is given from outside wins."""

    def __init__(self, given: Mapping[str, str] | None, problems: list[Problem]) -> None:
        self._given = given or {}
        self._strict = given is not None
        self._problems = problems

    def flow(self, root: Fields) -> Fields:
        entries = dict(root.entries)
        scope: dict[str, str] = dict(self._given)
        if "env" in entries:
            entries["env"] = FieldEntry(entries["env"].key, self._env(entries["env"].value, scope))
        late = {name: f"${{{name}}}" for name in late_names(root.get("steps"))}
        for key, known in (("app", scope), ("steps", {**scope, **late})):
            if key in entries:
                entries[key] = FieldEntry(
                    entries[key].key, fill_node(entries[key].value, known, self._unknown)
                )
        return replace(root, entries=entries)

    def _env(self, node: Node, scope: dict[str, str]) -> Node:
        """Adds the file's own values to the scope; one may use those above it."""
        if not isinstance(node, Fields):
            return node
        self._problems += name_problems(node, "env")
        filled: dict[str, FieldEntry] = {}
        for name, entry in node.entries.items():
            value = as_text(fill_node(entry.value, scope, self._unknown))
            filled[name] = FieldEntry(entry.key, value)
            if isinstance(value, Scalar) and isinstance(value.value, str) and not value.unknown:
                scope.setdefault(name, value.value)
        return replace(node, entries=filled)

    def _unknown(self, node: Scalar, error: InvalidAction) -> None:
        if self._strict or "variable" not in error.details:
            rule = "unknown-variable" if "variable" in error.details else "invalid"
            self._problems.append(Problem("", error.message, node.start, error.hint, rule=rule))


def load(path: Path) -> FlowDocument:
    """The flow in this file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidAction(
            f"{path}: {reason}", path="", hint="Give a file that exists.", file=str(path)
        ) from None
    if len(data) > MAX_BYTES:
        raise _too_large(len(data), path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem(
            "", f"not UTF-8: byte {error.start}", Mark(line, 1, error.start), "Save it as UTF-8."
        )
        raise invalid_flow([problem], path) from None
    return loads(text, path)


def loads(text: str, path: Path | None = None) -> FlowDocument:
    """The flow in this text; `path` is where it comes from."""
    if len(text) > MAX_BYTES:
        raise _too_large(len(text), path)
    problems: list[Problem] = []
    try:
        root = _read(text, path, problems)
    except Unreadable as error:
        raise invalid_flow([*problems, error.problem], path) from None
    top = _top(root, problems)
    if top is None:
        raise invalid_flow(problems, path)
    return make_document(top, path, text, problems)


def _read(text: str, path: Path | None, problems: list[Problem]) -> Node | None:
    """JSON by its suffix, or where the text starts like it and is it; otherwise YAML."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Unreadable("half of a surrogate pair", Mark(1, 1, error.start)) from None
    if path is not None and path.suffix.lower() == ".json":
        return read_json(text, problems)
    if text.lstrip()[:1] in ("{", "["):
        found: list[Problem] = []
        try:
            node = read_json(text, found)
        except Unreadable:
            pass  # a YAML flow may start with a bracket, too
        else:
            problems.extend(found)
            return node
    return read_yaml(text, problems)


def _top(root: Node | None, problems: list[Problem]) -> Fields | None:
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
