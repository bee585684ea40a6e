"""What people and agents said to each other at this desk, for browsers that come later. Bounded."""

from __future__ import annotations

from collections import deque
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.clock import Clock, iso_time

KEPT = 200
"""Messages; the oldest go first."""
MOST_AGENTS = 50
PERSON = "person"
STATUS = "AGENT_STATUS"
"""The frame whose message is an agent's word."""


class Conversation:
    """One desk's talk, and what each agent is doing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._messages: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._agents: dict[str, dict[str, Any]] = {}
        self._number = 0

    def said(self, speaker: str, text: str, id_: str | None = None, status: str | None = None) -> None:
        """A person's message, or an agent's."""
        self._number += 1
        message = {"id": id_ or f"said-{self._number}", "from": speaker, "text": text, "at": self._now()}
        self._messages.append(message | ({"status": status} if status else {}))

    def published(self, frame_type: str, fields: dict[str, Any]) -> None:
        """A frame that went to every browser; only agents' own words are kept."""
        if frame_type != STATUS:
            return
        agent, status, words = fields["agentId"], fields["status"], fields.get("message")
        self._agents.pop(agent, None)
        self._agents[agent] = {"agentId": agent, "status": status, "message": words, "at": self._now()}
        while len(self._agents) > MOST_AGENTS:
            del self._agents[next(iter(self._agents))]
        if words:
            self.said(agent, words, status=status)

    def to_dict(self) -> dict[str, Any]:
        return {"messages": list(self._messages), "agents": list(self._agents.values())}

    def _now(self) -> str:
        return iso_time(self._clock.now_ms())


async def conversation(request: Request) -> JSONResponse:
    """The last messages, oldest first, and what agents are doing."""
    return JSONResponse(request.app.state.context.console.to_dict())


ROUTES = [Route("/api/console", conversation)]
