"""From drafts to the protocol's models: every field checked, every problem with the place it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from handrail.dialects import agentest
from handrail.errors import InvalidAction
from handrail.flow.nodes import FieldEntry, Fields, Items, Node, Scalar, child, plain
from handrail.flow.problems import MANY, Problem
from handrail.flow.shorthand import BRANCHES, OPTIONS, StepDraft
from handrail.flow.variables import read_scalar
from handrail.protocol.flow import AnyStep, Branch, Parallel, Step
from handrail.protocol.observe import Finish
from handrail.protocol.read import invalid_action

_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_STRAY = re.compile(r"is not a (known )?field|is given twice")
_NO_TEXT = re.compile(r"valid (dictionary|tuple|list)")
"""Where no text can stand, whatever a variable's value is."""
STAND_IN = (Step(action=Finish()),)
"""For inner steps that are wrong themselves, so that the step around them is still checked."""


class Builder:
    """Makes models; `later` are problems that only a variable without a value causes."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.later: list[Problem] = []

    def steps(self, drafts: list[StepDraft | None]) -> tuple[AnyStep, ...]:
        """The steps that are right."""
        made: list[AnyStep] = []
        for draft in drafts:
            if len(self.problems) >= MANY:
                break
            step = self.step(draft) if draft else None
            made += [step] if step else []
        return tuple(made)

    def step(self, draft: StepDraft) -> AnyStep | None:
        inner = {word: self.steps(drafts) or STAND_IN for word, drafts in draft.inner.items()}
        if draft.model is Parallel:
            inside: dict[str, Any] = {"devices": inner}
        elif draft.model is Branch:
            inside = {BRANCHES[word]: steps for word, steps in inner.items()}
        else:
            inside = dict(inner)
        made = self.model(draft.model, draft.fields, inside, draft.path, draft.head)
        return made if isinstance(made, draft.model) else None

    def agentest(self, draft: StepDraft) -> Step | None:
        """One of the twenty steps, as they are."""
        step = plain(draft.source)
        if not isinstance(step, dict):
            hint = 'Write {"action": "tap", "target": {…}}.'
            self.problems.append(Problem(draft.path, "should be an object", draft.source.start, hint))
            return None
        try:
            return agentest.read_step(step)
        except InvalidAction as error:
            path = str(error.details.get("path", ""))
            message = error.message.removeprefix(f"{path}: ")
            found = _nearest_node(draft.source, path, key=bool(_STRAY.match(message)))
            self.problems.append(Problem(_join(draft.path, path), message, found.start, error.hint))
            return None

    def model(
        self, model: type[BaseModel], fields: Fields, inside: Mapping[str, Any], path: str, head: str = ""
    ) -> BaseModel | None:
        """One model from its fields; what a variable stands for becomes a number or a text as wanted."""
        try:
            return model.model_validate({**plain(fields), **inside})
        except ValidationError as error:
            wrong = invalid_action(error, plain(fields)).details["problems"]
        read = fields
        for problem in wrong:
            read = _reread(read, _parts(problem["path"]))
        if read is not fields:
            return self.model(model, read, inside, path, head)
        open_texts = {
            node.start.offset: node
            for node in (_nearest_node(fields, one["path"]) for one in wrong if _may_be_filled(one))
            if isinstance(node, Scalar) and node.unknown
        }
        for problem in wrong:
            self._add(problem, fields, open_texts, path, head)
        return None

    def _add(
        self, problem: dict[str, Any], fields: Fields, open_texts: dict[int, Scalar], path: str, head: str
    ) -> None:
        node = _nearest_node(fields, problem["path"])
        shown = re.sub(r"^(action|condition)\b", head, problem["path"]) if head else problem["path"]
        if isinstance(node, Scalar) and node.start.offset in open_texts:
            message, give = (
                f"the variable {node.unknown[0]} has no value",
                f"Give it with --env {node.unknown[0]}=….",
            )
            self.later.append(Problem(_join(path, shown), message, node.start, give, rule="unknown-variable"))
            return
        node = _nearest_node(fields, problem["path"], key=bool(_STRAY.match(problem["message"])))
        meant = problem.get("suggestion")
        hint = f"Did you mean {meant}?" if meant else _advice(node, problem)
        self.problems.append(Problem(_join(path, shown), problem["message"], node.start, hint))


def _may_be_filled(problem: dict[str, Any]) -> bool:
    """A value that a variable could mend; a wrong key is not one, nor a place where no text can stand."""
    return not (_STRAY.match(problem["message"]) or _NO_TEXT.search(problem["message"]))


def _advice(node: Node, problem: dict[str, Any]) -> str | None:
    message = problem["message"]
    key = problem["path"].rpartition(".")[2]
    if _STRAY.match(message) and key in OPTIONS:
        return f"Put `{key}` beside the action, one level further out."
    wants_text = any(word in message for word in ("valid string", "Selector", "Condition", "Point"))
    if isinstance(node, Scalar) and wants_text and isinstance(node.value, bool | int | float):
        return f'Put it in quotes if it is a text: "{node.text}".'
    return None


def _reread(node: Any, parts: list[str | int]) -> Any:
    """The same tree with the value at this path read the other way, once, if a variable stands for it."""
    if isinstance(node, Scalar):
        if not node.whole:
            return node
        other = read_scalar(node.text) if isinstance(node.value, str) else node.text
        return node if other == node.value else replace(node, value=other, whole=False)
    below = child(node, parts[0]) if parts else None
    if below is None:
        return node
    read = _reread(below, parts[1:])
    if read is below:
        return node
    if isinstance(node, Items):
        items = tuple(read if index == parts[0] else one for index, one in enumerate(node.items))
        return replace(node, items=items)
    key = str(parts[0])
    return replace(node, entries={**node.entries, key: FieldEntry(node.entries[key].key, read)})


def _nearest_node(node: Node, path: str, *, key: bool = False) -> Node:
    """What lies at the path (or its key), or the nearest thing around it that is there."""
    parts = _parts(path)
    for index, part in enumerate(parts):
        below = child(node, part)
        if below is None:
            return node
        if key and index == len(parts) - 1 and isinstance(node, Fields):
            return node.entries[str(part)].key
        node = below
    return node


def _parts(path: str) -> list[str | int]:
    return [int(index) if index else name for index, name in _PART.findall(path)]


def _join(path: str, below: str) -> str:
    return f"{path}.{below}" if path and below else path or below
