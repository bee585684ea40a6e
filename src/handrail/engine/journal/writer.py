"""The one thread that writes: everything that waits when it is free goes into one commit.

Knows how a commit is made durable and who waits for it; what is written, `chain` and `blobs` know.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from handrail.engine.journal.chain import Appended, append
from handrail.engine.journal.entry import Entry
from handrail.engine.journal.head import HeadFile
from handrail.engine.journal.tables import head_path, store_path
from handrail.errors import HandrailError
from handrail.store import connect

LINGER_SEC = 0.05
"""How long a note that nobody waits for may wait for company."""
BACKLOG = 20_000
"""Notes kept while the disk refuses them."""
RETRY_SEC = 1.0

Statement = tuple[str, tuple[object, ...]]


@dataclass(slots=True)
class Waiter:
    """Somebody who goes on when the entry is durable."""

    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[int]


@dataclass(slots=True)
class Answer:
    """What one waiter is told: the entry's number, or why it is not durable."""

    waiter: Waiter
    seq: int
    error: HandrailError | None = None

    def deliver(self) -> None:
        done = self.waiter.done
        if done.done():  # the caller was cancelled; the entry is written all the same
            return
        if self.error is None:
            done.set_result(self.seq)
        else:
            done.set_exception(self.error)


def tell(answers: list[Answer]) -> None:
    """Each event loop is woken once, whatever the number of its waiters."""
    loops = {answer.waiter.loop for answer in answers}
    for loop in loops:
        own = [answer for answer in answers if answer.waiter.loop is loop]
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it everybody who waited
            loop.call_soon_threadsafe(_deliver, own)


def _deliver(answers: list[Answer]) -> None:
    for answer in answers:
        answer.deliver()


def unwritable(why: str) -> HandrailError:
    """The failure that whoever waits for a record gets."""
    return HandrailError(
        f"the journal can't be written: {why}",
        hint="Nothing is done without a record: free disk space, or make HANDRAIL_HOME writable.",
    )


@dataclass(slots=True)
class Work:
    """One thing to write: an entry of the chain, or a statement about blobs."""

    entry: Entry | None = None
    statement: Statement | None = None
    waiter: Waiter | None = None


class Writer:
    """A queue and a thread, which starts with the first thing to write."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._head = HeadFile(head_path(home))
        self._queue: list[Work] = []
        self._wake = threading.Condition()
        self._urgent = False
        self._closing = False
        self._thread: threading.Thread | None = None
        self._failed: str | None = None

    def put(self, work: Work) -> None:
        """Queue in the order of the calls. Raises when the disk has refused a long backlog."""
        with self._wake:
            if len(self._queue) >= BACKLOG:
                raise unwritable(self._failed or "too much is waiting")
            if self._closing:
                raise unwritable("it is closed")
            if self._thread is None:
                self._thread = self._start()
            self._queue.append(work)
            hurry = work.waiter is not None and not self._urgent
            self._urgent = self._urgent or hurry
            if hurry or len(self._queue) == 1:
                self._wake.notify()

    def _start(self) -> threading.Thread:
        """The connection is made here, so that a store that can't be opened is the caller's error."""
        try:
            db = connect(store_path(self._home))
        except (sqlite3.Error, OSError) as error:
            raise unwritable(str(error)) from None
        thread = threading.Thread(target=self._run, args=(db,), name="handrail-journal", daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """Write what is queued, then end the thread."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self, db: sqlite3.Connection) -> None:
        try:
            while batch := self._next():
                self._write(db, batch)
        finally:
            db.close()
            self._head.close()

    def _next(self) -> list[Work]:
        """What to commit together; empty when it is time to go."""
        with self._wake:
            while not self._queue and not self._closing:
                self._wake.wait()
            if self._failed and not self._closing:
                self._wake.wait_for(lambda: self._closing, RETRY_SEC)
            self._wake.wait_for(lambda: self._urgent or self._closing, LINGER_SEC)
            batch, self._queue = self._queue, []
            self._urgent = False
        return batch

    def _write(self, db: sqlite3.Connection, batch: list[Work]) -> None:
        try:
            appended = self._commit(db, batch)
        except (sqlite3.Error, OSError) as error:
            self._refused(batch, str(error))
            return
        self._failed = None
        if appended is None:
            return
        entries = (work for work in batch if work.entry is not None)
        answers = [
            Answer(work.waiter, seq) for work, seq in zip(entries, appended.seqs, strict=True) if work.waiter
        ]
        try:
            self._head.advance(appended.head, force=appended.mismatch)
        except OSError as error:  # the entries are there and stay; whoever waits must not think them proved
            answers = [Answer(one.waiter, 0, unwritable(str(error))) for one in answers]
        tell(answers)

    def _commit(self, db: sqlite3.Connection, batch: list[Work]) -> Appended | None:
        entries = [work.entry for work in batch if work.entry is not None]
        db.execute("BEGIN IMMEDIATE")
        try:
            appended = append(db, self._head, entries) if entries else None
            for work in batch:
                if work.statement is not None:
                    db.execute(*work.statement)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        return appended

    def _refused(self, batch: list[Work], why: str) -> None:
        """What happened stays queued, to be written when the disk lets us; whoever waits hears of it now."""
        tell([Answer(work.waiter, 0, unwritable(why)) for work in batch if work.waiter])
        with self._wake:
            self._failed = why
            if not self._closing:
                kept = [Work(work.entry, work.statement) for work in batch]
                self._queue[:0] = kept
