"""Reads come again, a bounded number of times, within their deadline."""

from __future__ import annotations

import asyncio

import pytest

from handrail.android.input import retry_read
from handrail.errors import AdbCommandError, HandrailError, SecureScreen, Timeout, TreeParseError
from handrail_sim.clock import ManualClock


class Read:
    """Fails as often as it has errors, then answers; keeps when it was asked."""

    def __init__(self, clock: ManualClock, *errors: HandrailError, takes_ms: float = 0) -> None:
        self.clock = clock
        self.errors = list(errors)
        self.takes_ms = takes_ms
        self.left: list[float] = []

    async def __call__(self, left_ms: float) -> str:
        self.left.append(left_ms)
        if self.takes_ms:
            await self.clock.sleep_ms(self.takes_ms)
        if self.errors:
            raise self.errors.pop(0)
        return "read"


async def run(read: Read, deadline_ms: float = 30_000) -> str:
    work = asyncio.ensure_future(retry_read(read, read.clock, deadline_ms=deadline_ms))
    while not work.done():
        await asyncio.sleep(0)
        await read.clock.advance(50)
    return work.result()


def test_a_read_that_hiccups_twice_answers_after_growing_pauses() -> None:
    read = Read(ManualClock(), AdbCommandError("null root"), TreeParseError("cut"))
    assert asyncio.run(run(read)) == "read"
    assert read.left == [30_000, 29_900, 29_600]


def test_the_third_failure_is_told_with_the_number_of_attempts() -> None:
    read = Read(ManualClock(), *(AdbCommandError(f"number {n}") for n in (1, 2, 3)))
    with pytest.raises(AdbCommandError, match="number 3") as caught:
        asyncio.run(run(read))
    assert caught.value.details["attempts"] == 3


def test_no_attempt_begins_past_the_deadline() -> None:
    read = Read(ManualClock(), *(AdbCommandError("slow") for _ in range(3)), takes_ms=600)
    with pytest.raises(AdbCommandError):
        asyncio.run(run(read, deadline_ms=650))
    assert len(read.left) == 1


@pytest.mark.parametrize("error", [SecureScreen("no"), Timeout("late")])
def test_what_will_not_pass_is_not_tried_again(error: HandrailError) -> None:
    read = Read(ManualClock(), error)
    with pytest.raises(type(error)):
        asyncio.run(run(read))
    assert len(read.left) == 1
