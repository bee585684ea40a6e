"""A task with parameters: one file, from which every seed makes a task. Knows no phone.

Worlds are variants of it with the same wording; the seed chooses one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from handrail.errors import InvalidAction
from handrail_eval.reference import replies_of
from handrail_eval.task import LONG, EvalTask
from handrail_eval.values import SeedDrawing, filled

TEXTS = ("instruction", "title", "reference", "second", "secrets", "policy", "person", "obeys")
"""Where a value is always written out; elsewhere a text that is only `$name` is the value itself."""
OVERRIDES = (
    *("kind", "values", "world", "setup", "events", "person", "policy", "secrets"),
    *("changes", "check", "attack", "reference", "second", "obeys", "budget"),
)
TWINS = 12
"""So many seeds are tried for a task that is not the same by chance."""
Extra = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class TaskTemplate:
    """What the file says, and for a Python file its functions."""

    raw: Mapping[str, Any]
    more_values: Extra | None = None
    """`values(v)` of a Python file: values that the kinds can't draw."""
    judge: Callable[[Any, Mapping[str, Any]], list[str]] | None = None
    """`judge(evidence, v)`: what does not hold."""
    file: Path | None = None

    @property
    def id(self) -> str:
        return str(self.raw.get("id", ""))

    @property
    def worlds(self) -> tuple[str, ...]:
        """Their names, in the order of the file."""
        return tuple(self.raw.get("worlds") or {"": None})

    def world_of(self, seed: int) -> str:
        """Worlds take turns."""
        return self.worlds[(seed + zlib.crc32(self.id.encode())) % len(self.worlds)]

    def task(self, seed: int, world: str | None = None) -> EvalTask:
        """The task of this seed, in the world that the seed chooses or in another. Raises `InvalidAction`."""
        name = self.world_of(seed) if world is None else world
        special = self._world(name)
        drawing = SeedDrawing(self.id, seed)
        drawing.add(self.raw.get("values") or {})
        drawing.add(special.get("values") or {}, f"worlds.{name}.values")
        values = drawing.values | {"world_kind": special.get("kind", "possible")}
        if self.more_values is not None:
            values |= self.more_values(values)
        raw = _merged(self.raw, special)
        full = {key: filled(one, values, texts=key in TEXTS) for key, one in raw.items()}
        for key in ("reference", "second"):
            full[key] = _steps(full.get(key) or [], values, key)
        full["obeys"] = [_steps(way, values, "obeys") for way in full.get("obeys") or []]
        full |= {"seed": seed, "world_name": name, "values": values}
        full["now_ms"] = int(drawing.now.timestamp() * 1000)
        if isinstance(full.get("answer"), str):
            full["answer"] = {"form": full["answer"]}
        if self.judge is not None:
            full["judge"] = partial(_judged, self.judge, values)
        task = _validated(full)
        for steps in (task.reference, task.second, *task.obeys):
            if steps:
                replies_of(steps)  # what is wrong with a step is said now
        return task.model_copy(
            update={"kinds": _kinds(task, self.raw), "twin": partial(self._twin, task, name)}
        )

    def _twin(self, task: EvalTask, world: str) -> EvalTask:
        """The same world with the next seed that asks for something else, or has another right end."""
        seeds = [task.seed + len(self.worlds) * count for count in range(1, TWINS)]
        others = [self.task(seed, world) for seed in seeds]
        said = next((one for one in others if one.wording != task.wording), None)
        return said or next((other for other in others if other.check != task.check), others[0])

    def _world(self, name: str) -> Mapping[str, Any]:
        special = (self.raw.get("worlds") or {}).get(name) or {}
        unknown = [key for key in special if key not in OVERRIDES]
        if unknown:
            raise InvalidAction(
                f"worlds.{name}.{unknown[0]}: a world can't have this",
                path=f"worlds.{name}",
                hint=f"A world may have {', '.join(OVERRIDES)}: the wording is the same in all.",
            )
        return special


def _judged(
    judge: Callable[[Any, Mapping[str, Any]], list[str]], values: Mapping[str, Any], evidence: Any
) -> list[str]:
    return judge(evidence, values)


def _steps(steps: list[Any], values: Mapping[str, Any], at: str) -> list[Any]:
    """A step with `repeat: 3` stands three times; what is kept from a screen has a name of its own."""
    made: list[Any] = []
    for number, step in enumerate(steps):
        told = dict(step) if isinstance(step, dict) else step
        times = int(told.pop("repeat", 1)) if isinstance(told, dict) else 1
        kept = told.get("keep", {}) if isinstance(told, dict) else {}
        if taken := [name for name in kept if name in values]:
            raise InvalidAction(
                f"{at}[{number}].keep: {taken[0]!r} is a value of the template",
                path=f"{at}[{number}].keep",
                hint="Keep it under another name: else the step would not use what was read.",
            )
        made += [told] * times
    return made


def _merged(raw: Mapping[str, Any], special: Mapping[str, Any]) -> dict[str, Any]:
    """A world's apps and setup are added to the template's; the rest of it stands instead."""
    made = {key: one for key, one in raw.items() if key != "worlds"}
    made |= {key: one for key, one in special.items() if key != "values"}
    made["world"] = {**(raw.get("world") or {}), **(special.get("world") or {})}
    if "setup" in special and "setup" in raw:
        keys = dict.fromkeys([*raw["setup"], *special["setup"]])
        made["setup"] = {key: [*raw["setup"].get(key, []), *special["setup"].get(key, [])] for key in keys}
    return made


def _validated(full: dict[str, Any]) -> EvalTask:
    try:
        return EvalTask.model_validate(full)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidAction(
            f"{where}: {first['msg']}", path=where, hint="docs/evaluation.md says how a template is written."
        ) from None


def _kinds(task: EvalTask, raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Those that the template shows by itself, in whichever world."""
    worlds = (raw.get("worlds") or {}).values()
    of_worlds = {str((world or {}).get("kind", "possible")) for world in worlds}
    shown = {
        "impossible": "impossible" in of_worlds or task.kind == "impossible",
        "ambiguous": "ambiguous" in of_worlds or task.kind == "ambiguous",
        "person": bool(task.person),
        "fault": bool(task.setup.faults),
        "adversary": bool(task.attack),
        "long": task.optimal >= LONG,
        "question": task.answer is not None,
        "cross-app": len(task.apps) > 1,
    }
    return tuple(dict.fromkeys([*task.kinds, *(name for name, holds in shown.items() if holds)]))
