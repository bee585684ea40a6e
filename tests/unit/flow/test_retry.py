from __future__ import annotations

import asyncio

from handrail.flow.run import may_repeat, run_with_retries
from handrail.protocol.envelope import Envelope
from handrail_sim.clock import ManualClock
from tests.cases import each


def envelope(**facts: object) -> Envelope:
    failed = {"lifecycle_state": "failed", "success": False, "failure_code": "ELEMENT_NOT_INTERACTABLE"}
    known = {
        "action_id": "tap_1710000000000_1", "timestamp": "2026-01-01T00:00:00.000Z", "action_type": "tap",
        "semantic": "selection", "source_module": "interact", "delivery": "not_delivered",
        "retryable": True,
    }  # fmt: skip
    return Envelope.model_validate({**known, **failed, **facts})


GOOD = envelope(lifecycle_state="verified", success=True, failure_code=None, delivery="delivered")


async def passing(clock: ManualClock, work: asyncio.Task[object]) -> None:
    while not work.done():
        await clock.advance(100)
        await asyncio.sleep(0)


def tried(answers: list[Envelope], retry: int) -> tuple[Envelope, int, float]:
    async def story() -> tuple[Envelope, int, float]:
        clock = ManualClock()
        left = iter(answers)

        async def once() -> Envelope:
            return next(left)

        work = asyncio.create_task(run_with_retries(once, retry, clock))
        await passing(clock, work)  # type: ignore[arg-type]
        return (*work.result(), clock.monotonic_ms())

    return asyncio.run(story())


def test_what_is_retryable_is_tried_until_it_works() -> None:
    last, count, _ = tried([envelope(), envelope(), GOOD], 5)
    assert last.success
    assert count == 3


def test_no_more_tries_than_were_given() -> None:
    last, count, _ = tried([envelope()] * 3, 2)
    assert not last.success
    assert count == 3


def test_pauses_grow() -> None:
    _, _, took = tried([envelope()] * 4, 3)
    assert took >= 200 + 400 + 800


@each(
    "failure",
    [
        envelope(retryable=False),
        envelope(delivery="unknown"),
        envelope(failure_code="ASSERTION_FAILED", retryable=None),
    ],
)
def test_what_may_have_been_done_or_is_hopeless_is_not_repeated(failure: Envelope) -> None:
    assert not may_repeat(failure)
    assert tried([failure], 5)[1] == 1
