"""An evaluation from the command line to its tables: which suite, what is kept, what is told."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from handrail.cli.output import print_json, print_table
from handrail.clock import Clock, SystemClock, iso_time
from handrail.errors import FAMILIES, DeviceError, HandrailError, InvalidAction, ModelUnavailable
from handrail.satellites import load_plugin
from handrail_eval.command_tables import EvaluationProgress, print_tables
from handrail_eval.manifest import made, must_agree
from handrail_eval.models import ModelChoice
from handrail_eval.page_of_run import run_page
from handrail_eval.result import EpisodeKey, TaskResult, key_of
from handrail_eval.result_folder import PAGE, SUMMARY, TEMPLATES, ResultFolder
from handrail_eval.summary import Evaluation

if TYPE_CHECKING:
    from handrail_agent.model import AgentModel
    from handrail_eval.command import EvaluateOptions

Done = Callable[[TaskResult], None]
MOST_CORES = 8
WOB = "miniwob"


class SuiteTask(Protocol):
    """What every suite's tasks have."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def steps(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def repeat(self) -> int: ...


@dataclass(frozen=True, slots=True)
class EvaluationSuite:
    """Tasks, the files that they are made of, and what runs them."""

    name: str
    tasks: Sequence[SuiteTask]
    sources: dict[str, Path]
    opened: Callable[[Any], AgentModel]
    run: Callable[[frozenset[EpisodeKey], int, Done], Awaitable[None]]
    usual_jobs: int


def listing(options: EvaluateOptions) -> None:
    """Which tasks there are."""
    tasks = suite_of(options, SystemClock()).tasks
    if options.as_json:
        print_json(
            [{"id": one.id, "title": one.title, "tags": one.tags, "steps": one.steps} for one in tasks]
        )
        return
    rows = [(task.id, task.title, ", ".join(task.tags), str(task.steps)) for task in tasks]
    print_table(f"{len(tasks)} tasks", ("task", "title", "tags", "steps at most"), rows)


async def run_evaluation(options: EvaluateOptions) -> int:
    """Everything that can be wrong with the input is said before a phone is made."""
    clock = SystemClock()
    folder = ResultFolder(options.folder) if options.folder else None
    suite_name = None
    if folder and options.resume:
        kept = folder.manifest()
        options, suite_name = _as_begun(options, kept), kept["suite"]["name"]
    suite = _suite(options, clock)
    if suite_name and not {"suite", "tasks"} & options.given:
        suite = replace(suite, name=suite_name)
    if options.fleet is None or _model(options).is_program:  # others' keys are the hosts' own
        await suite.opened(suite.tasks[0]).close()
    if options.fleet is not None and options.fleet.detach:
        code: int = _fleet().hand_in_only(suite, options, options.fleet, _model(options))
        return code
    before: list[TaskResult] = []
    if folder and options.out:
        folder.begin(_manifest(suite, options, clock), suite.sources)
    with folder.held() if folder else nullcontext():
        if folder and options.resume:
            must_agree(folder.manifest(), _manifest(suite, options, clock))
            before = folder.resume(suite.tasks, iso_time(clock.now_ms()))
        return await _measured(suite, options, folder, before, clock)


def _suite(options: EvaluateOptions, clock: Clock) -> EvaluationSuite:
    """To be run here, or on a fleet."""
    if options.fleet is None:
        return suite_of(options, clock)
    _fleet().refuse_what_needs_one_machine(options, options.fleet)
    suite: EvaluationSuite = _fleet().on_fleet(
        suite_of(options, clock), options, options.fleet, _model(options)
    )
    return suite


def _fleet() -> Any:
    return load_plugin("handrail.runners", "evaluation", "fleet", "--fleet")


def _manifest(suite: EvaluationSuite, options: EvaluateOptions, clock: Clock) -> dict[str, Any]:
    model = _model(options).settings()
    return made(suite.name, suite.sources, model, options.seeds, options.repeats, options.max_steps, clock)


def _as_begun(options: EvaluateOptions, kept: dict[str, Any]) -> EvaluateOptions:
    """What was not given again is as it was; what was given again is compared afterwards."""
    model = kept["model"]
    was: dict[str, Any] = {
        "model": model["name"],
        "base_url": model["base_url"],
        "text": model["text"],
        "see": model["see"],
        "seeds": tuple(kept["seeds"]),
        "repeats": kept["repeats"],
        "max_steps": kept["max_steps"],
    }
    taken = {name: value for name, value in was.items() if name not in options.given}
    if not {"suite", "tasks"} & options.given:
        taken |= _kept_suite(options, kept["suite"])
    return replace(options, **taken)


def _kept_suite(options: EvaluateOptions, suite: dict[str, Any]) -> dict[str, Any]:
    """Templates are read from the folder itself: whose they are does not matter."""
    if suite["name"] == WOB:
        return {"suite": (WOB,), "tasks": tuple(suite["templates"])}
    return {"suite": ("phone",), "tasks": (str((options.resume or Path()) / TEMPLATES),)}


def suite_of(options: EvaluateOptions, clock: Clock) -> EvaluationSuite:
    """By its name; anything else is a file, a folder or a name of tasks."""
    words = [word.strip() for task in options.tasks for word in task.split(",") if word.strip()]
    if WOB in options.suite:
        if len(options.suite) > 1:
            raise InvalidAction("miniwob is a suite of its own", path="suite", hint="Run it separately.")
        return _wob_suite(words, options, clock)
    return _phone_suite(words, options, clock)


def _phone_suite(words: Sequence[str], options: EvaluateOptions, clock: Clock) -> EvaluationSuite:
    from handrail.simulator import need_simulator  # noqa: PLC0415
    from handrail_eval.baselines import reference  # noqa: PLC0415
    from handrail_eval.crew import CrewWork, run_here, run_programs  # noqa: PLC0415
    from handrail_eval.load import load_tasks, load_templates, of_suite  # noqa: PLC0415
    from handrail_eval.run import USUAL_JOBS  # noqa: PLC0415

    wanted = of_suite(options.suite, words)
    tasks = load_tasks(wanted, options.seeds, options.repeats)
    model = _model(options)

    def opened(task: Any) -> AgentModel:
        return model.open(task, reference, clock, on_phones=True)

    async def run(already: frozenset[EpisodeKey], jobs: int, done: Done) -> None:
        need_simulator()
        kept = (options.folder, options.max_steps, options.pictures)
        work = CrewWork(tuple(wanted), options.seeds, options.repeats, model, *kept, already)
        if model.is_program:
            await run_programs(work, jobs, done)
        else:
            await run_here(work, (task for task in tasks if key_of(task) not in already), jobs, done)

    sources = {template.id: template.file for template in load_templates(wanted) if template.file is not None}
    name = "+".join(dict.fromkeys(Path(one).name for one in options.suite))
    cores = min(os.cpu_count() or 1, MOST_CORES)
    return EvaluationSuite(name, tasks, sources, opened, run, cores if model.is_program else USUAL_JOBS)


def _wob_suite(words: Sequence[str], options: EvaluateOptions, clock: Clock) -> EvaluationSuite:
    from handrail_eval.miniwob.kinds import TAGS, solver_of  # noqa: PLC0415
    from handrail_eval.miniwob.run import USUAL_JOBS, WobPlan, run_wob  # noqa: PLC0415
    from handrail_eval.miniwob.site import load_wob_tasks, page_file  # noqa: PLC0415

    tasks = load_wob_tasks(words, options.seeds, TAGS, options.repeats)

    def opened(task: Any) -> AgentModel:
        return _model(options).open(task, solver_of, clock, on_phones=False)

    async def run(already: frozenset[EpisodeKey], jobs: int, done: Done) -> None:
        waiting = [task for task in tasks if key_of(task) not in already]
        plan = WobPlan(opened, clock, options.folder, options.max_steps, options.pictures)
        await run_wob(waiting, plan, jobs, done)

    sources = {task.id: page_file(task.id) for task in tasks}
    return EvaluationSuite(WOB, tasks, sources, opened, run, USUAL_JOBS)


def _model(options: EvaluateOptions) -> ModelChoice:
    return ModelChoice(options.model, options.base_url, options.text, options.see)


async def _measured(
    suite: EvaluationSuite,
    options: EvaluateOptions,
    folder: ResultFolder | None,
    before: Sequence[TaskResult],
    clock: Clock,
) -> int:
    results = {key_of(one): one for one in before}
    began, is_stopped, jobs = clock.monotonic_ms(), False, options.jobs or suite.usual_jobs
    lost: HandrailError | None = None
    shown = EvaluationProgress(len(suite.tasks), options.model, before, lines=options.fleet is not None)
    with _stopped_by_sigterm(), shown as progress:

        def done(one: TaskResult) -> None:
            if folder:
                folder.add(one)
            results[key_of(one)] = one
            progress.done(one)

        try:
            await asyncio.sleep(0)  # stopped while tasks were read: nothing is begun
            await suite.run(frozenset(results), jobs, done)
        except asyncio.CancelledError:  # what was done until then is still worth telling
            is_stopped = True
        except (DeviceError, ModelUnavailable) as error:  # hosts or a server are gone; what was done counts
            lost = error
    ordered = tuple(results[key_of(task)] for task in suite.tasks if key_of(task) in results)
    ran = Evaluation(options.model, len(suite.tasks), options.repeats, ordered)
    _publish(ran, options, folder, {"wall_ms": round(clock.monotonic_ms() - began, 1), "jobs": jobs})
    hint = f"Go on with --resume {folder.path}." if folder else "With --out DIR it could be resumed."
    if is_stopped or lost is not None:
        click.echo(f"Stopped after {len(ordered)} of {len(suite.tasks)} runs. {hint}", err=True)
    if lost is not None:
        raise lost
    if is_stopped:
        return FAMILIES["cancelled"].exit_code
    failed = options.fail_under is not None and ran.percent < options.fail_under
    return FAMILIES["outcome"].exit_code if failed else 0


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the work as Ctrl-C does by itself."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    if task is not None:
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


def _publish(
    ran: Evaluation, options: EvaluateOptions, folder: ResultFolder | None, took: dict[str, Any]
) -> None:
    summary = ran.summary()
    if folder:
        folder.write(SUMMARY, summary)
        folder.write(PAGE, run_page(folder.manifest(), summary, ran.results, folder.path))
    if options.as_json:
        tasks = [one.to_dict() for one in ran.results]
        seeds = list(options.seeds)
        print_json({"model": ran.model, "seeds": seeds, "tasks": tasks, "summary": summary, "took": took})
    else:
        print_tables(ran, summary, took)
