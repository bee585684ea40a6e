"""`handrail.db`, the embedded store. Each part of the program owns its tables in it.

WAL lets other processes read while one writes; synchronous FULL makes a commit survive a power cut.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from handrail.errors import StoreFull, StoreUnusable

_log = logging.getLogger(__name__)
T = TypeVar("T")
Committed = Callable[[], None]
"""Called once what was written is durable, in the thread that wrote it."""
Companion = Callable[[sqlite3.Connection], Committed]
"""Writes rows of one part of the program inside another part's transaction."""
BUSY_MS = 10_000  # how long a writer waits for another process's transaction
_PARTS = "CREATE TABLE IF NOT EXISTS parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT"


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode: transactions begin by hand. The folder is its owner's only."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
        path.chmod(0o600)
    except (sqlite3.Error, OSError) as error:
        raise store_error(error, f"{path} can't be opened", path) from None
    try:
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error as error:
        db.close()
        raise store_error(error, f"{path} can't be opened", path) from None
    return db


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LITTLE = 64 * 1024
"""Bytes. A disk with less is full for SQLite, which may call that an I/O error."""


def store_error(error: Exception, what: str, path: Path | None = None) -> StoreUnusable:
    """Names the failure of a disk or a database: full, damaged, or not writable."""
    if isinstance(error, StoreUnusable):
        return error
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    why = f"{what}: {error.strerror or error}" if isinstance(error, OSError) else f"{what}: {error}"
    number = error.errno if isinstance(error, OSError) else None
    if code == sqlite3.SQLITE_FULL or number in _NO_ROOM:
        return StoreFull(why)
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and path is not None and _is_full(path.parent):
        return StoreFull(why)
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreUnusable(
            why,
            hint="It is damaged, or not ours. `handrail journal verify` says how far it can be "
            "read; move it away to start a new one.",
        )
    return StoreUnusable(why)


def disk_failure(error: Exception) -> StoreUnusable | None:
    """Returns None where something else than a disk or the database failed."""
    if isinstance(error, OSError) and error.errno in (*_NO_ROOM, errno.EROFS, errno.EIO):
        return store_error(error, "it can't be written down")
    if type(error) in (sqlite3.OperationalError, sqlite3.DatabaseError):
        return store_error(error, "the store can't be used")
    return None


def _is_full(folder: Path) -> bool:
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _LITTLE or (disk.f_files > 0 and disk.f_favail == 0)


def migrate(db: sqlite3.Connection, part: str, steps: Sequence[str]) -> None:
    """Brings one part's tables up to date: `steps` only grows, and each step runs once."""
    with reading(db):
        db.execute(_PARTS)
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
    """Commits all of it or nothing. A full disk ends a transaction by itself."""
    with reading(db):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


@contextmanager
def reading(db: sqlite3.Connection) -> Iterator[None]:
    """Turns failures of the disk and the database into `StoreUnusable`."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # a defect of ours, not of the disk
    except sqlite3.DatabaseError as error:
        path = None
        with suppress(sqlite3.Error):
            path = Path(db.execute("PRAGMA database_list").fetchone()[2])
        raise store_error(error, f"{path or 'the store'} can't be used", path) from None


class Store:
    """One connection in one worker thread: the event loop never waits for a disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = connect(path)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="handrail-store")
        self._is_used = False
        self.committer: Callable[[Companion], None] | None = None
        """Takes companions into its own commits; set by the journal."""

    def create_tables(self, part: str, steps: Sequence[str]) -> None:
        """Tables of one part, before anything else is done with them."""
        if self._is_used:
            self._worker.submit(migrate, self._db, part, steps).result()
        else:  # nobody else has the connection yet
            migrate(self._db, part, steps)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def look() -> T:
            with reading(self._db):
                return work(self._db)

        self._is_used = True
        return await asyncio.get_running_loop().run_in_executor(self._worker, look)

    async def write(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = True) -> T:
        """`work` in one transaction: all of it or nothing. It survives any process's end at once.

        `durable`: a power cut, too. Otherwise that comes with the next durable commit of anybody, so what
        only counts while processes live, or is followed by a sealed answer, does not wait for the disk.
        """
        self._is_used = True
        transact = self._transact if durable else self._transact_soon
        return await asyncio.get_running_loop().run_in_executor(self._worker, transact, work)

    def keep(self, companion: Companion) -> None:
        """Writes soon: with the journal's next commit, which comes before the next answer."""
        if self.committer is not None:
            self.committer(companion)
        else:
            self._is_used = True
            self._worker.submit(self._keep, companion)

    def _keep(self, companion: Companion) -> None:
        try:
            committed = self._transact(companion)
        except StoreUnusable as error:
            _log.warning("not written, and tried again with the next change: %s", error)
        else:
            committed()

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with transaction(self._db):
            return work(self._db)

    def _transact_soon(self, work: Callable[[sqlite3.Connection], T]) -> T:
        # NORMAL, not OFF: commits stay in order, and a checkpoint still waits for the disk.
        self._db.execute("PRAGMA synchronous = NORMAL")
        try:
            return self._transact(work)
        finally:
            self._db.execute("PRAGMA synchronous = FULL")

    def close(self) -> None:
        self._worker.submit(self._db.close).result()
        self._worker.shutdown()
