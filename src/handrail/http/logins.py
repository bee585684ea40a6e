"""Browsers that are logged in: only hashes are kept, in the store, so that a restart logs nobody out."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3

from handrail.clock import Clock
from handrail.store import Store

LIFE_MS = 30 * 24 * 3_600_000
"""A browser that stays away longer has to come by a link again."""
STEPS = ("CREATE TABLE logins (hash TEXT PRIMARY KEY, until_ms INTEGER NOT NULL) STRICT",)


class Logins:
    """The cookies that count."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._until: dict[str, int] = {}

    async def load(self) -> None:
        """Those that are known from before."""
        self._store.prepare("logins", STEPS)
        now = self._clock.now_ms()

        def read(db: sqlite3.Connection) -> dict[str, int]:
            db.execute("DELETE FROM logins WHERE until_ms <= ?", (now,))
            return {str(row[0]): int(row[1]) for row in db.execute("SELECT hash, until_ms FROM logins")}

        self._until = await self._store.write(read)

    async def begin(self) -> str:
        """A new cookie's value."""
        value = secrets.token_urlsafe(32)
        row = (_hash(value), self._clock.now_ms() + LIFE_MS)
        await self._store.write(lambda db: db.execute("INSERT INTO logins VALUES (?, ?)", row))
        self._until[row[0]] = row[1]
        return value

    def knows(self, value: str) -> bool:
        """Looked up by its hash: how long that takes says nothing about the value."""
        return self._until.get(_hash(value), 0) > self._clock.now_ms()


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "backslashreplace")).hexdigest()
