"""A model behind a server of Anthropic's messages API: real sockets, the real SDK."""

from __future__ import annotations

import asyncio

import pytest
from packages.agent.tests.hosted.anthropic_wire import error, message, streamed, text, use
from packages.agent.tests.hosted.asking import ANTHROPIC, KEY, PROMPT, Watched, ask, opened
from packages.agent.tests.hosted.server import Answer

from handrail.errors import ModelUnavailable
from tests.cases import each

TAP = {"type": "tap", "target": "@b1"}


def test_a_tool_use_is_an_action_and_the_text_beside_it_the_thought() -> None:
    asked = ask(ANTHROPIC, message(text("I save the note."), use("tap", {"target": "@b1"})))
    assert (asked.reply.action, asked.reply.thought, asked.reply.problem) == (TAP, "I save the note.", "")
    assert (asked.reply.usage.input_tokens, asked.reply.usage.output_tokens) == (900, 40)
    assert asked.body["system"][0]["text"] == PROMPT.system
    assert asked.body["tools"][0]["input_schema"] == PROMPT.tools[0]["input_schema"]
    assert asked.body["tool_choice"]["disable_parallel_tool_use"] is True
    assert KEY in " ".join(asked.server.got[0].headers.values())


def test_what_is_the_same_in_every_step_is_marked_for_the_cache() -> None:
    sent = ask(ANTHROPIC, message(use("tap", {"target": "@b1"}))).body
    assert "cache_control" in sent["system"][-1]
    assert "cache_control" in sent["tools"][-1]
    assert "cache_control" not in str(sent["messages"])


def test_a_streamed_tool_use_is_the_same() -> None:
    asked = ask(ANTHROPIC, streamed("I save the note.", "tap", '{"target": "@b1"}'), stream=True)
    assert asked.body["stream"] is True
    assert (asked.reply.action, asked.reply.thought) == (TAP, "I save the note.")


def test_without_tools_the_action_is_read_from_the_text() -> None:
    asked = ask(
        ANTHROPIC, message(text('{"action": {"type": "tap", "target": "@b1"}}'), stop="end_turn"), mode="text"
    )
    assert "tools" not in asked.body
    assert asked.reply.action == TAP


def test_the_picture_is_sent_with_the_text() -> None:
    parts = ask(ANTHROPIC, message(use("tap", {"target": "@b1"}))).body["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["text", "image"]


@each(
    ("answer", "words"),
    [
        (message(stop="end_turn"), "The answer was empty."),
        (message(text("I won't."), stop="refusal"), "The model refused: I won't."),
        (message(text("Well, first"), stop="max_tokens"), "cut off"),
        (Answer(200, (b"x" * 100_000 for _ in range(100))), "longer than"),
    ],
)
def test_what_asking_again_may_mend_is_a_problem_and_no_exception(answer: Answer, words: str) -> None:
    reply = ask(ANTHROPIC, answer).reply
    assert reply.action is None
    assert words in reply.problem


async def test_an_overloaded_server_is_asked_again() -> None:
    clock = Watched()
    good = message(use("tap", {"target": "@b1"}))
    async with opened(ANTHROPIC, error(529, "overloaded_error", "Overloaded"), good, clock=clock) as (
        model,
        _,
    ):
        step = asyncio.create_task(model.step(PROMPT))
        await clock.advance(await clock.pause(1_000, 1_250))
        assert (await step).action == TAP


def test_a_wrong_key_is_told_at_once_and_without_the_key() -> None:
    with pytest.raises(ModelUnavailable) as failed:
        ask(ANTHROPIC, error(401, "authentication_error", f"invalid x-api-key {KEY}"))
    assert failed.value.details["status"] == 401
    assert KEY not in str(failed.value.to_dict())
    assert "ANTHROPIC_API_KEY" in failed.value.hint


def test_a_body_of_another_form_is_an_error_of_the_model() -> None:
    async def story() -> ModelUnavailable:
        clock = Watched()
        async with opened(ANTHROPIC, Answer(200, (b'{"id": 1}',)), clock=clock) as (model, server):
            step = asyncio.create_task(model.step(PROMPT))
            for tries in (1, 2, 3):
                await server.requests(tries)
                await clock.advance(await clock.pause(500 * 2**tries, 625 * 2**tries))
            with pytest.raises(ModelUnavailable) as failed:
                await step
            return failed.value

    assert "not the agreed form" in asyncio.run(story()).message
