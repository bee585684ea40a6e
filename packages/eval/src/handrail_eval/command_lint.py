"""`handrail eval lint`: proves templates; what was proved is not proved again until something changes."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from handrail.cli.output import print_json
from handrail.errors import FAMILIES
from handrail_eval.command_seeds import MOST_JOBS, SEEDS


@click.command("lint")
@click.argument("files", nargs=-1, metavar="[NAME|FILE|DIR]...")
@click.option("--seeds", type=SEEDS, default="1..20", show_default=True, metavar="N|A..B")
@click.option("-j", "--jobs", type=click.IntRange(1, MOST_JOBS), default=2, show_default=True, metavar="N")
@click.option(
    "--resume",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep a line for every template here, and leave out those that have one and are unchanged.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def lint(
    files: tuple[str, ...], seeds: tuple[int, ...], jobs: int, resume: Path | None, as_json: bool
) -> None:
    """Prove templates: references pass on every seed, those who know nothing fail, no check is vacuous.

    Ends with 0 when nothing is wrong with any of them, else with 1. Stopped or killed, it goes on with
    --resume where it was: a line counts for the template's bytes, the code and the seeds it was written for.
    """
    from handrail.simulator import need_simulator  # noqa: PLC0415
    from handrail_eval.lint_many import ProvedTemplates, lint_many  # noqa: PLC0415
    from handrail_eval.load import load_templates  # noqa: PLC0415

    need_simulator()
    templates = load_templates(files)
    proved = ProvedTemplates(resume, seeds)
    told = [report for template in templates if (report := proved.known(template))]
    for report in told:
        _say(report, as_json, 0, len(templates))
    known = {report["id"] for report in told}
    waiting = [template for template in templates if template.id not in known]
    try:
        with closing(lint_many(files, [one.id for one in waiting], seeds, jobs)) as reports:
            for report in reports:
                proved.add(next(one for one in waiting if one.id == report["id"]), report)
                told.append(report)
                _say(report, as_json, len(told), len(templates))
    except KeyboardInterrupt:
        hint = f" Go on with --resume {resume}." if resume else " With --resume FILE it could go on."
        click.echo(f"Stopped after {len(told)} of {len(templates)} templates.{hint}", err=True)
        sys.exit(FAMILIES["cancelled"].exit_code)
    if as_json:
        print_json(told)
    elif len(told) > 1:
        click.echo(f"{sum(one['ok'] for one in told)} of {len(told)} templates are proved.")
    sys.exit(0 if all(one["ok"] for one in told) else FAMILIES["outcome"].exit_code)


def _say(report: dict[str, Any], as_json: bool, number: int, of: int) -> None:
    """Progress goes to standard error where the answer is JSON."""
    mark = "✓" if report["ok"] else "✗"
    before = f"{number}/{of} " if number else "known "
    click.echo(
        f"{before}{mark} {report['id']}: {report['ends']} ends in {report['seeds']} seeds, "
        f"{report['episodes']} runs, {report['cpu_s']:.1f} s",
        err=as_json,
    )
    for line in report["found"]:
        click.echo(f"    {line}", err=as_json)
