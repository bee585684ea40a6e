"""Messages as the app has them, kept in Android's telephony provider. Knows nothing of screens."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail_sim.system.first_data import RECEIVED

if TYPE_CHECKING:
    from handrail_sim.system.device import Device


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
    """The table of messages."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def add(self, address: str, body: str, time_ms: int, kind: int) -> int:
        """Keep a message; received ones are unread."""
        known = int(kind != RECEIVED)
        cursor = self._database.execute(
            "INSERT INTO sms (address, body, date, date_sent, type, read, seen) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (address, body, time_ms, time_ms if kind == RECEIVED else 0, kind, known, known),
        )
        self._database.commit()
        return int(cursor.lastrowid or 0)

    def retype(self, message_id: int, kind: int, time_ms: int) -> None:
        """What another try at sending does."""
        self._database.execute("UPDATE sms SET type = ?, date = ? WHERE _id = ?", (kind, time_ms, message_id))
        self._database.commit()

    def everything(self) -> list[Message]:
        """Oldest first."""
        rows = self._database.execute(
            "SELECT _id, coalesce(address, ''), coalesce(body, ''), coalesce(date, 0), type, read FROM sms "
            "WHERE type IN (1, 2, 5) ORDER BY date, _id"
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


def open_store(phone: Device) -> Store:
    """The messages that every app of this phone sees."""
    return Store(phone.providers.database("mmssms.db"))


def thread_key(address: str) -> str:
    """Numbers are one thread however they are spaced; sender names stay as they are."""
    bare = re.sub(r"[\s()./-]", "", address)
    return bare if re.fullmatch(r"\+?\d+", bare) else address
