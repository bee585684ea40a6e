"""A run as a person follows it: a live line per running step on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from handrail.flow.run_record import FlowRecord, Observer, Outcome, StepRecord
from handrail.screen.text import clean, cut

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.spinner import Spinner

LABEL = 100
MESSAGE = 400
_SIGNS: dict[Outcome, tuple[str, str]] = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "warned": ("!", "yellow"),
    "skipped": ("-", "dim"),
    "stopped": ("■", "yellow"),
}


class FlowProgress(Observer):
    """An observer that gives way while somebody else uses the terminal."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        yield


def seconds(ms: float) -> str:
    return f"{ms / 1000:.2f} s"


def _label_of_step(record: StepRecord, several: bool) -> str:
    where = f"[{record.device}] " if several else ""
    tries = f" ({record.tries} tries)" if record.tries > 1 else ""
    return cut(clean(f"{where}{record.words}{tries}"), LABEL)


def _problem_of_step(record: StepRecord) -> str:
    return cut(clean(f"{record.code}: {record.error}"), MESSAGE)


def _result_of_flow(record: FlowRecord) -> str:
    trace = record.trace
    steps = f"{trace.steps_completed} of {trace.total_steps} steps, " if trace else ""
    return f"{record.outcome}: {steps}{seconds(record.duration_ms)}"


def _title_of_flow(record: FlowRecord) -> str:
    again = f", attempt {record.attempt}" if record.attempt > 1 else ""
    return cut(clean(f"{record.name} on {record.device}{again}"), LABEL * 2)


class PlainFlowProgress(FlowProgress):
    """One line per finished step."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._several = False

    def flow_started(self, record: FlowRecord, total: int) -> None:
        self._several = ", " in record.device
        self._write(f"{_title_of_flow(record)}: {total} step{'s' * (total != 1)}")

    def step_ended(self, record: StepRecord) -> None:
        took = seconds(record.duration_ms)
        self._write(
            f"  {record.outcome:<8}{record.number:<6} {_label_of_step(record, self._several)}  {took}"
        )
        if record.code is not None and not record.children:
            self._write(f"{'':17}{_problem_of_step(record)}")
            if record.hint:
                self._write(f"{'':17}{cut(clean(record.hint), MESSAGE)}")

    def flow_ended(self, record: FlowRecord) -> None:
        self._write(f"  {_result_of_flow(record)}")
        if record.error is not None and not record.steps:
            self._write(f"  {cut(clean(record.error), MESSAGE)}")


class LiveFlowProgress(FlowProgress):
    """Finished steps above, what runs now below with a spinner."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._running: dict[tuple[int, ...], Spinner] = {}
        self._several = False

    def flow_started(self, record: FlowRecord, total: int) -> None:
        from rich.live import Live  # noqa: PLC0415  (50 ms that a pipe should not pay)

        self._several = ", " in record.device
        self._print(f"{_title_of_flow(record)}  {total} step{'s' * (total != 1)}", "bold")
        self._running.clear()
        self._live = Live(
            console=self._console, get_renderable=self._now, transient=True, refresh_per_second=12
        )
        self._live.start()

    def step_started(self, record: StepRecord) -> None:
        from rich.spinner import Spinner  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        words = f"{record.number:<6}{_label_of_step(record, self._several)}"
        self._running[record.path] = Spinner("dots", Text(words))
        self._refresh()

    def step_ended(self, record: StepRecord) -> None:
        self._running.pop(record.path, None)
        self._refresh()
        sign, colour = _SIGNS[record.outcome]
        took = seconds(record.duration_ms)
        self._print(f"  {sign} {record.number:<6}{_label_of_step(record, self._several)}  {took}", colour)
        if record.code is not None and not record.children:
            self._print(f"    {_problem_of_step(record)}", colour)
            if record.hint:
                self._print(f"    {cut(clean(record.hint), MESSAGE)}", "dim")

    def flow_ended(self, record: FlowRecord) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        sign, colour = _SIGNS[record.outcome]
        self._print(f"{sign} {record.name} {_result_of_flow(record)}", f"bold {colour}")
        if record.error is not None and not record.steps:
            self._print(f"  {cut(clean(record.error), MESSAGE)}", colour)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The display stands still while a person is asked."""
        live = self._live
        if live is None:
            yield
            return
        live.stop()
        try:
            yield
        finally:
            live.start()

    def _print(self, words: str, style: str) -> None:
        from rich.text import Text  # noqa: PLC0415

        self._console.print(Text(words, style=style), soft_wrap=True)

    def _refresh(self) -> None:
        """Redraws at once, so that a step that has ended does not stand below for a moment."""
        if self._live is not None:
            self._live.refresh()

    def _now(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415

        return Group(*self._running.values())
