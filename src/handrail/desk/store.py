"""The desk on disk: windows and everything else that outlives the process.

A change goes into the same commit as the end of the action that made it, so that a killed process loses
nothing that was answered. Toasts, dialogs and approvals belong to somebody who waits, and are not kept.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from handrail.desk.desktop import expire
from handrail.desk.state import REST, DeskState, monitor_from, notification_from, window_from, window_json
from handrail.store import Committed, Store

TABLES = (
    """CREATE TABLE desk_windows (
        session TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (session, key)) STRICT;
    CREATE TABLE desk_rest (session TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT""",
)
SEQ_JUMP = 1_000_000
"""Numbers left out at a restart: frames that a killed process sent after its last write keep theirs."""
_STORED = ("active_monitor", "monitors", "notifications", "badges", "shortcuts", "apps_rev")

Row = tuple[str, str | None]
"""A window without its content, and the content where that changed too."""


@dataclass(frozen=True, slots=True)
class DeskChanges:
    """One write: what changed since the last one."""

    windows: dict[str, Row | None]
    rest: str | None
    """All but the windows; None where it is as it was."""


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
    """Has the state written: always the newest there is, however often it changed meanwhile."""

    def __init__(self, store: Store, session: str, state: DeskState) -> None:
        self._store, self._session = store, session
        self._written = state
        self._seq_written = 0
        self._now: tuple[DeskState, int] = (state, 0)

    async def begin(self, seq: int) -> None:
        """This life's first number is written before any frame bears it: no two lives share numbers."""
        await self._write_now(seq)

    def saw(self, state: DeskState, seq: int) -> None:
        """The state is now this; it is durable before the action that made it so is answered."""
        self._now = (state, seq)
        self._store.keep(self.write)

    def numbered(self, seq: int) -> None:
        """Frames went out that changed nothing; their numbers are written long before they could repeat."""
        if self._is_far(seq):
            self.saw(self._now[0], seq)

    async def close(self, seq: int) -> None:
        """Write the rest. Raises where the disk refuses it."""
        await self._write_now(seq)

    async def _write_now(self, seq: int) -> None:
        self._now = (self._now[0], seq)
        self._seq_written = -SEQ_JUMP  # so that the number is written in any case
        committed = await self._store.write(self.write)
        committed()

    def write(self, db: sqlite3.Connection) -> Committed:
        """In whichever thread and transaction; the returned function is called once it is durable."""
        state, seq = self._now
        with_rest = self._is_far(seq) or _rest_differs(self._written, state)
        work = changed(self._written, state, seq, with_rest=with_rest)
        for key, row in work.windows.items():
            if row is None:
                db.execute("DELETE FROM desk_windows WHERE session = ? AND key = ?", (self._session, key))
            elif row[1] is None:
                db.execute(
                    "UPDATE desk_windows SET body = ? WHERE session = ? AND key = ?",
                    (row[0], self._session, key),
                )
            else:
                db.execute(
                    "INSERT OR REPLACE INTO desk_windows VALUES (?, ?, ?, ?)", (self._session, key, *row)
                )
        if work.rest is not None:
            db.execute("INSERT OR REPLACE INTO desk_rest VALUES (?, ?)", (self._session, work.rest))

        def committed() -> None:
            self._written = state
            if with_rest:
                self._seq_written = seq

        return committed

    def _is_far(self, seq: int) -> bool:
        return seq - self._seq_written > SEQ_JUMP // 10


def _rest_differs(old: DeskState, new: DeskState) -> bool:
    if any(getattr(old, name) is not getattr(new, name) for name in _STORED):
        return True
    return old.windows is not new.windows and list(old.windows) != list(new.windows)


def changed(old: DeskState, new: DeskState, seq: int, *, with_rest: bool = True) -> DeskChanges:
    """What has to be written to get from one state to the other."""
    removed: dict[str, Row | None] = {key: None for key in old.windows if key not in new.windows}
    rows: dict[str, Row | None] = {}
    for key, window in new.windows.items():
        before = old.windows.get(key)
        if before is window:
            continue
        body = window_json(window, with_text=True)
        content = {"content": body.pop("content")}
        same = before is not None and before.content is window.content
        rows[key] = (_text(body), None if same else _text(content))
    if not with_rest:
        return DeskChanges(removed | rows, None)
    rest: dict[str, Any] = {REST[name][0]: REST[name][1](new) for name in _STORED}
    return DeskChanges(removed | rows, _text(rest | {"windows": list(new.windows), "seq": seq}))


def _text(data: dict[str, Any]) -> str:
    return to_json(data).decode()
