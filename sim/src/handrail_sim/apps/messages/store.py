"""Where messages are kept: one SQLite table, threads by number. Knows nothing of screens."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handrail_sim.system.activities import App

_HOUR_MS = 3_600_000
# Android's `type` column of an SMS.
RECEIVED, SENT, FAILED = 1, 2, 5

# other side, text, type, hours before the phone first looked
_SEEDED = (
    ("07700 900114", "Are the sandwiches for Thursday still on?", RECEIVED, 50),
    ("07700 900114", "Yes, eight of them, two without cheese.", SENT, 49),
    ("07700 900114", "Noted. See you at noon.", RECEIVED, 48),
    ("07700 900149", "The kite is mended. Come and try it.", RECEIVED, 30),
    ("07700 900219", "Your table for four is booked for 19:30.", RECEIVED, 27),
    ("07700 900219", "Thank you!", SENT, 26),
    ("07700 900233", "Taxi ordered for 06:15, blue estate car.", RECEIVED, 9),
    ("Parcel Post", "Your parcel is waiting at the counter, shelf 14.", RECEIVED, 3),
)


@dataclass(frozen=True, slots=True)
class Message:
    """One text message; `address` is the other side's number or sender name, `time_ms` the wall clock."""

    id: int
    address: str
    body: str
    time_ms: int
    type: int
    read: int

    @property
    def incoming(self) -> bool:
        return self.type == RECEIVED


class Store:
    """The table of messages, seeded once (`user_version`)."""

    def __init__(self, database: sqlite3.Connection, now_ms: int) -> None:
        self._database = database
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            self._create(now_ms)

    def _create(self, now_ms: int) -> None:
        self._database.execute(
            "CREATE TABLE sms (_id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL, "
            "body TEXT NOT NULL, date INTEGER NOT NULL, type INTEGER NOT NULL, read INTEGER NOT NULL)"
        )
        for address, body, kind, hours in _SEEDED:
            self._insert(address, body, now_ms - hours * _HOUR_MS, kind, read=True)
        self._database.execute("PRAGMA user_version = 1")
        self._database.commit()

    def _insert(self, address: str, body: str, time_ms: int, kind: int, read: bool) -> int:
        cursor = self._database.execute(
            "INSERT INTO sms (address, body, date, type, read) VALUES (?, ?, ?, ?, ?)",
            (address, body, time_ms, kind, int(read)),
        )
        return int(cursor.lastrowid or 0)

    def add(self, address: str, body: str, time_ms: int, kind: int) -> int:
        """Keep a message; received ones are unread."""
        added = self._insert(address, body, time_ms, kind, read=kind != RECEIVED)
        self._database.commit()
        return added

    def retype(self, message_id: int, kind: int, time_ms: int) -> None:
        """What another try at sending does."""
        self._database.execute("UPDATE sms SET type = ?, date = ? WHERE _id = ?", (kind, time_ms, message_id))
        self._database.commit()

    def everything(self) -> list[Message]:
        """Oldest first."""
        rows = self._database.execute(
            "SELECT _id, address, body, date, type, read FROM sms ORDER BY date, _id"
        )
        return [Message(*row) for row in rows]

    def thread(self, address: str) -> list[Message]:
        key = thread_key(address)
        return [message for message in self.everything() if thread_key(message.address) == key]

    def threads(self) -> list[list[Message]]:
        """Each with its messages oldest first; the thread that moved last is on top."""
        threads: dict[str, list[Message]] = {}
        for message in self.everything():
            threads.setdefault(thread_key(message.address), []).append(message)
        return sorted(threads.values(), key=lambda thread: (-thread[-1].time_ms, -thread[-1].id))

    def mark_read(self, address: str) -> None:
        unread = [message.id for message in self.thread(address) if not message.read]
        for message_id in unread:
            self._database.execute("UPDATE sms SET read = 1 WHERE _id = ?", (message_id,))
        if unread:
            self._database.commit()

    def delete_thread(self, address: str) -> None:
        for message in self.thread(address):
            self._database.execute("DELETE FROM sms WHERE _id = ?", (message.id,))
        self._database.commit()


def open_store(app: App) -> Store:
    """The messages of this app; the file is named as Android's provider names it."""
    return Store(app.database("mmssms.db"), app.phone.wall_ms())


def thread_key(address: str) -> str:
    """Numbers are one thread however they are spaced; sender names stay as they are."""
    bare = re.sub(r"[\s()./-]", "", address)
    return bare if re.fullmatch(r"\+?\d+", bare) else address
