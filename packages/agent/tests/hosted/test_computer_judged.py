"""The makers' own packages judge what is sent: by their types, and by sending the same themselves.

Each body was sent by a whole run on a phone. The packages' types are closed here, so that a misspelt or
surplus field is a fault.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packages.agent.tests.agent_world import SETTINGS
from packages.agent.tests.hosted import anthropic_wire
from packages.agent.tests.hosted.asking import KEY
from packages.agent.tests.hosted.closed_types import faults
from packages.agent.tests.hosted.makers import ANTHROPIC, MAKERS, OPENAI, Maker, middle, types
from packages.agent.tests.hosted.openai_wire import error
from packages.agent.tests.hosted.server import Answer, Got, Planned, serving
from packages.agent.tests.hosted.test_computer import CHECK, clicks, run, shown_at, small

from handrail_agent.task import Task
from tests.scenario.people import asked
from tests.scenario.world import FastClock, play_live, world

pytestmark = pytest.mark.slow

both = pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)


def judge(maker: Maker, body: dict[str, Any]) -> list[str]:
    """What is wrong with it by the types of the maker's package."""
    if maker is ANTHROPIC:
        params = pytest.importorskip("anthropic.types.beta.message_create_params")
        return faults(body, params.MessageCreateParamsNonStreaming)
    params = pytest.importorskip("openai.types.responses.response_create_params")
    return faults(body, params.ResponseCreateParamsNonStreaming)


async def whole_run(home: Path, maker: Maker) -> list[Got]:
    """A function, a batch that fails, an answer that can't be run, words, and OpenAI's check."""
    clock = FastClock()
    async with world(home, clock=clock, phone=small(clock)) as w:
        await w.open(SETTINGS)

        def batch(got: Got) -> Answer:
            return maker.acts(shown_at(w, maker, got, "Search settings"), types("x"), middle(9, 9))

        checks = {"checks": [CHECK]} if maker is OPENAI else {}
        plan: list[Planned] = [
            maker.call("start_app", {"package": SETTINGS}),
            batch,
            maker.acts(middle(9, 9)),
            clicks(w, maker, "x", **checks),
            maker.says("Done."),
        ]
        async with serving(*plan) as server:
            running = asyncio.create_task(run(w, server, maker, Task.of("Do it.")))
            if checks:
                [one] = await asked(w)
                await w.runtime.approvals.answer(one.id, True, "lena")
            result = await running
        assert result.outcome == "finished", result
        return server.got


@pytest.fixture(scope="module", params=MAKERS, ids=lambda maker: maker.name)
def sent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    home = tmp_path_factory.mktemp("judged")
    return request.param, play_live(whole_run(home, request.param))


def test_every_request_is_of_the_makers_own_types(sent: tuple[Maker, list[Got]]) -> None:
    maker, got = sent
    assert len(got) == 5
    assert [judge(maker, one.body) for one in got] == [[]] * 5
    talk = json.dumps(got[-1].body)
    assert ("tool_result" in talk) == (maker is ANTHROPIC)
    assert ("acknowledged_safety_checks" in talk) == (maker is OPENAI)


def test_the_judge_finds_faults(sent: tuple[Maker, list[Got]]) -> None:
    """Every single field of the last request is misspelt once, at any depth; those of the model's own too."""
    maker, got = sent
    changes = [
        (path, body) for path, body in misspelt(got[-1].body) if FREE[maker.name].isdisjoint(path[:-1])
    ]
    assert len(changes) > 60
    assert [path for path, body in changes if not judge(maker, body)] == []


FREE = {"anthropic": {"input", "input_schema"}, "openai": {"parameters"}}
"""Where anything may stand: schemas, and what a tool is given. OpenAI's `input` is the talk itself."""


def misspelt(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            for at, changed in misspelt(item, (*path, str(number))):
                yield at, [*value[:number], changed, *value[number + 1 :]]
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), {(f"{key}_" if one == key else one): value[one] for one in value}
            for at, changed in misspelt(item, (*path, key)):
                yield at, {**value, key: changed}


def test_the_makers_package_sends_the_same(sent: tuple[Maker, list[Got]]) -> None:
    """And it reads the server's answer, so that the server speaks the protocol."""
    maker, got = sent
    theirs = play_live(by_package(maker, got[-1].body, maker.acts(types("x"))))
    assert theirs.path == got[-1].path == maker.path
    assert theirs.body == got[-1].body
    for name in ("anthropic-version", "anthropic-beta", "content-type"):
        assert theirs.headers.get(name) == got[-1].headers.get(name)
    assert all(KEY in str(one.headers) for one in (theirs, got[-1]))  # Anthropic takes it in two headers


async def by_package(maker: Maker, body: dict[str, Any], answer: Answer, **more: Any) -> Got:
    async with serving(answer) as server:
        if maker is ANTHROPIC:
            anthropic = pytest.importorskip("anthropic")
            async with anthropic.AsyncAnthropic(base_url=server.url, api_key=KEY, max_retries=0) as client:
                message = await client.beta.messages.create(**body, **more)
            assert [block.type for block in message.content] == ["tool_use"]
        else:
            openai = pytest.importorskip("openai")
            async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0) as client:
                response = await client.responses.create(**body)
            assert [type(item).__name__ for item in response.output] == [
                "ResponseReasoningItem",
                "ResponseComputerToolCall",
            ]
        return server.got[0]


def test_older_tools_and_their_header_are_those_of_the_package(tmp_path: Path) -> None:
    unknown = error(400, "unknown tool computer_toolset_20260801")

    async def story() -> None:
        clock = FastClock()
        async with world(tmp_path, clock=clock, phone=small(clock)) as w:
            await w.open(SETTINGS)
            act = anthropic_wire.use("computer", {"action": "left_click", "coordinate": [200, 70]})
            plan = [unknown, anthropic_wire.message(act), ANTHROPIC.says("Done.")]
            async with serving(*plan) as server:
                await run(w, server, ANTHROPIC, Task.of("Do it."))
        ours = server.got[-1]
        assert judge(ANTHROPIC, ours.body) == []
        theirs = await by_package(
            ANTHROPIC, ours.body, anthropic_wire.message(act), betas=["computer-use-2025-11-24"]
        )
        assert theirs.headers["anthropic-beta"] == ours.headers["anthropic-beta"]
        assert theirs.body == ours.body

    play_live(story())
