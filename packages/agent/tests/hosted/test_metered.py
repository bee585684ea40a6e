"""Runs on a phone against servers that keep to nothing: what was spent, by the server's own count.

The judge is the server: it knows how many requests came, which limit each had, and how many bytes it sent.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packages.agent.tests.hosted import anthropic_wire, openai_wire, responses_wire
from packages.agent.tests.hosted.asking import ENV, PROMPT, Watched, opened
from packages.agent.tests.hosted.server import Answer, Got, Planned, Reset, Server, serving

from handrail_agent.budget import Budget
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import TRY_MS, BilledModel, ModelOptions, Usage
from handrail_agent.models import open_model
from handrail_agent.run_data import RunResult
from handrail_agent.task import Task
from tests.scenario.world import FastClock, play_live, world

pytestmark = pytest.mark.slow
WORDS = "word and word "
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("openai:tiny", {}),
    "openai text": ("openai:tiny", {"mode": "text"}),
    "openai stream": ("openai:tiny", {"stream": True}),
    "anthropic": ("anthropic:claude-haiku-4-5", {}),
    "anthropic stream": ("anthropic:claude-haiku-4-5", {"stream": True}),
    "openai computer": ("openai:gpt-5.6", {"tools": "computer"}),
    "anthropic computer": ("anthropic:claude-sonnet-5", {"tools": "computer"}),
}
every = pytest.mark.parametrize("case", CASES)
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def says(case: str, text: str, usage: Any) -> Answer:
    """One answer with these words and this bill, in the form of the case; None leaves the bill out."""
    if case.endswith("stream"):
        return _streamed(case, [text], usage)
    form = case.partition(" ")[0]
    if case == "openai computer":
        data = json.loads(b"".join(responses_wire.response(responses_wire.says(text)).chunks))
    elif form == "openai":
        data = json.loads(b"".join(openai_wire.says(text).chunks))
    else:
        data = json.loads(b"".join(anthropic_wire.message(anthropic_wire.text(text), stop="end_turn").chunks))
    return openai_wire.body(
        {**{key: value for key, value in data.items() if key != "usage"}, **_bill(case, usage)}
    )


def _bill(case: str, usage: Any) -> dict[str, Any]:
    if usage is None:
        return {}
    names = (
        ("prompt_tokens", "completion_tokens") if case in OPENAI_CHAT else ("input_tokens", "output_tokens")
    )
    return {"usage": dict(zip(names, usage, strict=True))}


OPENAI_CHAT = ("openai", "openai text", "openai stream")


def _events(case: str, texts: list[str], usage: Any) -> Iterator[bytes]:
    if case == "openai stream":
        for text in texts:
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "tiny"}
            piece = {"index": 0, "delta": {"content": text}, "finish_reason": None}
            yield f"data: {json.dumps({**chunk, 'choices': [piece]})}\n\n".encode()
        last = {
            **chunk,
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
            **_bill(case, usage),
        }
        yield f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode()
        return
    message = {"id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": []}
    events: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {**message, "stop_reason": None, "usage": {"input_tokens": 0, "output_tokens": 0}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": one}}
            for one in texts
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 0},
            **_bill(case, usage),
        },
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _streamed(case: str, texts: list[str], usage: Any) -> Answer:
    return Answer(200, list(_events(case, texts, usage)), content_type="text/event-stream")


def cut_after(answer: Answer, part: float) -> Answer:
    """The connection is lost in the middle of the words."""
    whole = b"".join(answer.chunks)
    return Answer(200, (whole[: int(len(whole) * part)],), answer.headers, answer.content_type, breaks=True)


def endless(case: str) -> Callable[[Got], Answer]:
    """Words that never end, whatever limit was asked for."""

    def answer(_: Got) -> Answer:
        opening = b"".join(says(case, WORDS * 50, None).chunks).partition(WORDS.encode())[0]
        if not case.endswith("stream"):
            return Answer(200, (opening, *((WORDS * 300).encode() for _ in range(5_000))))
        event = next(one for one in _events(case, [WORDS * 20], None) if WORDS.encode() in one)
        return Answer(
            200,
            (opening.rpartition(b"\n\n")[0] + b"\n\n", *(event for _ in range(50_000))),
            content_type="text/event-stream",
        )

    return answer


async def _run(home: Path, case: str, server: Server, tokens: int | None, steps: int) -> RunResult:
    spec, wishes = CASES[case]
    async with world(home, clock=(clock := FastClock(50.0))) as w:
        base = server.url + ("/v1" if spec.startswith("openai") else "")
        model = open_model(spec, env=ENV, clock=clock, base_url=base, **wishes)
        speech = None
        if ModelOptions(**wishes).tools == "computer":
            from handrail_agent.computer import ComputerSpeech  # noqa: PLC0415

            speech = ComputerSpeech.of_maker(model.dialect)  # type: ignore[attr-defined]
        try:
            return await run_task(
                w.session,
                Task.of("Save a note."),
                model,
                clock=clock,
                budget=Budget(steps=steps, tokens=tokens),
                terms=Terms(pictures=False, speech=speech),
            )
        finally:
            await model.close()


def ran(
    home: Path, case: str, *answers: Planned, tokens: int | None = None, steps: int = 1
) -> tuple[RunResult, Server]:
    async def story() -> tuple[RunResult, Server]:
        async with serving(*answers) as server:
            return await _run(home, case, server, tokens, steps), server

    return play_live(story())


def limits(server: Server) -> list[int]:
    """Of every request, the loosest limit that it names; one without any fails the test."""
    return [max(got.body[name] for name in LIMITS if name in got.body) for got in server.got]


@every
def test_every_call_has_a_limit_also_without_a_budget(tmp_path: Path, case: str) -> None:
    _, server = ran(tmp_path / "home", case, says(case, "Hm.", (900, 5)))
    assert server.got
    assert all(0 < limit <= 8_192 for limit in limits(server))


@every
def test_a_runaway_answer_ends_the_run_after_one_call(tmp_path: Path, case: str) -> None:
    result, server = ran(tmp_path / "home", case, endless(case), tokens=9_000, steps=50)
    assert result.outcome == "out_of_tokens"
    assert result.spend.calls == len(server.got)
    assert all(limit <= 9_000 for limit in limits(server))
    assert server.sent < 12_000_000  # of 21 million; what the sockets hold was sent, too
    assert result.spend.estimated_tokens == result.spend.tokens >= 9_000


@every
def test_the_limit_of_every_call_is_what_the_calls_before_it_left(tmp_path: Path, case: str) -> None:
    result, server = ran(tmp_path / "home", case, says(case, "", (900, 40)), tokens=2_500, steps=9)
    assert limits(server) == [2_500 - 940 * number for number in range(len(server.got))]
    assert result.outcome == "out_of_tokens"
    assert result.spend.tokens == 940 * len(server.got)
    assert result.spend.estimated_tokens == 0


LIES = {"missing": None, "zero": (0, 0), "negative": (-5, -7), "huge": (10**12, 10**12), "odd": ("9", 1.5)}


@every
@pytest.mark.parametrize("lie", LIES)
def test_a_bill_that_can_not_be_true_is_replaced_by_a_count(tmp_path: Path, case: str, lie: str) -> None:
    said = WORDS * 200
    result, server = ran(tmp_path / "home", case, says(case, said, LIES[lie]))
    spend, calls = result.spend, len(server.got)
    assert spend.calls == calls > 0
    assert len(said) / 6 <= spend.output_tokens / calls <= len(said) / 2
    asked = sum(len(re.sub('"[^"]{10000,}"', "x" * 8_000, json.dumps(got.body))) for got in server.got)
    assert asked / 64 <= spend.input_tokens <= asked
    assert spend.estimated_tokens == spend.tokens


@every
def test_a_call_that_breaks_off_has_cost_what_was_sent_before(tmp_path: Path, case: str) -> None:
    said = WORDS * 400
    broken = cut_after(says(case, said, (900, 40)), 0.5)
    result, server = ran(tmp_path / "home", case, broken)
    spend, calls = result.spend, len(server.got)
    assert spend.calls == calls > 1  # it was asked again
    assert server.sent / 16 <= spend.output_tokens <= server.sent / 2
    assert spend.estimated_tokens == spend.tokens


@every
def test_tries_after_a_break_stop_where_the_budget_is_used_up(tmp_path: Path, case: str) -> None:
    broken = cut_after(says(case, WORDS * 2_000, None), 0.9)
    result, server = ran(tmp_path / "home", case, broken, tokens=5_000, steps=9)
    assert len(server.got) < 3
    assert result.outcome == "out_of_tokens"
    assert result.spend.calls == len(server.got)


@every
@pytest.mark.parametrize("status", [307, 400, 429, 500])
def test_a_refused_call_is_a_call_without_tokens(tmp_path: Path, case: str, status: int) -> None:
    headers = {"Location": "http://127.0.0.1:9/v1"} if status == 307 else {}
    refusal = Answer(status, (b'{"error": {"message": "No.", "type": "odd"}}',), headers)
    result, server = ran(tmp_path / "home", case, refusal)
    assert (result.outcome, result.spend.tokens) == ("failed", 0)
    assert result.spend.calls == len(server.got) > 0


@every
def test_garbage_is_counted_as_it_came(tmp_path: Path, case: str) -> None:
    garbage = Answer(200, (b"<html>" + b"oops " * 1_000,))
    result, server = ran(tmp_path / "home", case, garbage)
    assert result.outcome == "failed"
    assert result.spend.calls == len(server.got) == 4
    assert server.sent / 6 <= result.spend.output_tokens <= server.sent / 2


@every
def test_a_lost_connection_has_cost_what_was_asked(tmp_path: Path, case: str) -> None:
    result, server = ran(tmp_path / "home", case, Reset())
    assert result.spend.calls == len(server.got) == 4
    assert result.spend.output_tokens == 0
    assert result.spend.input_tokens == result.spend.estimated_tokens > 0


async def _heard(case: str, then: Callable[[Watched, asyncio.Task[Any]], Awaitable[None]]) -> list[Usage]:
    """The bill of a question whose answer stops coming in the middle of its words."""
    spec, wishes = CASES[case]
    whole = says(case, SAID, (900, 40))
    data = b"".join(whole.chunks)
    part = data[: data.rindex(WORDS.encode())]
    stops = Answer(200, (part,), whole.headers, whole.content_type, hangs=True)
    clock = Watched()
    async with opened(spec, stops, clock=clock, **wishes) as (model, server):
        assert isinstance(model, BilledModel)
        asking = asyncio.create_task(model.step(PROMPT))
        await server.requests(1)
        async with asyncio.timeout(60):
            while not model.bill()[0].output_tokens:
                await asyncio.sleep(0)
        await then(clock, asking)
        asking.cancel()
        await asyncio.wait([asking])
        return model.bill()


SAID = WORDS * 100


@every
def test_a_call_that_is_stopped_counts_with_what_had_come(case: str) -> None:
    async def stop(_: Watched, asking: asyncio.Task[Any]) -> None:
        asking.cancel()

    [usage] = asyncio.run(_heard(case, stop))
    assert usage.is_estimate
    assert usage.input_tokens > 0
    assert len(SAID) / 6 <= usage.output_tokens <= len(SAID) / 2


@every
def test_a_drip_that_never_ends_is_ended_by_the_clock_and_counted(case: str) -> None:
    async def wait(clock: Watched, asking: asyncio.Task[Any]) -> None:
        await clock.advance(TRY_MS)
        await clock.pause(1_000, 1_250)  # before it is asked again
        assert not asking.done()

    [usage] = asyncio.run(_heard(case, wait))
    assert usage.is_estimate
    assert len(SAID) / 6 <= usage.output_tokens <= len(SAID) / 2


def test_a_server_that_knows_one_name_of_the_limit_is_asked_by_it(tmp_path: Path) -> None:
    def picky(got: Got) -> Answer:
        if "max_completion_tokens" in got.body:
            return openai_wire.error(422, "unknown field: max_completion_tokens")
        return openai_wire.says('{"type": "finish"}')

    result, server = ran(tmp_path / "home", "openai", picky, tokens=5_000)
    assert [sorted(set(LIMITS) & set(got.body)) for got in server.got] == [
        ["max_completion_tokens", "max_tokens"],
        ["max_tokens"],
    ]
    assert result.spend.calls == 2


def test_nobody_heard_is_no_call(tmp_path: Path) -> None:
    async def story() -> RunResult:
        async with serving(Reset()) as server:
            await server.close_door()
            return await _run(tmp_path / "home", "openai", server, None, 1)

    assert play_live(story()).spend.calls == 0
