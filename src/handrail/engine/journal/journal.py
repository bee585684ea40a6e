"""The journal as the engine sees it: `note` what happens, `seal` what is answered, read it all again.

A sealed event is on the disk and counted in the head file when `seal` returns; every note before it is, too.
"""

from __future__ import annotations

import asyncio
import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from handrail.clock import Clock
from handrail.engine.journal import query
from handrail.engine.journal.blobs import Blobs, Stored
from handrail.engine.journal.head import Head, create_head
from handrail.engine.journal.query import ActionRow, Entry, Event, Filter, Shown, entry_of
from handrail.engine.journal.verify import ChainVerdict, blob_warnings, verify
from handrail.engine.journal.writer import STEPS, JournalWork, Waiter, Writer, head_path, store_path
from handrail.engine.secrets import Redact
from handrail.store import Companion, connect, migrate, store_error

SWEEP_AFTER_BYTES = 64 * 1024 * 1024


def _as_it_is(text: str) -> str:
    return text


class Journal:
    """One process's hold on the journal under `home`; other processes may have theirs at the same time."""

    def __init__(self, home: Path, clock: Clock, redact: Redact, limits: Limits) -> None:
        self.home = home
        self._clock = clock
        self._redact = redact
        self._limits = limits
        self._blobs = Blobs(home / "blobs")
        self._writer = Writer(home)
        self._db = connect(store_path(home))
        self._unswept = SWEEP_AFTER_BYTES
        self._prepare()

    @classmethod
    def open(
        cls, home: Path, clock: Clock, *, redact: Redact = _as_it_is, limits: Limits | None = None
    ) -> Journal:
        """`redact` is applied to every string of every event and to every blob that is text."""
        return cls(home, clock, redact, limits or Limits())

    def _prepare(self) -> None:
        """Tables, and a head file before the first entry: where entries are, a missing head means damage."""
        migrate(self._db, "journal", STEPS)
        if self._db.execute("SELECT 1 FROM journal LIMIT 1").fetchone() is None:
            create_head(head_path(self.home))

    # writing

    def note(self, event: Event) -> None:
        """Queue an event; it is durable with the next commit, 50 ms later at the latest."""
        self._writer.put(JournalWork(self._entry(event)))

    async def seal(self, event: Event) -> int:
        """Write an event and wait until it can't be lost. Returns its number."""
        loop = asyncio.get_running_loop()
        waiter = Waiter(loop, loop.create_future())
        self._writer.put(JournalWork(self._entry(event), waiter=waiter))
        return await waiter.done

    def keep(self, companion: Companion) -> None:
        """Another part's state goes into the next commit: it is never older than what is sealed next."""
        self._writer.keep(companion)

    async def durable(self) -> None:
        """Until everything that was noted so far can't be lost. Raises where the disk refuses it."""
        if self._writer.is_behind:
            loop = asyncio.get_running_loop()
            waiter = Waiter(loop, loop.create_future())
            self._writer.put(JournalWork(waiter=waiter))
            await waiter.done

    async def put_blob(self, data: bytes, kind: str, *, no_secret: bool = False) -> str:
        """Store a blob and return its name. What is no text is kept only with `no_secret`."""
        put = partial(self._blobs.put, data, kind, self._clock.now_ms(), self._redact, no_secret=no_secret)
        try:
            stored = await asyncio.to_thread(put)
        except OSError as error:
            raise store_error(error, "a picture or tree can't be kept") from None
        self._writer.put(JournalWork(statement=stored.row))
        await self._sweep_sometimes(stored)
        return stored.name

    async def _sweep_sometimes(self, stored: Stored) -> None:
        """With the first blob, and then whenever enough has come for the limits to be passed again."""
        self._unswept += stored.bytes
        if self._unswept >= SWEEP_AFTER_BYTES:
            self._unswept = 0
            await self.sweep()

    async def sweep(self) -> int:
        """Remove blobs beyond the limits now, and say so in the journal. Returns how many."""
        events = await asyncio.to_thread(self._sweep)
        for event in events:
            self.note(event)
        return sum(len(event["names"]) for event in events)

    def _sweep(self) -> list[Event]:
        with closing(connect(store_path(self.home))) as db:
            swept = sweep(db, self._blobs, self._limits, self._clock.now_ms())
            return [{"kind": "swept", "names": list(one.names), "bytes": one.bytes} for one in swept]

    def _entry(self, event: Event) -> Entry:
        return entry_of(event, self._clock.now_ms(), self._redact)

    async def close(self) -> None:
        """Everything that was noted is on the disk when this returns."""
        await asyncio.to_thread(self._writer.close)
        self._db.close()

    # reading: also while another process writes

    def actions(
        self,
        limit: int = 50,
        before: int | None = None,
        device: str | None = None,
        type: str | None = None,  # noqa: A002  (the vocabulary's word)
        since: int | None = None,
        failed: bool | None = None,
    ) -> list[ActionRow]:
        """Newest first; `before` the `seq` of the last row is the next page; `since` is epoch ms."""
        return query.actions(self._db, Filter(before, device, type, since, failed), limit)

    def show(self, action: str | int) -> Shown:
        """Everything about one action, by its id or the number of one of its entries."""
        return query.show(self._db, action)

    def export(
        self, *, device: str | None = None, since: int | None = None, action_id: str | None = None
    ) -> Iterator[str]:
        """The events as lines of JSON, oldest first, as they were when the first line was read."""
        with closing(connect(store_path(self.home))) as db:
            yield from query.lines(db, device, since, action_id)

    def verify(self, kept: Head | None = None, *, blobs: bool = True) -> ChainVerdict:
        """Prove the whole chain; `kept` is a head that somebody wrote down, `blobs` reads every blob too."""
        with closing(connect(store_path(self.home))) as db:
            verdict = verify(db, self.home, kept)
            return replace(verdict, warnings=blob_warnings(db, self._blobs)) if blobs else verdict

    def blob(self, name: str) -> bytes | None:
        """Its bytes; None when they are not kept, and `blob_state` says why."""
        return self._blobs.get(name)

    def blob_state(self, name: str) -> str | None:
        """kept, swept (too old or too many), withheld (might show a secret), damaged (its file is gone or is
        another one), or None: never heard of it.
        """
        row = self._db.execute("SELECT state FROM blobs WHERE name = ?", (name,)).fetchone()
        if row is not None and row[0] == "kept" and self._blobs.get(name) is None:
            return "damaged"
        return row[0] if row else None


GIB = 1024**3
DAY_MS = 86_400_000
YOUNG_MS = 60_000
"""What is younger may belong to an action in flight; it is never swept."""
AT_ONCE = 500
"""Blobs that one statement removes: writers of other processes wait no longer than that."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The oldest go first as soon as one limit is passed; None is no limit."""

    bytes: int | None = 2 * GIB
    count: int | None = 100_000
    age_ms: int | None = 30 * DAY_MS


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep removed."""

    names: tuple[str, ...]
    bytes: int


def sweep(db: sqlite3.Connection, blobs: Blobs, limits: Limits, now_ms: int) -> Iterator[Swept]:
    """Remove what is beyond the limits, oldest first; yields after each statement."""
    old = list(_beyond(db, limits, now_ms))
    for start in range(0, len(old), AT_ONCE):
        gone = _remove(db, blobs, old[start : start + AT_ONCE])
        if gone:
            yield Swept(tuple(one.name for one in gone), sum(one.bytes for one in gone))


@dataclass(frozen=True, slots=True)
class _Old:
    name: str
    bytes: int
    at_ms: int


def _beyond(db: sqlite3.Connection, limits: Limits, now_ms: int) -> Iterator[_Old]:
    """The kept blobs that have to go."""
    count, size = db.execute(
        "SELECT count(*), coalesce(sum(bytes), 0) FROM blobs WHERE state = 'kept'"
    ).fetchone()
    for row in db.execute("SELECT name, bytes, at_ms FROM blobs WHERE state = 'kept' ORDER BY at_ms"):
        one = _Old(*row)
        over = (
            (limits.bytes is not None and size > limits.bytes)
            or (limits.count is not None and count > limits.count)
            or (limits.age_ms is not None and now_ms - one.at_ms > limits.age_ms)
        )
        if not over or now_ms - one.at_ms < YOUNG_MS:
            return
        yield one
        count -= 1
        size -= one.bytes


def _remove(db: sqlite3.Connection, blobs: Blobs, old: list[_Old]) -> list[_Old]:
    """Row first, file second: a table that says `kept` for a file that is gone would look like damage."""
    with blobs.locked(fcntl.LOCK_EX):
        gone = [one for one in old if not blobs.touched_since(one.name, one.at_ms)]
        names = [one.name for one in gone]
        places = ", ".join("?" * len(names))
        db.execute(f"UPDATE blobs SET state = 'swept' WHERE name IN ({places})", names)  # noqa: S608
        for one in gone:
            blobs.path(one.name).unlink(missing_ok=True)
    return gone
