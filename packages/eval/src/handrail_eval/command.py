"""`handrail eval`: how many tasks a model solves, on simulated phones or web pages. Their state decides."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from handrail.cli.options import FleetOptions, fleet_options
from handrail_eval.command_lint import lint
from handrail_eval.command_results import check, compare, leaderboard
from handrail_eval.command_seeds import MOST_JOBS, SEEDS

MOST_REPEATS = 1_000


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """The command line."""

    suite: tuple[str, ...]
    tasks: tuple[str, ...]
    model: str
    base_url: str | None
    text: bool
    see: bool | None
    jobs: int | None
    seeds: tuple[int, ...]
    repeats: int
    max_steps: int | None
    out: Path | None
    resume: Path | None
    pictures: bool
    fail_under: float | None
    as_json: bool
    listed: bool
    fleet: FleetOptions | None = None
    given: frozenset[str] = frozenset()
    """What stood on the command line: only that can contradict what is resumed."""

    @property
    def folder(self) -> Path | None:
        return self.resume or self.out


@click.group("eval", invoke_without_command=True)
@click.option(
    "--suite",
    multiple=True,
    default=("phone",),
    show_default="phone",
    metavar="phone|safety|miniwob|FILE|DIR",
    help="Our own tasks on simulated phones, those with an adversary or a person's no, MiniWoB++ in a "
    "browser, or templates of your own.",
)
@click.option(
    "--tasks",
    multiple=True,
    metavar="NAME|TAG|FILE|DIR",
    help="Only these, several by commas or by giving it again.  [default: all of the suite]",
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
    help="How many at a time; for a model that is a program so many processes.  [default: 4, or the cores]",
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
    "--repeats",
    type=click.IntRange(1, MOST_REPEATS),
    default=1,
    show_default=True,
    metavar="K",
    help="How often each task and seed is run, for pass@k and all of k.",
)
@click.option(
    "--max-steps", type=click.IntRange(1), metavar="N", help="The step budget, in place of each task's own."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder for results: a line for every run, its steps, pictures, report.html and journal.",
)
@click.option(
    "--resume",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="DIR",
    help="Continue what --out DIR started, with the same tasks, model and seeds.",
)
@click.option("--pictures/--no-pictures", default=True, help="With --out: keep what screens looked like.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="End with 1 when fewer were solved.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("--list", "listed", is_flag=True, help="List the tasks and end.")
@fleet_options
@click.pass_context
def evaluate(context: click.Context, /, **values: Any) -> None:
    """Measure a model on tasks, each on a new simulated phone of its own, or on web pages in a browser.

    Ends with 0 when all tasks were run, also unsolved ones; 1 below --fail-under; 2 for bad input;
    130 when it was stopped, with what was done until then.
    """
    if context.invoked_subcommand is not None:
        return
    if values["out"] and values["resume"]:
        raise click.UsageError("--resume goes on in its own folder: leave --out away.")
    from handrail_eval.command_run import listing, run_evaluation  # noqa: PLC0415

    given = {name for name in values if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    options = EvaluateOptions(**values, given=frozenset(given))
    if options.listed:
        listing(options)
        return
    from handrail_eval.virtual_time import run_virtually  # noqa: PLC0415

    sys.exit(run_virtually(run_evaluation(options)))


for command in (lint, check, compare, leaderboard):
    evaluate.add_command(command)
