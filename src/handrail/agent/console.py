"""The agent behind the desk's Console: every message is a task, and what is said during one is a note to it.

Knows the desk only as an inbox and a voice; which phone and which model are others' decisions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from handrail.agent.budget import DEFAULT, Budget
from handrail.agent.desk_windows import Presenter, spent_text
from handrail.agent.loop import Terms, run_task
from handrail.agent.model import AgentModel
from handrail.agent.run_data import Phase, RunProgress, RunResult, Tell, new_folder
from handrail.agent.task import Task
from handrail.clock import Clock
from handrail.engine.desk_runner import DeskRunner
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.waiting import beside

NAME = "console"
WAIT_MS = 60_000.0
_STATUS: dict[Phase, str] = {
    "started": "thinking",
    "thinking": "thinking",
    "acting": "acting",
    "waiting": "waiting",
    "step": "thinking",
}


class Messages(Protocol):
    """What people wrote."""

    def take(self) -> list[dict[str, Any]]: ...

    async def wait(self, timeout_ms: float) -> None: ...


class ConsoleDesk(Protocol):
    """The desk, as far as the console needs it."""

    def inbox(self, agent_id: str) -> Messages: ...

    def publish(self, frame_type: str, **fields: Any) -> None: ...


SessionOf = Callable[[], Awaitable[Session]]
ModelOf = Callable[[], AgentModel]


@dataclass(frozen=True, slots=True)
class ConsoleRuns:
    """Where runs are kept and how, by which clock, and how much each may spend."""

    runs: Path
    clock: Clock
    budget: Budget = DEFAULT
    pictures: bool = True


class AgentConsole:
    """One conversation; one task at a time."""

    def __init__(
        self,
        session_of: SessionOf,
        model_of: ModelOf,
        desk: ConsoleDesk,
        place: ConsoleRuns,
        windows: DeskRunner | None = None,
    ) -> None:
        self._session_of = session_of
        self._model_of = model_of
        self._desk = desk
        self._windows = windows
        self._place = place
        self._stop: asyncio.Event | None = None
        self._notes: list[str] = []
        self._read_notes = 0
        """Notes that the model was told."""

    async def run(self) -> None:
        inbox = self._desk.inbox(NAME)
        self._say("idle", "")
        while True:
            await inbox.wait(WAIT_MS)
            waiting = _messages(inbox.take())
            while waiting:
                waiting += await self._work(waiting.pop(0), inbox)

    def interrupt(self) -> bool:
        """End the task that is being worked on; False when there is none."""
        if self._stop is None:
            return False
        self._stop.set()
        return True

    async def _work(self, words: str, inbox: Messages) -> list[str]:
        """One task. What was said too late for it is given back: it is the next one.

        A failure to begin is told like any other: the console lives on.
        """
        self._stop, self._notes, self._read_notes = asyncio.Event(), [], 0
        try:
            async with beside(self._listen(inbox), "notes to the agent"):
                result = await self._run(Task.of(words))
        except HandrailError as error:
            self._say("failed", f"{error.message}. {error.hint}", error.code)
        else:
            self._say(
                {"finished": "finished", "stopped": "stopped"}.get(result.outcome, "failed"),
                f"{result.message} ({spent_text(result.spend)})",
            )
        finally:
            self._stop = None
        return self._notes[self._read_notes :]

    async def _run(self, task: Task) -> RunResult:
        model = self._model_of()
        try:
            session = await self._session_of()
            folder = new_folder(self._place.runs, self._place.clock)
            async with self._shown(folder.name, task.text) as tell:
                return await run_task(
                    session,
                    task,
                    model,
                    clock=self._place.clock,
                    budget=self._place.budget,
                    folder=folder,
                    ask=True,
                    terms=Terms(
                        stop=self._stop,
                        tell=tell,
                        notes=self._notes,
                        desk=self._windows,
                        pictures=self._place.pictures,
                    ),
                )
        finally:
            await model.close()

    @asynccontextmanager
    async def _shown(self, run: str, words: str) -> AsyncIterator[Tell]:
        """Reports progress here and in desk windows; a window shows the end before this returns."""
        if self._windows is None:
            yield self._tell
            return
        presenter = Presenter(self._windows, run, words)
        async with beside(presenter.run(), "agent's windows") as presenting:
            tells = [self._tell, presenter.tell]

            def tell(progress: RunProgress) -> None:
                for one in tells:
                    one(progress)

            yield tell
            await presenting

    async def _listen(self, inbox: Messages) -> None:
        while True:
            await inbox.wait(WAIT_MS)
            self._notes += _messages(inbox.take())

    def _tell(self, progress: RunProgress) -> None:
        if progress.phase == "thinking":
            self._read_notes = len(self._notes)  # the prompt is made next, with all of them
        if progress.phase in _STATUS:
            message = progress.thought if progress.phase != "step" else progress.doing
            self._say(
                _STATUS[progress.phase],
                message or (spent_text(progress.spend) if progress.spend.steps else ""),
            )

    def _say(self, status: str, message: str, code: str = "") -> None:
        words = {"message": message[:100_000]} if message else {}
        failed = {"code": code} if code else {}
        self._desk.publish("AGENT_STATUS", agent_id=NAME, status=status, **words, **failed)


def _messages(messages: list[dict[str, Any]]) -> list[str]:
    """The words of people; clicks and the like are not for a conversation."""
    texts = [str(message.get("content", "")) for message in messages if message.get("type") == "user_message"]
    return [words for words in texts if words.strip()]
