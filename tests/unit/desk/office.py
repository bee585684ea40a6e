"""A real desk over a real store, with a clock that stands still, and browsers that read their frames."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail.desk.desk import Desk
from handrail.desk.hub import DeskClient
from handrail.protocol.message import CLIENT_MESSAGE
from handrail.store import Store
from handrail_sim.clock import ManualClock
from tests.unit.desk.scene import action, applied, creating

DEADLINE_SEC = 60


class Office:
    """A desk, its clock and its store."""

    def __init__(self, desk: Desk, clock: ManualClock, store: Store) -> None:
        self.desk, self.clock, self.store = desk, clock, store

    async def do(self, kind: str, window_id: str | None = None, **fields: Any) -> dict[str, Any]:
        by, person = fields.pop("by", "ada"), fields.pop("person", False)
        named = {"windowId": window_id} if window_id else {}
        return await self.desk.apply(action(kind, **named, **fields), by, person)

    async def create(self, window_id: str, **fields: Any) -> dict[str, Any]:
        by = fields.pop("by", "ada")
        return await self.desk.apply(creating(window_id, **fields), by, False)

    def browser(self, since: int | None = None, name: str = "b1") -> Browser:
        return Browser(self.desk, self.desk.join(name, since), -1 if since is None else since)


class Browser:
    """What a page does: read frames, keep the state, send what its person does."""

    def __init__(self, desk: Desk, client: DeskClient, since: int = -1) -> None:
        self.desk, self.client = desk, client
        self.state: dict[str, Any] = {"windows": {}} if since >= 0 else {}
        self.seq = since
        self.frames: list[dict[str, Any]] = []

    async def next(self) -> dict[str, Any]:
        """The next text frame, applied as a page applies it."""
        raw = await asyncio.wait_for(anext(self.client), DEADLINE_SEC)
        assert isinstance(raw, str)
        frame: dict[str, Any] = json.loads(raw)
        self.frames.append(frame)
        if frame["type"] == "SNAPSHOT":
            self.state, self.seq = frame["state"], frame["seq"]
        elif frame["seq"] > self.seq:
            assert frame["seq"] == self.seq + 1, "a gap"
            self.seq = frame["seq"]
        if frame["type"] == "ACTIONS":
            self.state = applied(self.state, frame["changes"])
        return frame

    async def until(self, holds: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Frames until one of this kind comes."""
        while True:
            frame = await self.next()
            if holds(frame):
                return frame

    async def catch_up(self) -> None:
        """Everything that the desk has told so far."""
        self.desk.hub.flush()
        while self.seq < self.desk.hub.ring.last or not self.state:
            await self.next()

    async def shows(self, monitor_id: str = "monitor-0", w: int = 1280, h: int = 720) -> None:
        """This browser draws that monitor: from now on it can be asked."""
        await self.send("SUBSCRIBE_MONITOR", monitorId=monitor_id, viewport={"w": w, "h": h})

    async def send(self, frame_type: str, **fields: Any) -> None:
        await self.desk.interact(self.client, CLIENT_MESSAGE.validate_python({"type": frame_type, **fields}))


@asynccontextmanager
async def office(home: Path, clock: ManualClock | None = None, **options: Any) -> AsyncIterator[Office]:
    """A desk on the store of this folder; closed at the end."""
    clock = clock or ManualClock()
    store = Store(home / "handrail.db")
    try:
        desk = await Desk.open(store, clock, **options)
        try:
            yield Office(desk, clock, store)
        finally:
            await desk.close()
    finally:
        store.close()


async def settled() -> None:
    """Everything that can run without time has run."""
    for _ in range(20):
        await asyncio.sleep(0)


ASK = {"title": "Delete", "message": "Sure?"}


async def asked(here: Office, **fields: Any) -> asyncio.Task[dict[str, Any]]:
    task = asyncio.ensure_future(here.do("dialog.confirm", **{"id": "d1", **ASK, **fields}))
    while not here.desk.state.dialogs:
        await asyncio.sleep(0)
    return task


async def pages(here: Office, *names: str) -> list[Browser]:
    found = [here.browser(name=name) for name in names]
    for page in found:
        await page.next()
        await page.shows()
    return found
