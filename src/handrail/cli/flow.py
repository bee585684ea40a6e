"""`handrail flow`: checks flows without a device, converts them, and prints the schema that editors use."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from handrail.cli.options import EXISTING_FILE, FILE, json_option
from handrail.cli.output import print_json
from handrail.errors import InvalidAction
from handrail.flow.check import CheckedFile, check, find_flow_files
from handrail.flow.foreign import is_installed, looks_like_maestro, maestro
from handrail.flow.parse import text_with_caret
from handrail.flow.schema import flow_schema

_COLOURS = {"error": "red", "warning": "yellow", "hint": "cyan"}


@click.group()
def flow() -> None:
    """Check and convert flows, and print their schema."""


@flow.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--env", "env", multiple=True, metavar="NAME[=VALUE]", help="A variable that the run will give."
)
@click.option("--strict", is_flag=True, help="Warnings fail as errors do.")
@click.option("--alone", is_flag=True, help="Leave out the files that a Maestro flow names.")
@json_option("One JSON document with every problem.")
def check_command(
    *, paths: tuple[Path, ...], env: tuple[str, ...], strict: bool, alone: bool, as_json: bool
) -> None:
    """Check the flows in PATHS (files or folders) without a device.

    Every problem is told with file, line and column. Exit code 0 when no error was found, otherwise 2.
    """
    files = find_flow_files(paths)
    if not files:
        hint = "Flows are .yaml, .yml or .json files."
        raise InvalidAction(f"no flow in {', '.join(map(str, paths))}", hint=hint)
    names = [checked.partition("=")[0] for checked in env]
    theirs = [path for path in files if _is_maestro(path)]
    configs = maestro("flow check").is_config if theirs or is_installed() else None
    own = [path for path in files if path not in theirs and not (configs and configs(path))]
    results = check(own, names)
    if theirs:
        import asyncio  # noqa: PLC0415  (most checks need no event loop)

        results += asyncio.run(maestro("flow check").check_files(theirs, names, alone=alone))
        results.sort(key=lambda checked: files.index(checked.path))
    levels = ("error", "warning") if strict else ("error",)
    good = not any(problem.level in levels for checked in results for problem in checked.problems)
    if as_json:
        print_json({"ok": good, "files": [checked.to_dict() for checked in results]})
    else:
        for checked in results:
            _print_problems(checked)
        problems = [problem.level for checked in results for problem in checked.problems]
        counts = [_count_text(problems.count(level), level) for level in _COLOURS if level in problems]
        click.echo(f"{_count_text(len(results), 'file')}: {', '.join(counts) or 'no problems'}")
    sys.exit(0 if good else 2)


SCHEMA, FLOWS = Path("flow.schema.json"), "flows/**/*.yaml"


@flow.command("schema")
@click.option("--out", "-o", type=FILE, metavar="FILE", help="Write it there.")
@click.option(
    "--vscode", is_flag=True, help=f"Write it to {SCHEMA} or --out; print the settings for VS Code."
)
@click.option("--flows", default=FLOWS, show_default=True, help="With --vscode: which files are flows.")
def schema_command(out: Path | None, vscode: bool, flows: str) -> None:
    """Print the JSON Schema of a flow's file, for editors.

    With --vscode, standard output is what belongs into .vscode/settings.json of this folder.
    """
    file = out or (SCHEMA if vscode else None)
    if file is None:
        print_json(flow_schema())
        return
    try:
        file.write_text(json.dumps(flow_schema(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidAction.at(
            "out", f"{file} can't be written: {error.strerror}", hint="Choose another file."
        ) from None
    click.echo(f"wrote {file}", err=True)
    if vscode:
        named = str(file) if file.is_absolute() else f"./{file.as_posix()}"
        click.echo(json.dumps({"yaml.schemas": {named: flows}}, indent=2))


@flow.command("convert")
@click.argument("file", type=EXISTING_FILE)
@click.option("--to", type=FILE, metavar="FILE", help="Write it there.")
@click.option("--strict", is_flag=True, help="Exit code 1 where something could not be carried over.")
def convert_command(file: Path, to: Path | None, *, strict: bool) -> None:
    """Write a Maestro flow as a Handrail flow, or a Handrail flow as Maestro's.

    What the other language can't say is left out, with a comment at its place and a warning with its line.
    """
    reader = maestro("flow convert")
    converted = reader.to_handrail(file) if _is_maestro(file) else reader.to_maestro(file)
    if to is None:
        click.echo(converted.text, nl=False)
    else:
        to.write_text(converted.text, encoding="utf-8")
    for line in converted.left_out:
        click.echo(f"warning: {line}", err=True)
    sys.exit(1 if strict and converted.left_out else 0)


def _is_maestro(path: Path) -> bool:
    if path.suffix.lower() not in (".yaml", ".yml") or not path.is_file():
        return False
    return bool(maestro("flow check").is_flow(path)) if is_installed() else looks_like_maestro(path)


def _print_problems(checked: CheckedFile) -> None:
    for problem in checked.problems:
        place = f"{checked.path}:{problem.mark.line}:{problem.mark.column}"
        level = click.style(problem.level, fg=_COLOURS[problem.level], bold=True)
        click.echo(f"{place}: {level}: {problem.sentence} [{problem.rule}]")
        lines = text_with_caret(checked.text, problem.mark.line, problem.mark.column).splitlines()
        click.echo("\n".join(f"  {line}" for line in lines))
        if problem.suggestion:
            click.echo(f"  {problem.suggestion}")
    if not checked.problems:
        click.echo(f"{checked.path}: {checked.name}, {_count_text(checked.steps, 'step')}, good")
    if checked.level is not None:
        click.echo(f"{checked.path}: level {checked.level} of 5")


def _count_text(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
