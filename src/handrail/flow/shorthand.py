"""From a step as people write it to a draft: the model it is meant for, and its fields in long form.

    - tap: Save          →  {action: {type: tap, target: Save}}
      optional: true        {optional: true}

Every value keeps its place. What the fields may hold is the models' business, not this file's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from handrail.errors import did_you_mean
from handrail.flow.parse import MANY, MAX_STEPS, FieldEntry, Fields, Items, Node, Problem, Scalar
from handrail.flow.variables import as_texts, name_problems
from handrail.protocol.act import SHARED_FIELDS, Act
from handrail.protocol.actions import ACTIONS
from handrail.protocol.flow import AnyStep, Branch, Parallel, Repeat, RunFlow, Step
from handrail.protocol.model import camel
from handrail.protocol.read import nearest, nearest_kind
from handrail.protocol.target import Condition, Point, Selector

SHARED = ("label", "optional", "timeout_ms", "when")
"""What every step may say beside what it does."""
ACTING = ("retry", "settle", "element")
"""What only an action takes; `element` is what a recording knows of the touched element."""
INSIDE = SHARED_FIELDS
"""They may stand beside an action too."""
CONTROLS = ("repeat", "run_flow", "parallel")
BRANCHES = {"then": "then", "else": "otherwise"}
HEADS = (*ACTIONS, *CONTROLS, "when")


def _spellings(names: Iterable[str]) -> frozenset[str]:
    return frozenset(spelling for name in names for spelling in (name, camel(name)))


_HOLDS: dict[str, frozenset[str]] = {
    "target": _spellings([*Selector.model_fields, *Point.model_fields]),
    "condition": _spellings(Condition.model_fields),
}
"""Short fields whose value can itself be a mapping, and the keys by which it is known."""
OPTIONS = _spellings((*SHARED, *ACTING, *INSIDE))


@dataclass(slots=True)
class StepDraft:
    """A step on its way: `fields` in the model's own words, inner steps apart."""

    model: type[AnyStep]
    path: str
    """`steps[2].repeat.steps[0]`"""
    head: str
    """The word that says what it does."""
    source: Node
    fields: Fields
    element: Node | None = None
    inner: dict[str, list[StepDraft | None]] = field(default_factory=dict)
    """By the words of the file: steps, then, else, or a device's name."""


class _Unclear(Exception):
    """A step whose meaning can't be told."""

    def __init__(self, path: str, message: str, node: Node, hint: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem(path, message, node.start, hint)


class StepExpander:
    """Reads steps and collects what is wrong with them."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def steps(self, node: Node | None, holder: Node, path: str) -> list[StepDraft | None]:
        """A list of steps; None where a step can't be understood at all."""
        if not isinstance(node, Items) or not node.items:
            empty = node is None or (isinstance(node, Items) and not node.items)
            message = "needs at least one step" if empty else "should be a list of steps"
            self._report(
                path, message, node or holder, "Write every step on a line of its own: `- tap: Save`."
            )
            return []
        if len(node.items) > MAX_STEPS:
            message = f"has {len(node.items):,} steps; at most {MAX_STEPS:,} are run"
            self._report(path, message, node, "Split it with run_flow, or use repeat.")
            return []
        drafts: list[StepDraft | None] = []
        for index, child in enumerate(node.items):
            if len(self._problems) >= MANY:
                break
            drafts.append(self.step(child, f"{path}[{index}]"))
        return drafts

    def step(self, node: Node, path: str) -> StepDraft | None:
        """One step; None where it can't be understood."""
        try:
            return self._step(node, path)
        except _Unclear as error:
            self._problems.append(error.problem)
            return None

    def _step(self, node: Node, path: str) -> StepDraft:
        if isinstance(node, Scalar):
            if node.value is None:
                raise _Unclear(path, "is empty", node, "Write a step after the dash, or remove it.")
            if not isinstance(node.value, str) or node.value not in ACTIONS:
                raise self._unknown_head(node, path)
            action = Fields({"type": _field_entry("type", node)}, node.start, node.end)
            fields = Fields({"action": _field_entry("action", action)}, node.start, node.end)
            return StepDraft(Step, path, node.value, node, fields)
        if isinstance(node, Items):
            raise _Unclear(path, "should be a step, not a list", node, "Remove one of the dashes.")
        if "then" in node.entries or "else" in node.entries:
            return self._branch(node, path)
        heads = [key for key in node.entries if key in HEADS and key != "when"]
        if len(heads) > 1:
            message = f"does two things: {' and '.join(heads[:3])}"
            second = node.entries[heads[1]].key
            raise _Unclear(path, message, second, "Start each of them with its own dash.")
        if not heads:
            raise self._problem_without_head(node, path)
        if heads[0] in CONTROLS:
            word = heads[0]
            if word == "repeat":
                return self._repeat(node, path)
            return self._run_flow(node, path) if word == "run_flow" else self._parallel(node, path)
        return self._action(node, heads[0], path)

    def _problem_without_head(self, node: Fields, path: str) -> _Unclear:
        if "when" in node.entries:
            key = node.entries["when"].key
            return _Unclear(path, "says when, and not what", key, "Add `then:` with steps, or an action.")
        stray = [entry for key, entry in node.entries.items() if key not in OPTIONS]
        if not stray:
            return _Unclear(path, "says nothing to do", node, "Add an action, such as `tap: Save`.")
        key, value = stray[0].key, stray[0].value
        if key.text == "type" and isinstance(value, Scalar):
            hint = f"Write `- {value.text[:60]}: …` in a flow."
            return _Unclear(path, "names its action by `type`", key, hint)
        return self._unknown_head(key, path)

    def _unknown_head(self, word: Scalar, path: str) -> _Unclear:
        close = nearest_kind(word.text, [kind for kind in HEADS if kind != "when"])
        guess = did_you_mean(close, "`handrail actions` lists them.")
        return _Unclear(path, f"{word.text[:60]!r} is not an action", word, guess)

    def _action(self, node: Fields, kind: str, path: str) -> StepDraft:
        cls = ACTIONS[kind]
        head = node.entries[kind]
        own = self._own_fields(cls, kind, head, path)
        options = self._options(node, (*SHARED, *ACTING, *INSIDE), {kind}, path, cls)
        for name in INSIDE:
            entry = options.pop(name, None)
            if entry and name in own:
                self._report(
                    f"{path}.{name}", "is given twice, inside and beside", entry.key, "Keep one of the two."
                )
            elif entry:
                own[name] = entry
        beside_wait = "timeout_ms" in cls.model_fields and "timeout_ms" in options
        if beside_wait and not _has_either_spelling(own, "timeout_ms"):  # it is the wait's own
            own["timeout_ms"] = options.pop("timeout_ms")
        element = options.pop("element", None)
        if element and not isinstance(element.value, Fields):
            self._report(f"{path}.element", "should be a mapping", element.value, None)
        action = Fields(own, head.key.start, node.end)
        if "." not in kind:  # what a desk's window shows may hold nothing
            self._report_missing_values(action, f"{path}.{kind}")
        self._report_missing_values(Fields(options), path)
        fields = Fields({"action": FieldEntry(head.key, action), **options}, node.start, node.end)
        return StepDraft(Step, path, kind, node, fields, element.value if element else None)

    def _own_fields(self, cls: type[Act], kind: str, head: FieldEntry, path: str) -> dict[str, FieldEntry]:
        named = {"type": FieldEntry(head.key, replace(head.key, value=kind))}
        value, short = head.value, cls.traits.shorthand
        if isinstance(value, Scalar) and value.value is None:
            return named
        if isinstance(value, Fields) and not _is_short(value, cls):
            if "type" in value.entries:
                self._report(
                    f"{path}.{kind}.type", "the step says its type already", value.entries["type"].key, None
                )
            return {**value.entries, **named}
        if short is None:
            names = ", ".join(_field_names_of(cls)) or "nothing"
            raise _Unclear(f"{path}.{kind}", "has no short form", value, f"It takes: {names}.")
        return {**named, short: FieldEntry(head.key, value)}

    def _report_missing_values(self, node: Node, path: str) -> None:
        """A key without a value is a mistake, not a wish for the default."""
        for key, entry in node.entries.items() if isinstance(node, Fields) else ():
            if isinstance(entry.value, Scalar) and entry.value.value is None:
                hint = "Give it a value, or remove it. In quotes it is a text."
                self._report(f"{path}.{key}", "has no value", entry.key, hint)
            elif key.endswith("_"):
                self._report(f"{path}.{key}", "is not known here", entry.key, f"Did you mean {key[:-1]}?")
            else:
                self._report_missing_values(entry.value, f"{path}.{key}")
        for index, child in enumerate(node.items if isinstance(node, Items) else ()):
            self._report_missing_values(child, f"{path}[{index}]")

    def _repeat(self, node: Fields, path: str) -> StepDraft:
        value = node.get("repeat")
        if not isinstance(value, Fields):
            hint = "Write `repeat: {times: 3, steps: […]}`; while and until take a condition."
            raise _Unclear(f"{path}.repeat", "should be a mapping", value or node, hint)
        options = self._options(node, SHARED, {"repeat"}, path)
        own = {key: entry for key, entry in value.entries.items() if key != "steps"}
        own = self._in_model_names(own, ("times", "while", "until", "max_times"), f"{path}.repeat")
        inner = self.steps(value.get("steps"), value, f"{path}.repeat.steps")
        fields = Fields({**own, **options}, node.start, node.end)
        self._report_missing_values(fields, path)
        return StepDraft(Repeat, path, "repeat", node, fields, inner={"steps": inner})

    def _run_flow(self, node: Fields, path: str) -> StepDraft:
        value = node.entries["run_flow"].value
        options = self._options(node, SHARED, {"run_flow"}, path)
        if isinstance(value, Fields):
            own = self._in_model_names(value.entries, ("file", "env"), f"{path}.run_flow")
        else:
            own = {"file": FieldEntry(node.entries["run_flow"].key, value)}
        if "env" in own:
            own["env"] = FieldEntry(own["env"].key, as_texts(own["env"].value))
            self._problems += name_problems(own["env"].value, f"{path}.run_flow.env")
        fields = Fields({**own, **options}, node.start, node.end)
        self._report_missing_values(fields, path)
        return StepDraft(RunFlow, path, "run_flow", node, fields)

    def _parallel(self, node: Fields, path: str) -> StepDraft:
        value = node.get("parallel")
        if not isinstance(value, Fields) or not value.entries:
            hint = "Write `parallel: {alice: [steps], bob: [steps]}`."
            raise _Unclear(f"{path}.parallel", "should map names of devices to steps", value or node, hint)
        options = self._options(node, SHARED, {"parallel"}, path)
        inner = {
            name: self.steps(entry.value, entry.key, f"{path}.parallel.{name}")
            for name, entry in value.entries.items()
        }
        fields = Fields(options, node.start, node.end)
        self._report_missing_values(fields, path)
        return StepDraft(Parallel, path, "parallel", node, fields, inner=inner)

    def _branch(self, node: Fields, path: str) -> StepDraft:
        condition = node.entries.get("when")
        if condition is None or "then" not in node.entries:
            lacks = "then" if condition else "when"
            raise _Unclear(path, f"needs `{lacks}`", node, "Write `- when: Saved`, `then: […]`, `else: […]`.")
        options = self._options(node, SHARED, {"when", *BRANCHES}, path)
        inner = {
            word: self.steps(node.get(word), node.entries[word].key, f"{path}.{word}")
            for word in BRANCHES
            if word in node.entries
        }
        fields = Fields({"condition": condition, **options}, node.start, node.end)
        self._report_missing_values(fields, path)
        return StepDraft(Branch, path, "when", node, fields, inner=inner)

    def _options(
        self, node: Fields, allowed: Iterable[str], heads: set[str], path: str, cls: type[Act] | None = None
    ) -> dict[str, FieldEntry]:
        """What stands beside the head, by the models' names."""
        beside = {key: entry for key, entry in node.entries.items() if key not in heads}
        return self._in_model_names(beside, tuple(allowed), path, cls)

    def _in_model_names(
        self,
        entries: dict[str, FieldEntry],
        allowed: tuple[str, ...],
        path: str,
        cls: type[Act] | None = None,
    ) -> dict[str, FieldEntry]:
        names = {spelling: name for name in allowed for spelling in (name, camel(name))}
        renamed: dict[str, FieldEntry] = {}
        for key, entry in entries.items():
            name = names.get(key)
            if name is None:
                self._report_stray_key(key, entry, allowed, path, cls)
            elif name in renamed:
                self._report(f"{path}.{key}", "is given twice, in both spellings", entry.key, None)
            else:
                renamed[name] = entry
        return renamed

    def _report_stray_key(
        self, key: str, entry: FieldEntry, allowed: tuple[str, ...], path: str, cls: type[Act] | None
    ) -> None:
        if cls and key in _spellings(_field_names_of(cls)):
            kind = cls.model_fields["type"].default
            hint = f"It belongs inside: `{kind}: {{…, {key}: …}}`."
            self._report(f"{path}.{key}", f"is a field of {kind}, not of the step", entry.key, hint)
            return
        guess = did_you_mean(nearest(key, allowed), f"Known here: {', '.join(allowed)}.")
        self._report(f"{path}.{key}", "is not known here", entry.key, guess)

    def _report(self, path: str, message: str, node: Node, hint: str | None) -> None:
        self._problems.append(Problem(path, message, node.start, hint))


def _field_entry(key: str, node: Node) -> FieldEntry:
    return FieldEntry(Scalar(key, key, node.start, node.end), node)


def _is_short(value: Fields, cls: type[Act]) -> bool:
    """`tap: {id: save}` is the target itself; `tap: {target: …}` are the action's fields."""
    short = cls.traits.shorthand
    if short not in _HOLDS or _has_either_spelling(value.entries, short):
        return False
    own = _spellings(_field_names_of(cls))
    return not _HOLDS[short].isdisjoint(value.entries) or own.isdisjoint(value.entries)


def _field_names_of(cls: type[Act]) -> list[str]:
    return [info.serialization_alias or name for name, info in cls.model_fields.items() if name != "type"]


def _has_either_spelling(own: Mapping[str, FieldEntry], name: str) -> bool:
    return name in own or camel(name) in own
