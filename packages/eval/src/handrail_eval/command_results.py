"""`handrail eval check`, `compare` and `leaderboard`: what kept results are worth."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from handrail.cli.output import print_json, print_table
from handrail.errors import FAMILIES

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_MOST = 40
"""Flips that people are shown; --json has all."""


@click.command("check")
@click.argument("folders", nargs=-1, required=True, type=_FOLDER, metavar="DIR...")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def check(folders: tuple[Path, ...], as_json: bool) -> None:
    """Count kept results again, and show what was altered: hashes, lines, journals, sums.

    Ends with 0 when everything is as it was written, else with 1. A consistent rewrite of everything is not
    detected: run some episodes again with the manifest's seeds.
    """
    from handrail_eval.recount import wrongs_of  # noqa: PLC0415

    told: list[dict[str, Any]] = [
        {"run": str(folder), "ok": not found, "found": found}
        for folder in folders
        for found in [wrongs_of(folder)]
    ]
    if as_json:
        print_json(told)
    else:
        for one in told:
            click.echo(f"{'✓' if one['ok'] else '✗'} {one['run']}")
            for line in one["found"]:
                click.echo(f"    {line}")
    sys.exit(0 if all(one["ok"] for one in told) else FAMILIES["outcome"].exit_code)


@click.command("compare")
@click.argument("first", type=_FOLDER, metavar="A")
@click.argument("second", type=_FOLDER, metavar="B")
@click.option("--anyway", is_flag=True, help="If the suites differ, compare what both have.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def compare(first: Path, second: Path, anyway: bool, as_json: bool) -> None:
    """Compare A and B, paired by task, seed and repeat, and test for chance."""
    from handrail_eval.compare import compared  # noqa: PLC0415

    told = compared(first, second, anyway=anyway)
    if as_json:
        print_json(told)
        return
    for side in ("a", "b"):
        one = told[side]
        share = f"{one['success']} of {told['pairs']} solved, {100 * one['rate']:.1f} %"
        click.echo(f"{side.upper()}  {one['name']}, {one['model']}: {share}")
    for why in told["because"]:
        click.echo(f"compared anyway: {why}; {told['left_out']} runs left out")
    for line in told["missing"][:_MOST]:
        click.echo(f"left out: {line}")
    low_high = told["bootstrap95"]
    between = ""
    if low_high:
        low, high = (100 * one for one in low_high)
        between = f", {low:+.1f} to {high:+.1f} (95 %, tasks drawn anew)"
    click.echo(f"B − A: {100 * told['difference']:+.1f} points{between}")
    click.echo(
        f"only A solved {told['only_a']}, only B {told['only_b']}: p = {told['mcnemar_p']:.4g} (McNemar)"
    )
    click.echo(f"over {told['tasks']} tasks: p = {told['tasks_p']:.4g} (signs of tasks flipped)")
    rows = [
        (one["id"], str(one["seed"]), str(one["repeat"]), one["now"], one["why"]) for one in told["flipped"]
    ]
    if rows:
        click.echo()
        shown = f" (the first {_MOST})" if len(rows) > _MOST else ""
        print_table(f"Flipped{shown}", ("task", "seed", "repeat", "with B", "why not"), rows[:_MOST])


@click.command("leaderboard")
@click.argument("folder", type=_FOLDER, metavar="DIR")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where the page goes.  [default: DIR/leaderboard.html]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the ranking as JSON and write no page.")
def leaderboard(folder: Path, out: Path | None, as_json: bool) -> None:
    """Rank the evaluations in a folder on one page. Only those that pass `check` are ranked."""
    from handrail_eval.leaderboard import leaderboard_page, standings  # noqa: PLC0415

    told = standings(folder)
    if as_json:
        print_json(told)
        return
    file = out or folder / "leaderboard.html"
    file.write_text(leaderboard_page(told), encoding="utf-8")
    ranked = sum(len(board["runs"]) for board in told["boards"])
    click.echo(f"{ranked} ranked, {len(told['left_out'])} left out: {file}")
    for one in told["left_out"]:
        click.echo(f"    {one['run']}: {one['why'][0]}")
