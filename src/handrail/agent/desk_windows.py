"""A run on the desk: a window that says how it gets on, and one with its result.

A desk that is slow or gone never holds the run up.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from handrail.agent.budget import Spend
from handrail.agent.run_data import RunProgress, RunResult
from handrail.engine.desk_runner import DeskRunner
from handrail.errors import HandrailError
from handrail.protocol.actions import AnyAction
from handrail.protocol.content import TableContent, TableContentData, TextContent
from handrail.protocol.desk import CloseWindow, CreateWindow, SetWindowContent, WindowBounds
from handrail.safety.caller import Caller
from handrail.screen.text import clean, cut

STATUS = WindowBounds(x=24, y=24, w=420, h=220)
RESULT = WindowBounds(x=120, y=80, w=720, h=420)
_TITLE = 80
_WORDS = {
    "started": "begins",
    "thinking": "thinks",
    "acting": "acts",
    "waiting": "waits for a person",
    "step": "has done",
    "ended": "has ended",
}


def opening(run: str, task: str) -> AnyAction:
    return CreateWindow(
        window_id=f"{run}-status",
        title=f"Agent: {cut(clean(task), _TITLE)}",
        bounds=STATUS,
        content=TextContent(renderer="text", data="Begins."),
    )


def status(progress: RunProgress) -> AnyAction:
    words = [
        f"Step {progress.number}: the agent {_WORDS[progress.phase]}.",
        clean(progress.thought),
        clean(progress.doing),
        spent_text(progress.spend),
    ]
    text = "\n".join(word for word in words if word)
    return SetWindowContent(
        window_id=f"{progress.run}-status", content=TextContent(renderer="text", data=text)
    )


def closing(result: RunResult) -> list[AnyAction]:
    title = f"{result.outcome.replace('_', ' ').capitalize()}: {cut(clean(result.message), _TITLE)}"
    table = TableContent(renderer="table", data=TableContentData(**result_table(result)))
    return [
        CloseWindow(window_id=f"{result.run}-status"),
        CreateWindow(window_id=f"{result.run}-result", title=title, bounds=RESULT, content=table),
    ]


def result_table(result: RunResult) -> dict[str, Any]:
    rows = [(str(step.number), clean(step.thought), clean(step.told), step.outcome) for step in result.steps]
    return {"headers": ("#", "Why", "What was done", "Outcome"), "rows": tuple(rows)}


def spent_text(spend: Spend) -> str:
    """`3 steps, 4,210 tokens, $0.0120`."""
    parts = [f"{spend.steps} step{'' if spend.steps == 1 else 's'}"]
    parts += [f"{spend.tokens:,} tokens"] if spend.tokens else []
    parts += [f"${spend.cost_usd:.4f}"] if spend.cost_usd is not None else []
    return ", ".join(parts)


_log = logging.getLogger("handrail.agent")


class Presenter:
    """`tell` is a run's observer; windows follow behind, and only the newest state of the status is shown.

    The windows have a name of their own in the journal: they are no steps of the run.
    """

    def __init__(self, desk: DeskRunner, run: str, task: str) -> None:
        self._desk = desk
        self._caller = Caller(f"{run}-windows", "agent", "agent")
        self._task = task
        self._newest: RunProgress | None = None
        self._stirred = asyncio.Event()
        self.problem: HandrailError | None = None
        """Why nothing is shown any more."""

    def tell(self, progress: RunProgress) -> None:
        self._newest = progress
        self._stirred.set()

    async def run(self) -> None:
        """Until the run has ended and its result is shown, or the desk can't be reached."""
        is_open = False
        try:
            while True:
                await self._stirred.wait()
                self._stirred.clear()
                if (now := self._newest) is None:
                    continue
                if not is_open:
                    await self._show([opening(now.run, self._task)])
                    is_open = True
                if now.result is not None:
                    await self._show(closing(now.result))
                    return
                await self._show([status(now)])
        except HandrailError as error:
            self.problem = error
            _log.warning("The run is not shown on a desk: %s", error.message)

    async def _show(self, actions: list[AnyAction]) -> None:
        """A window that a person has closed is no reason to stop."""
        for action in actions:
            await self._desk.run(action, caller=self._caller)
