"""Shows a run on a desk while it goes on. A desk that is slow or gone never holds the run up."""

from __future__ import annotations

import asyncio
import logging

from handrail.agent.present import closing, opening, status
from handrail.agent.progress import Progress
from handrail.engine.desk_session import DeskRunner
from handrail.engine.events import Caller
from handrail.errors import HandrailError
from handrail.protocol.actions import AnyAction

_log = logging.getLogger("handrail.agent")


class Presenter:
    """`tell` is a run's observer; windows follow behind, and only the newest state of the status is shown.

    The windows have a name of their own in the journal: they are no steps of the run.
    """

    def __init__(self, desk: DeskRunner, run: str, task: str) -> None:
        self._desk = desk
        self._caller = Caller(f"{run}-windows", "agent", "agent")
        self._task = task
        self._newest: Progress | None = None
        self._stirred = asyncio.Event()
        self.problem: HandrailError | None = None
        """Why nothing is shown any more."""

    def tell(self, progress: Progress) -> None:
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
