"""The ledger in one SQLite file at the head. Times of leases are the monotonic clock's."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handrail.clock import Clock
from handrail.errors import InvalidAction
from handrail.store import connect, migrate, transaction
from handrail_fleet.fence import LEASE_MS, MARGIN_MS
from handrail_fleet.hand_out import hand_out
from handrail_fleet.ledger import (
    Answered,
    AttemptReport,
    Fenced,
    FleetPhone,
    HandedUnit,
    HostHello,
    StaleHost,
    UnitSpec,
    UnitState,
)

TABLES = (
    """
    CREATE TABLE runs (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, by TEXT NOT NULL,
        made_ms INTEGER NOT NULL, stopping INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE units (
        id TEXT PRIMARY KEY, run TEXT NOT NULL REFERENCES runs (id), number INTEGER NOT NULL,
        kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, wanted TEXT NOT NULL, pins TEXT NOT NULL,
        phones INTEGER NOT NULL, attempts INTEGER NOT NULL, retry_lost INTEGER NOT NULL,
        once INTEGER NOT NULL,
        state TEXT NOT NULL DEFAULT 'todo', attempt INTEGER NOT NULL DEFAULT 0,
        given_back INTEGER NOT NULL DEFAULT 0, UNIQUE (run, number)
    ) STRICT;
    CREATE INDEX units_open ON units (state, run, number);
    CREATE TABLE attempts (
        unit TEXT NOT NULL REFERENCES units (id), attempt INTEGER NOT NULL, host TEXT NOT NULL,
        incarnation TEXT NOT NULL, ask TEXT NOT NULL, phones TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'running', timer TEXT NOT NULL, due_ms REAL NOT NULL,
        handed_ms INTEGER NOT NULL, ended_ms INTEGER, result TEXT, why TEXT NOT NULL DEFAULT '',
        last_entry TEXT NOT NULL DEFAULT '', PRIMARY KEY (unit, attempt)
    ) STRICT;
    CREATE INDEX attempts_running ON attempts (state, host);
    CREATE TABLE late_results (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, unit TEXT NOT NULL, attempt INTEGER NOT NULL,
        host TEXT NOT NULL, at_ms INTEGER NOT NULL, result TEXT, why TEXT NOT NULL, UNIQUE (unit, attempt)
    ) STRICT;
    CREATE TABLE hosts (
        name TEXT PRIMARY KEY, incarnation TEXT NOT NULL, key TEXT NOT NULL, about TEXT NOT NULL,
        phones TEXT NOT NULL, draining INTEGER NOT NULL DEFAULT 0, timer TEXT NOT NULL, due_ms REAL NOT NULL,
        heard_ms INTEGER NOT NULL
    ) STRICT
    """,
)


class SqliteLedger:
    """One connection, one caller at a time."""

    def __init__(
        self, path: Path, clock: Clock, *, lease_ms: float = LEASE_MS, margin_ms: float = MARGIN_MS
    ) -> None:
        self._db = connect(path)
        migrate(self._db, "fleet", TABLES)
        self._clock = clock
        self._lease_ms = lease_ms
        self._margin_ms = margin_ms
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, transaction(self._db):
            yield self._db

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            yield self._db

    def _until(self) -> tuple[str, float]:
        return self._clock.timer, self._clock.monotonic_ms() + self._lease_ms

    # what is to be done

    def add_run(self, spec: Mapping[str, Any], units: Sequence[UnitSpec], by: str) -> str:
        run = f"r{secrets.token_hex(5)}"
        with self._writing() as db:
            row = (run, json.dumps(dict(spec)), by, self._clock.now_ms())
            db.execute("INSERT INTO runs (id, spec, by, made_ms) VALUES (?, ?, ?, ?)", row)
            db.executemany(
                "INSERT INTO units (id, run, number, kind, name, body, wanted, pins, phones, attempts,"
                " retry_lost, once) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_unit_row(run, number, one) for number, one in enumerate(units, 1)],
            )
        return run

    def stop(self, run: str) -> int:
        with self._writing() as db:
            self._must_know(db, run)
            db.execute("UPDATE runs SET stopping = 1 WHERE id = ?", (run,))
            order = "UPDATE units SET state = 'stopped' WHERE run = ? AND state = 'todo'"
            return db.execute(order, (run,)).rowcount

    # hosts

    def hello(self, host: HostHello) -> list[HandedUnit]:
        with self._writing() as db:
            known = db.execute("SELECT * FROM hosts WHERE name = ?", (host.name,)).fetchone()
            if known is not None and known["key"] != host.key:
                raise InvalidAction(
                    f"another machine is known as {host.name}: its journal has another key",
                    path="name",
                    hint=f"Give this host another --name, or `handrail fleet drain {host.name} --forget`.",
                )
            told = (host.incarnation, host.key, json.dumps(dict(host.about)), _phones(host.phones))
            db.execute(
                "INSERT INTO hosts (name, incarnation, key, about, phones, timer, due_ms, heard_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
                " incarnation = excluded.incarnation, about = excluded.about, phones = excluded.phones,"
                " timer = excluded.timer, due_ms = excluded.due_ms, heard_ms = excluded.heard_ms",
                (host.name, *told, *self._until(), self._clock.now_ms()),
            )
            order = "SELECT * FROM attempts WHERE state = 'running' AND host = ? AND incarnation <> ?"
            rows = db.execute(order, (host.name, host.incarnation)).fetchall()
            return [_handed(db, row) for row in rows]

    def claim(
        self, host: str, incarnation: str, ask: str, free: Sequence[FleetPhone], limit: int
    ) -> list[HandedUnit]:
        with self._writing() as db:
            draining = self._check_host(db, host, incarnation)
            order = "SELECT * FROM attempts WHERE host = ? AND incarnation = ? AND ask = ? ORDER BY rowid"
            known = db.execute(order, (host, incarnation, ask)).fetchall()
            if known:
                return [_handed(db, row) for row in known]
            given: list[HandedUnit] = []
            for unit, phones in [] if draining else hand_out(_todo(db), host, free, limit):
                given.append(self._hand(db, unit, host, incarnation, ask, phones))
            return given

    def _hand(
        self, db: sqlite3.Connection, unit: str, host: str, incarnation: str, ask: str, phones: Sequence[str]
    ) -> HandedUnit:
        order = (
            "UPDATE units SET state = 'running', attempt = attempt + 1 WHERE id = ? AND state = 'todo'"
            " RETURNING attempt"
        )
        [(attempt,)] = db.execute(order, (unit,)).fetchall()
        timer, due = self._until()
        row = (unit, attempt, host, incarnation, ask, json.dumps(phones), timer, due, self._clock.now_ms())
        db.execute(
            "INSERT INTO attempts (unit, attempt, host, incarnation, ask, phones, timer, due_ms, handed_ms)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        return _handed(db, _attempt(db, unit, attempt))

    def beat(
        self, host: str, incarnation: str, held: Sequence[Fenced], phones: Sequence[FleetPhone]
    ) -> list[bool]:
        with self._writing() as db:
            self._check_host(db, host, incarnation)
            timer, due = self._until()
            db.execute(
                "UPDATE hosts SET phones = ?, timer = ?, due_ms = ?, heard_ms = ? WHERE name = ?",
                (_phones(phones), timer, due, self._clock.now_ms(), host),
            )
            renew = (
                "UPDATE attempts SET timer = ?, due_ms = ? WHERE unit = ? AND attempt = ? AND host = ?"
                " AND incarnation = ? AND state = 'running'"
            )
            kept = [db.execute(renew, (timer, due, *one, host, incarnation)).rowcount > 0 for one in held]
            return [
                is_kept and not _is_stopping(db, unit) for is_kept, (unit, _) in zip(kept, held, strict=True)
            ]

    def report(self, host: str, report: AttemptReport) -> Answered:
        with self._writing() as db:
            row = _attempt(db, report.unit, report.attempt)
            if row is None or row["host"] != host:
                raise InvalidAction(f"{host} was never given attempt {report.attempt} of {report.unit}")
            written = None if report.result is None else json.dumps(dict(report.result))
            if row["state"] != "running":
                return self._late(db, row, report, written)
            self._end(db, row, report, written)
            return "accepted"

    def _late(
        self, db: sqlite3.Connection, row: sqlite3.Row, report: AttemptReport, written: str | None
    ) -> Answered:
        """The same once more, or a result for what was given up: kept, counted, and not believed."""
        if row["state"] == report.ended and row["result"] == written:
            return "again"
        evidence = (report.unit, report.attempt, row["host"], self._clock.now_ms(), written, report.why)
        db.execute(
            "INSERT INTO late_results (unit, attempt, host, at_ms, result, why) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (unit, attempt) DO NOTHING",
            evidence,
        )
        return "late"

    def _end(
        self, db: sqlite3.Connection, row: sqlite3.Row, report: AttemptReport, written: str | None = None
    ) -> None:
        """An attempt's end, and with it what becomes of its unit."""
        ends = (report.ended, self._clock.now_ms(), written, report.why, report.last_entry)
        order = "UPDATE attempts SET state = ?, ended_ms = ?, result = ?, why = ?, last_entry = ?"
        db.execute(f"{order} WHERE unit = ? AND attempt = ?", (*ends, report.unit, report.attempt))
        joined = "SELECT units.*, stopping FROM units JOIN runs ON runs.id = units.run WHERE units.id = ?"
        unit = db.execute(joined, (row["unit"],)).fetchone()
        given_back = unit["given_back"] + (report.ended == "given_back")
        may_again = (
            unit["retry_lost"] and not unit["once"] and unit["attempt"] - given_back < unit["attempts"]
        )
        state: UnitState
        match report.ended:
            case "accepted":
                state = "done"
            case "given_back":
                state = "stopped" if unit["stopping"] else "todo"
            case _ if may_again and not unit["stopping"]:
                state = "todo"
            case _:
                state = "unknown" if unit["once"] else "lost"
        change = "UPDATE units SET state = ?, given_back = ? WHERE id = ?"
        db.execute(change, (state, given_back, row["unit"]))

    def sweep(self) -> list[Fenced]:
        with self._writing() as db:
            timer, now = self._clock.timer, self._clock.monotonic_ms()
            # After a reboot of the head nothing can be compared: everybody gets one more lease.
            again = (timer, now + self._lease_ms, timer)
            db.execute("UPDATE hosts SET timer = ?, due_ms = ? WHERE timer <> ?", again)
            db.execute(
                "UPDATE attempts SET timer = ?, due_ms = ? WHERE state = 'running' AND timer <> ?", again
            )
            order = "SELECT * FROM attempts WHERE state = 'running' AND due_ms < ?"
            over = db.execute(order, (now - self._margin_ms,)).fetchall()
            for row in over:
                why = f"{row['host']} was not heard of for {(self._lease_ms + self._margin_ms) / 1000:g} s"
                self._end(db, row, AttemptReport(row["unit"], row["attempt"], "lost", why=why))
            return [(row["unit"], row["attempt"]) for row in over]

    def drain(self, host: str, draining: bool) -> None:
        with self._writing() as db:
            if not db.execute("UPDATE hosts SET draining = ? WHERE name = ?", (draining, host)).rowcount:
                raise _no_host(db, host)

    def forget(self, host: str) -> None:
        """A host that will not come back. What it was given ends by its lease."""
        with self._writing() as db:
            if not db.execute("DELETE FROM hosts WHERE name = ?", (host,)).rowcount:
                raise _no_host(db, host)

    def check(self, host: str, incarnation: str) -> None:
        with self._reading() as db:
            self._check_host(db, host, incarnation)

    def _check_host(self, db: sqlite3.Connection, host: str, incarnation: str) -> bool:
        """Whether it is being drained. Raises `StaleHost` for a process that another one has replaced."""
        row = db.execute("SELECT incarnation, draining FROM hosts WHERE name = ?", (host,)).fetchone()
        if row is None or row["incarnation"] != incarnation:
            raise StaleHost(f"{host} has started again, or is not known here")
        return bool(row["draining"])

    # reading

    def runs(self, limit: int = 50) -> list[dict[str, Any]]:
        with self._reading() as db:
            rows = db.execute("SELECT * FROM runs ORDER BY seq DESC LIMIT ?", (limit,)).fetchall()
            return [_run(db, row) for row in rows]

    def run(self, run: str) -> dict[str, Any]:
        with self._reading() as db:
            return _run(db, self._must_know(db, run))

    def _must_know(self, db: sqlite3.Connection, run: str) -> sqlite3.Row:
        row: sqlite3.Row | None = db.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            hint = "`handrail fleet status` lists the runs."
            raise InvalidAction(f"There is no run {run!r:.60}", path="run", hint=hint)
        return row

    def units(self, run: str, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        order = (
            "SELECT units.id AS unit, number, kind, name, units.state, units.attempt, host, attempts.phones,"
            " handed_ms, ended_ms, result, why, last_entry FROM units LEFT JOIN attempts ON"
            " attempts.unit = units.id AND attempts.attempt = units.attempt"
            " WHERE run = ? AND number > ? ORDER BY number LIMIT ?"
        )
        with self._reading() as db:
            return [_told(row) for row in db.execute(order, (run, after, limit))]

    def attempts(self, unit: str) -> list[dict[str, Any]]:
        with self._reading() as db:
            order = "SELECT * FROM attempts WHERE unit = ? ORDER BY attempt"
            return [_told(row) for row in db.execute(order, (unit,))]

    def hosts(self) -> list[dict[str, Any]]:
        timer, now = self._clock.timer, self._clock.monotonic_ms()
        order = "SELECT unit, attempt, phones FROM attempts WHERE state = 'running' AND host = ?"
        with self._reading() as db:
            found = []
            for row in db.execute("SELECT * FROM hosts ORDER BY name").fetchall():
                told = _told(row)
                told["alive"] = row["timer"] == timer and row["due_ms"] >= now
                told["held"] = [_told(one) for one in db.execute(order, (row["name"],))]
                found.append(told)
            return found


def _unit_row(run: str, number: int, one: UnitSpec) -> tuple[Any, ...]:
    return (
        f"{run}.{number}", run, number, one.kind, one.name, json.dumps(dict(one.body)), one.where,
        json.dumps(one.pins), one.phones, one.attempts, one.retry_lost, one.once,
    )  # fmt: skip


def _todo(db: sqlite3.Connection) -> Iterator[sqlite3.Row]:
    """Oldest run first; read as far as somebody wants."""
    order = (
        "SELECT units.id, wanted, pins, phones FROM units JOIN runs ON runs.id = units.run"
        " WHERE state = 'todo' ORDER BY runs.seq, number"
    )
    return iter(db.execute(order).fetchall())


def _attempt(db: sqlite3.Connection, unit: str, attempt: int) -> Any:
    order = "SELECT * FROM attempts WHERE unit = ? AND attempt = ?"
    return db.execute(order, (unit, attempt)).fetchone()


def _is_stopping(db: sqlite3.Connection, unit: str) -> bool:
    order = "SELECT stopping FROM runs JOIN units ON units.run = runs.id WHERE units.id = ?"
    return bool(db.execute(order, (unit,)).fetchone()[0])


def _handed(db: sqlite3.Connection, row: sqlite3.Row) -> HandedUnit:
    unit = db.execute("SELECT kind, name, body FROM units WHERE id = ?", (row["unit"],)).fetchone()
    phones = tuple(json.loads(row["phones"]))
    return HandedUnit(
        row["unit"], row["attempt"], unit["kind"], unit["name"], json.loads(unit["body"]), phones
    )


def _run(db: sqlite3.Connection, row: sqlite3.Row) -> dict[str, Any]:
    counts = dict(
        db.execute("SELECT state, count(*) FROM units WHERE run = ? GROUP BY state", (row["id"],)).fetchall()
    )
    late = "SELECT count(*) FROM late_results JOIN units ON units.id = late_results.unit WHERE run = ?"
    over = not counts.get("todo") and not counts.get("running")
    state = "done" if over else "stopping" if row["stopping"] else "open"
    return _told(row) | {
        "counts": counts,
        "late": db.execute(late, (row["id"],)).fetchone()[0],
        "state": state,
    }


_JSON: dict[str, Callable[[str], Any]] = dict.fromkeys(
    ("spec", "phones", "about", "result", "body"), json.loads
)


def _told(row: sqlite3.Row) -> dict[str, Any]:
    return {
        key: _JSON[key](row[key]) if key in _JSON and isinstance(row[key], str) else row[key]
        for key in row.keys()  # noqa: SIM118  (a Row iterates over its values)
    }


def _phones(phones: Sequence[FleetPhone]) -> str:
    return json.dumps([phone.to_dict() for phone in phones])


def _no_host(db: sqlite3.Connection, host: str) -> InvalidAction:
    names = ", ".join(row[0] for row in db.execute("SELECT name FROM hosts ORDER BY name"))
    return InvalidAction(f"There is no host {host!r:.60}", path="host", hint=f"There are {names or 'none'}.")
