"""`handrail flow`: checks flows without a device, converts them, and prints the schema that editors use."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from handrail.cli.output import print_json
from handrail.errors import InvalidAction
from handrail.flow.check import Checked, check, find
from handrail.flow.maestro.workspace import is_config, is_flow
from handrail.flow.problems import Problem, frame

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
@click.option("--alone", is_flag=True, help="Leave out the files that a Maestro flow names.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document with every problem.")
def check_command(
    *, paths: tuple[Path, ...], env: tuple[str, ...], strict: bool, alone: bool, as_json: bool
) -> None:
    """Check the flows in PATHS (files or folders) without a device.

    Every problem is told with file, line and column. Exit code 0 when no error was found, otherwise 2.
    """
    files = find(paths)
    if not files:
        raise InvalidAction(
            f"no flow in {', '.join(map(str, paths))}", hint="Flows are .yaml, .yml or .json files."
        )
    names = [one.partition("=")[0] for one in env]
    theirs = [path for path in files if _is_maestro(path)]
    results = check([path for path in files if path not in theirs and not is_config(path)], names)
    if theirs:
        import asyncio  # noqa: PLC0415  (scripts and their process)

        from handrail.flow.maestro.check import check_files  # noqa: PLC0415

        results += asyncio.run(check_files(theirs, names, alone=alone))
        results.sort(key=lambda one: files.index(one.path))
    levels = ("error", "warning") if strict else ("error",)
    good = not any(problem.level in levels for one in results for problem in one.problems)
    if as_json:
        print_json({"ok": good, "files": [one.to_dict() for one in results]})
    else:
        for one in results:
            _print(one)
        _print_sum(results)
    sys.exit(0 if good else 2)


SCHEMA = Path("flow.schema.json")


@flow.command("schema")
@click.option(
    "--out", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it there."
)
@click.option(
    "--vscode", is_flag=True, help=f"Write it to {SCHEMA} or --out; print the settings for VS Code."
)
@click.option(
    "--flows",
    "where",
    default="flows/**/*.yaml",
    show_default=True,
    help="With --vscode: which files are flows.",
)
def schema_command(out: Path | None, vscode: bool, where: str) -> None:
    """Print the JSON Schema of a flow's file, for editors.

    With --vscode, standard output is what belongs into .vscode/settings.json of this folder.
    """
    import json  # noqa: PLC0415

    from handrail.flow.schema import flow_schema  # noqa: PLC0415

    file = out or (SCHEMA if vscode else None)
    if file is None:
        print_json(flow_schema())
        return
    try:
        file.write_text(json.dumps(flow_schema(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidAction(
            f"out: {file} can't be written: {error.strerror}", path="out", hint="Choose another file."
        ) from None
    click.echo(f"wrote {file}", err=True)
    if vscode:
        named = str(file) if file.is_absolute() else f"./{file.as_posix()}"
        click.echo(json.dumps({"yaml.schemas": {named: where}}, indent=2))


@flow.command("convert")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--to", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it there.")
def convert_command(file: Path, to: Path | None) -> None:
    """Write a Maestro flow as a Handrail flow, or a Handrail flow as Maestro's.

    What the other language can't say is left out, with a comment at its place. Exit code 1 where that is so.
    """
    from handrail.flow.maestro.convert import to_handrail  # noqa: PLC0415  (the engine)
    from handrail.flow.maestro.convert_back import to_maestro  # noqa: PLC0415

    made = to_handrail(file) if _is_maestro(file) else to_maestro(file)
    if to is None:
        click.echo(made.text, nl=False)
    else:
        to.write_text(made.text, encoding="utf-8")
    for one in made.left_out:
        click.echo(one, err=True)
    sys.exit(1 if made.left_out else 0)


def _is_maestro(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml") and path.is_file() and is_flow(path)


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
    if checked.level is not None:
        click.echo(f"{checked.path}: level {checked.level} of 5")


def _print_sum(results: list[Checked]) -> None:
    found: list[Problem] = [problem for one in results for problem in one.problems]
    counts = [(level, sum(one.level == level for one in found)) for level in _COLOURS]
    told = ", ".join(_count(count, level) for level, count in counts if count)
    click.echo(f"{_count(len(results), 'file')}: {told or 'no problems'}")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
