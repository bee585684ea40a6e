"""One writer per device: who gets it, who is told to wait, and when a lease ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.safety.leases import TTL_MS, Holder, Lease
from tests.unit.safety.lease_scene import AGENT, FLOW, PHONE, Scene, busy, play

ANNA = Holder("anna", "person", "Anna", "desk")
BEN = Holder("ben", "person", "Ben", "cli")


def test_a_second_holder_is_told_who_since_when_and_until_when(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.leases.acquire(PHONE, AGENT)
        await scene.clock.advance(1500)
        error = await busy(scene.leases.acquire(PHONE, FLOW))
        assert error.message == "127.0.0.1:6555 is held by agent shopper, who took it just now"
        assert error.details["holder"]["id"] == "a1"
        assert error.details["since"] == "2024-03-09T16:00:00.000Z"
        assert error.details["until"] == "2024-03-09T16:00:30.000Z"

    play(tmp_path, story)


def test_two_devices_have_two_holders(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.leases.acquire(PHONE, AGENT)
        await scene.leases.acquire("R58M12345", FLOW)
        assert [(one.device, one.holder.id) for one in await scene.leases.all()] == [
            (PHONE, "a1"),
            ("R58M12345", "f1"),
        ]

    play(tmp_path, story)


@pytest.mark.parametrize("name", ["emulator-5554", "127.0.0.1:5555", "localhost:5555", "[::1]:5555"])
def test_one_device_under_another_name_is_the_same_device(tmp_path: Path, name: str) -> None:
    async def story(scene: Scene) -> None:
        await scene.leases.acquire("emulator-5554", AGENT)
        await busy(scene.leases.acquire(name, FLOW))
        held = await scene.leases.holder(name)
        assert held is not None
        assert held.holder == AGENT

    play(tmp_path, story)


def test_a_released_device_is_free_and_releasing_twice_harms_nobody(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        first = await scene.leases.acquire(PHONE, AGENT)
        await first.release()
        second = await scene.leases.acquire(PHONE, FLOW)
        await first.release()
        await second.check()

    play(tmp_path, story)


def test_a_lease_that_is_not_renewed_ends_by_itself(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        old = await scene.leases.acquire(PHONE, AGENT)
        await scene.clock.advance(TTL_MS - 1)
        await busy(scene.leases.acquire(PHONE, FLOW))
        await scene.clock.advance(1)
        assert await scene.leases.holder(PHONE) is None
        await scene.leases.acquire(PHONE, FLOW)
        assert "held by flow nightly" in (await busy(old.check())).message
        assert "held by flow nightly" in (await busy(old.renew())).message

    play(tmp_path, story)


def test_a_renewed_lease_lasts(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        lease = await scene.leases.acquire(PHONE, AGENT)
        for _ in range(3):
            await scene.clock.advance(TTL_MS - 1)
            await lease.renew()
        await busy(scene.leases.acquire(PHONE, FLOW))

    play(tmp_path, story)


def test_a_late_lease_that_nobody_took_is_still_good_and_counts_again(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        lease = await scene.leases.acquire(PHONE, AGENT)
        await scene.clock.advance(10 * TTL_MS)
        await lease.check()
        await busy(scene.leases.acquire(PHONE, FLOW))

    play(tmp_path, story)


def test_a_lease_that_was_given_up_is_no_right_to_write(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        lease = await scene.leases.acquire(PHONE, AGENT)
        await lease.release()
        error = await busy(lease.check())
        assert (error.hint, error.retryable) == ("Acquire the device again.", True)

    play(tmp_path, story)


def test_a_person_displaces_an_agent_until_the_device_is_handed_back(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        lease = await scene.leases.acquire(PHONE, AGENT)
        await lease.check()
        hers = await scene.leases.take_over(PHONE, ANNA)
        error = await busy(lease.check())
        told = "127.0.0.1:6555 is held by person Anna, who took it just now, until it is handed back"
        assert error.message == told
        assert error.details["until"] is None
        await hers.check()
        now = await scene.leases.hand_back(PHONE)
        assert now is not None
        assert now.holder == AGENT
        await lease.check()
        await busy(hers.check())

    play(tmp_path, story)


def test_a_displaced_agent_keeps_its_place_as_long_as_it_renews(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        lease = await scene.leases.acquire(PHONE, AGENT)
        await scene.leases.take_over(PHONE, ANNA)
        for _ in range(5):
            await scene.clock.advance(TTL_MS - 1)
            await lease.renew()
        await scene.leases.hand_back(PHONE)
        await lease.check()
        await busy(scene.leases.acquire(PHONE, FLOW))

    play(tmp_path, story)


def test_a_persons_hold_outlasts_every_deadline_and_stops_newcomers(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.leases.take_over(PHONE, ANNA)
        await scene.clock.advance(100 * TTL_MS)
        assert "person Anna" in (await busy(scene.leases.acquire(PHONE, AGENT))).message

    play(tmp_path, story)


def test_a_person_does_not_displace_another_person(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.leases.take_over(PHONE, ANNA)
        assert "person Anna" in (await busy(scene.leases.take_over(PHONE, BEN))).message

    play(tmp_path, story)


def test_whoever_takes_over_counts_as_a_person(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.leases.take_over(PHONE, Holder("x", "cli", "somebody"))
        held = await scene.leases.holder(PHONE)
        assert held is not None
        assert held.holder.kind == "person"

    play(tmp_path, story)


def test_a_held_lease_renews_itself_and_is_given_back_at_the_end(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        tasks = len(asyncio.all_tasks())
        async with scene.leases.hold(PHONE, AGENT) as lease:
            start = lease.held.until_ms
            for _ in range(12):
                await scene.clock.advance(TTL_MS / 3)
                await scene.store.read(lambda db: None)  # the store's thread has written what was due
            held = await scene.leases.holder(PHONE)
            assert held is not None
            assert held.until_ms is not None
            assert start is not None
            assert held.until_ms > start + 2 * TTL_MS
        assert await scene.leases.holder(PHONE) is None
        assert len(asyncio.all_tasks()) == tasks

    play(tmp_path, story)


def test_a_held_lease_is_given_back_when_the_block_fails(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        with pytest.raises(LookupError):
            async with scene.leases.hold(PHONE, AGENT):
                raise LookupError
        assert await scene.leases.holder(PHONE) is None

    play(tmp_path, story)


def test_an_acquisition_that_is_cancelled_leaves_no_lease(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        attempt = asyncio.create_task(scene.leases.acquire(PHONE, AGENT))
        await asyncio.sleep(0)
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        assert await scene.leases.all() == []

    play(tmp_path, story)


def test_leases_survive_a_restart_of_the_store(tmp_path: Path) -> None:
    async def first(scene: Scene) -> Lease:
        return await scene.leases.acquire(PHONE, AGENT)

    async def second(scene: Scene) -> None:
        assert "agent shopper" in (await busy(scene.leases.acquire(PHONE, FLOW))).message

    play(tmp_path, first)
    play(tmp_path, second)


def test_a_lost_lease_whose_successor_is_gone_too_can_be_acquired_again(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        old = await scene.leases.acquire(PHONE, AGENT)
        await scene.clock.advance(TTL_MS)
        await scene.leases.acquire(PHONE, FLOW)
        await scene.clock.advance(TTL_MS)
        assert (await busy(old.check())).retryable
        await scene.leases.acquire(PHONE, AGENT)

    play(tmp_path, story)
