"""Whether a template proves what it asks for: its references pass on every seed, those who know nothing fail.

One template with many seeds is `lint_template`; a line for everything that is wrong. Knows no command line.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from handrail.errors import InvalidAction
from handrail_agent.model import AgentModel
from handrail_agent.run_data import GOOD
from handrail_eval.baselines import (
    AT_ONCE,
    BASELINES,
    FixedActions,
    memoriser,
    reference,
    second_reference,
)
from handrail_eval.conditions import AnswerIs, EitherHolds, PhoneStateIs, WasSeen
from handrail_eval.memory import Solutions, actions_of, known_by_heart, place
from handrail_eval.mutations import vacuous
from handrail_eval.reference import Reference
from handrail_eval.run import EvaluationPlan, episode
from handrail_eval.shortcuts import shortcuts, told
from handrail_eval.task import EvalTask, PersonLine
from handrail_eval.template import TaskTemplate
from handrail_eval.values import names_in

ENDS, OF_SEEDS = 15, 20
"""So many different right ends there are at least in so many seeds."""
RANDOM_SEEDS = 3
"""Taps at random are dear: they are tried with the first seeds only."""
RANDOM_STEPS = 12
AT_A_TIME = 3
"""Seeds of one template; a run waits now and then for a thread."""


@dataclass(slots=True)
class LintReport:
    """What was found for one template."""

    id: str
    seeds: int
    found: list[str] = field(default_factory=list)
    episodes: int = 0
    ends: int = 0

    @property
    def is_good(self) -> bool:
        return not self.found

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "ok": self.is_good,
            "seeds": self.seeds,
            "ends": self.ends,
            "episodes": self.episodes,
            "found": self.found,
        }


async def lint_template(template: TaskTemplate, seeds: Sequence[int]) -> LintReport:
    """Everything that can be wrong with it, the cheap things first."""
    report = LintReport(template.id, len(seeds))
    try:
        tasks = [template.task(seed) for seed in seeds]
        report.found += _of_words(template, seeds)
    except InvalidAction as error:
        report.found.append(f"{error.details.get('path', '')}: {error.message}")
        return report
    report.ends = len({_end(task) for task in tasks})
    least = ENDS * len(seeds) // OF_SEEDS
    if report.ends < least:
        report.found.append(
            f"only {report.ends} different right ends in {len(seeds)} seeds; {least} are needed"
        )
    report.found += _of_budget(tasks)
    trial = LintTrial(template, report)
    waiting = deque(enumerate(tasks))  # from its end: what a memoriser knows was done with a later seed

    async def work() -> None:
        while waiting:
            number, task = waiting.pop()
            first_of_world = number < len(template.worlds)
            await trial.seed(task, with_random=number < RANDOM_SEEDS, with_shortcuts=first_of_world)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_A_TIME):
            group.create_task(work())
    report.found = sorted(dict.fromkeys(report.found), key=_by_seed)
    return report


@dataclass(slots=True)
class LintTrial:
    """Runs of one template."""

    template: TaskTemplate
    report: LintReport
    solutions: Solutions = field(default_factory=dict)

    async def seed(self, task: EvalTask, *, with_random: bool, with_shortcuts: bool) -> None:
        """One seed with everybody."""
        if not await self._solved(task):
            return
        for name in AT_ONCE:
            await self._must_fail(task, name, AT_ONCE[name])
        for name in ("quitter-opens", "asker"):
            await self._must_fail(task, name, BASELINES[name])
        if with_random:
            await self._must_fail(task, "random", BASELINES["random"], RANDOM_STEPS)
        await self._memorised(task)
        await self._obeyed(task)
        if with_shortcuts:
            await self._shortcuts(task)

    async def _solved(self, task: EvalTask) -> bool:
        result, evidence, ran = await self._run(task, reference)
        self.solutions[place(task)] = actions_of(ran)
        if not result.success or evidence is None:
            self._say(task, f"the reference fails: {result.why}")
            return False
        if result.steps != len(task.reference):
            self._say(task, f"the reference ends after {result.steps} of {len(task.reference)} steps")
        for why in vacuous(task, evidence):
            self._say(task, why)
        if task.second:
            other, _, _ = await self._run(task, second_reference)
            if not other.success:
                self._say(task, f"the second reference fails: {other.why}")
        return True

    async def _memorised(self, task: EvalTask) -> None:
        """What solved it with the next seed that has the same world."""
        self.report.episodes += task.twin is not None and place(task.twin()) not in self.solutions
        actions = await known_by_heart(task, self.solutions)
        await self._must_fail(task, "memoriser", lambda _: memoriser(actions))

    async def _obeyed(self, task: EvalTask) -> None:
        """Whoever does what the adversary says is noticed; a way that the rails stop is no proof."""
        for number, way in enumerate(task.obeys, 1):
            result, _, ran = await self._run(task, partial(_obedient, way))
            if not result.attacked:
                came = ", ".join(step.told for step in ran.steps if step.outcome not in GOOD) if ran else ""
                self._say(
                    task, f"the adversary is obeyed and attack does not notice it: way {number}: {came}"
                )

    async def _shortcuts(self, task: EvalTask) -> None:
        easy = task.model_copy(update={"person": (PersonLine(approve=True),)})
        for actions in shortcuts(task):
            taken = partial(_taken, actions)
            result, _, _ = await self._run(easy, taken)
            if result.success:
                self._say(task, f"a shortcut passes: {told(actions)}")

    async def _must_fail(
        self, task: EvalTask, name: str, opener: Callable[[EvalTask], AgentModel], steps: int | None = None
    ) -> None:
        result, _, _ = await self._run(task, opener, steps)
        if result.success:
            self._say(task, f"{name} passes")

    async def _run(
        self, task: EvalTask, opener: Callable[[EvalTask], AgentModel], steps: int | None = None
    ) -> Any:
        self.report.episodes += 1
        return await episode(task, EvaluationPlan(opener, max_steps=steps))

    def _say(self, task: EvalTask, why: str) -> None:
        world = f", world {task.world_name}" if task.world_name else ""
        self.report.found.append(f"seed {task.seed}{world}: {why}")


def _taken(actions: Sequence[Mapping[str, Any]], _: EvalTask) -> AgentModel:
    return FixedActions("shortcut", *actions)


def _obedient(way: Sequence[Any], _: EvalTask) -> AgentModel:
    return Reference(way)


def _of_words(template: TaskTemplate, seeds: Sequence[int]) -> list[str]:
    """Wordings, worlds and values, without a phone."""
    found: list[str] = []
    first = template.task(seeds[0])
    for seed in seeds[:3]:
        wordings = {template.task(seed, world).wording for world in template.worlds}
        if len(wordings) > 1:
            found.append(f"seed {seed}: the worlds have different wordings: they give away which it is")
    kinds = {template.task(seeds[0], world).kind for world in template.worlds}
    if kinds & {"impossible", "ambiguous"} and "possible" not in kinds:
        found.append("an impossible or ambiguous task needs a possible twin: add a world")
    has_answer = any(isinstance(one, AnswerIs) for one in _flat(first.check))
    worlds = [template.task(seeds[0], world) for world in template.worlds]
    if has_answer and first.answer is None:
        found.append("check has an answer; say its form: answer: number")
    if first.answer is not None and not any(
        isinstance(one, AnswerIs) for task in worlds for one in _flat(task.check)
    ):
        found.append("answer has a form, and no check looks at it")
    for task in worlds:
        if not task.check and task.judge is None:
            found.append(f"world {task.world_name or 'of all'}: nothing is checked")
        if task.attack and not task.obeys:
            found.append(f"world {task.world_name or 'of all'}: obeys has no run that attack would notice")
        asks_to_look = any(isinstance(one, WasSeen) for one in _flat(task.check)) or task.judge is not None
        if (task.kind != "possible" or task.answer is not None) and not asks_to_look:
            found.append(
                f"world {task.world_name or 'of all'}: nothing says what must have been seen to know it"
            )
    declared = set(template.raw.get("values") or {})
    used = names_in({key: one for key, one in template.raw.items() if key != "values"})
    used |= {name for one in (template.raw.get("values") or {}).values() for name in names_in(one)}
    unused = sorted(declared - used) if template.more_values is None and template.judge is None else []
    return found + [f"values.{name} is used nowhere" for name in unused]


def _of_budget(tasks: Sequence[EvalTask]) -> list[str]:
    short = [task for task in tasks if task.steps < len(task.reference)]
    return [f"the budget of {short[0].steps} steps is less than the reference takes"] if short else []


def _by_seed(found: str) -> int:
    named = re.match(r"seed (\d+)", found)
    return int(named[1]) if named else 0


def _flat(conditions: Sequence[Any]) -> list[Any]:
    """Those inside of `either`, too."""
    made: list[Any] = []
    for condition in conditions:
        made += (
            _flat([two for way in condition.either for two in way])
            if isinstance(condition, EitherHolds)
            else [condition]
        )
    return made


def _end(task: EvalTask) -> str:
    """What is right in the end; for what can't be done, what it is about."""
    wanted = [
        one.model_dump(exclude_unset=True)
        for one in _flat(task.check)
        if isinstance(one, PhoneStateIs | AnswerIs | WasSeen)
    ]
    about = task.instruction if task.kind == "impossible" else ""
    return json.dumps([task.status, wanted, about], sort_keys=True, default=str)
