"""An episode of an evaluation as a unit: a task's template, a seed, a repeat and a model's name. Both ends.

Every episode makes a phone of its own, as on one machine; on its host it takes the place of one.
"""

from __future__ import annotations

import asyncio
import io
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail_eval.baselines import reference
from handrail_eval.crew import CrewWork, run_here
from handrail_eval.load import read_template, shipped_file, told
from handrail_eval.manifest import hash_of
from handrail_eval.models import ModelChoice
from handrail_eval.own_loop import on_own_loop
from handrail_eval.result import EpisodeName, TaskResult, folder_name, key_of
from handrail_eval.task import EvalTask
from handrail_fleet.ledger import UnitSpec
from handrail_fleet.unit_kind import UnitResult, UnitStage

ATTEMPTS = 3
"""An episode touches a phone that nobody else has: it may always be repeated."""
_MODELS = ("openai", "anthropic", "random")
"""Whose names have a second part. That of others is a file, which a host must not read for a caller."""


def task_units(
    tasks: Iterable[EpisodeName],
    sources: Mapping[str, Path],
    model: ModelChoice,
    where: str,
    **how: Any,
) -> list[UnitSpec]:
    """`sources` are the files of the templates; `how` has `max_steps`, `keep` and `pictures`."""
    _check(model)
    about = {"model": {"name": model.name, "text": model.text, "see": model.see}, **how}
    templates = {name: _template(name, file) for name, file in sources.items()}
    return [
        UnitSpec(
            "task",
            task.id,
            {**templates[task.id], "seed": task.seed, "repeat": task.repeat, **about},
            where=where,
            attempts=ATTEMPTS,
            retry_lost=True,
        )
        for task in tasks
    ]


def _template(name: str, file: Path) -> dict[str, str]:
    """A shipped one travels by its name, another by its text. A program does not travel."""
    data, shipped = file.read_bytes(), shipped_file(name)
    if shipped is not None and shipped.read_bytes() == data:
        return {"task": name, "hash": hash_of(data)}
    if file.suffix == ".py":
        raise InvalidAction(
            f"{name} is a program of your own, and hosts run none that is sent to them",
            path="tasks",
            hint="Write it as YAML, or run it without --fleet.",
        )
    return {"task": name, "text": data.decode()}


def _check(model: ModelChoice) -> None:
    kind, colon, _ = model.name.partition(":")
    if colon and kind not in _MODELS:
        raise InvalidAction(f"{model.name!r:.60} names a file of another machine", path="model")


class TaskKind:
    """Runs one as `handrail eval` does, with the same line as its result."""

    async def run(self, body: Mapping[str, Any], stage: UnitStage) -> UnitResult:
        task = _task(body, stage.folder)
        model = _model(body["model"])
        await model.open(task, reference, stage.clock, on_phones=True).close()
        stage.said = f"task {task.id}, seed {task.seed}"
        out = stage.folder / "out" if body.get("keep") else None
        steps, pictures = body.get("max_steps"), bool(body.get("pictures"))
        work = CrewWork((), (task.seed,), 1, model, out, steps, pictures)
        results: list[TaskResult] = []
        await on_own_loop(lambda: run_here(work, iter([task]), 1, results.append))
        [result] = results
        data: dict[str, Any] = {"episode": result.to_dict(), "model": model.name}
        if out is not None:
            data["kept"] = stage.keep(await asyncio.to_thread(_packed, out / folder_name(task)))
        return UnitResult("passed" if result.success else "failed", result.why, data)


def _task(body: Mapping[str, Any], folder: Path) -> EvalTask:
    """By the name of a shipped one, never by a path; or by its text, which is YAML and no program."""
    name, text = str(body["task"]), body.get("text")
    if text is not None:
        file = folder / "task.yaml"
        file.write_text(str(text), encoding="utf-8")
    else:
        found = shipped_file(name)
        if found is None or hash_of(found.read_bytes()) != body.get("hash"):
            raise InvalidAction(f"This host has no task {name!r:.60}, or another one", path="task")
        file = found
    return told(read_template(file), int(body["seed"])).model_copy(update={"repeat": int(body["repeat"])})


def _model(given: Mapping[str, Any]) -> ModelChoice:
    """The model's key and address are the host's own: a caller could send the key to an address of theirs."""
    model = ModelChoice(str(given["name"]), None, bool(given.get("text")), given.get("see"))
    _check(model)
    return model


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(folder, arcname=".")
    return packed.getvalue()


def _unpack(data: bytes, folder: Path) -> None:
    """Files and folders, all of them inside; nothing is larger than what arrived."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            members = tar.getmembers()
            if not all(one.isfile() or one.isdir() for one in members):
                raise tarfile.TarError("it has links or devices")
            if sum(member.size for member in members) > len(data):
                raise tarfile.TarError("it is larger than what arrived")
            folder.mkdir(parents=True)
            tar.extractall(folder, members, filter=tarfile.tar_filter)  # noqa: S202  (it is filtered)
    except tarfile.TarError as error:
        raise InvalidAction(f"{folder.name}: what its host kept is not a run: {error}") from None


def episode_of(
    unit: Mapping[str, Any], task: EpisodeName, fetch: Callable[[str], bytes | None], out: Path | None
) -> TaskResult | None:
    """What a unit brought, and its run into `out`; None where it brought nothing of this task."""
    told_of = unit["result"] or {}
    try:
        result = TaskResult.read(told_of["episode"])
    except (KeyError, TypeError):
        return None
    if key_of(result) != key_of(task):
        return None
    if out is None:
        return result
    data = fetch(str(told_of.get("kept")))
    if data is None:  # the head was full: the result counts without it
        return replace(result, report=None)
    _unpack(data, out / folder_name(task))
    return result
