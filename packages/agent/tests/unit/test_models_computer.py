"""One question to a server with the maker's computer tool: busy, broken, cut off, garbled, redirecting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from packages.agent.tests.hosted import anthropic_wire, responses_wire
from packages.agent.tests.hosted.asking import ENV, KEY, PNG, Watched, ask, opened
from packages.agent.tests.hosted.makers import ANTHROPIC, MAKERS, OPENAI, Maker, click, size, types
from packages.agent.tests.hosted.openai_wire import body, error
from packages.agent.tests.hosted.server import Answer, Reset

from handrail.clock import SystemClock
from handrail.errors import InvalidAction, ModelUnavailable
from handrail_agent.model import CallResult, Exchange, Prompt, PromptTurn, Reply
from handrail_agent.models import open_model
from handrail_agent.models.http_client import TRIES
from handrail_sim.clock import ManualClock
from tests.cases import each

both = pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)
PROMPT = Prompt("You work on a phone.", (PromptTurn("user", "Save it.", PNG),), display=(540, 1200))


def said(maker: Maker, *answers: Any, prompt: Prompt = PROMPT) -> Any:
    return ask(maker.spec, *answers, prompt=prompt, tools="computer")


def fails(maker: Maker, *answers: Any) -> tuple[ModelUnavailable, int]:
    """The error, and how many requests were made; pauses last no time."""

    async def run() -> tuple[ModelUnavailable, int]:
        async with opened(maker.spec, *answers, clock=Hasty(), tools="computer") as (model, server):
            with pytest.raises(ModelUnavailable) as caught:
                await model.step(PROMPT)
            return caught.value, len(server.got)

    return asyncio.run(run())


class Hasty(SystemClock):
    """Pauses of seconds are over at once."""

    async def sleep_ms(self, duration_ms: float) -> None:
        await asyncio.sleep(0 if duration_ms < 100_000 else duration_ms)


@both
@pytest.mark.parametrize(("status", "header", "least_ms"), [
    (429, {"retry_after": "7"}, 7_000), (429, {"retry_after_ms": "1500"}, 1_500), (529, {}, 1_000),
    (500, {}, 1_000), (503, {"retry_after": "3"}, 3_000),
])  # fmt: skip
def test_a_busy_server_is_asked_again_after_the_pause_that_it_wants(
    maker: Maker, status: int, header: dict[str, str], least_ms: float
) -> None:
    async def run() -> None:
        clock = Watched()
        busy = error(status, "Too much", **header)
        async with opened(maker.spec, busy, maker.acts(types("x")), clock=clock, tools="computer") as (
            model,
            server,
        ):
            asking = asyncio.create_task(model.step(PROMPT))
            pause = await clock.pause(least_ms, least_ms * 1.3)
            assert len(server.got) == 1
            await clock.advance(pause)
            assert len((await asking).calls) == 1
            assert server.got[0].body == server.got[1].body

    asyncio.run(run())


@both
@pytest.mark.parametrize(
    "answer",
    [error(429, "Busy"), error(529, "Overloaded"), error(500, "Ouch"), Reset(), body(b"<html>", 200)],
)
def test_a_server_that_stays_broken_is_given_up(maker: Maker, answer: Any) -> None:
    problem, requests = fails(maker, answer)
    assert requests == TRIES
    assert problem.retryable


@both
@pytest.mark.parametrize(("answer", "hint"), [
    (error(401, f"Bad key {KEY}"), "Check the key"), (error(404, "no model"), "Check the model's name"),
    (error(429, "pay", "insufficient_quota"), "quota"), (error(400, "messages: too many"), ""),
    (error(429, "Busy", retry_after="500"), "not too busy"),
    (Answer(302, (b"",), {"location": "http://127.0.0.1:1/"}), "redirects"),
])  # fmt: skip
def test_what_waiting_does_not_mend_is_told_at_once(maker: Maker, answer: Answer, hint: str) -> None:
    problem, requests = fails(maker, answer)
    assert requests == 1
    assert hint in (problem.hint or "")
    assert KEY not in problem.message


@both
def test_a_key_that_a_server_repeats_is_told_nowhere(maker: Maker) -> None:
    reply = said(maker, maker.acts(types(f"the key is {KEY}"), says=KEY)).reply
    assert KEY not in repr(reply)


def cut(maker: Maker) -> Answer:
    if maker is ANTHROPIC:
        return anthropic_wire.message(anthropic_wire.use("computer", {}), stop="max_tokens")
    return responses_wire.response(responses_wire.REASONING, status="incomplete", reason="max_output_tokens")


@both
def test_half_an_answer_is_neither_done_nor_sent_back(maker: Maker) -> None:
    reply: Reply = said(maker, cut(maker)).reply
    assert (reply.calls, reply.blocks, reply.action) == ((), (), None)
    assert "cut off" in reply.problem
    assert reply.usage.output_tokens > 0


@both
@pytest.mark.parametrize("wrong", [
    lambda good: [], lambda good: {}, lambda good: {**good, "content": 7, "output": 7},
    lambda good: {**good, "content": [7], "output": [7]},
    lambda good: {**good, "content": [{"type": "tool_use"}], "output": [{"type": "computer_call"}]},
    lambda good: {**good, "content": [{}], "output": [{}]},
])  # fmt: skip
def test_what_is_no_answer_is_one_error(maker: Maker, wrong: Callable[[Any], Any]) -> None:
    good = json.loads(b"".join(maker.says("Done.").chunks))
    problem, _ = fails(maker, body(wrong(good)))
    assert "the answer" in problem.message


@both
def test_an_empty_answer_is_asked_about_again(maker: Maker) -> None:
    empty = anthropic_wire.message(stop="end_turn") if maker is ANTHROPIC else responses_wire.response()
    assert "empty" in said(maker, empty).reply.problem


@both
def test_without_a_picture_the_display_still_has_a_size(maker: Maker) -> None:
    call = maker.acts(click(1, 1))
    first = said(maker, call).reply
    done = CallResult(first.calls[0].id, "Done.")
    talk = replace(PROMPT, exchanges=(Exchange(first.blocks, (done,), "The screen is secret.", None),))
    sent = said(maker, maker.says("Done."), prompt=talk)
    shown = maker.pictures(sent.server.got[0])[1:]  # OpenAI takes no result without one
    assert list(map(size, shown)) == ([(540, 1200)] if maker is OPENAI else [])


@each("wish", [{"mode": "text"}, {"sees": False}, {"stream": True}])
def test_wishes_that_do_not_go_together_are_refused(wish: dict[str, Any]) -> None:
    with pytest.raises(InvalidAction) as caught:
        open_model(OPENAI.spec, env=ENV, clock=ManualClock(), tools="computer", **wish)
    assert caught.value.details["path"] == "tools"


@each("spec", ["nothing", "random:1", "scripted:x.yaml", "telepathy:1"])
def test_only_makers_have_a_computer_tool(spec: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        open_model(spec, env=ENV, clock=ManualClock(), tools="computer")
    assert caught.value.details["path"] == "tools"


def test_damaged_answers_are_errors_of_ours_or_problems_of_the_models() -> None:
    from packages.agent.tests.fuzz.computer_answers import run  # noqa: PLC0415  (it imports both makers' libraries)

    assert sum(run(600, seed=1).values()) == 600
