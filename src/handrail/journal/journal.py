"""The journal as the engine sees it: `note` what happens, `seal` what is answered, read it all again.

A sealed event is on the disk and counted in the head file when `seal` returns; every note before it is, too.
"""

from __future__ import annotations

import asyncio
import fcntl
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from handrail.clock import Clock
from handrail.config import Config
from handrail.errors import InvalidAction
from handrail.journal import query
from handrail.journal.blobs import Blobs
from handrail.journal.checkpoint import RememberedCheckpoint
from handrail.journal.head import Head, create_head
from handrail.journal.query import ActionRow, Entry, Event, Filter, ShownAction, entry_of
from handrail.journal.redaction import Redact
from handrail.journal.signed_note import BadNote, VerifierKey
from handrail.journal.verify import ChainVerdict, blob_warnings, verify
from handrail.journal.writer import STEPS, JournalWork, Waiter, Writer, head_path, store_path
from handrail.store import Companion, connect, migrate, store_error

if TYPE_CHECKING:
    from handrail.journal.witnesses import Cosigner

WitnessPlace = tuple[str, VerifierKey | None]
"""A folder or an address, and the key that signs there; None: whatever key it tells."""
SWEEP_AFTER_BYTES = 64 * 1024 * 1024


class Journal:
    """One process's hold on the journal under `home`; other processes may have theirs at the same time."""

    awaited: ClassVar[int] = 0
    """How many callers of this process wait for a writer's thread: no event loop can see that it works."""

    def __init__(
        self, home: Path, clock: Clock, redact: Redact, limits: Limits, witness: WitnessPlace | None
    ) -> None:
        self.home = home
        self._witness = witness
        self._cosigner = _cosigner(home, witness, clock)
        self._clock = clock
        self._redact = redact
        self._limits = limits
        self._blobs = Blobs(home / "blobs")
        self._writer = Writer(home, self._cosigner.tell if self._cosigner else None)
        self._db = connect(store_path(home))
        self._unswept = SWEEP_AFTER_BYTES
        # Tables, and a head file before the first entry: where entries are, a missing head means damage.
        migrate(self._db, "journal", STEPS)
        if self._db.execute("SELECT 1 FROM journal LIMIT 1").fetchone() is None:
            create_head(head_path(self.home))

    @classmethod
    def open(
        cls,
        home: Path,
        clock: Clock,
        *,
        redact: Redact = str,
        limits: Limits | None = None,
        witness: WitnessPlace | None = None,
    ) -> Journal:
        """`redact` is applied to every string of every event and to every blob that is text.

        With a `witness`, what is written is countersigned there in the background.
        """
        return cls(home, clock, redact, limits or Limits(), witness)

    # writing

    def note(self, event: Event) -> None:
        """Queue an event; it is durable with the next commit, 50 ms later at the latest."""
        self._writer.put(JournalWork(self._entry(event)))

    async def seal(self, event: Event) -> int:
        """Write an event and wait until it can't be lost. Returns its number."""
        return await self._until_written(JournalWork(self._entry(event)))

    def keep(self, companion: Companion) -> None:
        """Another part's state goes into the next commit: it is never older than what is sealed next."""
        self._writer.keep(companion)

    async def durable(self) -> None:
        """Until everything that was noted so far can't be lost. Raises where the disk refuses it."""
        if self._writer.is_behind:
            await self._until_written(JournalWork())

    async def _until_written(self, work: JournalWork) -> int:
        loop = asyncio.get_running_loop()
        waiter = work.waiter = Waiter(loop, loop.create_future())
        self._writer.put(work)
        Journal.awaited += 1
        try:
            return await waiter.done
        finally:
            Journal.awaited -= 1

    async def put_blob(self, data: bytes, kind: str, *, no_secret: bool = False) -> str:
        """Store a blob and return its name. What is no text is kept only with `no_secret`."""
        put = partial(self._blobs.put, data, kind, self._clock.now_ms(), self._redact, no_secret=no_secret)
        try:
            stored = await asyncio.to_thread(put)
        except OSError as error:
            raise store_error(error, "a picture or tree can't be kept") from None
        self._writer.put(JournalWork(statement=stored.row))
        self._unswept += stored.bytes
        if self._unswept >= SWEEP_AFTER_BYTES:  # also with the first blob
            self._unswept = 0
            await self.sweep()
        return stored.name

    async def sweep(self) -> int:
        """Remove blobs beyond the limits now, and say so in the journal. Returns how many."""

        def remove() -> list[list[OldBlob]]:
            with closing(connect(store_path(self.home))) as db:
                return list(sweep(db, self._blobs, self._limits, self._clock.now_ms()))

        batches = await asyncio.to_thread(remove)
        for batch in batches:
            names = [blob.name for blob in batch]
            self.note({"kind": "swept", "names": names, "bytes": sum(blob.bytes for blob in batch)})
        return sum(map(len, batches))

    def _entry(self, event: Event) -> Entry:
        return entry_of(event, self._clock.now_ms(), self._redact)

    async def close(self) -> None:
        """Everything that was noted is on the disk when this returns."""
        await asyncio.to_thread(self._writer.close)
        if self._cosigner:
            await asyncio.to_thread(self._cosigner.close)
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
        return query.query_actions(self._db, Filter(before, device, type, since, failed), limit)

    def show(self, action: str | int) -> ShownAction:
        """Everything about one action, by its id or the number of one of its entries."""
        return query.show_action(self._db, action)

    def export(
        self, *, device: str | None = None, since: int | None = None, action_id: str | None = None
    ) -> Iterator[str]:
        """The events as lines of JSON, oldest first, as they were when the first line was read."""
        with closing(connect(store_path(self.home))) as db:
            yield from query.event_lines(db, device, since, action_id)

    def verify(
        self,
        saved_head: Head | None = None,
        *,
        blobs: bool = True,
        elsewhere: Sequence[RememberedCheckpoint] = (),
    ) -> ChainVerdict:
        """Prove the whole chain, and that it is what its witness and these checkpoints saw.

        `kept` is a head that somebody wrote down, `blobs` reads every blob too.
        """
        from handrail.journal.witnesses import remembered_elsewhere  # noqa: PLC0415  (HTTP and keys)

        place, key = self._witness or (None, None)
        with (
            closing(connect(store_path(self.home))) as db,
            remembered_elsewhere(self.home, place, key) as (checkpoints, warnings),
        ):
            verdict = verify(db, self.home, saved_head, [*elsewhere, *checkpoints])
            blob_problems = blob_warnings(db, self._blobs) if blobs else ()
            return replace(verdict, warnings=(*warnings, *verdict.warnings, *blob_problems))

    def blob(self, name: str) -> bytes | None:
        """Returns its bytes; None when they are not kept, and `blob_state` says why."""
        return self._blobs.get(name)

    def blob_state(self, name: str) -> str | None:
        """kept, swept (too old or too many), withheld (might show a secret), damaged (its file is gone or is
        another one), or None: never heard of it.
        """
        row = self._db.execute("SELECT state FROM blobs WHERE name = ?", (name,)).fetchone()
        if row is not None and row[0] == "kept" and self._blobs.get(name) is None:
            return "damaged"
        return row[0] if row else None


def witness_of(config: Config) -> WitnessPlace | None:
    """Where the environment wants checkpoints to be kept."""
    if config.witness is None:
        return None
    try:
        return config.witness, VerifierKey.parse(config.witness_key) if config.witness_key else None
    except BadNote as error:
        raise InvalidAction.at(
            "HANDRAIL_WITNESS_KEY",
            f"{error}",
            hint="`handrail witness key` prints it on the witness's machine.",
        ) from None


def _cosigner(home: Path, witness: WitnessPlace | None, clock: Clock) -> Cosigner | None:
    if witness is None:
        return None
    from handrail.journal.witnesses import Cosigner  # noqa: PLC0415  (HTTP and keys)

    return Cosigner(home, *witness, clock)


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
class OldBlob:
    """One that has to go."""

    name: str
    bytes: int
    at_ms: int


def sweep(db: sqlite3.Connection, blobs: Blobs, limits: Limits, now_ms: int) -> Iterator[list[OldBlob]]:
    """Remove what is beyond the limits, oldest first; yields what each statement removed."""
    old = list(_blobs_beyond_limits(db, limits, now_ms))
    for start in range(0, len(old), AT_ONCE):
        # Row first, file second: a table that says `kept` for a file that is gone would look like damage.
        with blobs.locked(fcntl.LOCK_EX):
            batch = old[start : start + AT_ONCE]
            removed = [blob for blob in batch if not blobs.touched_since(blob.name, blob.at_ms)]
            names = [blob.name for blob in removed]
            places = ", ".join("?" * len(names))
            db.execute(f"UPDATE blobs SET state = 'swept' WHERE name IN ({places})", names)  # noqa: S608
            for name in names:
                blobs.path(name).unlink(missing_ok=True)
        if removed:
            yield removed


def _blobs_beyond_limits(db: sqlite3.Connection, limits: Limits, now_ms: int) -> Iterator[OldBlob]:
    """The kept blobs that have to go."""
    count, size = db.execute(
        "SELECT count(*), coalesce(sum(bytes), 0) FROM blobs WHERE state = 'kept'"
    ).fetchone()
    for row in db.execute("SELECT name, bytes, at_ms FROM blobs WHERE state = 'kept' ORDER BY at_ms"):
        blob = OldBlob(*row)
        over = (
            (limits.bytes is not None and size > limits.bytes)
            or (limits.count is not None and count > limits.count)
            or (limits.age_ms is not None and now_ms - blob.at_ms > limits.age_ms)
        )
        if not over or now_ms - blob.at_ms < YOUNG_MS:
            return
        yield blob
        count -= 1
        size -= blob.bytes
