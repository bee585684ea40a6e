"""Pictures before and after what is done on a phone, for the journal. Watches; never delays an action.

A picture is kept only if it is true: the one after shows the screen before anything else was dispatched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from handrail.engine.events import Event
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.http.phone_frame import Small, shrink
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime

KIND = "pictured"
"""Of the journal's entry that names the blobs."""
_TOUCHES = frozenset({"input", "system", "sensitive"})

Live = Callable[[str], Small | None]
"""What a live stream of this phone shows now."""


@dataclass(slots=True)
class _Page:
    """What is known of one phone's looks."""

    before: Small | None = None
    """On the live picture, when the action under way was about to be dispatched."""
    last: Small | None = None
    fingerprint: str | None = None
    """Of the screen that `last` shows."""
    touches: int = 0


class Album:
    """Listens to the lives of actions and keeps what could be seen."""

    def __init__(self, runtime: Runtime, live: Live) -> None:
        self._runtime = runtime
        self._live = live
        self._pages: dict[str, _Page] = {}
        self._work: set[asyncio.Task[None]] = set()

    def heard(self, session: Session, event: Event) -> None:
        """One step in the life of an action."""
        if self._runtime.secrets.used or not _touches(event.action_type):
            return  # a picture can't be redacted
        page = self._pages.setdefault(session.serial, _Page())
        if event.state == "resolved":
            page.before = self._live(session.serial)
        elif event.state == "dispatched":
            page.touches += 1
        elif event.envelope is not None and event.envelope.delivery != "not_delivered":
            work = self._keep(session, event.envelope, page)
            task = asyncio.create_task(work, name="pictures for the journal")
            self._work.add(task)
            task.add_done_callback(self._work.discard)

    async def close(self) -> None:
        """What is not finished is not kept."""
        for task in self._work:
            task.cancel()
        if self._work:
            await asyncio.wait(self._work)

    async def _keep(self, session: Session, envelope: Envelope, page: _Page) -> None:
        before = page.before
        if before is None and page.fingerprint == envelope.ui_fingerprint_before:
            before = page.last
        touches, after = page.touches, None
        with suppress(HandrailError):  # a screen that forbids pictures, a phone that is gone
            after = await asyncio.to_thread(shrink, await session.driver.screenshot())
        if page.touches != touches:
            after = None
        page.last = after
        page.fingerprint = envelope.ui_fingerprint_after if after else None
        await self._write(session.serial, envelope.action_id, {"before": before, "after": after})

    async def _write(self, device: str, action_id: str, shots: dict[str, Small | None]) -> None:
        journal, blobs = self._runtime.journal, {}
        for name, shot in shots.items():
            if shot is not None and not self._runtime.secrets.used:
                blobs[name] = await journal.put_blob(shot.jpeg, "image/jpeg", no_secret=True)
        if blobs:
            journal.note({"kind": KIND, "action_id": action_id, "device": device, "blobs": blobs})


def _touches(action_type: str) -> bool:
    known = ACTIONS.get(action_type)
    return known is not None and known.traits.effect in _TOUCHES
