"""Where notes are kept: one SQLite table in the app's own data. Knows nothing of screens."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handrail_sim.system.activities import App

_HOUR_MS = 3_600_000
_SEEDED = (
    ("Welcome", "Tap a note to edit it.\nHold a note to delete it.", 72),
    ("Shopping", "Oats\nPears\nLamp oil\nA ball of green string", 20),
    ("Books to return", "The Tin Lighthouse\nSeven Quiet Ferries", 5),
)


@dataclass(frozen=True, slots=True)
class Note:
    """One note; `changed_ms` is the wall clock of its last edit."""

    id: int
    title: str
    body: str
    changed_ms: int


class Store:
    """The table of notes, seeded once (`user_version`)."""

    def __init__(self, database: sqlite3.Connection, now_ms: int) -> None:
        self._database = database
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            self._create(now_ms)

    def _create(self, now_ms: int) -> None:
        self._database.execute(
            "CREATE TABLE notes (_id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, "
            "body TEXT NOT NULL, changed INTEGER NOT NULL)"
        )
        for title, body, hours in _SEEDED:
            self._insert(title, body, now_ms - hours * _HOUR_MS)
        self._database.execute("PRAGMA user_version = 1")
        self._database.commit()

    def _insert(self, title: str, body: str, now_ms: int) -> int:
        cursor = self._database.execute(
            "INSERT INTO notes (title, body, changed) VALUES (?, ?, ?)", (title, body, now_ms)
        )
        return int(cursor.lastrowid or 0)

    def all(self, order: str = "changed", query: str = "") -> list[Note]:
        """By the time of the last change, the newest first, or by `title` or `created`."""
        rows = self._database.execute("SELECT _id, title, body, changed FROM notes ORDER BY _id")
        wanted = query.casefold()
        found = [note for row in rows if wanted in f"{(note := Note(*row)).title}\n{note.body}".casefold()]
        if order == "title":
            return sorted(found, key=lambda note: note.title.casefold())
        return found if order == "created" else sorted(found, key=lambda note: (-note.changed_ms, -note.id))

    def get(self, note_id: int) -> Note | None:
        row = self._database.execute(
            "SELECT _id, title, body, changed FROM notes WHERE _id = ?", (note_id,)
        ).fetchone()
        return Note(*row) if row else None

    def add(self, title: str, body: str, now_ms: int) -> int:
        added = self._insert(title, body, now_ms)
        self._database.commit()
        return added

    def change(self, note_id: int, title: str, body: str, now_ms: int) -> None:
        self._database.execute(
            "UPDATE notes SET title = ?, body = ?, changed = ? WHERE _id = ?", (title, body, now_ms, note_id)
        )
        self._database.commit()

    def delete(self, note_id: int) -> None:
        self._database.execute("DELETE FROM notes WHERE _id = ?", (note_id,))
        self._database.commit()

    def put_back(self, note: Note) -> None:
        """What undo does: the same note under the same id."""
        self._database.execute(
            "INSERT INTO notes (_id, title, body, changed) VALUES (?, ?, ?, ?)",
            (note.id, note.title, note.body, note.changed_ms),
        )
        self._database.commit()


def open_store(app: App) -> Store:
    """The notes of this app."""
    return Store(app.database("notes.db"), app.phone.wall_ms())
