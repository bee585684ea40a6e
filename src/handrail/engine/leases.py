"""Who may write to a device: one holder at a time, across processes, kept in the store.

A person stands above everybody else: taking over leaves the agent's lease in its place, suspended, until the
person hands the device back. Times are wall clock, because several processes compare them.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from handrail.clock import Clock, ago, iso_time
from handrail.config import canonical
from handrail.errors import DeviceBusy, StoreUnusable
from handrail.store import Store
from handrail.waiting import beside

TTL_MS = 30_000
STEPS = (
    """
    CREATE TABLE leases (
        device TEXT NOT NULL,
        rank INTEGER NOT NULL,
        token TEXT NOT NULL UNIQUE,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        label TEXT NOT NULL,
        door TEXT NOT NULL,
        pid INTEGER,
        process TEXT,
        place TEXT NOT NULL,
        since_ms INTEGER NOT NULL,
        until_ms INTEGER,
        PRIMARY KEY (device, rank)
    ) STRICT
    """,
    """
    ALTER TABLE leases ADD COLUMN unit TEXT;
    ALTER TABLE leases ADD COLUMN attempt INTEGER;
    CREATE TABLE fences (unit TEXT PRIMARY KEY, attempt INTEGER NOT NULL) STRICT
    """,
)
WORKER, PERSON = 0, 1
"""Ranks: at most one lease of each on a device; the higher one counts."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a device."""

    id: str
    kind: Literal["agent", "flow", "cli", "person"]
    label: str = ""
    door: str = ""
    pid: int | None = None
    """The process that the lease ends with; None: it ends by time or by hand only."""
    fence: tuple[str, int] | None = None
    """Of a fleet: the unit, and the number of the attempt that works for it. An older one gets no lease."""

    @property
    def name(self) -> str:
        """What people call it. Its process is in the data, for programs."""
        return self.label or self.id

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Held:
    """A lease as anybody may see it."""

    device: str
    holder: Holder
    since_ms: int
    until_ms: int | None
    """None: until it is handed back."""

    def to_dict(self) -> dict[str, Any]:
        until = None if self.until_ms is None else iso_time(self.until_ms)
        holder = asdict(self.holder)
        if self.holder.fence is None:
            del holder["fence"]
        return {"device": self.device, "holder": holder, "since": iso_time(self.since_ms), "until": until}


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to one device; only who acquired it has its token."""

    leases: Leases
    held: Held
    token: str
    ttl_ms: int | None

    @property
    def device(self) -> str:
        return self.held.device

    async def check(self) -> None:
        """Raises `DeviceBusy` with who and since when, if a person took over or the lease was lost."""
        await self.leases.check(self)

    async def is_valid(self) -> bool:
        """Whether it holds at this moment."""
        try:
            await self.check()
        except DeviceBusy:
            return False
        return True

    async def renew(self) -> None:
        """Also while a person has the device: the place behind the person is kept. Raises `DeviceBusy`."""
        await self.leases.renew(self)

    async def release(self) -> None:
        """As often as one likes."""
        await self.leases.release(self)


class Leases:
    """All leases in one store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        store.prepare("leases", STEPS)

    async def acquire(self, device: str, holder: Holder, ttl_ms: int = TTL_MS) -> Lease:
        """The device, or `DeviceBusy` that names the holder. A dead process's lease stops nobody."""
        rank = PERSON if holder.kind == "person" else WORKER
        return await self._take(canonical(device), holder, rank, ttl_ms)

    async def take_over(self, device: str, person: Holder, ttl_ms: int | None = None) -> Lease:
        """The device for a person, whatever works on it; only another person is in the way."""
        return await self._take(canonical(device), replace(person, kind="person"), PERSON, ttl_ms)

    async def hand_back(self, device: str) -> Held | None:
        """End a person's hold; who has the device now."""
        name = canonical(device)

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM leases WHERE device = ? AND rank = ?", (name, PERSON))

        await self._store.write(work)
        return await self.holder(name)

    async def holder(self, device: str) -> Held | None:
        """Who counts at the moment."""
        return next((held for held in await self.all() if held.device == canonical(device)), None)

    async def all(self) -> list[Held]:
        """One per device that is held: where a person took over, the person."""
        rows = await self._store.read(
            lambda db: db.execute("SELECT * FROM leases ORDER BY device, rank DESC").fetchall()
        )
        found: dict[str, Held] = {}
        for row in rows:
            if not self._over(row):
                found.setdefault(row["device"], _held(row))
        return list(found.values())

    @asynccontextmanager
    async def hold(self, device: str, holder: Holder, ttl_ms: int = TTL_MS) -> AsyncIterator[Lease]:
        """A lease that renews itself while the block runs, and is given back at its end."""
        lease = await self.acquire(device, holder, ttl_ms)
        try:
            async with beside(self._renewing(lease, ttl_ms / 3), f"lease {lease.device}"):
                yield lease
        finally:
            await lease.release()

    async def check(self, lease: Lease) -> None:
        rows = await self._store.read(lambda db: _rows(db, lease.device))
        mine = next((row for row in rows if row["token"] == lease.token), None)
        above = [row for row in rows if mine is not None and row["rank"] > mine["rank"]]
        for row in above:
            if not self._over(row):
                raise self._busy(row)
        if mine is None or self._expired(mine):
            await self.renew(lease)

    async def renew(self, lease: Lease) -> None:
        until = None if lease.ttl_ms is None else self._clock.now_ms() + lease.ttl_ms

        def work(db: sqlite3.Connection) -> list[sqlite3.Row] | None:
            """Late is not lost: an expired lease that nobody took is still there to be renewed."""
            done = db.execute("UPDATE leases SET until_ms = ? WHERE token = ?", (until, lease.token))
            return None if done.rowcount else _rows(db, lease.device)

        rows = await self._store.write(work, durable=_outlives(lease.ttl_ms))
        if rows is not None:
            others = (self._busy(row) for row in rows if not self._over(row))
            raise next(others, _lost(lease))

    async def rename(self, lease: Lease, who: Holder) -> Lease:
        """The same lease, of whoever acts by it now."""
        order = "UPDATE leases SET label = ?, kind = ?, door = ?, unit = ?, attempt = ? WHERE token = ?"
        row = (who.label, who.kind, who.door, *(who.fence or (None, None)), lease.token)

        def work(db: sqlite3.Connection) -> None:
            _enter(db, lease.device, who)
            db.execute(order, row)

        await self._store.write(work, durable=False)
        return replace(lease, held=replace(lease.held, holder=who))

    async def release(self, lease: Lease) -> None:
        order = "DELETE FROM leases WHERE token = ?"
        await self._store.write(lambda db: db.execute(order, (lease.token,)), durable=_outlives(lease.ttl_ms))

    async def _take(self, device: str, holder: Holder, rank: int, ttl_ms: int | None) -> Lease:
        now = self._clock.now_ms()
        held = Held(device, holder, now, None if ttl_ms is None else now + ttl_ms)
        lease = Lease(self, held, secrets.token_hex(16), ttl_ms)

        def work(db: sqlite3.Connection) -> None:
            for row in _rows(db, device):
                if self._over(row):
                    db.execute("DELETE FROM leases WHERE token = ?", (row["token"],))
                elif row["rank"] >= rank:
                    raise self._busy(row)
            _enter(db, device, holder)
            _insert(db, rank, lease)

        try:
            await self._store.write(work, durable=_outlives(ttl_ms))
        except asyncio.CancelledError:
            await self.release(lease)  # the store's thread may have written it already
            raise
        return lease

    async def _renewing(self, lease: Lease, every_ms: float) -> None:
        while True:
            await self._clock.sleep_ms(every_ms)
            try:
                await lease.renew()
            except DeviceBusy:
                return  # lost: the next `check` says to whom
            except StoreUnusable:
                continue  # the store was busy; two more beats fit into the lease

    def _busy(self, row: sqlite3.Row) -> DeviceBusy:
        return _busy(_held(row), self._clock.now_ms())

    def _over(self, row: sqlite3.Row) -> bool:
        """Past its time, or its process is dead. A pid of another place says nothing here."""
        if self._expired(row):
            return True
        if row["pid"] is None or row["place"] != place():
            return False
        process: str | None = row["process"]
        return mark(row["pid"]) != process

    def _expired(self, row: sqlite3.Row) -> bool:
        until: int | None = row["until_ms"]
        return until is not None and until <= self._clock.now_ms()


def _outlives(ttl_ms: int | None) -> bool:
    """Whether it has to be there after a power cut: one that ends by time has no process then."""
    return ttl_ms is None


def _rows(db: sqlite3.Connection, device: str) -> list[sqlite3.Row]:
    return db.execute("SELECT * FROM leases WHERE device = ? ORDER BY rank DESC", (device,)).fetchall()


def _enter(db: sqlite3.Connection, device: str, who: Holder) -> None:
    """Whoever works for a newer attempt of the same unit was here before: this one comes from the past."""
    if who.fence is None:
        return
    unit, attempt = who.fence
    row = db.execute("SELECT attempt FROM fences WHERE unit = ?", (unit,)).fetchone()
    if row is not None and row[0] > attempt:
        raise DeviceBusy(
            f"attempt {attempt} of {unit} is over: attempt {row[0]} has begun",
            hint="Stop: what this attempt does does not count any more.",
            device=device,
            holder=None,
        )
    db.execute("INSERT OR REPLACE INTO fences VALUES (?, ?)", (unit, attempt))


def _insert(db: sqlite3.Connection, rank: int, lease: Lease) -> None:
    held, who = lease.held, lease.held.holder
    process = None if who.pid is None else mark(who.pid)
    holder = (who.id, who.kind, who.label, who.door, who.pid, process, place())
    db.execute(
        "INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (held.device, rank, lease.token, *holder, held.since_ms, held.until_ms, *(who.fence or (None, None))),
    )


def _held(row: sqlite3.Row) -> Held:
    fence = None if row["unit"] is None else (row["unit"], row["attempt"])
    holder = Holder(row["id"], row["kind"], row["label"], row["door"], row["pid"], fence)
    return Held(row["device"], holder, row["since_ms"], row["until_ms"])


def _busy(held: Held, now_ms: int) -> DeviceBusy:
    end = ", until it is handed back" if held.until_ms is None else ""
    message = f"{held.device} is held by {held.holder}, who took it {ago(held.since_ms, now_ms)}{end}"
    return DeviceBusy(message, **held.to_dict())


def _lost(lease: Lease) -> DeviceBusy:
    return DeviceBusy(
        f"the lease on {lease.device} was given up; nobody holds it now",
        hint="Acquire the device again.",
        retryable=True,
        device=lease.device,
    )


PROC = Path("/proc")


@cache
def place() -> str:
    """Where a pid means something: this host, this boot, this pid namespace (containers may share a home)."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()} {boot} {os.readlink(PROC / 'self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def mark(pid: int) -> str | None:
    """Another one for every process that ever has this pid here; None when none has it."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return _mark_without_proc(pid)
    # The name in parentheses may hold anything, a ")" too; state and start time are fields 3 and 22.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _mark_without_proc(pid: int) -> str | None:
    """Only whether it is there: systems without /proc give no start time to a pid."""
    if PROC.joinpath("self").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "?"
