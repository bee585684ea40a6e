"""Tasks from files: the shipped ones, or anybody's own; chosen by name, tag, file or folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from handrail.errors import InvalidAction
from handrail.evaluation.reference import replies_of
from handrail.evaluation.task import EvalTask, draw, filled
from handrail.protocol.read import nearest

SHIPPED = Path(__file__).with_name("tasks")
MAX_BYTES = 200_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times as fast where PyYAML was built with its C parser."""


def load_tasks(wanted: Sequence[str] = (), seed: int = 1) -> list[EvalTask]:
    """In the order of their files; without a wish all that are shipped. Raises `InvalidAction`."""
    if not wanted:
        return _folder(SHIPPED, seed)
    chosen: dict[str, EvalTask] = {}
    for word in wanted:
        for task in _chosen(word, seed):
            known = chosen.setdefault(task.id, task)
            if known != task:
                raise InvalidAction(
                    f"two tasks are named {task.id}", path="tasks", hint="Rename one of them."
                )
    return list(chosen.values())


def _chosen(word: str, seed: int) -> list[EvalTask]:
    """A shipped file has the name of its task."""
    named, path = SHIPPED / f"{word}.yaml", Path(word).expanduser()
    if named.is_file():
        return [read_task(named, seed)]
    shipped = _folder(SHIPPED, seed)
    if found := [task for task in shipped if word in task.tags]:
        return found
    if path.is_dir():
        return _folder(path, seed)
    if path.is_file():
        return [read_task(path, seed)]
    tags = sorted({tag for task in shipped for tag in task.tags})
    close = nearest(word, [*tags, *(task.id for task in shipped)])[:2]
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Tags: {', '.join(tags)}."
    raise InvalidAction(f"no task, tag, file or folder is named {word!r}", path="tasks", hint=hint)


def _folder(folder: Path, seed: int) -> list[EvalTask]:
    files = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    if not files:
        raise InvalidAction(f"no task in {folder}", path="tasks", hint="Tasks are *.yaml files.")
    tasks = [read_task(file, seed) for file in files]
    names = [task.id for task in tasks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidAction(f"two tasks in {folder} are named {twice}", path="tasks")
    return tasks


def read_task(file: Path, seed: int = 1) -> EvalTask:
    """The task with this seed's values. What is wrong with it is told with file and path."""
    try:
        return _task(_mapping(file), seed)
    except InvalidAction as error:
        raise InvalidAction(
            f"{file}: {error.message}",
            path=str(error.details.get("path", "")),
            hint=error.hint,
            file=str(file),
        ) from None


def _mapping(file: Path) -> dict[str, Any]:
    try:
        data = file.read_bytes()
        if len(data) > MAX_BYTES:
            raise InvalidAction(f"{len(data):,} bytes are too many for a task", path="tasks")
        found = yaml.load(data, _LOADER)  # noqa: S506  (a safe one)
    except OSError as error:
        raise InvalidAction(f"{error.strerror or error}", path="tasks", hint="Give a file.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        why = getattr(error, "problem", None) or error
        raise InvalidAction(f"not valid YAML: {why}{place}", path="tasks") from None
    if not isinstance(found, dict):
        raise InvalidAction("should be a mapping with id, instruction, check, …", path="tasks")
    return found


def _task(raw: dict[str, Any], seed: int) -> EvalTask:
    values = draw(raw.get("values", {}), f"{raw.get('id')} {raw.get('seed', 1)} {seed}")
    full = {name: one if name == "values" else filled(one, values) for name, one in raw.items()}
    try:
        task = EvalTask.model_validate(full)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidAction(
            f"{where}: {first['msg']}", path=where, hint="docs/evaluation.md says how a task is written."
        ) from None
    replies_of(task.reference)  # what is wrong with a step is said now
    return task.model_copy(update={"seed": task.seed + seed - 1, "values": values})
