"""The ear on every session. It only notes what it hears; what that means is worked out when nobody waits.

So an action pays microseconds, and a command has given its answer before anything more is even imported.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from handrail.engine.events import Event, Listener
from handrail.engine.session import Session
from handrail.engine.work import TracedWork, TracePlace, trace_place
from handrail.telemetry.endpoint import read_place

if TYPE_CHECKING:
    from handrail.telemetry.counting import Counting

MOST_OPEN = 1_000
"""Actions whose beginning is remembered until their end."""
MOST_NOTED = 16
"""Ends of actions that wait to be counted: each may have a picture with it."""
LATER_S = 0.25

Began = tuple[TracePlace | None, int]
"""What an action is part of, and when it began, in milliseconds since 1970."""

_log = logging.getLogger("handrail.telemetry")


class Telemetry:
    """One runtime's: sums for whoever asks, spans for the collector where one is named."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Raises `InvalidAction` for an endpoint that is none."""
        self._place = read_place(env)
        self._noted: list[tuple[Event, Began, int] | TracedWork] = []
        self._timer: asyncio.TimerHandle | None = None
        self._counting: Counting | None = None
        self._ears: dict[int, SessionEar] = {}
        self._number = 0

    def listen(self, session: Session) -> None:
        """To everything that is done there, until it is closed."""
        self._number += 1
        ear = self._ears[self._number] = SessionEar(self, self._number)
        session.events(ear)

    def forget(self, number: int) -> None:
        self._ears.pop(number, None)

    def note(self, heard: tuple[Event, Began, int] | TracedWork) -> None:
        """For later, or for now where there is too much of it."""
        self._noted.append(heard)
        if len(self._noted) >= MOST_NOTED:
            self._catch_up()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LATER_S, self._catch_up)

    def _catch_up(self) -> Counting:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._counting is None:
            from handrail.telemetry.counting import Counting  # noqa: PLC0415 - not while somebody waits

            self._counting = Counting(self._place)
        noted, self._noted = self._noted, []
        for heard in noted:
            try:
                self._counting.hear(heard)
            except Exception:  # a defect of ours must not reach the one who acts
                _log.exception("what was heard could not be counted")
        return self._counting

    def prometheus(self) -> str:
        """Everything that this process has counted."""
        return self._catch_up().prometheus()

    async def close(self) -> None:
        """The last spans, within a second."""
        if self._noted or self._counting is not None:
            await asyncio.to_thread(self._catch_up().close)


class SessionEar(Listener):
    """Hears at once, where others queue: the task that acts is the one that knows its trace."""

    def __init__(self, telemetry: Telemetry, number: int) -> None:
        self._telemetry = telemetry
        self._number = number
        self._open: OrderedDict[str, Began] = OrderedDict()

    def put(self, event: Event | None) -> None:
        if event is None:
            self._telemetry.forget(self._number)
        elif event.envelope is not None and event.terminal:
            began = self._open.pop(event.action_id, None) or (trace_place(), event.at_ms)
            self._telemetry.note((event, began, self._number))
        elif event.state == "accepted" and event.action_id not in self._open:
            self._open[event.action_id] = (trace_place(), event.at_ms)
            if len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)

    def put_work(self, work: TracedWork) -> None:
        self._telemetry.note(work)
