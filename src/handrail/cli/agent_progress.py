"""A run as a person follows it: a line per step, what goes on now below; JSON lines for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import click

from handrail.agent.desk_windows import spent_text
from handrail.agent.run_data import GOOD
from handrail.tree.quote import clean, cut

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    from handrail.agent.run_data import AgentStep, RunProgress, RunResult

THOUGHT = 200
LINE = 300
_MORE = {
    "out_of_steps": " --max-steps N",
    "out_of_time": " --timeout SECONDS",
    "out_of_tokens": " --max-tokens N",
    "out_of_cost": " --max-cost USD",
}
"""What has to be raised before a run can go on."""
_NOW = {"thinking": "thinks", "acting": "acts", "waiting": "waits for a person"}


class AgentProgress(Protocol):
    """Whoever shows a run."""

    def begin(self, task: str, model: str, device: str, before: int) -> None: ...

    def tell(self, progress: RunProgress) -> None: ...

    def end(self, result: RunResult) -> None: ...

    @contextmanager
    def paused(self) -> Iterator[None]: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def progress_for(*, as_json: bool) -> AgentProgress:
    """JSON lines, a live line on a terminal, or plain lines."""
    if as_json:
        return JsonProgress(click.echo)
    if not sys.stdout.isatty():
        return PlainProgress(click.echo)
    from rich.console import Console  # noqa: PLC0415  (50 ms that a pipe should not pay)

    return LiveProgress(Console())


class _Quiet:
    """Nothing to open, to close or to hold still."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        yield

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class JsonProgress(_Quiet):
    """One object per step, and one for the result."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def begin(self, task: str, model: str, device: str, before: int) -> None:
        pass

    def tell(self, progress: RunProgress) -> None:
        if progress.phase == "notice":
            self._line({"notice": progress.doing})
        if progress.step is not None:
            self._line({"step": progress.step.to_dict(), "spend": progress.spend.to_dict()})

    def end(self, result: RunResult) -> None:
        self._line({"result": result.to_dict()})

    def _line(self, value: dict[str, object]) -> None:
        self._write(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class PlainProgress(_Quiet):
    """Two lines per finished step: the thought, and what came of the action."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def begin(self, task: str, model: str, device: str, before: int) -> None:
        for line in _title(task, model, device, before):
            self._write(line)

    def tell(self, progress: RunProgress) -> None:
        if progress.phase == "notice":
            self._write(cut(clean(progress.doing), LINE))
        if (step := progress.step) is not None:
            self._write(f"{step.number:>3}. {_thought(step)}")
            self._write(f"     {_sign(step)} {cut(clean(step.told), LINE)}  [{spent_text(progress.spend)}]")

    def end(self, result: RunResult) -> None:
        for line in last_words(result):
            self._write(line)


class LiveProgress:
    """The same in colour, with what goes on at this moment below."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None

    def begin(self, task: str, model: str, device: str, before: int) -> None:
        first, *more = _title(task, model, device, before)
        self._print(first, "bold")
        for line in more:
            self._print(line, "dim")

    def tell(self, progress: RunProgress) -> None:
        if self._status is not None and progress.phase in _NOW:
            doing = f": {progress.doing}" if progress.doing else ""
            now = f"step {progress.number} {_NOW[progress.phase]}{doing} ({spent_text(progress.spend)})"
            self._status.update(_as_text(now))
        if progress.phase == "notice":
            self._print(cut(clean(progress.doing), LINE), "dim")
        if (step := progress.step) is not None:
            colour = "green" if step.outcome in GOOD else "yellow" if step.outcome == "unchanged" else "red"
            self._print(f"{step.number:>3}. {_thought(step)}", "")
            self._print(f"     {_sign(step)} {cut(clean(step.told), LINE)}", colour)

    def end(self, result: RunResult) -> None:
        first, *more = last_words(result)
        self._print(first, "bold green" if result.success else "bold red")
        for line in more:
            self._print(line, "dim")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing moves while a person is asked."""
        if self._status is None:
            yield
            return
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def __enter__(self) -> Self:
        self._status = self._console.status("begins")
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _print(self, words: str, style: str) -> None:
        self._console.print(_as_text(words, style), soft_wrap=True)


def _as_text(words: str, style: str = "") -> Text:
    """Brackets of the phone's own are no markup."""
    from rich.text import Text  # noqa: PLC0415

    return Text(words, style=style)


def _title(task: str, model: str, device: str, before: int) -> list[str]:
    again = f", after {before} steps" if before else ""
    return [cut(clean(task), LINE), f"{model} on {device}{again}"]


def _thought(step: AgentStep) -> str:
    return cut(clean(step.thought), THOUGHT) or step.kind


def _sign(step: AgentStep) -> str:
    return "✓" if step.outcome in GOOD else "·" if step.outcome == "unchanged" else "✗"


def last_words(result: RunResult) -> list[str]:
    """How it ended, what it cost, where it is kept, and how to go on."""
    lines = [f"{result.outcome.replace('_', ' ')}: {clean(result.message)}", spent_text(result.spend)]
    if result.folder is not None:
        lines.append(f"report: {result.folder / 'report.html'}")
        if not result.success:
            more = _MORE.get(result.outcome, "")
            lines.append(f"go on with: handrail agent --resume {result.run}{more}")
    return lines
