"""The agent behind the desk's console: a message becomes a task, its end a window; it can be interrupted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from packages.agent.tests.agent_world import Scripted, Silent, finish, start, tap

from handrail.desk.desk import Desk
from handrail.engine.session import Session
from handrail.errors import NoModel
from handrail.protocol.message import UserMessage
from handrail_agent.console import AgentConsole, ConsoleRuns
from handrail_agent.history import load_run
from handrail_agent.model import AgentModel
from handrail_agent.run_data import RunFolder
from tests.scenario.world import FastClock, World, play, until, world

ASYNC_RUNNER = play


class Browser:
    """Everything that the desk tells one page."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.client = desk.join("page", None)
        self.frames: list[dict[str, Any]] = []
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for frame in self.client:
            if isinstance(frame, str):
                self.frames.append(json.loads(frame))

    async def say(self, words: str) -> None:
        await self._desk.interact(self.client, UserMessage(message_id="m1", content=words))

    @property
    def states(self) -> list[str]:
        return [one["status"] for one in self.frames if one["type"] == "AGENT_STATUS"]

    @property
    def last(self) -> str:
        return str([one for one in self.frames if one["type"] == "AGENT_STATUS"][-1].get("message", ""))

    def windows(self) -> list[dict[str, Any]]:
        return list(self._desk.snapshot()["windows"].values())

    async def close(self) -> None:
        self.client.close()
        self._reading.cancel()
        await asyncio.wait({self._reading})


@asynccontextmanager
async def console(w: World, model: AgentModel | None) -> AsyncIterator[tuple[Browser, AgentConsole]]:
    clock = w.runtime.clock
    desk = await Desk.open(w.runtime.store, clock)
    windows = w.runtime.attach_desk(desk)

    async def session_of() -> Session:
        return w.session

    def model_of() -> AgentModel:
        if model is None:
            raise NoModel("No model was named", path="model", hint="Start the server with --model.")
        return model

    made = AgentConsole(
        session_of, model_of, desk, ConsoleRuns(w.home / "runs", clock, pictures=False), windows=windows
    )
    running = asyncio.create_task(made.run())
    browser = Browser(desk)
    try:
        yield browser, made
    finally:
        running.cancel()
        await asyncio.wait({running})
        await browser.close()
        await desk.close()


async def test_a_message_is_worked_on_and_its_result_becomes_a_table(tmp_path: Path) -> None:
    async with (
        world(tmp_path, clock=FastClock()) as w,
        console(w, Scripted(start(), tap("Display"), finish("You see it."))) as (browser, _),
    ):
        await browser.say("Show me the display settings")
        await until(lambda: "finished" in browser.states)
        assert {"thinking", "acting"} <= set(browser.states)
        assert browser.last.startswith("You see it. (3 steps")
        [window] = browser.windows()
        assert window["title"] == "Finished: You see it."
        assert window["content"]["renderer"] == "table"
        assert window["content"]["data"]["rows"][1][2] == 'Tapped "Display": the screen changed'
        [folder] = (w.home / "runs").iterdir()
        assert window["agentId"] == f"{folder.name}-windows"
        assert load_run(RunFolder(folder), w.runtime.journal).recovered == 0  # windows are no steps


async def test_an_interrupt_ends_the_task_and_the_console_lives_on(tmp_path: Path) -> None:
    model = Silent()
    async with world(tmp_path, clock=FastClock()) as w, console(w, model) as (browser, made):
        assert not made.interrupt()
        await browser.say("Think about it")
        await model.asked.wait()
        assert made.interrupt()
        await until(lambda: "stopped" in browser.states)
        model.asked.clear()
        await browser.say("Think again")
        await model.asked.wait()
        assert len(model.prompts) == 2


async def test_what_is_said_during_a_task_is_a_note_to_it(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock()) as w:
        model = Scripted(start(), {"type": "wait_for", "app": "com.handrail.notes"}, finish())
        async with console(w, model) as (browser, _):
            await browser.say("Wait for the notes")
            await until(lambda: len(model.prompts) == 2)
            await browser.say("They come now")
            w.phone.start_activity("com.handrail.notes")
            await until(lambda: "finished" in browser.states)
            assert "Note from the person: They come now" in model.shown[2]
            assert browser.states.count("finished") == 1


async def test_without_a_model_the_console_says_how_to_get_one(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock()) as w, console(w, None) as (browser, _):
        await browser.say("Do something")
        await until(lambda: "failed" in browser.states)
        assert browser.last == "No model was named. Start the server with --model."
