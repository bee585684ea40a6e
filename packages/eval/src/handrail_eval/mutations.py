"""A right run made wrong in one place at a time: a condition that no such change breaks proves nothing."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from handrail_eval.answers import wrong_answers
from handrail_eval.app_names import state_path
from handrail_eval.conditions import (
    AnswerIs,
    Condition,
    EitherHolds,
    NeverHolds,
    PersonWasAsked,
    PhoneStateIs,
    WasPressed,
    WasSeen,
    WasVisited,
)
from handrail_eval.evidence import PersonQuestion, TaskEvidence
from handrail_eval.judge import KEPT, problem, problems
from handrail_eval.state_paths import find, without
from handrail_eval.task import EvalTask


def vacuous(task: EvalTask, evidence: TaskEvidence) -> list[str]:
    """What could be left out of the check without anybody noticing."""
    found = [
        f"no change of the end breaks {str(one.model_dump(exclude_unset=True, by_alias=True))[:120]}"
        for one in task.check
        if not any(problem(one, task, changed) for changed in _changed(one, task, evidence))
    ]
    if not problems(task, replace(evidence, after=_with_a_deed(evidence.after))):
        found.append("a deed beside the task is not noticed: is everything among `changes`?")
    return found


def _changed(condition: Condition, task: EvalTask, evidence: TaskEvidence) -> Iterator[TaskEvidence]:
    match condition:
        case PhoneStateIs():
            yield replace(evidence, after=evidence.before)
            for value in _others(find(evidence.after, state_path(condition.state)), condition):
                yield replace(evidence, after=_with(evidence.after, state_path(condition.state), value))
        case AnswerIs():
            for words in wrong_answers(task.answer, condition.answer) if task.answer else ():
                yield replace(evidence, answer=words)
        case WasSeen() | WasVisited():
            yield replace(evidence, looks=())
        case PersonWasAsked():
            yield replace(evidence, questions=())
            asked = PersonQuestion(
                (condition.asked.about.replace("*", "") or "x",), condition.asked.approved or False
            )
            yield replace(evidence, questions=(asked,) * 20)
        case WasPressed():
            yield replace(evidence, presses=())
        case NeverHolds():
            yield from _so_that(condition.never, evidence)
        case EitherHolds():
            for way in condition.either:
                for one in way:
                    yield from _changed(one, task, evidence)
            yield replace(evidence, looks=(), questions=(), status="", answer="")
        case _:
            yield replace(evidence, status="", message="", answer="")


def _so_that(never: Condition, evidence: TaskEvidence) -> Iterator[TaskEvidence]:
    """The forbidden thing has happened."""
    match never:
        case PhoneStateIs():
            path = state_path(never.state)
            [test] = never.tests
            wanted = getattr(never, test)
            made = [wanted] if test == "has" else [None] * wanted if test == "count" else wanted
            yield replace(evidence, after=_with(evidence.after, path, made))
        case WasPressed():
            label = never.pressed.label.replace("*", "")
            yield replace(evidence, presses=((state_path(never.pressed.app).removeprefix("apps."), label),))
        case _:
            yield replace(evidence, questions=evidence.questions * 20, status="done")


def _others(found: list[Any], condition: PhoneStateIs) -> Iterator[Any]:
    for value in found or [None]:
        yield from _another(value)
    if condition.tests == ["lacks"]:
        yield [condition.lacks]
    if condition.tests == ["exists"]:
        yield None


def _another(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1_000_003
        case str():
            yield f"{value} x"
            yield "1" if value == "0" else "0"
        case list():
            yield []
            yield [*value, *value, {}]
        case dict():
            yield {}
        case _:
            yield "x"


def _with(state: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The state with this at the path; package names have dots themselves."""
    made = copy.deepcopy(state)
    _put(made, path, value)
    return made


def _put(inside: Any, path: str, value: Any) -> None:
    if isinstance(inside, list):
        head, _, rest = path.partition(".")
        chosen = range(len(inside)) if head == "*" else [int(head)] if head.lstrip("-").isdigit() else []
        for at in chosen:
            if not rest and -len(inside) <= at < len(inside):
                inside[at] = value
            elif -len(inside) <= at < len(inside):
                _put(inside[at], rest, value)
    elif isinstance(inside, dict):
        for key in inside:
            if path == key:
                inside[key] = value
                return
            if path.startswith(f"{key}."):
                _put(inside[key], path[len(key) + 1 :], value)


def _with_a_deed(state: dict[str, Any]) -> dict[str, Any]:
    """Something in every app and every table of settings that nobody asked for."""
    made = copy.deepcopy({name: without(one, "") or one for name, one in state.items()})
    for part in KEPT:
        for inner in made.get(part, {}).values():
            if isinstance(inner, dict):
                inner["nobody asked for this"] = 1
    return made
