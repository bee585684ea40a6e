"""An evaluation for people: progress while it runs, tables when it has ended."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from handrail.cli.output import print_table
from handrail.evaluation.result import Evaluation, TaskResult, sums
from handrail.tree.quote import clean, cut

if TYPE_CHECKING:
    from rich.status import Status

_WHY = 160


class EvaluationProgress:
    """On standard error: one line that changes on a terminal, else a line for every task."""

    def __init__(self, wanted: int, model: str) -> None:
        self._wanted = wanted
        self._model = model
        self._done: list[TaskResult] = []
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
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


def print_tables(ran: Evaluation) -> None:
    """Tasks, then tags, then one line for all."""
    if len({one.id for one in ran.results}) < len(ran.results):
        _print_by_task(ran)
    else:
        header = ("task", "", "steps", "tokens", "time", "ended", "why not")
        print_table("Tasks", header, [_row(one) for one in ran.results])
    click.echo()
    print_table(
        "Tags",
        ("tag", "solved", "of", "steps", "tokens", "median"),
        [_tag_row(name, sums(some)) for name, some in ran.tags().items()],
    )
    click.echo()
    click.echo(_last_line(ran))


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
                f"{total['success']}/{total['tasks']}",
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


def _tag_row(name: str, total: dict[str, int | float]) -> tuple[str, ...]:
    return (
        name,
        str(total["success"]),
        str(total["tasks"]),
        str(total["steps"]),
        f"{total['tokens']:,}",
        _seconds(total["median_ms"]),
    )


def _last_line(ran: Evaluation) -> str:
    total = sums(ran.results)
    cost = f", ${total['cost_usd']:.4f}" if total["cost_usd"] is not None else ""
    unrun = "" if ran.complete else f" ({len(ran.results)} of {ran.wanted} run)"
    return (
        f"{ran.model}, seed {ran.seed}: {total['success']} of {ran.wanted} tasks solved, "
        f"{ran.percent:.1f} %{unrun}; {total['steps']} steps, {total['tokens']:,} tokens{cost}, "
        f"{_seconds(ran.ms)}, {ran.jobs} at a time"
    )


def _mark(success: bool) -> str:
    return "✓" if success else "✗"


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f} s"
