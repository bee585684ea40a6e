"""The one thread that writes: everything that waits when it is free goes into one commit.

Knows how a commit is made durable and who waits for it; the entries of a commit and their leaves in the tree
are one transaction.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.errors import HandrailError, StoreUnusable
from handrail.journal.blobs import Statement
from handrail.journal.head import EMPTY, Head, advance_head, read_head
from handrail.journal.merkle_store import (
    TREE_STEP,
    TreeDamaged,
    add_leaves_of_entries,
    add_missing_leaves,
    tree_size,
)
from handrail.journal.query import HEAD_MISMATCH, Entry, entry_hash, entry_of
from handrail.store import Committed, Companion, connect, store_error, transaction

LINGER_SEC = 0.05
"""How long a note that nobody waits for may wait for company."""
BACKLOG = 20_000
"""Notes kept while the disk refuses them."""
RETRY_SEC = 1.0
TAKE_UP_PAUSE_SEC = 0.02
"""Between two steps of taking up old entries into the tree: other processes want to write, too."""
TAKE_UP_ENTRIES = 500


@dataclass(slots=True)
class Waiter:
    """Somebody who goes on when the entry is durable."""

    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[int]


@dataclass(slots=True)
class WriterAnswer:
    """What one waiter is told: the entry's number, or why it is not durable."""

    waiter: Waiter
    result: int | HandrailError

    def deliver(self) -> None:
        done = self.waiter.done
        if done.done():  # the caller was cancelled; the entry is written all the same
            return
        if isinstance(self.result, int):
            done.set_result(self.result)
        else:
            done.set_exception(self.result)


def tell(answers: list[WriterAnswer]) -> None:
    """Each event loop is woken once, whatever the number of its waiters."""
    loops = {answer.waiter.loop for answer in answers}
    for loop in loops:
        own = [answer for answer in answers if answer.waiter.loop is loop]
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it everybody who waited
            loop.call_soon_threadsafe(_deliver, own)


def _deliver(answers: list[WriterAnswer]) -> None:
    for answer in answers:
        answer.deliver()


def unwritable(why: Exception | str) -> StoreUnusable:
    """The failure that whoever waits for a record gets. Nothing is done without one."""
    if isinstance(why, str):
        return StoreUnusable(f"the journal can't be written: {why}")
    return store_error(why, "the journal can't be written")


@dataclass(slots=True)
class JournalWork:
    """One thing to write: an entry of the chain, a statement about blobs, or another part's state."""

    entry: Entry | None = None
    statement: Statement | None = None
    companion: Companion | None = None
    waiter: Waiter | None = None


class Writer:
    """A queue and a thread, which starts with the first thing to write."""

    def __init__(self, home: Path, on_commit: Callable[[], None] | None = None) -> None:
        self._home = home
        self._on_commit = on_commit
        """Hears of every commit with entries, in the writer's thread: it must not wait for anything."""
        self._queue: list[JournalWork] = []
        self._wake = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._failed: StoreUnusable | None = None
        self._is_writing = False
        self._tree_behind = False
        self._last: Appended | None = None

    @property
    def is_behind(self) -> bool:
        """Whether something that was put is not durable yet."""
        with self._wake:
            return bool(self._queue) or self._is_writing

    def keep(self, companion: Companion) -> None:
        """Queue it, unless it is queued already: it writes the newest state whenever its turn comes."""
        with self._wake:
            is_queued = any(work.companion == companion for work in self._queue)
        if not is_queued:
            self.put(JournalWork(companion=companion))

    def put(self, work: JournalWork) -> None:
        """Queue in the order of the calls. Raises when the disk has refused a long backlog."""
        with self._wake:
            if len(self._queue) >= BACKLOG and work.companion is None:
                raise self._failed or unwritable("too much is waiting")
            if self._closing:
                raise unwritable("it is closed")
            if self._thread is None:
                # The connection is made here, so that a store that can't be opened is the caller's error.
                try:
                    db = connect(store_path(self._home))
                except (sqlite3.Error, OSError) as error:
                    raise unwritable(error) from None
                thread = threading.Thread(target=self._run, args=(db,), name="handrail-journal", daemon=True)
                thread.start()
                self._thread = thread
            self._queue.append(work)
            if work.waiter or len(self._queue) == 1:
                self._wake.notify()

    def close(self) -> None:
        """Write what is queued, then end the thread."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self, db: sqlite3.Connection) -> None:
        try:
            while batch := self._next(db):
                self._write(db, batch)
        finally:
            db.close()

    def _next(self, db: sqlite3.Connection) -> list[JournalWork]:
        """What to commit together; empty when it is time to go."""
        while self._tree_behind:
            with self._wake:
                if self._wake.wait_for(lambda: bool(self._queue) or self._closing, TAKE_UP_PAUSE_SEC):
                    break
            # A step towards a tree that has all entries. One that fails is tried again after the next entry.
            try:
                with transaction(db):
                    self._last = None
                    self._tree_behind = (
                        add_missing_leaves(db, last_entry(db).count, TAKE_UP_ENTRIES) == TAKE_UP_ENTRIES
                    )
            except (sqlite3.Error, TreeDamaged):
                self._tree_behind = False
        with self._wake:
            while not self._queue and not self._closing:
                self._wake.wait()
            if self._failed and not self._closing:
                self._wake.wait_for(lambda: self._closing or self._is_waited_for(), RETRY_SEC)
            self._wake.wait_for(lambda: self._closing or self._is_waited_for(), LINGER_SEC)
            batch, self._queue = self._queue, []
            self._is_writing = bool(batch)
        return batch

    def _is_waited_for(self) -> bool:
        return any(work.waiter for work in self._queue)

    def _write(self, db: sqlite3.Connection, batch: list[JournalWork]) -> None:
        try:
            appended, committed = self._commit(db, batch)
        except Exception as error:  # whatever it was, who waits must not wait for ever
            self._refused(batch, unwritable(error))
            return
        for callback in committed:
            callback()
        refusal = None
        if appended is not None:
            self._tree_behind = not appended.in_tree
            try:
                advance_head(head_path(self._home), appended.head, force=appended.mismatch)
            except OSError as error:  # the entries stay, but whoever waits must not think them proved
                refusal = unwritable(error)
        with self._wake:
            self._failed, self._is_writing = None, False
        numbers = iter(appended.seqs if appended else ())
        seqs = [(work.waiter, next(numbers) if work.entry else 0) for work in batch]
        tell([WriterAnswer(waiter, refusal or seq) for waiter, seq in seqs if waiter])
        if appended is not None and self._on_commit is not None:
            self._on_commit()

    def _commit(
        self, db: sqlite3.Connection, batch: list[JournalWork]
    ) -> tuple[Appended | None, list[Committed]]:
        entries = [work.entry for work in batch if work.entry is not None]
        with transaction(db):
            head_file = read_head(head_path(self._home)) if entries else None
            appended = append(db, head_file, entries, self._last) if entries else None
            for work in batch:
                if work.statement is not None:
                    db.execute(*work.statement)
            committed = [work.companion(db) for work in batch if work.companion is not None]
        self._last = appended or self._last
        return appended, committed

    def _refused(self, batch: list[JournalWork], why: StoreUnusable) -> None:
        """What happened stays queued, to be written when the disk lets us; whoever waits hears of it now."""
        unwritten = [
            JournalWork(work.entry, work.statement, work.companion)
            for work in batch
            if work.entry or work.statement or work.companion
        ]
        with self._wake:
            self._failed, self._is_writing = why, False
            if not self._closing:
                self._queue = unwritten + self._queue
        tell([WriterAnswer(work.waiter, why) for work in batch if work.waiter])


STEPS = (
    """
    CREATE TABLE journal (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at_ms INTEGER NOT NULL,
        hash TEXT NOT NULL,
        kind TEXT NOT NULL,
        action_id TEXT,
        session TEXT,
        device TEXT,
        type TEXT,
        terminal INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX journal_action ON journal (action_id) WHERE action_id IS NOT NULL;
    CREATE INDEX journal_ends ON journal (device, seq) WHERE terminal = 1;
    CREATE TABLE blobs (
        name TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('kept', 'swept', 'withheld'))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX blobs_age ON blobs (at_ms, bytes) WHERE state = 'kept'
    """,
    TREE_STEP,
)


def store_path(home: Path) -> Path:
    """The store that all parts share."""
    return home / "handrail.db"


def head_path(home: Path) -> Path:
    """The count and the hash of the last entry."""
    return home / "journal.head"


COLUMNS = "seq, at_ms, hash, kind, action_id, session, device, type, terminal, failed, body"
ROWS_AT_ONCE = 64
"""Rows of one statement: each statement lets go of the interpreter, and may wait to get it back."""
ROW = "(" + ", ".join("?" * 11) + ")"


@dataclass(frozen=True, slots=True)
class Appended:
    """Where the entries went. The caller advances the head file after the commit, never before."""

    seqs: range
    head: Head
    mismatch: bool
    """Whether the head file did not fit, which the entry before them says now."""
    in_tree: bool
    """Whether they have their leaves; else the tree has to take up others before them."""
    version: int
    """SQLite's number for what other connections have written."""


def append(
    db: sqlite3.Connection, head_file: Head | None, entries: Sequence[Entry], before: Appended | None = None
) -> Appended:
    """The entries, linked to what is there, in the caller's transaction. `told`: what the head file says.

    `before` is what this connection appended last. Where nobody else wrote since, it is the journal's end.
    """
    version = db.execute("PRAGMA data_version").fetchone()[0]
    cached = before if before is not None and before.version == version else None
    last = cached.head if cached else last_entry(db)
    mismatch = head_file != last and not head_file_matches(db, head_file)
    mismatches: list[Entry] = []
    if mismatch:  # the finding becomes part of the chain: writing on does not wash it away
        event = {"head_file": str(head_file) if head_file else None, "last_entry": str(last)}
        mismatches.append(entry_of({"kind": HEAD_MISMATCH, **event}, entries[0].at_ms, str))
    seq, previous = last.count, last.hash
    if cached is None:  # a deleted last entry leaves a gap instead of a free place
        used = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
        seq = max(seq, used[0] if used else 0)
    rows: list[tuple[Any, ...]] = []
    for entry in (*mismatches, *entries):
        seq += 1
        previous = entry_hash(seq, entry.at_ms, previous, entry.body)
        rows.append((seq, entry.at_ms, previous, *entry.columns, entry.body))
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        places = ", ".join([ROW] * len(some))
        db.execute(f"INSERT INTO journal ({COLUMNS}) VALUES {places}", [v for row in some for v in row])  # noqa: S608
    size = cached.head.count if cached and cached.in_tree else tree_size(db)
    in_tree = add_leaves_of_entries(db, size, [(row[0], row[1], row[4], row[10]) for row in rows])
    seqs = range(seq - len(entries) + 1, seq + 1)
    return Appended(seqs, Head(seq, previous), mismatch, in_tree, version)


def last_entry(db: sqlite3.Connection) -> Head:
    """The last entry there is."""
    row = db.execute("SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(*row) if row else EMPTY


def head_file_matches(db: sqlite3.Connection, head_file: Head | None) -> bool:
    """Whether the head file names an entry that is there: the last one, or an earlier one where it lags."""
    if head_file is None:
        return False
    if head_file == EMPTY:
        return True
    row = db.execute("SELECT hash FROM journal WHERE seq = ?", (head_file.count,)).fetchone()
    return row is not None and row[0] == head_file.hash
