"""An evaluation for people: progress while it runs, tables when it has ended."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from handrail.cli.output import print_table
from handrail.screen.text import clean, cut
from handrail_eval.result import TaskResult
from handrail_eval.statistics import shown_interval
from handrail_eval.summary import Evaluation, sums

if TYPE_CHECKING:
    from rich.status import Status

_WHY = 160


class EvaluationProgress:
    """On standard error: one line that changes on a terminal, else or with `lines` a line for every task."""

    def __init__(
        self, wanted: int, model: str, before: Sequence[TaskResult] = (), *, lines: bool = False
    ) -> None:
        self._lines = lines
        self._wanted = wanted
        self._model = model
        self._done = list(before)
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not self._lines:
            from rich.console import Console  # noqa: PLC0415  (50 ms that a pipe should not pay)

            self._status = Console(stderr=True).status("", spinner="dots")
            self._status.start()
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def done(self, one: TaskResult) -> None:
        """A task has ended."""
        self._done.append(one)
        if self._status is None:
            number = f"{len(self._done)}/{self._wanted}"
            click.echo(
                f"{number} {_mark(one.success)} {one.id}, {one.steps} steps, {_seconds(one.ms)}", err=True
            )
        self._show()

    def _show(self) -> None:
        if self._status is not None:
            good = sum(one.success for one in self._done)
            last = f", last: {self._done[-1].id}" if self._done else ""
            self._status.update(
                f"{self._model}: {len(self._done)} of {self._wanted} run, {good} solved{last}"
            )


def print_tables(ran: Evaluation, summary: Mapping[str, Any], took: Mapping[str, Any]) -> None:
    """Tasks, then groups, then what all of it comes to."""
    if len({one.id for one in ran.results}) < len(ran.results):
        _print_by_task(ran)
    else:
        header = ("task", "", "steps", "tokens", "time", "ended", "why not")
        print_table("Tasks", header, [_row(one) for one in ran.results])
    click.echo()
    columns = ("group", "", "solved", "of", "95 %", "steps", "tokens", "asked", "refused", "obeyed", "median")
    rows = [
        (group, name, *_group_row(total))
        for group, some in summary["groups"].items()
        for name, total in some.items()
    ]
    print_table("Groups", columns, rows)
    click.echo()
    for line in _figures(summary):
        click.echo(line)
    click.echo(_last_line(ran, summary, took))


def _figures(summary: Mapping[str, Any]) -> list[str]:
    """With their doubt, and which kind of it."""
    k, low_high = summary["k"], _percents(summary["wilson95"])
    lines = [f"pass@1 {_percent(summary['pass_at_1'])}; as single runs {low_high} (Wilson)"]
    if k > 1:
        lines.append(f"pass@{k} {_percent(summary['pass_at_k'])}")
        lines.append(f"all of {k} {_percent(summary['pass_all_k'])}")
    ratio, between = summary["steps_ratio"], summary["deviation_of_tasks"]
    if ratio["value"] is not None:
        lines.append(f"steps against the shortest known way: {ratio['value']:.2f}")
    if between is not None:
        lines.append(f"standard deviation of tasks {100 * between:.1f} points")
    attacks = summary["attacks"]
    if attacks["tried"]:
        told = _percents(attacks["wilson95"])
        lines.append(f"adversaries obeyed: {attacks['obeyed']} of {attacks['tried']}, {told} (Wilson)")
    return lines


def _percent(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "unknown"
    shown = shown_interval(figure)
    how = "tasks drawn anew" if shown is figure["bootstrap95"] else "Wilson, by tasks"
    return f"{100 * figure['value']:.1f} %, {_percents(shown)} ({how})"


def _percents(interval: Sequence[float] | None) -> str:
    return "no interval" if interval is None else "–".join(f"{100 * one:.1f}" for one in interval) + " %"


def _print_by_task(ran: Evaluation) -> None:
    """One row for all seeds of a task."""
    rows = []
    for name in dict.fromkeys(one.id for one in ran.results):
        some = [one for one in ran.results if one.id == name]
        total = sums(some)
        why = next((f"seed {one.seed}: {cut(clean(one.why), _WHY)}" for one in some if not one.success), "")
        rows.append(
            (
                name,
                f"{total['success']}/{total['episodes']}",
                ", ".join(some[0].tags),
                str(total["steps"]),
                _seconds(total["median_ms"]),
                why,
            )
        )
    print_table("Tasks", ("task", "solved", "tags", "steps", "median", "why not"), rows)


def _row(one: TaskResult) -> tuple[str, ...]:
    why = cut(clean(one.why), _WHY)
    return (one.id, _mark(one.success), str(one.steps), f"{one.tokens:,}", _seconds(one.ms), one.ended, why)


def _group_row(total: Mapping[str, Any]) -> tuple[str, ...]:
    attacks = total["attacks"]
    return (
        str(total["success"]),
        str(total["episodes"]),
        _percents(total["wilson95"]),
        str(total["steps"]),
        f"{total['tokens']:,}",
        str(total["asked"]),
        str(total["refused"]),
        f"{attacks['obeyed']}/{attacks['tried']}" if attacks["tried"] else "",
        _seconds(total["median_ms"]),
    )


def _last_line(ran: Evaluation, summary: Mapping[str, Any], took: Mapping[str, Any]) -> str:
    cost = f", ${summary['cost_usd']:.4f}" if summary["cost_usd"] is not None else ""
    unrun = "" if ran.complete else f" ({len(ran.results)} of {ran.wanted} run)"
    return (
        f"{ran.model}: {summary['success']} of {ran.wanted} runs solved, "
        f"{ran.percent:.1f} %{unrun}; {summary['steps']} steps, {summary['tokens']:,} tokens{cost}, "
        f"{_seconds(took['wall_ms'])}, {took['jobs']} at a time"
    )


def _mark(success: bool) -> str:
    return "✓" if success else "✗"


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f} s"
