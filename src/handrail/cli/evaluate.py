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
from handrail.errors import FAMILIES, InvalidAction

if TYPE_CHECKING:
    from handrail.agent.model import AgentModel
    from handrail.clock import Clock
    from handrail.evaluation.result import Evaluation, TaskResult

MOST_JOBS = 64
MOST_SEED = 1_000_000


class SeedRange(click.ParamType[Any]):
    """`3`, `1..20` or `1,5,9`."""

    name = "seeds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        found: list[int] = []
        for part in str(value).split(","):
            low, dots, high = part.strip().partition("..")
            if not low.isdecimal() or (dots and not high.isdecimal()):
                self.fail(f"{value!r} is no seed, A..B or A,B", param, ctx)
            found += range(int(low), int(high or low) + 1)
        if not found or not 1 <= min(found) <= max(found) <= MOST_SEED or len(found) > MOST_SEED:
            self.fail(f"{value!r}: seeds are from 1 to {MOST_SEED:,}", param, ctx)
        return tuple(dict.fromkeys(found))


SEEDS = SeedRange()
RESULT = "result.json"
MEMORISER = "memoriser"


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
    seeds: tuple[int, ...]
    max_steps: int | None
    out: Path | None
    fail_under: float | None
    as_json: bool
    listed: bool


@click.group("eval", invoke_without_command=True)
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
    help="reference, second-reference, a baseline, scripted:FILE, openai:NAME, anthropic:NAME.",
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
    "--seeds",
    "--seed",
    type=SEEDS,
    default="1",
    show_default=True,
    metavar="N|A..B|A,B",
    help="Which worlds of the same tasks: other people, codes, prices, pages. Every task is run with each.",
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
@click.pass_context
def evaluate(context: click.Context, /, **given: Any) -> None:
    """Measure a model on tasks, each on a new simulated phone of its own, or on web pages in a browser.

    Ends with 0 when all tasks were run, however many were solved; 1 below --fail-under; 2 for bad input;
    130 when it was stopped, with what was done until then.
    """
    if context.invoked_subcommand is not None:
        return
    options = EvaluateOptions(**given)
    words = [word.strip() for one in options.tasks for word in one.split(",") if word.strip()]
    suite = _wob_suite(words, options) if options.suite == "miniwob" else _phone_suite(words, options)
    if options.listed:
        _print_list(suite.tasks, as_json=options.as_json)
        return
    from handrail.virtual_time import run_virtually  # noqa: PLC0415

    sys.exit(run_virtually(_main(suite, options)))


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
    from handrail.evaluation.baselines import reference  # noqa: PLC0415
    from handrail.evaluation.load import load_tasks  # noqa: PLC0415
    from handrail.evaluation.memory import Memorisers  # noqa: PLC0415
    from handrail.evaluation.run import USUAL_JOBS, EvaluationPlan, run_all  # noqa: PLC0415
    from handrail.simulator import need_simulator  # noqa: PLC0415

    tasks = load_tasks(words, options.seeds)

    async def run(opener: Opener, clock: Clock, jobs: int, done: Callable[[TaskResult], None]) -> None:
        need_simulator()
        is_program = ":" not in options.model or options.model.startswith(("scripted:", "random:"))
        if options.model == MEMORISER:
            memory = Memorisers()
            await memory.learn(tasks)
            opener = memory.open
        plan = EvaluationPlan(opener, None if is_program else clock, options.out, options.max_steps)
        await run_all(tasks, plan, jobs, done)

    return EvaluationSuite(tasks, reference, run, USUAL_JOBS)


def _wob_suite(words: Sequence[str], options: EvaluateOptions) -> EvaluationSuite:
    from handrail.evaluation.miniwob.kinds import TAGS, solver_of  # noqa: PLC0415
    from handrail.evaluation.miniwob.run import USUAL_JOBS, WobPlan, run_wob  # noqa: PLC0415
    from handrail.evaluation.miniwob.site import load_wob_tasks  # noqa: PLC0415

    tasks = load_wob_tasks(words, options.seeds, TAGS)

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
    _publish(ran, options)
    if is_stopped:
        return FAMILIES["cancelled"].exit_code
    failed = options.fail_under is not None and ran.percent < options.fail_under
    return FAMILIES["outcome"].exit_code if failed else 0


async def _measure(
    suite: EvaluationSuite, options: EvaluateOptions, opener: Opener, clock: Clock
) -> tuple[Evaluation, bool]:
    from handrail.cli.evaluation_tables import EvaluationProgress  # noqa: PLC0415
    from handrail.evaluation.result import Evaluation  # noqa: PLC0415

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
    return Evaluation(options.model, options.seeds[0], len(tasks), ordered, took, jobs), is_stopped


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
    from handrail.evaluation.baselines import baseline_of  # noqa: PLC0415

    def opened(task: SuiteTask) -> AgentModel:
        if options.model in ("reference", MEMORISER):  # what it knows by heart is learned first
            return suite.reference(task)
        if options.suite == "phone" and (known := baseline_of(options.model, task)) is not None:
            return known
        return open_model(
            _random(task, options.seeds[0]) if options.model == "random" else options.model,
            env=os.environ,
            clock=clock,
            base_url=options.base_url,
            mode="text" if options.text else None,
            sees=options.see,
        )

    return opened


def _random(task: SuiteTask, seed: int) -> str:
    """Other taps in every task, the same in every run."""
    return f"random:{zlib.crc32(f'{seed} {task.seed} {task.id}'.encode()) % 1_000_000}"


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


def _publish(ran: Evaluation, options: EvaluateOptions) -> None:
    from handrail.cli.evaluation_tables import print_tables  # noqa: PLC0415

    if options.out is not None:
        text = json.dumps(ran.to_dict(), ensure_ascii=False, indent=1)
        (options.out / RESULT).write_text(f"{text}\n", encoding="utf-8")
    if options.as_json:
        print_json(ran.to_dict())
    else:
        print_tables(ran)


@evaluate.command("lint")
@click.argument("files", nargs=-1, metavar="[NAME|FILE|DIR]...")
@click.option("--seeds", type=SEEDS, default="1..20", show_default=True, metavar="N|A..B")
@click.option("-j", "--jobs", type=click.IntRange(1, MOST_JOBS), default=2, show_default=True, metavar="N")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def lint(files: tuple[str, ...], seeds: tuple[int, ...], jobs: int, as_json: bool) -> None:
    """Prove templates: references pass on every seed, those who know nothing fail, no check is vacuous.

    Ends with 0 when nothing is wrong with any of them, else with 1.
    """
    from handrail.evaluation.lint_many import lint_many  # noqa: PLC0415
    from handrail.evaluation.load import load_templates  # noqa: PLC0415
    from handrail.simulator import need_simulator  # noqa: PLC0415

    need_simulator()
    names = [template.id for template in load_templates(files)]
    good = True
    told = []
    for report in lint_many(files, names, seeds, jobs):
        good = good and report["ok"]
        told.append(report)
        if not as_json:
            mark = "✓" if report["ok"] else "✗"
            click.echo(
                f"{mark} {report['id']}: {report['ends']} ends in {report['seeds']} seeds, "
                f"{report['episodes']} runs, {report['cpu_s']:.1f} s"
            )
            for line in report["found"]:
                click.echo(f"    {line}")
    if as_json:
        print_json(told)
    elif len(told) > 1:
        click.echo(f"{sum(one['ok'] for one in told)} of {len(told)} templates are proved.")
    sys.exit(0 if good else FAMILIES["outcome"].exit_code)
