"""The desk on disk: windows and everything else that outlives the process, written soon after it changed.

A killed process loses at most the debounce. Toasts, dialogs and approvals belong to somebody who waits, and
are not kept.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from handrail.clock import Clock
from handrail.desk.overlays import expire
from handrail.desk.state import DeskState
from handrail.desk.wire import REST, monitor_from, notification_from, window_from, window_json
from handrail.errors import HandrailError
from handrail.store import Store
from handrail.waiting import Background

TABLES = (
    """CREATE TABLE desk_windows (
        session TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (session, key)) STRICT;
    CREATE TABLE desk_rest (session TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT""",
)
DEBOUNCE_MS = 150
RETRY_MS = 1_000
SEQ_JUMP = 1_000_000
"""Numbers left out at a restart: frames that a killed process sent after its last write keep theirs."""
_KEPT = ("active_monitor", "monitors", "notifications", "badges", "shortcuts", "apps_rev")

_log = logging.getLogger(__name__)
Row = tuple[str, str | None]
"""A window without its content, and the content where that changed too."""


@dataclass(frozen=True, slots=True)
class DeskChanges:
    """One write: what changed since the last one."""

    windows: dict[str, Row | None]
    rest: str


def restore(session: str, now_ms: int) -> Callable[[sqlite3.Connection], tuple[DeskState, int]]:
    """The state as it was written, without what expired meanwhile; and the number of its last frame."""

    def read(db: sqlite3.Connection) -> tuple[DeskState, int]:
        row = db.execute("SELECT body FROM desk_rest WHERE session = ?", (session,)).fetchone()
        if row is None:
            return DeskState(), 0
        rest = json.loads(row[0])
        rows = db.execute(
            "SELECT key, body, content FROM desk_windows WHERE session = ? ORDER BY rowid", (session,)
        )
        windows = {key: window_from(json.loads(body) | json.loads(content)) for key, body, content in rows}
        state = DeskState(
            windows={key: windows[key] for key in rest["windows"] if key in windows},
            monitors={data["id"]: monitor_from(data) for data in rest["monitors"]},
            active_monitor=rest["activeMonitor"],
            notifications=tuple(map(notification_from, rest["notifications"])),
            badges=rest["badges"],
            shortcuts=tuple(rest["shortcuts"]),
            apps_rev=rest["appsRev"],
        )
        return expire(state, now_ms).state, rest["seq"] + SEQ_JUMP

    return read


class DeskWriter:
    """Watches the state and writes what changed, at most once per debounce."""

    def __init__(self, store: Store, clock: Clock, session: str, state: DeskState) -> None:
        self._store, self._clock, self._session = store, clock, session
        self._written = state
        self._seq_written = 0
        self._now: tuple[DeskState, int] = (state, 0)
        self._tasks = Background()
        self._task: asyncio.Task[None] | None = None

    async def begin(self, seq: int) -> None:
        """This life's first number is written before any frame bears it: no two lives share numbers."""
        await self._write_now(seq)

    def saw(self, state: DeskState, seq: int) -> None:
        """The state is now this; it will be written soon."""
        self._now = (state, seq)
        if self._task is None or self._task.done():
            self._task = self._tasks.start(self._soon(), "writing the desk")

    def numbered(self, seq: int) -> None:
        """Frames went out that changed nothing; their numbers are written long before they could repeat."""
        if seq - self._seq_written > SEQ_JUMP // 10:
            self.saw(self._now[0], seq)

    async def close(self, seq: int) -> None:
        """Write the rest. Raises where the disk refuses it."""
        await self._tasks.close()
        await self._write_now(seq)

    async def _write_now(self, seq: int) -> None:
        self._now = (self._now[0], seq)
        try:
            await self._write()
        except sqlite3.Error as error:
            raise HandrailError(
                f"the desk can't be written: {error}", hint="Free disk space, or make HANDRAIL_HOME writable."
            ) from None

    async def _soon(self) -> None:
        """Until nothing is left to write."""
        wait_ms = DEBOUNCE_MS
        while self._now[0] is not self._written or self._now[1] - self._seq_written > SEQ_JUMP // 10:
            await self._clock.sleep_ms(wait_ms)
            try:
                await self._write()
                wait_ms = DEBOUNCE_MS
            except sqlite3.Error as error:
                _log.warning("the desk was not written, and is tried again: %s", error)
                wait_ms = RETRY_MS

    async def _write(self) -> None:
        state, seq = self._now
        work = changed(self._written, state, seq)
        await self._store.write(lambda db: _apply(db, self._session, work))
        self._written, self._seq_written = state, seq


def changed(old: DeskState, new: DeskState, seq: int) -> DeskChanges:
    """What has to be written to get from one state to the other."""
    gone: dict[str, Row | None] = {key: None for key in old.windows if key not in new.windows}
    rows: dict[str, Row | None] = {}
    for key, window in new.windows.items():
        before = old.windows.get(key)
        if before is window:
            continue
        body = window_json(window, whole=True)
        content = {"content": body.pop("content")}
        same = before is not None and before.content is window.content
        rows[key] = (_text(body), None if same else _text(content))
    rest: dict[str, Any] = {REST[name][0]: REST[name][1](new) for name in _KEPT}
    return DeskChanges(gone | rows, _text(rest | {"windows": list(new.windows), "seq": seq}))


def _apply(db: sqlite3.Connection, session: str, work: DeskChanges) -> None:
    for key, row in work.windows.items():
        if row is None:
            db.execute("DELETE FROM desk_windows WHERE session = ? AND key = ?", (session, key))
        elif row[1] is None:
            db.execute(
                "UPDATE desk_windows SET body = ? WHERE session = ? AND key = ?", (row[0], session, key)
            )
        else:
            db.execute("INSERT OR REPLACE INTO desk_windows VALUES (?, ?, ?, ?)", (session, key, *row))
    db.execute("INSERT OR REPLACE INTO desk_rest VALUES (?, ?)", (session, work.rest))


def _text(data: dict[str, Any]) -> str:
    return to_json(data).decode()
