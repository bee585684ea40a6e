"""The agent behind the desk's Console: every message is a task, and what is said during one is a note to it.

`handrail serve` finds `answering` by the entry point `console`, group `handrail.runners`. The console knows
the desk only as an inbox and a voice; which phone and which model are others' decisions. A run has a window
that says how it gets on, and one with its result: a desk that is slow or gone never holds it up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from handrail.clock import Clock
from handrail.desk.desk import Desk
from handrail.engine.desk_runner import DeskRunner
from handrail.engine.session import Session
from handrail.errors import HandrailError, NoModel
from handrail.protocol.actions import AnyAction
from handrail.protocol.content import TableContent, TableContentData, TextContent
from handrail.protocol.desk import CloseWindow, CreateWindow, SetWindowContent, WindowBounds
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.screen.text import clean, cut
from handrail.waiting import Background, beside
from handrail_agent.budget import DEFAULT, Budget, Spend
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import AgentModel
from handrail_agent.models import open_model
from handrail_agent.run_data import Phase, RunProgress, RunResult, Tell, new_folder
from handrail_agent.task import Task

_log = logging.getLogger("handrail.agent")
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

        async def listen() -> None:
            while True:
                await inbox.wait(WAIT_MS)
                self._notes += _messages(inbox.take())

        try:
            async with beside(listen(), "notes to the agent"):
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

            def tell(progress: RunProgress) -> None:
                self._tell(progress)
                presenter.tell(progress)

            yield tell
            await presenting

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


@asynccontextmanager
async def answering(
    model: str | None, base_url: str | None, runtime: Runtime, desk: Desk
) -> AsyncIterator[AgentConsole]:
    """Answers in the Console while the block runs. Raises at once for a model that can't be opened."""

    def model_of() -> AgentModel:
        if model is None:
            raise NoModel(
                "No model was named", path="model", hint="Start `handrail serve --model openai:NAME`."
            )
        return open_model(model, env=runtime.env, clock=runtime.clock, base_url=base_url)

    async def session_of() -> Session:
        opened = list(runtime.sessions.values())
        return opened[0] if len(opened) == 1 else await runtime.session()

    if model is not None:
        await model_of().close()
    place = ConsoleRuns(runtime.config.runs, runtime.clock)
    console = AgentConsole(session_of, model_of, desk, place, windows=runtime.desk_session())
    async with Background() as listening:
        listening.start(console.run(), "answering in the Console")
        yield console


def _messages(messages: list[dict[str, Any]]) -> list[str]:
    """The words of people; clicks and the like are not for a conversation."""
    texts = [str(message.get("content", "")) for message in messages if message.get("type") == "user_message"]
    return [words for words in texts if words.strip()]


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
                    begins = TextContent(renderer="text", data="Begins.")
                    title = f"Agent: {cut(clean(self._task), _TITLE)}"
                    id_ = f"{now.run}-status"
                    await self._show(CreateWindow(window_id=id_, title=title, bounds=STATUS, content=begins))
                    is_open = True
                if now.result is not None:
                    await self._show(*closing(now.result))
                    return
                await self._show(status(now))
        except HandrailError as error:
            self.problem = error
            _log.warning("The run is not shown on a desk: %s", error.message)

    async def _show(self, *actions: AnyAction) -> None:
        """A window that a person has closed is no reason to stop."""
        for action in actions:
            await self._desk.run(action, caller=self._caller)
