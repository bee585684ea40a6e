"""When a link tries to connect, for whom, how often and how long. The connections themselves are played."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.direct import AdbdConnection, Direct
from handrail.errors import AdbConnectionError, DeviceError, DeviceOffline
from handrail_sim.clock import ManualClock
from tests.unit.adb.lone_connection import WELCOME, Lone
from tests.unit.adb.wires import now, run_without_complaints, turns

ASYNC_RUNNER = run_without_complaints


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


def test_an_address_is_shown_as_adb_writes_it() -> None:
    assert Direct("10.0.0.3", 5555).serial == "10.0.0.3:5555"
    assert Direct("::1", 5555).serial == "[::1]:5555"


async def test_a_link_comes_up_at_the_try_that_works_and_stays_up() -> None:
    link = Played(gone(), gone())
    assert not link.connected
    asking = asyncio.ensure_future(link.features())
    await turns()
    await link.clock.advance(150)
    assert await now(asking) == {"cmd", "shell_v2"}
    assert link.connected
    await now(link.check())
    assert len(link.tries) == 3


async def test_all_who_wait_share_one_try_which_goes_on_while_one_of_them_does() -> None:
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


async def test_closing_ends_the_try_and_tells_those_who_wait() -> None:
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
