"""Actions and messages, for every screen of the desk.

`ActionFeed` publishes actions: of this process as they happen, of other processes from the journal.
`ConsoleMessages` keeps the last messages of people and agents for browsers that come later.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.clock import Clock, iso_time
from handrail.engine.events import Listener
from handrail.engine.session import Session
from handrail.journal.query import UNFINISHED, ActionRow
from handrail.waiting import Background

if TYPE_CHECKING:
    from handrail.web_server.server import Context

TICK_MS = 250.0
PAGE = 20
MOST_PUBLISHED = 2_000
"""Ids of this process's actions that are remembered, so that the journal does not publish them again."""
KEPT_MESSAGES = 200
MOST_AGENTS = 50
PERSON = "person"
STATUS_FRAME = "AGENT_STATUS"
"""The frame that carries an agent's message."""
_PICTURES = ("screenshotBase64", "imageData")
_LONGEST = 20_000
"""Characters of one text in the details; the journal has all of it."""


class ActionFeed:
    """Publishes an ENVELOPE frame for every step in the life of an action."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._runtime = context.runtime
        self._tasks = Background()
        self._listeners: dict[int, asyncio.Task[None]] = {}
        self._published: dict[str, None] = {}
        self._seq = 0

    async def run(self) -> None:
        newest = self._runtime.journal.actions(1)
        self._seq = newest[0].seq if newest else 0
        async with self._tasks:
            while True:
                for number in [number for number, task in self._listeners.items() if task.done()]:
                    del self._listeners[number]
                desk = self._runtime.session_on_desk
                for session in [*self._runtime.sessions.values(), *([desk] if desk else [])]:
                    if id(session) not in self._listeners:
                        work = self._listen(session, session.events())
                        self._listeners[id(session)] = self._tasks.start(
                            work, f"listener on {session.serial}"
                        )
                for row in reversed(list(self._new_rows())):
                    self._seq = max(self._seq, row.seq)
                    if row.action_id not in self._published:
                        is_open = row.state == UNFINISHED
                        envelope = None if is_open else self._runtime.journal.show(row.action_id).envelope
                        state = "accepted" if is_open else row.state
                        frame = _frame(row.action_id, state, row.device, row.type, row.actor, envelope)
                        self._context.desk.publish("ENVELOPE", **frame)
                await self._runtime.clock.sleep_ms(TICK_MS)

    async def _listen(self, session: Session, events: Listener) -> None:
        """Of the desk's own actions only the end is published: the change itself shows that they began.

        Holding the session keeps its `id()` from being reused.
        """
        is_phone = session is not self._runtime.session_on_desk
        async for event in events:
            self._published[event.action_id] = None
            while len(self._published) > MOST_PUBLISHED:
                del self._published[next(iter(self._published))]
            if event.terminal or is_phone:
                envelope = event.envelope.to_dict() if event.envelope else None
                actor = {"kind": event.actor, "id": event.by} if event.actor else None
                frame = _frame(event.action_id, event.state, event.device, event.action_type, actor, envelope)
                more = {"said": event.waits_for, "bounds": event.bounds}
                frame |= {name: field for name, field in more.items() if field}
                self._context.desk.publish("ENVELOPE", **frame)
            if is_phone:
                self._context.phones.on_event(session, event)

    def _new_rows(self) -> Iterator[ActionRow]:
        """Newest first. Where nothing happened, only one row is read."""
        page, before = 1, None
        while True:
            rows = self._runtime.journal.actions(page, before)
            new = [row for row in rows if row.seq > self._seq]
            yield from new
            if len(new) < page:
                return
            page, before = PAGE, rows[-1].seq


def _frame(
    action_id: str,
    state: str,
    device: str | None,
    kind: str | None,
    actor: dict[str, Any] | None,
    envelope: dict[str, Any] | None,
) -> dict[str, Any]:
    fields = {
        "actionId": action_id,
        "lifecycleState": state,
        "device": device,
        "actionType": kind,
        "actor": actor,
        "envelope": slim(envelope) if envelope else None,
    }
    return {name: field for name, field in fields.items() if field is not None}


def slim(envelope: dict[str, Any]) -> dict[str, Any]:
    """Without pictures and endless texts: a frame stays in the ring for browsers that come back."""
    details = envelope.get("details")
    if not isinstance(details, dict):
        return envelope
    short = {
        name: detail[:_LONGEST] if isinstance(detail, str) else detail
        for name, detail in details.items()
        if name not in _PICTURES
    }
    return envelope | {"details": short}


class ConsoleMessages:
    """The desk's conversation, and what each agent is doing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._messages: deque[dict[str, Any]] = deque(maxlen=KEPT_MESSAGES)
        self._agents: dict[str, dict[str, Any]] = {}
        self._number = 0
        self.has_model = True
        """Whether a model answers what a person writes."""

    def add(
        self,
        speaker: str,
        text: str,
        id_: str | None = None,
        status: str | None = None,
        code: str | None = None,
    ) -> None:
        self._number += 1
        message = {"id": id_ or f"said-{self._number}", "from": speaker, "text": text, "at": self._now()}
        more = {"status": status, "code": code}
        self._messages.append(message | {name: field for name, field in more.items() if field})

    def on_publish(self, frame_type: str, fields: dict[str, Any]) -> None:
        """Of the frames for every browser only agents' messages are kept."""
        if frame_type != STATUS_FRAME:
            return
        agent, status, text = fields["agentId"], fields["status"], fields.get("message")
        self._agents.pop(agent, None)
        self._agents[agent] = {"agentId": agent, "status": status, "message": text, "at": self._now()}
        while len(self._agents) > MOST_AGENTS:
            del self._agents[next(iter(self._agents))]
        if text:
            self.add(agent, text, status=status, code=fields.get("code"))

    def to_dict(self) -> dict[str, Any]:
        agents = list(self._agents.values())
        return {"messages": list(self._messages), "agents": agents, "hasModel": self.has_model}

    def _now(self) -> str:
        return iso_time(self._clock.now_ms())


async def conversation(request: Request) -> JSONResponse:
    """The last messages, oldest first, and what agents are doing."""
    return JSONResponse(request.app.state.context.console.to_dict())


ROUTES = [Route("/api/console", conversation)]
