"""`handrail.db`: how every part opens the one embedded store. Each part owns its tables, nobody owns all.

WAL lets other processes read while one writes; synchronous FULL makes a commit survive a power cut.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
BUSY_MS = 10_000
"""How long a writer waits for another process's transaction."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode: transactions begin by hand. The folder is its owner's only."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
    path.chmod(0o600)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    return db


def migrate(db: sqlite3.Connection, part: str, steps: Sequence[str]) -> None:
    """Bring one part's tables up to date: `steps` only ever grows, each step runs once in a store's life."""
    db.execute("CREATE TABLE IF NOT EXISTS parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT")
    with_version = "SELECT version FROM parts WHERE name = ?"
    row = db.execute(with_version, (part,)).fetchone()
    if row is not None and row[0] >= len(steps):
        return
    with transaction(db):
        row = db.execute(with_version, (part,)).fetchone()
        for step in steps[row[0] if row else 0 :]:
            for statement in filter(str.strip, step.split(";")):
                db.execute(statement)
        db.execute("INSERT OR REPLACE INTO parts VALUES (?, ?)", (part, len(steps)))


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing. A full disk ends a transaction by itself: then there is nothing to take back."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


class Store:
    """One connection in one worker thread: the event loop never waits for a disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = connect(path)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="handrail-store")

    def prepare(self, part: str, steps: Sequence[str]) -> None:
        """Tables of one part, before anything else is done with them."""
        self._worker.submit(migrate, self._db, part, steps).result()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, self._db)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`work` in one transaction: all of it or nothing, durable when this returns."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._transact, work)

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with transaction(self._db):
            return work(self._db)

    def close(self) -> None:
        self._worker.submit(self._db.close).result()
        self._worker.shutdown()
