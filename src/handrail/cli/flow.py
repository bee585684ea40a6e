"""`handrail flow`: checks flows without a device, and prints the schema that editors use."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from handrail.cli.output import print_json
from handrail.errors import InvalidAction
from handrail.flow.check import Checked, check, find
from handrail.flow.problems import Problem, frame
from handrail.flow.schema import flow_schema

_COLOURS = {"error": "red", "warning": "yellow", "hint": "cyan"}


@click.group()
def flow() -> None:
    """Check flows, and help editors to write them."""


@flow.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--env", "env", multiple=True, metavar="NAME[=VALUE]", help="A variable that the run will give."
)
@click.option("--strict", is_flag=True, help="Warnings fail as errors do.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document with every problem.")
def check_command(paths: tuple[Path, ...], env: tuple[str, ...], strict: bool, as_json: bool) -> None:
    """Check the flows in PATHS (files or folders) without a device.

    Every problem is told with file, line and column. Exit code 0 when no error was found, otherwise 2.
    """
    files = find(paths)
    if not files:
        raise InvalidAction(
            f"no flow in {', '.join(map(str, paths))}", hint="Flows are .yaml, .yml or .json files."
        )
    results = check(files, [one.partition("=")[0] for one in env])
    levels = ("error", "warning") if strict else ("error",)
    good = not any(problem.level in levels for one in results for problem in one.problems)
    if as_json:
        print_json({"ok": good, "files": [one.to_dict() for one in results]})
    else:
        for one in results:
            _print(one)
        _print_sum(results)
    sys.exit(0 if good else 2)


@flow.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of a flow's file, for editors."""
    print_json(flow_schema())


def _print(checked: Checked) -> None:
    for problem in checked.problems:
        place = f"{checked.path}:{problem.mark.line}:{problem.mark.column}"
        level = click.style(problem.level, fg=_COLOURS[problem.level], bold=True)
        click.echo(f"{place}: {level}: {problem.sentence} [{problem.rule}]")
        click.echo(_indented(frame(checked.text, problem.mark.line, problem.mark.column)))
        if problem.suggestion:
            click.echo(f"  {problem.suggestion}")
    if not checked.problems:
        click.echo(f"{checked.path}: {checked.name}, {_count(checked.steps, 'step')}, good")


def _print_sum(results: list[Checked]) -> None:
    found: list[Problem] = [problem for one in results for problem in one.problems]
    counts = [(level, sum(one.level == level for one in found)) for level in _COLOURS]
    told = ", ".join(_count(count, level) for level, count in counts if count)
    click.echo(f"{_count(len(results), 'file')}: {told or 'no problems'}")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
