"""Somebody sets the machine's clock back by an hour: deadlines hold, holds end, the journal stays proved."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from handrail import clock as clocks
from handrail.clock import SystemClock, WallClock
from handrail.desk.desk import Desk
from handrail.errors import DeviceBusy
from handrail.protocol.read import action_from
from handrail.safety.leases import Holder
from tests.scenario.test_desk_actions import window
from tests.scenario.world import play_live, until, world

ASYNC_RUNNER = play_live

HOUR_MS = 3_600_000
MINUTE_MS = 60_000


class Hand:
    """The wall clock of this test."""

    def __init__(self) -> None:
        self.by_ms = 0

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self.by_ms


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    made = Hand()
    monkeypatch.setattr(clocks, "_wall", WallClock(made.wall_ms))
    return made


async def test_a_wait_and_a_question_to_a_person_end_in_their_time(tmp_path: Path, hand: Hand) -> None:
    async with world(tmp_path, clock=SystemClock()) as w:
        asking = asyncio.create_task(
            w.session.request_human_auth("Look here.", capability="camera", timeout_sec=2)
        )
        await until(w.runtime.approvals.pending)
        hand.by_ms -= HOUR_MS
        envelope = await asking
        assert envelope.failure_code == "ACTION_REJECTED", envelope.to_json()
        assert (await w.session.wait(300)).success
        assert await w.runtime.approvals.pending() == []


async def test_a_hold_and_a_lock_that_were_there_before_end_in_their_time(tmp_path: Path, hand: Hand) -> None:
    async with world(tmp_path, clock=SystemClock()) as w:
        leases = w.runtime.leases
        await leases.acquire("phone-1", Holder("other", "agent", label="a machine that is gone"), MINUTE_MS)
        with pytest.raises(DeviceBusy):
            await leases.acquire("phone-1", Holder("me", "agent"))
        hand.by_ms -= HOUR_MS
        assert await leases.holder("phone-1") is not None
        hand.by_ms += MINUTE_MS
        assert await leases.holder("phone-1") is None
        desk = await Desk.open(w.runtime.store, SystemClock())
        try:
            await desk.apply(action_from(window("a")), "ada", False)
            toast = {"type": "toast.show", "id": "t", "message": "soon gone", "duration": 300}
            await desk.apply(action_from(toast), "ada", False)
            hand.by_ms -= HOUR_MS
            await until(lambda: not desk.state.toasts)
        finally:
            await desk.close()


async def test_the_journal_stays_proved_and_in_order(tmp_path: Path, hand: Hand) -> None:
    async with world(tmp_path, clock=SystemClock()) as w:
        for _ in range(3):
            assert (await w.session.press_key("volume_up", reason="I count")).success
            hand.by_ms -= HOUR_MS
        verdict = w.runtime.journal.verify()
        assert verdict.ok, verdict
        times = [event["at_ms"] for event in w.events()]
        assert times == sorted(times)
        rows = w.runtime.journal.actions()
        assert [row.seq for row in rows] == sorted((row.seq for row in rows), reverse=True)
