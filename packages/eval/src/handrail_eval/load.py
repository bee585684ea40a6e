"""Templates from files: the shipped ones, or anybody's own; chosen by name, tag, file or folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from handrail.errors import InvalidAction
from handrail.protocol.read import nearest
from handrail_eval.task import EvalTask
from handrail_eval.template import TaskTemplate

SHIPPED = Path(__file__).with_name("tasks")
MAX_BYTES = 200_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times as fast where PyYAML was built with its C parser."""
_ENDS = (".yaml", ".yml", ".py")


SAFETY = "safety"
"""The suite of what can do harm: an adversary on the screen, or a person who says no."""


def load_tasks(wanted: Sequence[str] = (), seeds: Sequence[int] = (1,), repeats: int = 1) -> list[EvalTask]:
    """Every chosen template with every seed, seed by seed, and all of it again for every repeat."""
    templates = load_templates(wanted)
    once = [told(template, seed) for seed in seeds for template in templates]
    more = [task.model_copy(update={"repeat": at}) for at in range(2, repeats + 1) for task in once]
    return once + more


def load_templates(wanted: Sequence[str] = ()) -> list[TaskTemplate]:
    """In the order of their files; without a wish all that are shipped. Raises `InvalidAction`."""
    if not wanted:
        return _folder(SHIPPED)
    chosen: dict[str, TaskTemplate] = {}
    for word in wanted:
        for template in _chosen(word):
            known = chosen.setdefault(template.id, template)
            if known.raw != template.raw:
                raise InvalidAction(
                    f"two tasks are named {template.id}", path="tasks", hint="Rename one of them."
                )
    return list(chosen.values())


def of_suite(suites: Sequence[str], words: Sequence[str]) -> list[str]:
    """What is wanted of these suites: some words of a shipped one, or files and folders besides the words."""
    own = [suite for suite in suites if suite not in ("phone", SAFETY)]
    if SAFETY not in suites:
        return [*own, *words]
    safe = {one.id for one in load_templates([SAFETY])}
    chosen = [template.id for template in load_templates(words or [SAFETY]) if template.id in safe]
    if not chosen:
        raise InvalidAction("none of these tasks is about safety", path="tasks", hint="Leave --suite out.")
    return [*chosen, *own]


def _chosen(word: str) -> list[TaskTemplate]:
    """A shipped file has the name of its task."""
    path = Path(word).expanduser()
    if word == SAFETY:
        return [template for template in _folder(SHIPPED) if _is_about_safety(template)]
    if named := shipped_file(word):
        return [read_template(named)]
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return [read_template(path)]
    all_of_them = [(read_template(file), told(read_template(file), 1)) for file in _files(SHIPPED)]
    if found := [template for template, task in all_of_them if word in task.tags]:
        return found
    tags = sorted({tag for _, task in all_of_them for tag in task.tags})
    close = nearest(word, [*tags, *(task.id for _, task in all_of_them)])[:2]
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Tags: {', '.join(tags)}."
    raise InvalidAction(f"no task, tag, file or folder is named {word!r}", path="tasks", hint=hint)


def shipped_file(name: str) -> Path | None:
    """The template that comes with Handrail under this name. Nothing else on the disk can be named so."""
    return next((file for file in _files(SHIPPED) if file.stem.replace("_", "-") == name), None)


def _is_about_safety(template: TaskTemplate) -> bool:
    """In any of its worlds."""
    tasks = [template.task(1, world) for world in template.worlds]
    return any(task.attack or any(not line.approve for line in task.person) for task in tasks)


def _files(folder: Path) -> list[Path]:
    """Also in folders below it."""
    found = [file for file in folder.rglob("*") if file.suffix in _ENDS and not file.name.startswith("_")]
    return sorted(found, key=lambda file: file.stem)


def _folder(folder: Path) -> list[TaskTemplate]:
    files = _files(folder)
    if not files:
        raise InvalidAction(f"no task in {folder}", path="tasks", hint="Tasks are *.yaml and *.py files.")
    templates = [read_template(file) for file in files]
    names = [template.id for template in templates]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidAction(f"two tasks in {folder} are named {twice}", path="tasks")
    return templates


def read_template(file: Path) -> TaskTemplate:
    """What is wrong with it is told with file and path; its first task is made, too."""
    template = _python(file) if file.suffix == ".py" else TaskTemplate(_mapping(file), file=file)
    told(template, 1, file)
    return template


def told(template: TaskTemplate, seed: int, file: Path | None = None) -> EvalTask:
    """Its task; an error names the file, or the template."""
    try:
        return template.task(seed)
    except InvalidAction as error:
        path = str(error.details.get("path", ""))
        where = f"{file or template.id}{_line_of(file, path)}"
        raise InvalidAction(
            f"{where}: {error.message}", path=path, hint=error.hint, file=str(file or "")
        ) from None


def _line_of(file: Path | None, path: str) -> str:
    """ ":12" for the line where a field of the file stands; "" where that can't be told."""
    if file is None or file.suffix == ".py" or not path:
        return ""
    node = yaml.compose(file.read_text(encoding="utf-8"), _LOADER)
    for part in re.findall(r"[^.\[\]]+", path):
        if isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
        elif isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == part), None)
            if found is None:
                break
            mark, node = found[0].start_mark, found[1]
            node.start_mark = mark
        else:
            break
    return f":{node.start_mark.line + 1}" if node is not None else ""


def _python(file: Path) -> TaskTemplate:
    """A module with `TEMPLATE`, and if it wants `values(v)` and `judge(evidence, v)`. It is run as code.

    Not by the import system, which would leave a compiled file in a folder whose every file is told of.
    """
    module = ModuleType(f"handrail_template_{file.stem}")
    module.__file__ = str(file)
    try:
        exec(compile(file.read_bytes(), file, "exec"), module.__dict__)  # noqa: S102  (said above)
        raw = module.TEMPLATE
    except Exception as error:
        raise InvalidAction(
            f"{file}: {type(error).__name__}: {error}", path="tasks", hint="It needs a dict TEMPLATE."
        ) from None
    return TaskTemplate(raw, getattr(module, "values", None), getattr(module, "judge", None), file)


def _mapping(file: Path) -> dict[str, Any]:
    try:
        data = file.read_bytes()
        if len(data) > MAX_BYTES:
            raise InvalidAction(f"{file}: {len(data):,} bytes are too many for a task", path="tasks")
        found = yaml.load(data, _LOADER)  # noqa: S506  (a safe one)
    except OSError as error:
        raise InvalidAction(f"{file}: {error.strerror or error}", path="tasks", hint="Give a file.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        why = getattr(error, "problem", None) or error
        raise InvalidAction(f"{file}: not valid YAML: {why}{place}", path="tasks") from None
    if not isinstance(found, dict):
        raise InvalidAction(f"{file}: should be a mapping with id, instruction, check, …", path="tasks")
    return found
