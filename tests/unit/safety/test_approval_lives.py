"""Approvals are final: a short run of `python tests/fuzz/approvals.py`, and the clock set back by hand."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from handrail.errors import ActionRejected
from handrail.safety.approval_store import TABLES
from handrail.safety.approvals import Approvals
from handrail.store import Store
from handrail_sim.clock import ManualClock
from tests.fuzz.approvals import run as random_lives
from tests.unit.safety.asking import ASKER, Desk, approved, bound, desk, question, run

HOUR_MS = 3_600_000


def test_no_random_life_of_an_approval_gets_past_a_naive_judge() -> None:
    tally = random_lives(lives=3, steps=250, seed=17)
    assert (
        min(tally[what] for what in ("answer counted", "answer refused", "use counted", "use refused")) > 15
    )


@pytest.mark.slow
def test_many_random_lives_of_approvals_get_past_no_naive_judge() -> None:
    assert random_lives(lives=40, steps=400, seed=1_700)["use counted"] > 400


async def test_the_clock_set_back_does_not_revive_a_question_whose_asker_died(tmp_path: Path) -> None:
    """Nobody looked at it between its end and the new time."""
    clock = ManualClock()
    async with desk(tmp_path, clock) as at:
        waiting, one = await at.ask(question())
        await at.store.write(lambda db: db.execute("CREATE TABLE kept AS SELECT * FROM approvals"))
        waiting.cancel()
        await asyncio.wait({waiting})
        await at.store.write(lambda db: db.execute("DELETE FROM approvals"))
        await at.store.write(lambda db: db.execute("INSERT INTO approvals SELECT * FROM kept"))
        asked_at = clock.now_ms()
        await clock.advance(300_000)
        clock.set_wall(asked_at + 1_000)
        with pytest.raises(ActionRejected, match="is expired"):
            await at.approvals.answer(one.id, True, "ada")


def test_the_clock_set_back_while_somebody_waits_ends_the_question_at_its_own_time(tmp_path: Path) -> None:
    clock = ManualClock()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        clock.set_wall(clock.now_ms() - HOUR_MS)
        await clock.advance(300_000)
        assert (await waiting).decision == "expired"
        with pytest.raises(ActionRejected, match="is expired"):
            await at.approvals.answer(one.id, True, "ada")

    run(tmp_path, story, clock=clock)


def test_the_clock_set_back_does_not_make_a_yes_young_again(tmp_path: Path) -> None:
    clock = ManualClock()

    async def story(at: Desk) -> None:
        id_ = await approved(at)
        answered_at = clock.now_ms()
        await clock.advance(300_000)
        clock.set_wall(answered_at)
        with pytest.raises(ActionRejected, match="is too old"):
            await at.approvals.consume(id_, bound(), ASKER)

    run(tmp_path, story, clock=clock)


def test_a_machine_that_was_started_anew_with_an_older_clock_uses_nothing_of_the_future(
    tmp_path: Path,
) -> None:
    async def story(at: Desk) -> None:
        id_ = await approved(at)
        async with desk(tmp_path, ManualClock(at.clock.now_ms() - HOUR_MS)) as anew:
            with pytest.raises(ActionRejected, match="is too old"):
                await anew.approvals.consume(id_, bound(), ASKER)

    run(tmp_path, story)


def test_the_clock_set_forward_ends_a_question_for_good(tmp_path: Path) -> None:
    clock = ManualClock()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        true_time = clock.now_ms()
        clock.set_wall(true_time + HOUR_MS)
        assert await at.approvals.pending() == []
        clock.set_wall(true_time)
        with pytest.raises(ActionRejected, match="is expired"):
            await at.approvals.answer(one.id, True, "ada")
        await at.approvals.withdraw(one.id)
        assert (await waiting).decision == "expired"

    run(tmp_path, story, clock=clock)


def test_a_yes_that_was_given_before_askers_were_known_is_nobodys(tmp_path: Path) -> None:
    """A store of version 0.1 holds it; an asker without a name does not get it either."""
    file = tmp_path / "handrail.db"
    db = sqlite3.connect(file)
    db.executescript(TABLES[0])
    db.executescript("CREATE TABLE parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;")
    db.execute("INSERT INTO parts VALUES ('approvals', 1)")
    db.execute(
        "INSERT INTO approvals (id, state, created_ms, expires_ms, kind, capability, instruction, reason,"
        " why, action, digest, device, fingerprint, label, door, asked_by, offered, token_hash, answered_ms)"
        " VALUES ('ap_old', 'approved', 1, 9e15, 'policy', 'unknown', '', '', '', '{\"type\": \"tap\"}', ?,"
        " 'd', 'f', '', '', '', 'never', '', 1)",
        (bound(),),
    )
    db.commit()
    db.close()

    async def story() -> None:
        store = Store(file)
        try:
            old = Approvals(store, ManualClock())
            for asker in (ASKER, ""):
                with pytest.raises(ActionRejected):
                    await old.consume("ap_old", bound(), asker)
                assert await old.left_behind(bound(), asker) is None
        finally:
            store.close()

    asyncio.run(story())
