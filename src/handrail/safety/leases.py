"""Leases on devices, across processes: one holder at a time, the queue behind a person, stops.

A person who takes over suspends the agent's lease until the device is handed back. So does a stop, for
everybody. Times are wall clock, because several processes compare them.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sqlite3
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from handrail.clock import Clock, ago, iso_time
from handrail.config import canonical
from handrail.errors import DeviceBusy, StoreUnusable
from handrail.invocation import Invocation, current
from handrail.safety.caller import Caller
from handrail.store import Store
from handrail.waiting import beside

TTL_MS = 30_000
LEASE_TABLES = (
    """
    CREATE TABLE leases (
        device TEXT NOT NULL, rank INTEGER NOT NULL, token TEXT NOT NULL UNIQUE, id TEXT NOT NULL,
        kind TEXT NOT NULL, label TEXT NOT NULL, door TEXT NOT NULL, pid INTEGER, process TEXT,
        place TEXT NOT NULL, since_ms INTEGER NOT NULL, until_ms INTEGER,
        PRIMARY KEY (device, rank)
    ) STRICT
    """,
    """
    ALTER TABLE leases ADD COLUMN unit TEXT;
    ALTER TABLE leases ADD COLUMN attempt INTEGER;
    CREATE TABLE fences (unit TEXT PRIMARY KEY, attempt INTEGER NOT NULL) STRICT
    """,
    "UPDATE leases SET rank = 2 WHERE rank = 1",
)
WORKER, STOPPED, PERSON = 0, 1, 2
"""Ranks. A device has at most one lease of each; the higher one counts. A stop is read from `stops`."""
STOP_TABLES = (
    """
    CREATE TABLE stops (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT, at_ms INTEGER NOT NULL, by TEXT NOT NULL,
        ended INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    """
    ALTER TABLE stops ADD COLUMN kind TEXT NOT NULL DEFAULT 'person';
    ALTER TABLE stops ADD COLUMN door TEXT NOT NULL DEFAULT '';
    CREATE TABLE handed_back (device TEXT PRIMARY KEY, stop INTEGER NOT NULL) STRICT;
    INSERT INTO handed_back SELECT '', coalesce(max(seq), 0) FROM stops
    """,
)
"""A stop without a device is for all of them. `handed_back` has the last stop that a device, or all ('')
devices, were handed back from."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a device."""

    id: str
    kind: Literal["agent", "flow", "cli", "person"]
    label: str = ""
    door: str = ""
    pid: int | None = None
    """The lease ends with this process; None: it ends by time or when it is released."""
    fence: tuple[str, int] | None = None
    """For a fleet: the unit and the number of its attempt. An older attempt gets no lease."""

    @property
    def name(self) -> str:
        return self.label or self.id

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class HeldLease:
    """The public part of a lease, without its token."""

    device: str
    holder: Holder
    since_ms: int
    until_ms: int | None
    """None: until the device is handed back."""
    is_stopped: bool = False
    """`holder` has stopped it. Nobody acts on it, neither do they, until it is handed back."""

    def is_of(self, person: Caller) -> bool:
        """Whether this person has taken the device over."""
        who = self.holder
        return who.kind == "person" and who.id == person.holder_id and not self.is_stopped

    def to_dict(self) -> dict[str, Any]:
        until = None if self.until_ms is None else iso_time(self.until_ms)
        holder = asdict(self.holder)
        if self.holder.fence is None:
            del holder["fence"]
        shown = {"device": self.device, "holder": holder, "since": iso_time(self.since_ms), "until": until}
        return shown | ({"stopped": True} if self.is_stopped else {})


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to one device. Only the process that acquired it has the token."""

    leases: Leases
    held: HeldLease
    token: str
    ttl_ms: int | None

    @property
    def device(self) -> str:
        return self.held.device

    async def check(self) -> None:
        """Raises `DeviceBusy` with the holder if a person took over or the lease was lost."""
        await self.leases.check(self)

    async def is_valid(self) -> bool:
        try:
            await self.check()
        except DeviceBusy:
            return False
        return True

    async def renew(self) -> None:
        """Works while a person has the device, so its place behind the person stays. Raises `DeviceBusy`."""
        await self.leases.renew(self)

    async def release(self) -> None:
        """May be called more than once."""
        await self.leases.release(self)


class Leases:
    """All leases in one store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        store.create_tables("leases", LEASE_TABLES)
        store.create_tables("stops", STOP_TABLES)

    async def acquire(self, device: str, holder: Holder, ttl_ms: int = TTL_MS) -> Lease:
        """Raises `DeviceBusy` with the holder. Leases of dead processes do not count."""
        rank = PERSON if holder.kind == "person" else WORKER
        return await self._take(canonical(device), holder, rank, ttl_ms)

    async def take_over(self, device: str, person: Holder, ttl_ms: int | None = None) -> Lease:
        """For a person: suspends the lease of an agent or flow. Raises `DeviceBusy` for another person's."""
        return await self._take(canonical(device), replace(person, kind="person"), PERSON, ttl_ms)

    async def hand_back(self, device: str) -> HeldLease | None:
        """Ends a person's lease and every stop. Returns who has the device now."""
        name = canonical(device)

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM leases WHERE device = ? AND rank = ?", (name, PERSON))
            db.execute(_HAND_BACK, (name,))

        await self._store.write(work)
        return await self.holder(name)

    async def hand_back_all(self) -> bool:
        """Ends every stop; what people have taken over stays theirs. Returns whether there was a stop."""
        order = "SELECT max(seq) > (SELECT stop FROM handed_back WHERE device = '') FROM stops"

        def work(db: sqlite3.Connection) -> bool:
            was_stopped = bool(db.execute(order).fetchone()[0])
            db.execute(_HAND_BACK, ("",))
            return was_stopped

        return await self._store.write(work)

    async def holder(self, device: str) -> HeldLease | None:
        rows = await self._store.read(lambda db: _rows(db, canonical(device)))
        return next((_held(row) for row in rows if not self._over(row)), None)

    async def all(self, devices: Iterable[str] = ()) -> list[HeldLease]:
        """One per held device; a person who took over comes before a stop and the suspended lease.

        A stop of all devices is told of those that have a lease, and of `devices`.
        """
        order = "SELECT device FROM leases UNION SELECT device FROM stops WHERE device IS NOT NULL"

        def work(db: sqlite3.Connection) -> list[list[sqlite3.Row]]:
            names = {row[0] for row in db.execute(order)} | {canonical(device) for device in devices}
            return [_rows(db, name) for name in sorted(names)]

        alive = ([row for row in rows if not self._over(row)] for rows in await self._store.read(work))
        return [_held(rows[0]) for rows in alive if rows]

    async def workers(self, device: str | None) -> list[HeldLease]:
        """Agents, flows and commands that work on a device, or on all, held up or not."""
        order = "SELECT * FROM leases WHERE rank = ? AND ? IN ('', device) ORDER BY device"
        of = (WORKER, canonical(device) if device else "")
        rows = await self._store.read(lambda db: db.execute(order, of).fetchall())
        return [_held(row) for row in rows if not self._over(row)]

    async def refuse_stopped(self, device: str) -> HeldLease | None:
        """Returns the holder. Raises `DeviceBusy` on a stopped device."""
        held = await self.holder(device)
        if held is not None and held.is_stopped:
            raise _busy(held, self._clock.now_ms())
        return held

    @asynccontextmanager
    async def hold(self, device: str, holder: Holder, ttl_ms: int = TTL_MS) -> AsyncIterator[Lease]:
        """Renews the lease while the block runs and releases it at the end."""
        lease = await self.acquire(device, holder, ttl_ms)
        try:
            async with beside(self._renewing(lease, ttl_ms / 3), f"lease {lease.device}"):
                yield lease
        finally:
            await lease.release()

    async def check(self, lease: Lease) -> None:
        rows = await self._store.read(lambda db: _rows(db, lease.device))
        own = next((row for row in rows if row["token"] == lease.token), None)
        above = [row for row in rows if own is not None and row["rank"] > own["rank"]]
        for row in above:
            if not self._over(row):
                raise self._busy(row)
        if own is None or self._expired(own):
            await self.renew(lease)

    async def renew(self, lease: Lease) -> None:
        until = None if lease.ttl_ms is None else self._clock.now_ms() + lease.ttl_ms

        def work(db: sqlite3.Connection) -> list[sqlite3.Row] | None:
            """An expired lease that nobody took can still be renewed."""
            done = db.execute("UPDATE leases SET until_ms = ? WHERE token = ?", (until, lease.token))
            return None if done.rowcount else _rows(db, lease.device)

        rows = await self._store.write(work, durable=_outlives(lease.ttl_ms))
        if rows is not None:
            others = (self._busy(row) for row in rows if not self._over(row))
            message = f"the lease on {lease.device} was given up; no one holds it now"
            hint = "Acquire the device again."
            raise next(others, DeviceBusy(message, hint=hint, retryable=True, device=lease.device))

    async def rename(self, lease: Lease, who: Holder) -> Lease:
        """The same lease with the caller that uses it now."""
        order = "UPDATE leases SET label = ?, kind = ?, door = ?, unit = ?, attempt = ? WHERE token = ?"
        row = (who.label, who.kind, who.door, *(who.fence or (None, None)), lease.token)

        def work(db: sqlite3.Connection) -> None:
            _check_fence(db, lease.device, who)
            db.execute(order, row)

        await self._store.write(work, durable=False)
        return replace(lease, held=replace(lease.held, holder=who))

    async def release(self, lease: Lease) -> None:
        order = "DELETE FROM leases WHERE token = ?"
        await self._store.write(lambda db: db.execute(order, (lease.token,)), durable=_outlives(lease.ttl_ms))

    async def _take(self, device: str, holder: Holder, rank: int, ttl_ms: int | None) -> Lease:
        now = self._clock.now_ms()
        held = HeldLease(device, holder, now, None if ttl_ms is None else now + ttl_ms)
        lease = Lease(self, held, secrets.token_hex(16), ttl_ms)

        def work(db: sqlite3.Connection) -> None:
            for row in _rows(db, device):
                if self._over(row):
                    db.execute("DELETE FROM leases WHERE token = ?", (row["token"],))
                elif row["rank"] >= rank:
                    raise self._busy(row)
            _check_fence(db, device, holder)
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
                return  # lost: the next `check` names the new holder
            except StoreUnusable:
                continue  # the store was busy; two more renewals fit into the lease

    def _busy(self, row: sqlite3.Row) -> DeviceBusy:
        return _busy(_held(row), self._clock.now_ms())

    def _over(self, row: sqlite3.Row) -> bool:
        """Expired, or its process is dead. A pid of another host says nothing here."""
        if self._expired(row):
            return True
        if row["pid"] is None or row["place"] != host_identity():
            return False
        process: str | None = row["process"]
        return process_start(row["pid"]) != process

    def _expired(self, row: sqlite3.Row) -> bool:
        until: int | None = row["until_ms"]
        return until is not None and until <= self._clock.now_ms()


def _outlives(ttl_ms: int | None) -> bool:
    """Whether it must survive a power cut. A lease with an end has no process then."""
    return ttl_ms is None


_HAND_BACK = "INSERT OR REPLACE INTO handed_back SELECT ?, coalesce(max(seq), 0) FROM stops"
_ROWS = """
    SELECT * FROM leases WHERE device = :device UNION ALL SELECT * FROM (
        SELECT :device, :stopped, '', by, kind, by, door, NULL, NULL, '', at_ms, NULL, NULL, NULL
        FROM stops WHERE (device IS NULL OR device = :device)
            AND seq > (SELECT max(stop) FROM handed_back WHERE device IN ('', :device))
        ORDER BY seq DESC LIMIT 1
    ) ORDER BY rank DESC
"""


def _rows(db: sqlite3.Connection, device: str) -> list[sqlite3.Row]:
    """The leases of a device and, as one of them, the stop that it was not handed back from."""
    return db.execute(_ROWS, {"device": device, "stopped": STOPPED}).fetchall()


def _check_fence(db: sqlite3.Connection, device: str, who: Holder) -> None:
    """Raises `DeviceBusy` for an attempt that is older than one which was here before."""
    if who.fence is None:
        return
    unit, attempt = who.fence
    row = db.execute("SELECT attempt FROM fences WHERE unit = ?", (unit,)).fetchone()
    if row is not None and row[0] > attempt:
        raise DeviceBusy(
            f"attempt {attempt} of {unit} is over: attempt {row[0]} has started",
            hint="Stop: this attempt is no longer valid.",
            device=device,
            holder=None,
        )
    db.execute("INSERT OR REPLACE INTO fences VALUES (?, ?)", (unit, attempt))


def _insert(db: sqlite3.Connection, rank: int, lease: Lease) -> None:
    held, who = lease.held, lease.held.holder
    process = None if who.pid is None else process_start(who.pid)
    holder = (who.id, who.kind, who.label, who.door, who.pid, process, host_identity())
    db.execute(
        "INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (held.device, rank, lease.token, *holder, held.since_ms, held.until_ms, *(who.fence or (None, None))),
    )


def _held(row: sqlite3.Row) -> HeldLease:
    fence = None if row["unit"] is None else (row["unit"], row["attempt"])
    holder = Holder(row["id"], row["kind"], row["label"], row["door"], row["pid"], fence)
    return HeldLease(row["device"], holder, row["since_ms"], row["until_ms"], row["rank"] == STOPPED)


def _busy(held: HeldLease, now_ms: int) -> DeviceBusy:
    if held.is_stopped:
        return DeviceBusy(
            f"{held.device} was stopped by {held.holder} {ago(held.since_ms, now_ms)}; no one acts on it "
            "until it is handed back",
            hint="Do nothing more here. A person hands it back: at the desk, or by `handrail hand-back`.",
            **held.to_dict(),
        )
    end = ", until it is handed back" if held.until_ms is None else ""
    message = f"{held.device} is held by {held.holder}, who took it {ago(held.since_ms, now_ms)}{end}"
    return DeviceBusy(message, **held.to_dict())


PROC = Path("/proc")


@cache
def host_identity() -> str:
    """Host, boot and pid namespace, in which a pid is unique. Containers may share a home."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()} {boot} {os.readlink(PROC / 'self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def process_start(pid: int) -> str | None:
    """Distinguishes processes that had this pid one after another; None if none has it now."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return _start_without_proc(pid)
    # The name in parentheses may contain a ")"; state and start time are fields 3 and 22.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _start_without_proc(pid: int) -> str | None:
    """Tells without /proc no start time, only whether the process exists."""
    if PROC.joinpath("self").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "?"


class SessionLease:
    """A session's lease on its device. A person who took over acts under their own lease."""

    def __init__(self, leases: Leases, device: str, caller: Caller) -> None:
        self._leases = leases
        self._device = device
        self._holder = _holder(caller, uuid.uuid4().hex[:12])
        self._lease: Lease | None = None
        self._taken_for: Invocation | None = None
        self._taking = asyncio.Lock()
        self._ends = AsyncExitStack()

    @property
    def id(self) -> str:
        """Unique for every session."""
        return self._holder.id

    async def check(self, caller: Caller) -> None:
        """Raises `DeviceBusy` with the holder if another person or agent has the device."""
        taken = await self._leases.holder(self._device) if caller.actor == "person" else None
        if taken is not None and taken.is_of(caller):
            return
        async with self._taking:
            who = self._holder if caller.actor == "person" else _holder(caller, self._holder.id)
            if self._lease is not None and await self._is_still_ours(self._lease):
                if self._lease.held.holder != who:  # agents share the session
                    self._lease = await self._leases.rename(self._lease, who)
                if caller.actor != "person":  # a person who helps does not become the one who keeps it
                    self._taken_for = current.get()
                return
            await self.release()
            held = self._leases.hold(self._device, who)
            self._lease = await self._ends.enter_async_context(held)
            self._taken_for = current.get()

    async def release(self) -> None:
        """May be called more than once."""
        self._lease = None
        await self._ends.aclose()

    async def release_for(self, user: Invocation) -> None:
        """Releases the device if this user of the session was the last to take it; others take it again."""
        async with self._taking:
            if self._taken_for is user:
                await self.release()

    async def _is_still_ours(self, lease: Lease) -> bool:
        """False if it was lost and nobody has the device, as when a laptop was suspended."""
        try:
            await lease.check()
        except DeviceBusy as busy:
            if "holder" in busy.details:
                raise
            return False
        return True


def _holder(caller: Caller, id_: str) -> Holder:
    kind = "cli" if caller.door == "cli" else caller.actor
    fence = caller.fence.attempt if caller.fence is not None else None
    return Holder(id_, kind, label=caller.id, door=caller.door, pid=os.getpid(), fence=fence)


STOP_POLL_MS = 50.0
"""How often a session with running actions reads the stops."""
OBEY_MS = 500.0
"""How long a stop waits for other processes that hold a lease: twice as long as ending may take."""


class StopRequests:
    """Stops of one device, or of all devices of a home. Each holds until `Leases.hand_back`.

    Once it is written, no process begins an input: every dispatch checks its lease. Processes with running
    actions read it within `STOP_POLL_MS` and end them.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        store.create_tables("stops", STOP_TABLES)

    async def ask(self, device: str | None, by: Caller, at_ms: int) -> int:
        """Asks to stop one device or (None) all. Returns the number of the request."""
        row = (canonical(device) if device else None, at_ms, by.id, by.actor, by.door)
        order = "INSERT INTO stops (device, at_ms, by, kind, door) VALUES (?, ?, ?, ?, ?)"
        return int(await self._store.write(lambda db: db.execute(order, row).lastrowid or 0))

    async def newest(self, device: str) -> int:
        """The number of the last request for this device; 0 if there was none."""
        name = canonical(device)
        order = "SELECT max(seq) FROM stops WHERE device IS NULL OR device = ?"
        return await self._store.read(lambda db: int(db.execute(order, (name,)).fetchone()[0] or 0))

    async def obeyed(self, number: int, count: int) -> None:
        """Reports how many actions were stopped."""
        order = "UPDATE stops SET ended = ended + ? WHERE seq = ?"
        await self._store.write(lambda db: db.execute(order, (count, number)))

    async def wait_for_stopped_count(self, number: int, clock: Clock) -> int:
        """Waits for other processes. Returns how many actions they have stopped.

        Several may obey, so it waits two rounds in any case, and to the end where nobody answers.
        """
        began = clock.monotonic_ms()
        order = "SELECT ended FROM stops WHERE seq = ?"
        while True:
            ended = await self._store.read(lambda db: int(db.execute(order, (number,)).fetchone()[0]))
            if clock.monotonic_ms() - began >= (2 * STOP_POLL_MS if ended else OBEY_MS):
                return ended
            await clock.sleep_ms(10)


QUEUE_POLL_MS = 100.0
"""How often a queued caller checks whether it is its turn."""
QUEUE_TABLES = (
    """
    CREATE TABLE hold_queue (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, label TEXT NOT NULL, kind TEXT NOT NULL,
        pid INTEGER NOT NULL, process TEXT, place TEXT NOT NULL, since_ms INTEGER NOT NULL
    ) STRICT
    """,
)
Say = Callable[[str], None]
"""Receives a message about the progress of waiting."""


@dataclass(frozen=True, slots=True)
class QueuedCaller:
    """A caller in the queue for a device."""

    seq: int
    label: str
    kind: str
    since_ms: int

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.label, "kind": self.kind, "since": iso_time(self.since_ms)}


class LeaseQueue:
    """One queue per device for callers with patience, behind a person. Dead processes do not count."""

    def __init__(self, store: Store, clock: Clock, leases: Leases) -> None:
        self._store = store
        self._clock = clock
        self._leases = leases
        store.create_tables("hold_queue", QUEUE_TABLES)

    async def line(self, device: str) -> list[QueuedCaller]:
        """Everybody who waits, in order."""
        order = "SELECT * FROM hold_queue WHERE device = ? ORDER BY seq"
        rows = await self._store.read(lambda db: db.execute(order, (canonical(device),)).fetchall())
        alive = (
            row
            for row in rows
            if row["place"] != host_identity() or process_start(row["pid"]) == row["process"]
        )
        return [QueuedCaller(row["seq"], row["label"], row["kind"], row["since_ms"]) for row in alive]

    async def wait(self, device: str, caller: Caller, say: Say) -> bool:
        """Waits until the device is handed back and it is this caller's turn. Returns whether it had to.

        Raises `DeviceBusy` when the caller's patience ends.
        """
        held = await self._by_another_person(device, caller)
        if held is None:
            return False
        began = self._clock.monotonic_ms()
        async with self._place(device, caller) as seq:
            while (before := sum(waiter.seq < seq for waiter in await self.line(device))) or held is not None:
                waited = self._clock.monotonic_ms() - began
                if waited >= caller.patience_ms:
                    raise _timed_out(device, held, before, waited)
                who = f"{held.holder.name} has the device" if held is not None else "it was handed back"
                say(f"waiting: {who}, you are number {before + 1} in line")
                await self._clock.sleep_ms(min(QUEUE_POLL_MS, caller.patience_ms - waited))
                held = await self._by_another_person(device, caller)
        return True

    async def _by_another_person(self, device: str, caller: Caller) -> HeldLease | None:
        """Raises `DeviceBusy` on a stopped device: what came after a stop is not done when it ends."""
        held = await self._leases.refuse_stopped(device)
        if held is None or held.holder.kind != "person" or held.is_of(caller):
            return None
        return held

    @asynccontextmanager
    async def _place(self, device: str, caller: Caller) -> AsyncIterator[int]:
        here = (os.getpid(), process_start(os.getpid()), host_identity(), self._clock.now_ms())
        row = (canonical(device), caller.id, caller.actor, *here)

        def enter(db: sqlite3.Connection) -> int:
            order = "INSERT INTO hold_queue (device, label, kind, pid, process, place, since_ms)"
            return int(db.execute(f"{order} VALUES (?, ?, ?, ?, ?, ?, ?)", row).lastrowid or 0)

        seq = await self._store.write(enter, durable=False)
        try:
            yield seq
        finally:
            leave = "DELETE FROM hold_queue WHERE seq = ?"
            await self._store.write(lambda db: db.execute(leave, (seq,)), durable=False)


def _timed_out(device: str, held: HeldLease | None, before: int, waited_ms: float) -> DeviceBusy:
    who = f"{held.holder} has {device}" if held is not None else f"others are before you on {device}"
    return DeviceBusy(
        f"{who}; waited {waited_ms / 1000:.0f} s, number {before + 1} in line",
        hint="Try again later, or tell the person that you wait for the device.",
        retryable=True,
        waited_ms=round(waited_ms),
        position=before + 1,
        **(held.to_dict() if held is not None else {"device": device}),
    )
