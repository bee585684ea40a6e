"""The ledger's process is killed before any one of its SQL statements; the file is judged by plain SQL."""

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

from handrail_fleet.ledger import AttemptReport, FleetPhone, HostHello, UnitSpec
from handrail_fleet.sqlite_ledger import SqliteLedger
from handrail_sim.clock import ManualClock

PHONES = [FleetPhone("p1"), FleetPhone("p2")]


def open_ledger(path: Path, clock: ManualClock) -> SqliteLedger:
    return SqliteLedger(path, clock, lease_ms=8_000, margin_ms=2_000)


def story(ledger: SqliteLedger, clock: ManualClock, run: str) -> None:
    """Everything that changes rows; each call may be repeated after a kill."""
    ledger.hello(HostHello("one", "i1", "k1", phones=PHONES))
    first, second = ledger.claim("one", "i1", "a1", PHONES, 2)
    ledger.beat("one", "i1", [(first.unit, 1), (second.unit, 1)], PHONES)
    ledger.report("one", AttemptReport(first.unit, 1, "accepted", {"outcome": "passed"}))
    clock._passed_ms += 10_001
    ledger.sweep()
    ledger.report("one", AttemptReport(second.unit, 1, "accepted", {"outcome": "late"}))
    for one in ledger.claim("one", "i1", "a2", PHONES, 2):
        ledger.report("one", AttemptReport(one.unit, one.attempt, "accepted", {"outcome": "passed"}))
    ledger.stop(run)


def in_a_process(work: Callable[[], None]) -> int:
    """Its wait status."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def killed_at(path: Path, run: str, statement: int) -> bool:
    """Whether the process lived until there."""

    def work() -> None:
        clock = ManualClock()
        clock.timer = "the machine's"
        ledger = open_ledger(path, clock)
        seen = 0

        def count(_: str) -> None:
            nonlocal seen
            seen += 1
            if seen == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        ledger._db.set_trace_callback(count)
        story(ledger, clock, run)

    status = in_a_process(work)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def judge(path: Path) -> None:
    db = sqlite3.connect(path)
    rows = db.execute(
        "SELECT units.id, units.state, units.attempt, (SELECT count(*) FROM attempts WHERE unit = units.id),"
        " (SELECT count(*) FROM attempts WHERE unit = units.id AND state = 'accepted'),"
        " (SELECT count(*) FROM attempts WHERE unit = units.id AND state = 'running') FROM units"
    ).fetchall()
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for unit, state, attempt, tried, accepted, running in rows:
        assert attempt == tried, unit
        assert accepted == (state == "done"), unit
        assert running == (state == "running"), unit
    db.close()


def test_a_kill_between_any_two_statements_leaves_a_whole_ledger(tmp_path: Path) -> None:
    statement = 0
    lived = True
    while lived:
        statement += 1
        path = tmp_path / f"{statement}.db"
        clock = ManualClock()
        clock.timer = "the machine's"
        ledger = open_ledger(path, clock)
        run = ledger.add_run({}, [UnitSpec("flow", "f", {}, attempts=3, retry_lost=True)] * 3, "me")
        ledger.close()
        lived = killed_at(path, run, statement)
        judge(path)
        finish(path, run)
        judge(path)
    assert statement > 50


def finish(path: Path, run: str) -> None:
    """The next process goes on, whatever the one before had done: one result for each unit."""
    clock = ManualClock()
    clock.timer = "the machine's"
    clock._passed_ms = 30_000
    ledger = open_ledger(path, clock)
    ledger.sweep()
    ledger.hello(HostHello("one", "i2", "k1", phones=PHONES))
    while given := ledger.claim("one", "i2", f"more {clock.monotonic_ms()}", PHONES, 2):
        clock._passed_ms += 1
        for one in given:
            report = AttemptReport(one.unit, one.attempt, "accepted", {"outcome": "passed"})
            assert ledger.report("one", report) == "accepted"
    states = {one["state"] for one in ledger.units(run)}
    assert states == {"done"} or (ledger.run(run)["stopping"] and states <= {"done", "stopped"})
    ledger.close()
