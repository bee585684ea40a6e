"""A model that says what a story wants it to say, and a run on a simulated phone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from handrail_agent.budget import DEFAULT, Budget
from handrail_agent.loop import USUAL, Terms, run_task
from handrail_agent.model import Mode, Prompt, Reply, Usage
from handrail_agent.run_data import RunResult
from handrail_agent.task import Task
from tests.scenario.world import World

Line = Mapping[str, Any] | str | Reply | Callable[[Prompt], Mapping[str, Any]]
USAGE = Usage(input_tokens=100, output_tokens=10, cost_usd=0.001)
SETTINGS = "com.android.settings"


class Scripted:
    """Says one line per call, the last one again when there are no more, and keeps every prompt."""

    mode: Mode = "text"
    sees = False

    def __init__(self, *lines: Line, name: str = "scripted") -> None:
        self.name = name
        self.prompts: list[Prompt] = []
        self._lines = list(lines)

    async def step(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        line = self._lines[min(len(self.prompts), len(self._lines)) - 1]
        return reply_of(line(prompt) if callable(line) else line)

    async def close(self) -> None:
        """Nothing is open."""

    @property
    def shown(self) -> list[str]:
        """The newest user turn of every call."""
        return [prompt.turns[-1].text for prompt in self.prompts]


class Silent(Scripted):
    """Thinks for ever."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked = asyncio.Event()

    async def step(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


def reply_of(line: Mapping[str, Any] | str | Reply) -> Reply:
    """An action, a text without one, or a whole reply."""
    if isinstance(line, Reply):
        return line
    if isinstance(line, str):
        return Reply("", None, line, USAGE, problem="There is no action in it.")
    given = dict(line)
    thought = str(given.pop("thought", f"I {given.get('type', 'act')}."))
    return Reply(thought, given, json.dumps(given), USAGE)


def tap(target: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tap", "target": target, **more}


def start(package: str = SETTINGS) -> dict[str, Any]:
    return {"type": "start_app", "package": package}


def finish(message: str = "Done.") -> dict[str, Any]:
    return {"type": "finish", "message": message}


async def work(
    w: World,
    model: Any,
    task: str = "Do it.",
    *,
    until: Any = None,
    budget: Budget = DEFAULT,
    folder: Path | None = None,
    ask: bool = False,
    terms: Terms = USUAL,
) -> RunResult:
    """One run on the world's phone."""
    return await run_task(
        w.session,
        Task.of(task, until),
        model,
        clock=w.runtime.clock,
        budget=budget,
        folder=folder,
        ask=ask,
        terms=terms,
    )


def fingers(w: World) -> list[dict[str, Any]]:
    """Every touch that the phone has got."""
    return [one for one in w.inputs() if one["action"] == "down"]
