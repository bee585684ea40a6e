"""`handrail eval`: how many tasks a model solves, on simulated phones or web pages. Their state decides."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from handrail.cli.output import print_json, print_table
from handrail.cli.run_fleet import FleetOptions, fleet_options
from handrail.errors import FAMILIES, InvalidAction

if TYPE_CHECKING:
    from handrail.agent.model import AgentModel
    from handrail.cli.evaluation.result import Evaluation, TaskResult
    from handrail.clock import Clock

MOST_JOBS = 64
RESULT = "result.json"


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """The command line."""

    suite: str
    tasks: tuple[str, ...]
    model: str
    base_url: str | None
    text: bool
    see: bool | None
    jobs: int | None
    seed: int
    seeds: int
    max_steps: int | None
    out: Path | None
    fail_under: float | None
    as_json: bool
    listed: bool
    fleet: FleetOptions | None = None


@click.command("eval")
@click.option(
    "--suite",
    type=click.Choice(["phone", "miniwob"]),
    default="phone",
    show_default=True,
    help="Our own tasks on simulated phones, or MiniWoB++ in a browser.",
)
@click.option(
    "--tasks",
    multiple=True,
    metavar="NAME|TAG|FILE|DIR",
    help="Only these, several by commas or by giving it again.  [default: all that are shipped]",
)
@click.option(
    "--model",
    default="reference",
    show_default=True,
    metavar="MODEL",
    help="reference, nothing, random, scripted:FILE, openai:NAME, anthropic:NAME.",
)
@click.option(
    "--base-url", metavar="URL", help="Another server with the maker's protocol, such as a local one."
)
@click.option("--text", is_flag=True, help="The model has no tools: it answers in JSON.")
@click.option("--see/--no-see", default=None, help="Send it pictures of the screen, or never.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, MOST_JOBS),
    metavar="N",
    help="So many at a time; more pays where the model is slow.  [default: 4]",
)
@click.option(
    "--seed",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="Other codes, names and phones for the same tasks.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1_000),
    default=1,
    show_default=True,
    help="So many seeds, from --seed on; every task is run with each.",
)
@click.option(
    "--max-steps", type=click.IntRange(1), metavar="N", help="Instead of the budget of every single task."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep every run here: steps, pictures, report.html, journal.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="End with 1 when less was solved.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("--list", "listed", is_flag=True, help="Only say which tasks there are.")
@fleet_options
def evaluate(**given: Any) -> None:
    """Measure a model on tasks, each on a new simulated phone of its own, or on web pages in a browser.

    Ends with 0 when all tasks were run, however many were solved; 1 below --fail-under; 2 for bad input;
    130 when it was stopped, with what was done until then.
    """
    options = EvaluateOptions(**given)
    words = [word.strip() for one in options.tasks for word in one.split(",") if word.strip()]
    suite = _wob_suite(words, options) if options.suite == "miniwob" else _phone_suite(words, options)
    if options.listed:
        _print_list(suite.tasks, as_json=options.as_json)
        return
    if options.fleet is not None:
        from handrail.cli.evaluate_fleet import evaluate_on_fleet  # noqa: PLC0415

        sys.exit(evaluate_on_fleet(suite, options, options.fleet, model_name, publish_evaluation))
    sys.exit(asyncio.run(_main(suite, options)))


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


Opener = Callable[[Any], "AgentModel"]


@dataclass(frozen=True, slots=True)
class EvaluationSuite:
    """Tasks, who solves them by a program, and what runs them."""

    tasks: Sequence[SuiteTask]
    reference: Opener
    run: Callable[[Opener, Clock, int, Callable[[TaskResult], None]], Awaitable[None]]
    usual_jobs: int


def _phone_suite(words: Sequence[str], options: EvaluateOptions) -> EvaluationSuite:
    from handrail.cli.evaluation.load import load_tasks  # noqa: PLC0415
    from handrail.cli.evaluation.reference import Reference  # noqa: PLC0415
    from handrail.cli.evaluation.run import USUAL_JOBS, EvaluationPlan, run_all  # noqa: PLC0415
    from handrail.simulator import need_simulator  # noqa: PLC0415

    if options.seeds > 1 and options.fleet is None:
        raise InvalidAction(
            "--seeds is for miniwob and for fleets", path="seeds", hint="Run the tasks once for each --seed."
        )
    tasks = [
        task for seed in range(options.seed, options.seed + options.seeds) for task in load_tasks(words, seed)
    ]

    async def run(opener: Opener, clock: Clock, jobs: int, done: Callable[[TaskResult], None]) -> None:
        need_simulator()
        await run_all(tasks, EvaluationPlan(opener, clock, options.out, options.max_steps), jobs, done)

    return EvaluationSuite(tasks, lambda task: Reference(task.reference), run, USUAL_JOBS)


def _wob_suite(words: Sequence[str], options: EvaluateOptions) -> EvaluationSuite:
    from handrail.cli.evaluation.miniwob.kinds import TAGS, solver_of  # noqa: PLC0415
    from handrail.cli.evaluation.miniwob.run import USUAL_JOBS, WobPlan, run_wob  # noqa: PLC0415
    from handrail.cli.evaluation.miniwob.site import load_wob_tasks  # noqa: PLC0415

    tasks = load_wob_tasks(words, range(options.seed, options.seed + options.seeds), TAGS)

    async def run(opener: Opener, clock: Clock, jobs: int, done: Callable[[TaskResult], None]) -> None:
        await run_wob(tasks, WobPlan(opener, clock, options.out, options.max_steps), jobs, done)

    return EvaluationSuite(tasks, solver_of, run, USUAL_JOBS)


def _print_list(tasks: Sequence[SuiteTask], *, as_json: bool) -> None:
    if as_json:
        print_json(
            [{"id": one.id, "title": one.title, "tags": one.tags, "steps": one.steps} for one in tasks]
        )
        return
    rows = [(one.id, one.title, ", ".join(one.tags), str(one.steps)) for one in tasks]
    print_table(f"{len(tasks)} tasks", ("task", "title", "tags", "steps at most"), rows)


async def _main(suite: EvaluationSuite, options: EvaluateOptions) -> int:
    """Everything that can be wrong with the input is said before a phone is made."""
    from handrail.clock import SystemClock  # noqa: PLC0415

    clock = SystemClock()
    opener = _opener(suite, options, clock)
    await opener(suite.tasks[0]).close()
    _claim(options.out)
    ran, is_stopped = await _measure(suite, options, opener, clock)
    publish_evaluation(ran, options)
    if is_stopped:
        return FAMILIES["cancelled"].exit_code
    failed = options.fail_under is not None and ran.percent < options.fail_under
    return FAMILIES["outcome"].exit_code if failed else 0


async def _measure(
    suite: EvaluationSuite, options: EvaluateOptions, opener: Opener, clock: Clock
) -> tuple[Evaluation, bool]:
    from handrail.cli.evaluation.result import Evaluation, EvaluationProgress  # noqa: PLC0415

    tasks = suite.tasks
    jobs = min(options.jobs or suite.usual_jobs, len(tasks))
    results: dict[tuple[str, int], TaskResult] = {}
    began, is_stopped = clock.monotonic_ms(), False
    with _stopped_by_sigterm(), EvaluationProgress(len(tasks), options.model) as progress:

        def done(one: TaskResult) -> None:
            results[one.id, one.seed] = one
            progress.done(one)

        try:
            await suite.run(opener, clock, jobs, done)
        except asyncio.CancelledError:  # what was done until then is still worth telling
            is_stopped = True
    keys = [(task.id, task.seed) for task in tasks]
    ordered = tuple(results[key] for key in keys if key in results)
    took = clock.monotonic_ms() - began
    return Evaluation(options.model, options.seed, len(tasks), ordered, took, jobs), is_stopped


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


def _opener(suite: EvaluationSuite, options: EvaluateOptions, clock: Clock) -> Opener:
    """A model of its own for every task: nothing is carried over from one to the next."""
    from handrail.agent.models import open_model  # noqa: PLC0415

    def opened(task: SuiteTask) -> AgentModel:
        if options.model == "reference":
            return suite.reference(task)
        return open_model(
            model_name(task, options),
            env=os.environ,
            clock=clock,
            base_url=options.base_url,
            mode="text" if options.text else None,
            sees=options.see,
        )

    return opened


def model_name(task: SuiteTask, options: EvaluateOptions) -> str:
    """By chance: other taps in every task, the same in every run."""
    if options.model != "random":
        return options.model
    return f"random:{zlib.crc32(f'{options.seed} {task.seed} {task.id}'.encode()) % 1_000_000}"


def _claim(out: Path | None) -> None:
    """Runs of two evaluations in one folder could not be told apart."""
    if out is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidAction(
            f"--out {out}: {error.strerror or error}", path="out", hint="Give a folder that can be written."
        ) from None
    if any(out.iterdir()):
        raise InvalidAction(f"--out {out} is not empty", path="out", hint="Give a folder that is new.")


def publish_evaluation(ran: Evaluation, options: EvaluateOptions) -> None:
    """Where results go, wherever they come from."""
    from handrail.cli.evaluation.result import print_tables  # noqa: PLC0415

    if options.out is not None:
        text = json.dumps(ran.to_dict(), ensure_ascii=False, indent=1)
        (options.out / RESULT).write_text(f"{text}\n", encoding="utf-8")
    if options.as_json:
        print_json(ran.to_dict())
    else:
        print_tables(ran)
