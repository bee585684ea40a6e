"""When a link tries to connect, for whom, how often and how long. The connections themselves are played."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.direct import AdbdConnection, Direct
from handrail.errors import AdbConnectionError, DeviceError, DeviceOffline
from handrail_sim.clock import ManualClock
from tests.unit.adb.lone_connection import WELCOME, Lone
from tests.unit.adb.wires import now, run_without_complaints, turns

PATIENCE_MS = 10_000
"""What a link has by itself."""


class Played(Direct):
    """Every try waits at a gate, and then fails with what is left in `errors`, or comes up."""

    def __init__(self, *errors: DeviceError, open_gate: bool = True, **options: float) -> None:
        self.clock = ManualClock()
        super().__init__("phone", 5555, keys=[], clock=self.clock, **options)
        self.errors = list(errors)
        self.tries: list[tuple[float, float]] = []
        self.ended: list[str] = []
        self.lone: Lone | None = None
        self.gate = asyncio.Event()
        if open_gate:
            self.gate.set()

    async def _once(self, left_ms: float) -> AdbdConnection:
        self.tries.append((self.clock.monotonic_ms(), left_ms))
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        if self.errors:
            raise self.errors.pop(0)
        self.lone = Lone(list)
        self.lone.comes(WELCOME)
        return self.lone.connection


def gone(*, retryable: bool = True) -> DeviceError:
    return DeviceOffline("it is gone", hint="Wait.", retryable=retryable, state="offline")


async def given_up(link: Played) -> DeviceError:
    """The failure of `check`, with as much time as it wants."""
    checking = asyncio.ensure_future(link.check())
    while not checking.done():
        await turns()
        await link.clock.advance(10)
    with pytest.raises(DeviceError) as caught:
        await checking
    return caught.value


def test_an_address_is_shown_as_adb_writes_it() -> None:
    assert Direct("10.0.0.3", 5555).serial == "10.0.0.3:5555"
    assert Direct("::1", 5555).serial == "[::1]:5555"


def test_pauses_get_longer_up_to_two_seconds_until_patience_ends() -> None:
    async def story() -> None:
        link = Played(*[gone() for _ in range(20)])
        error = await given_up(link)
        times = [0, 50, 150, 350, 750, 1550, 3150, 5150, 7150, 9150]
        assert link.tries == [(at, PATIENCE_MS - at) for at in times]
        assert (error.message, error.hint) == ("it is gone (tried for 9.2 s)", "Wait.")
        assert error.details == {"state": "offline", "tried_ms": 9150}
        assert type(error) is DeviceOffline

    run_without_complaints(story)


def test_a_pause_that_would_use_up_all_patience_is_not_begun() -> None:
    async def story() -> None:
        link = Played(*[gone() for _ in range(20)], patience_ms=150)
        assert (await given_up(link)).message == "it is gone (tried for 0.1 s)"
        assert [at for at, _ in link.tries] == [0, 50]
        longer = Played(*[gone() for _ in range(20)], patience_ms=151)
        await given_up(longer)
        assert [at for at, _ in longer.tries] == [0, 50, 150]

    run_without_complaints(story)


def test_what_another_try_can_not_mend_is_told_at_once() -> None:
    async def story() -> None:
        link = Played(gone(retryable=False))
        error = await given_up(link)
        assert (error.message, error.details["tried_ms"], link.clock.monotonic_ms()) == ("it is gone", 0, 10)
        assert len(link.tries) == 1

    run_without_complaints(story)


def test_a_link_comes_up_at_the_try_that_works_and_stays_up() -> None:
    async def story() -> None:
        link = Played(gone(), gone())
        assert not link.connected
        asking = asyncio.ensure_future(link.features())
        await turns()
        await link.clock.advance(150)
        assert await now(asking) == {"cmd", "shell_v2"}
        assert link.connected
        await now(link.check())
        assert len(link.tries) == 3

    run_without_complaints(story)


def test_a_lost_line_is_made_anew_by_the_next_who_needs_it() -> None:
    async def story() -> None:
        link = Played()
        await now(link.check())
        assert link.lone is not None
        link.lone.connection.abort()
        assert not link.connected
        assert len(link.tries) == 1
        opening = asyncio.ensure_future(link.open("tcp:1"))
        await turns()
        assert len(link.tries) == 2
        assert link.connected
        opening.cancel()

    run_without_complaints(story)


def test_after_a_failure_the_next_one_tries_afresh() -> None:
    async def story() -> None:
        link = Played(gone(retryable=False))
        await given_up(link)
        await now(link.check())
        assert len(link.tries) == 2

    run_without_complaints(story)


def test_all_who_wait_share_one_try_which_goes_on_while_one_of_them_does() -> None:
    async def story() -> None:
        link = Played(open_gate=False)
        first, second = (asyncio.ensure_future(link.check()) for _ in range(2))
        await turns()
        assert len(link.tries) == 1
        first.cancel()
        await turns()
        assert (first.cancelled(), second.done(), link.ended) == (True, False, [])
        third = asyncio.ensure_future(link.check())
        link.gate.set()
        await now(asyncio.gather(second, third))
        assert len(link.tries) == 1

    run_without_complaints(story)


def test_a_try_that_nobody_waits_for_ends_and_the_next_one_is_new() -> None:
    async def story() -> None:
        link = Played(open_gate=False)
        checking = asyncio.ensure_future(link.check())
        await turns()
        checking.cancel()
        await turns()
        assert (checking.cancelled(), link.ended) == (True, ["cancelled"])
        link.gate.set()
        await now(link.check())
        assert len(link.tries) == 2

    run_without_complaints(story)


def test_closing_ends_the_try_and_tells_those_who_wait() -> None:
    async def story() -> None:
        link = Played(open_gate=False)
        waiting = [asyncio.ensure_future(link.check()) for _ in range(2)]
        await turns()
        await now(link.close())
        assert link.ended == ["cancelled"]
        for work in (*waiting, link.check(), link.open("tcp:1")):
            with pytest.raises(AdbConnectionError) as caught:
                await now(work)
            assert caught.value.message == "the link to phone:5555 was closed"
            assert caught.value.details == {"delivery": "not_delivered"}
        assert len(link.tries) == 1

    run_without_complaints(story)


def test_closing_a_link_that_is_up_ends_its_connection() -> None:
    async def story() -> None:
        link = Played()
        await now(link.check())
        await now(link.close())
        assert link.lone is not None
        assert (link.lone.transport.aborted, link.connected) == (True, False)
        await now(Played().close())

    run_without_complaints(story)


def test_who_is_cancelled_while_the_link_is_closed_stays_cancelled() -> None:
    async def story() -> None:
        link = Played(open_gate=False)
        waiting = asyncio.ensure_future(link.check())
        await turns()
        closing = asyncio.ensure_future(link.close())
        waiting.cancel()
        await now(closing)
        assert waiting.cancelled()
        assert link.ended == ["cancelled"]

    run_without_complaints(story)
