"""One question to a model behind a server of ours, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from packages.agent.tests.hosted.server import Planned, Server, serving

from handrail.clock import Clock, SystemClock
from handrail_agent.model import AgentModel, Prompt, PromptTurn, Reply
from handrail_agent.models import open_model
from handrail_agent.tools import tool_schemas
from handrail_sim.clock import ManualClock

KEY = "sk-live-0123456789abcdef"
ENV = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
PNG = b"\x89PNG\r\n\x1a\n-pixels"
PROMPT = Prompt("You work on a phone.", (PromptTurn("user", "Save the note.", PNG),), tool_schemas())
OPENAI, ANTHROPIC = "openai:tiny", "anthropic:claude-haiku-4-5"


class Watched(ManualClock):
    """Tells which pauses were asked for; they last until somebody advances it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_ms: list[float] = []
        self._heard = asyncio.Event()

    async def sleep_ms(self, duration_ms: float) -> None:
        self.asked_ms.append(duration_ms)
        self._heard.set()
        await super().sleep_ms(duration_ms)

    async def pause(self, least_ms: float, most_ms: float) -> float:
        """The pause in this range, as soon as it is asked for."""
        async with asyncio.timeout(60):
            while not (found := [one for one in self.asked_ms if least_ms <= one <= most_ms]):
                self._heard.clear()
                await self._heard.wait()
        return found[-1]


@dataclass
class Asked:
    reply: Reply
    server: Server

    @property
    def body(self) -> dict[str, Any]:
        return self.server.got[-1].body


@asynccontextmanager
async def opened(
    spec: str, *answers: Planned, clock: Clock | None = None, **wishes: Any
) -> AsyncIterator[tuple[AgentModel, Server]]:
    async with serving(*answers) as server:
        base_url = server.url + ("/v1" if spec.startswith("openai") else "")
        model = open_model(spec, env=ENV, clock=clock or SystemClock(), base_url=base_url, **wishes)
        try:
            yield model, server
        finally:
            await model.close()


def ask(spec: str, *answers: Planned, prompt: Prompt = PROMPT, **wishes: Any) -> Asked:
    async def run() -> Asked:
        async with opened(spec, *answers, **wishes) as (model, server):
            return Asked(await model.step(prompt), server)

    return asyncio.run(run())
