"""What is done and said at the desk, told to every screen.

`Follower` tells of actions: here as they happen, in other processes from the journal. `ConsoleMessages` keeps
the last words of people and agents for browsers that come later.
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
from handrail.engine.events import Event, Listener
from handrail.engine.journal.query import UNFINISHED, ActionRow
from handrail.engine.session import Session
from handrail.waiting import Background

if TYPE_CHECKING:
    from handrail.http.context import Context

TICK_MS = 250.0
PAGE = 20
MOST_KNOWN = 2_000
"""Actions of this process that are remembered, so that the journal does not tell them again."""
_PICTURES = ("screenshotBase64", "imageData")
_LONGEST = 20_000
"""Characters of one text in the details; who wants all of it asks the journal."""
KEPT_MESSAGES = 200
"""Messages; the oldest go first."""
MOST_AGENTS = 50
PERSON = "person"
STATUS_FRAME = "AGENT_STATUS"
"""The frame whose message is an agent's word."""


class Follower:
    """One server's ear."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._runtime = context.runtime
        self._tasks = Background()
        self._ears: dict[int, asyncio.Task[None]] = {}
        self._told: dict[str, None] = {}
        self._seq = 0

    async def run(self) -> None:
        """Until it is cancelled."""
        newest = self._runtime.journal.actions(1)
        self._seq = newest[0].seq if newest else 0
        async with self._tasks:
            while True:
                self._hear_new_sessions()
                self._read_journal()
                await self._runtime.clock.sleep_ms(TICK_MS)

    # this process

    def _hear_new_sessions(self) -> None:
        for number in [number for number, ear in self._ears.items() if ear.done()]:
            del self._ears[number]
        desk = self._runtime.session_on_desk
        for session in [*self._runtime.sessions.values(), *([desk] if desk else [])]:
            if id(session) not in self._ears:
                ear = self._hear(session, session.events())
                self._ears[id(session)] = self._tasks.start(ear, f"ear on {session.serial}")

    async def _hear(self, session: Session, events: Listener) -> None:
        """Of the desk's own actions only the end: that they were done is told by the change itself.

        The session is held here, so that its number stays its own.
        """
        is_phone = session is not self._runtime.session_on_desk
        async for event in events:
            self._remember(event.action_id)
            if event.terminal or is_phone:
                self._context.desk.publish("ENVELOPE", **_frame_of_event(event))
            if is_phone:
                self._context.phones.heard(session, event)

    def _remember(self, action_id: str) -> None:
        self._told[action_id] = None
        while len(self._told) > MOST_KNOWN:
            del self._told[next(iter(self._told))]

    # other processes

    def _read_journal(self) -> None:
        for row in reversed(list(self._new_rows())):
            self._seq = max(self._seq, row.seq)
            if row.action_id not in self._told:
                self._context.desk.publish("ENVELOPE", **self._frame_of_row(row))

    def _new_rows(self) -> Iterator[ActionRow]:
        """Newest first: one look is enough when nothing happened."""
        page, before = 1, None
        while True:
            rows = self._runtime.journal.actions(page, before)
            new = [row for row in rows if row.seq > self._seq]
            yield from new
            if len(new) < page:
                return
            page, before = PAGE, rows[-1].seq

    def _frame_of_row(self, row: ActionRow) -> dict[str, Any]:
        is_open = row.state == UNFINISHED
        envelope = None if is_open else self._runtime.journal.show(row.action_id).envelope
        return _frame(
            row.action_id, "accepted" if is_open else row.state, row.device, row.type, row.actor, envelope
        )


def _frame_of_event(event: Event) -> dict[str, Any]:
    envelope = event.envelope.to_dict() if event.envelope else None
    actor = {"kind": event.actor, "id": event.by} if event.actor else None
    frame = _frame(event.action_id, event.state, event.device, event.action_type, actor, envelope)
    more = {"said": event.said, "bounds": event.bounds}
    return frame | {name: value for name, value in more.items() if value}


def _frame(
    action_id: str,
    state: str,
    device: str | None,
    kind: str | None,
    actor: dict[str, Any] | None,
    envelope: dict[str, Any] | None,
) -> dict[str, Any]:
    """The fields of an ENVELOPE."""
    told = {
        "actionId": action_id,
        "lifecycleState": state,
        "device": device,
        "actionType": kind,
        "actor": actor,
        "envelope": slim(envelope) if envelope else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def slim(envelope: dict[str, Any]) -> dict[str, Any]:
    """Without pictures and endless texts: a frame is kept for everybody who may come back for it."""
    details = envelope.get("details")
    if not isinstance(details, dict):
        return envelope
    kept = {
        name: value[:_LONGEST] if isinstance(value, str) else value
        for name, value in details.items()
        if name not in _PICTURES
    }
    return envelope | {"details": kept}


class ConsoleMessages:
    """One desk's talk, and what each agent is doing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._messages: deque[dict[str, Any]] = deque(maxlen=KEPT_MESSAGES)
        self._agents: dict[str, dict[str, Any]] = {}
        self._number = 0
        self.has_model = True
        """Whether somebody would answer what a person writes."""

    def said(
        self,
        speaker: str,
        text: str,
        id_: str | None = None,
        status: str | None = None,
        code: str | None = None,
    ) -> None:
        """A person's message, or an agent's."""
        self._number += 1
        message = {"id": id_ or f"said-{self._number}", "from": speaker, "text": text, "at": self._now()}
        more = {"status": status, "code": code}
        self._messages.append(message | {name: value for name, value in more.items() if value})

    def published(self, frame_type: str, fields: dict[str, Any]) -> None:
        """A frame that went to every browser; only agents' own words are kept."""
        if frame_type != STATUS_FRAME:
            return
        agent, status, words = fields["agentId"], fields["status"], fields.get("message")
        self._agents.pop(agent, None)
        self._agents[agent] = {"agentId": agent, "status": status, "message": words, "at": self._now()}
        while len(self._agents) > MOST_AGENTS:
            del self._agents[next(iter(self._agents))]
        if words:
            self.said(agent, words, status=status, code=fields.get("code"))

    def to_dict(self) -> dict[str, Any]:
        told = {"messages": list(self._messages), "agents": list(self._agents.values())}
        return told | {"hasModel": self.has_model}

    def _now(self) -> str:
        return iso_time(self._clock.now_ms())


async def conversation(request: Request) -> JSONResponse:
    """The last messages, oldest first, and what agents are doing."""
    return JSONResponse(request.app.state.context.console.to_dict())


ROUTES = [Route("/api/console", conversation)]
