"""The ledger against a judge that knows only what was asked and answered, and counts for itself.

The judge keeps a history, shares no code with the ledger, and reads its file with plain SQL at the end.
"""

import sqlite3
import tempfile
from collections import defaultdict
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from handrail_fleet.ledger import AttemptReport, FleetPhone, HostHello, StaleHost, UnitSpec
from handrail_fleet.sqlite_ledger import SqliteLedger
from handrail_sim.clock import ManualClock

LEASE, MARGIN = 8_000.0, 2_000.0
HOSTS = ("one", "two", "three")
PHONES = [FleetPhone(f"p{number}") for number in range(3)]


class Judge(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "fleet.db"
        self.clock = ManualClock()
        self.ledger = SqliteLedger(self.path, self.clock, lease_ms=LEASE, margin_ms=MARGIN)
        self.rules: dict[str, UnitSpec] = {}
        self.stopped: set[str] = set()
        self.incarnations: dict[str, str] = {}
        self.named: dict[tuple[str, int], float] = {}
        """When each attempt was handed out or named last."""
        self.owner: dict[tuple[str, int], tuple[str, str]] = {}
        self.ended: dict[tuple[str, int], str] = {}
        """By a report that the ledger took."""
        self.handed: dict[str, list[int]] = defaultdict(list)
        self.accepted: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self.count = 0

    def teardown(self) -> None:
        self.check_end()
        self.ledger.close()
        self.folder.cleanup()

    def next(self) -> int:
        self.count += 1
        return self.count

    @rule(size=st.integers(1, 3), attempts=st.integers(1, 3), retry=st.booleans(), once=st.booleans())
    def somebody_hands_a_run_in(self, size: int, attempts: int, retry: bool, once: bool) -> None:
        spec = UnitSpec("flow", "f", {}, attempts=1 if once else attempts, retry_lost=retry, once=once)
        run = self.ledger.add_run({}, [spec] * size, "me")
        self.rules |= {f"{run}.{number}": spec for number in range(1, size + 1)}

    @rule(host=st.sampled_from(HOSTS))
    def a_host_begins(self, host: str) -> None:
        incarnation = f"{host}-{self.next()}"
        left = self.ledger.hello(HostHello(host, incarnation, f"key of {host}", phones=PHONES))
        self.incarnations[host] = incarnation
        mine = {one for one, (name, _) in self.owner.items() if name == host and one not in self.ended}
        assert {(one.unit, one.attempt) for one in left} <= mine

    @precondition(lambda self: self.incarnations)
    @rule(data=st.data(), limit=st.integers(1, 3), again=st.booleans())
    def a_host_claims(self, data: st.DataObject, limit: int, again: bool) -> None:
        host = data.draw(st.sampled_from(sorted(self.incarnations)))
        incarnation, ask = self.incarnations[host], f"ask {self.next()}"
        given = self.ledger.claim(host, incarnation, ask, PHONES, limit)
        assert len(given) <= limit
        for one in given:
            self.check_may_be_handed(one.unit)
            self.handed[one.unit].append(one.attempt)
            self.named[one.unit, one.attempt] = self.clock.monotonic_ms()
            self.owner[one.unit, one.attempt] = (host, incarnation)
        if again:
            assert self.ledger.claim(host, incarnation, ask, PHONES, limit) == given or not given

    def check_may_be_handed(self, unit: str) -> None:
        spec, before = self.rules[unit], self.handed[unit]
        assert unit not in self.accepted
        assert unit.partition(".")[0] not in self.stopped
        for number in before:
            over = self.clock.monotonic_ms() - self.named[unit, number]
            assert (unit, number) in self.ended or over > LEASE + MARGIN, "two hosts may work on it"
        tried = [number for number in before if self.ended.get((unit, number)) != "given_back"]
        if tried:
            assert spec.retry_lost, "it did not allow to be repeated"
            assert not spec.once
            assert len(tried) < spec.attempts

    @precondition(lambda self: self.owner)
    @rule(data=st.data())
    def a_process_beats(self, data: st.DataObject) -> None:
        host, incarnation = data.draw(st.sampled_from(sorted(set(self.owner.values()))))
        held = [one for one in list(self.owner) if data.draw(st.booleans())]
        try:
            kept = self.ledger.beat(host, incarnation, held, PHONES)
        except StaleHost:
            assert self.incarnations[host] != incarnation
            return
        assert self.incarnations[host] == incarnation
        for one, is_kept in zip(held, kept, strict=True):
            own = self.owner[one] == (host, incarnation)
            assert not is_kept or (own and one not in self.ended)
            if own and one not in self.ended:
                self.named[one] = self.clock.monotonic_ms()

    @precondition(lambda self: self.owner)
    @rule(data=st.data(), ended=st.sampled_from(["accepted", "accepted", "lost", "cut_off", "given_back"]))
    def a_host_reports(self, data: st.DataObject, ended: str) -> None:
        unit, attempt = data.draw(st.sampled_from(list(self.owner)))
        result = {"said": self.next()} if ended == "accepted" else None
        report = AttemptReport(unit, attempt, ended, result)
        answer = self.ledger.report(self.owner[unit, attempt][0], report)
        if answer == "accepted":
            assert (unit, attempt) not in self.ended, "an attempt ended twice"
            assert attempt == self.handed[unit][-1], "an older fence was believed"
            self.ended[unit, attempt] = ended
            if ended == "accepted":
                self.accepted[unit].append((attempt, str(result)))
        if result is not None:
            assert self.ledger.report(self.owner[unit, attempt][0], report) in (
                ("again",) if answer == "accepted" else ("late",)
            )

    @rule(ms=st.sampled_from([500, 3_000, 7_999, 8_001, 9_999, 10_001]))
    def time_passes(self, ms: int) -> None:
        self.clock._passed_ms += ms  # nobody sleeps on it

    @rule()
    def the_head_sweeps(self) -> None:
        for unit, attempt in self.ledger.sweep():
            assert self.clock.monotonic_ms() - self.named[unit, attempt] > LEASE + MARGIN, "too soon"

    @precondition(lambda self: self.rules)
    @rule(data=st.data())
    def somebody_stops_a_run(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(list(dict.fromkeys(unit.partition(".")[0] for unit in self.rules))))
        self.ledger.stop(run)
        self.stopped.add(run)

    @rule()
    def the_head_dies_and_begins_anew(self) -> None:
        self.ledger.close()
        self.ledger = SqliteLedger(self.path, self.clock, lease_ms=LEASE, margin_ms=MARGIN)

    @invariant()
    def at_most_one_result_counts(self) -> None:
        assert all(len(found) <= 1 for found in self.accepted.values())

    def check_end(self) -> None:
        """Nobody comes any more: every unit has one accepted result, is told as lost, or was never begun."""
        self.clock._passed_ms += LEASE + MARGIN + 1
        self.ledger.sweep()
        db = sqlite3.connect(self.path)
        states = dict(db.execute("SELECT id, state FROM units").fetchall())
        accepted = db.execute(
            "SELECT unit, attempt, result FROM attempts WHERE state = 'accepted'"
        ).fetchall()
        running = db.execute("SELECT count(*) FROM attempts WHERE state = 'running'").fetchone()[0]
        db.close()
        assert running == 0, "a phone is held by nobody"
        assert states.keys() == self.rules.keys()
        assert sorted(unit for unit, _, _ in accepted) == sorted(self.accepted)
        for unit, state in states.items():
            assert (state == "done") == (unit in self.accepted)
            tried = [n for n in self.handed[unit] if self.ended.get((unit, n)) != "given_back"]
            if state in ("lost", "unknown"):
                assert tried
                assert (state == "unknown") == self.rules[unit].once
            if state == "stopped":
                assert not tried or self.rules[unit].retry_lost


Judge.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
test_no_history_makes_two_results_count = Judge.TestCase
