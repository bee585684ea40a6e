"""Busy, broken and silent servers: how often a model is asked, after which pauses, and what is told."""

from __future__ import annotations

import asyncio
from email.utils import formatdate

import pytest
from packages.agent.tests.hosted.asking import OPENAI, PROMPT, Watched, ask, opened
from packages.agent.tests.hosted.openai_wire import body, calls, error, streamed
from packages.agent.tests.hosted.server import Answer, Hang, Reset
from pydantic_ai.exceptions import ModelHTTPError

from handrail.errors import ModelUnavailable
from handrail_agent.model import TRY_MS, Reply
from handrail_agent.models.http_client import JITTER, LONGEST_WAIT_MS, TRIES, retry_after_ms
from tests.cases import each

GOOD = calls(("tap", {"target": "@b1"}))
TAP = {"type": "tap", "target": "@b1"}
HALF = Answer(200, list(streamed({"content": "I"}).chunks)[:1], content_type="text/event-stream", breaks=True)


def patiently(
    *answers: Answer | Hang | Reset, pauses: list[float], stream: bool = False
) -> tuple[Reply, int]:
    """Each pause must be asked for, with its jitter, before anything is sent again."""

    async def story() -> tuple[Reply, int]:
        clock = Watched()
        async with opened(OPENAI, *answers, clock=clock, stream=stream) as (model, server):
            step = asyncio.create_task(model.step(PROMPT))
            try:
                for tries, pause_ms in enumerate(pauses, 1):
                    await server.requests(tries)
                    asked_ms = await clock.pause(pause_ms, pause_ms * (1 + JITTER))
                    assert len(server.got) == tries
                    await clock.advance(asked_ms)
                return await step, len(server.got)
            finally:
                step.cancel()

    return asyncio.run(story())


def test_a_busy_server_is_left_alone_for_as_long_as_it_asked() -> None:
    reply, tries = patiently(error(429, "Slow down.", retry_after="7"), GOOD, pauses=[7_000])
    assert (reply.action, tries) == (TAP, 2)


def test_a_date_to_come_back_at_is_obeyed_too() -> None:
    date = formatdate(Watched().now_ms() / 1000 + 40, usegmt=True)
    reply, _ = patiently(error(503, "Back soon.", retry_after=date), GOOD, pauses=[40_000])
    assert reply.action == TAP


def test_pauses_double_where_the_server_says_nothing() -> None:
    reply, tries = patiently(
        error(429, "Slow down."), error(500, "Ouch."), Reset(), GOOD, pauses=[1_000, 2_000, 4_000]
    )
    assert (reply.action, tries) == (TAP, 4)


def test_a_body_that_is_no_json_is_asked_for_again() -> None:
    assert patiently(body(b"<html>oops</html>"), GOOD, pauses=[1_000])[0].action == TAP


def test_a_stream_that_breaks_off_is_asked_for_again() -> None:
    whole = streamed({"content": '{"action": {"type": "tap", "target": "@b1"}}'})
    assert patiently(HALF, whole, pauses=[1_000], stream=True)[0].action == TAP


async def test_a_connection_that_hangs_is_given_up_and_asked_again() -> None:
    clock = Watched()
    async with opened(OPENAI, Hang(), GOOD, clock=clock) as (model, server):
        step = asyncio.create_task(model.step(PROMPT))
        await server.requests(1)
        await clock.advance(TRY_MS - 1)
        assert not step.done()
        await clock.advance(1)
        await clock.advance(await clock.pause(1_000, 1_250))
        assert (await step).action == TAP
        assert len(server.got) == 2


def test_a_slow_server_may_be_given_more_time() -> None:
    async def story() -> int:
        clock = Watched()
        async with opened(OPENAI, Hang(), GOOD, clock=clock, try_ms=10 * TRY_MS) as (model, server):
            step = asyncio.create_task(model.step(PROMPT))
            await server.requests(1)
            await clock.advance(10 * TRY_MS - 1)
            asked = len(server.got)
            await clock.advance(1)
            await clock.advance(await clock.pause(1_000, 1_250))
            await step
            return asked

    assert asyncio.run(story()) == 1


def test_a_server_that_stays_silent_is_told_after_the_last_try() -> None:
    async def story() -> ModelUnavailable:
        clock = Watched()
        async with opened(OPENAI, Hang(), clock=clock) as (model, server):
            step = asyncio.create_task(model.step(PROMPT))
            for tries in range(1, TRIES + 1):
                await server.requests(tries)
                await clock.advance(TRY_MS)
                if tries < TRIES:
                    await clock.advance(await clock.pause(500 * 2**tries, 625 * 2**tries))
            with pytest.raises(ModelUnavailable) as failed:
                await step
            assert len(server.got) == TRIES
            return failed.value

    failed = asyncio.run(story())
    assert "did not answer within 120 s (4 tries)" in failed.message
    assert failed.retryable


@each(
    ("answer", "status", "hint"),
    [
        (error(401, "Wrong key.", "invalid_api_key"), 401, "OPENAI_API_KEY"),
        (error(404, "No such model.", "model_not_found"), 404, "base URL"),
        (error(400, "tiny does not support tools"), 400, "--text"),
        (error(400, "Too long.", "context_length_exceeded"), 400, "context is too small"),
        (error(429, "No money left.", "insufficient_quota"), 429, "quota is used up"),
        (Answer(307, (), {"Location": "http://127.0.0.1:9/v1"}), 307, "redirects"),
    ],
)
def test_what_waiting_does_not_mend_is_told_at_once(answer: Answer, status: int, hint: str) -> None:
    async def story() -> ModelUnavailable:
        async with opened(OPENAI, answer) as (model, server):
            with pytest.raises(ModelUnavailable) as failed:
                await model.step(PROMPT)
            assert len(server.got) == 1
            return failed.value

    failed = asyncio.run(story())
    assert failed.details["status"] == status
    assert hint in failed.hint
    assert not failed.retryable


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    with pytest.raises(ModelUnavailable, match="answered 429: Later") as failed:
        ask(OPENAI, error(429, "Later.", retry_after="3600"))
    assert failed.value.details["retry_after_ms"] == 3_600_000 > LONGEST_WAIT_MS


def test_nobody_at_the_address_is_told_with_the_address() -> None:
    async def story() -> str:
        clock = Watched()
        async with opened(OPENAI, GOOD, clock=clock) as (model, server):
            await server.close_door()
            step = asyncio.create_task(model.step(PROMPT))
            for tries in range(1, TRIES):
                await clock.advance(await clock.pause(500 * 2**tries, 625 * 2**tries))
            with pytest.raises(ModelUnavailable) as failed:
                await step
            assert server.url in failed.value.message
            return failed.value.hint

    assert "See that the server runs" in asyncio.run(story())


async def test_a_step_that_is_cancelled_leaves_nothing_open() -> None:
    async with opened(OPENAI, Hang(), clock=Watched()) as (model, server):
        step = asyncio.create_task(model.step(PROMPT))
        await server.requests(1)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        await server.all_gone()


@each(
    ("header", "expected"),
    [("5", 5_000), ("0.5", 500), ("-3", 0), ("nan", None), ("soon", None), ("", None), ("9" * 400, None)],
)
def test_a_retry_after_that_says_nothing_counts_as_none(header: str, expected: float | None) -> None:
    failed = ModelHTTPError(429, "tiny", headers={"retry-after": header})
    assert retry_after_ms(failed, 0) == expected


def test_milliseconds_are_more_exact_than_seconds() -> None:
    failed = ModelHTTPError(429, "tiny", headers={"retry-after": "2", "retry-after-ms": "1250"})
    assert retry_after_ms(failed, 0) == 1_250


def test_a_date_in_the_past_is_now() -> None:
    failed = ModelHTTPError(429, "tiny", headers={"retry-after": formatdate(1_000, usegmt=True)})
    assert retry_after_ms(failed, 2_000_000) == 0
