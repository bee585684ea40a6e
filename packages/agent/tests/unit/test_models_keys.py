"""A key goes to the server that it is for, and nowhere else: no error, no reply, no log, no repr."""

from __future__ import annotations

import asyncio
import io
import logging
import pickle
import traceback

import pytest
from packages.agent.tests.hosted.anthropic_wire import error as anthropic_error
from packages.agent.tests.hosted.asking import ANTHROPIC, ENV, KEY, OPENAI, PROMPT, opened
from packages.agent.tests.hosted.openai_wire import calls, error, says
from packages.agent.tests.hosted.server import Answer, serving

from handrail.clock import SystemClock
from handrail.errors import InvalidAction, ModelUnavailable
from handrail_agent.models import open_model
from tests.cases import each


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        (OPENAI, error(401, f"Incorrect API key provided: {KEY}.", "invalid_api_key")),
        (OPENAI, Answer(400, (f"<p>{KEY}</p>".encode(),), content_type="text/html")),
        (ANTHROPIC, anthropic_error(403, "permission_error", f"not with {KEY}")),
    ],
)
def test_an_error_does_not_repeat_the_key(spec: str, answer: Answer) -> None:
    async def story() -> str:
        async with opened(spec, answer) as (model, server):
            try:
                await model.step(PROMPT)
            except ModelUnavailable as error:
                assert KEY in str(server.got[0].headers)
                return "".join([*traceback.format_exception(error), repr(error), str(error.to_dict())])
        return KEY

    assert KEY not in asyncio.run(story())


def test_a_reply_does_not_repeat_the_key_that_a_server_echoes() -> None:
    async def story() -> str:
        echo = calls(("type_text", {"text": KEY}), content=f"Your key is {KEY}.")
        async with opened(OPENAI, echo, says(f"No action, but {KEY}.")) as (model, _):
            replies = [await model.step(PROMPT), await model.step(PROMPT)]
            return repr(replies) + pickle.dumps(replies).decode("latin-1")

    told = asyncio.run(story())
    assert KEY not in told
    assert "•••" in told


def test_nothing_that_is_logged_has_the_key_in_it() -> None:
    async def story() -> None:
        async with opened(OPENAI, says("Hello.")) as (model, _):
            await model.step(PROMPT)
        async with opened(ANTHROPIC, anthropic_error(401, "authentication_error", "no")) as (model, _):
            with pytest.raises(ModelUnavailable):
                await model.step(PROMPT)
            assert KEY not in repr(model) + repr(vars(model))

    log = io.StringIO()
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        asyncio.run(story())
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert "chat/completions" in log.getvalue()
    assert KEY not in log.getvalue()


async def test_a_redirect_is_not_followed_so_the_key_stays_where_it_was_sent() -> None:
    async with serving(says("stolen")) as thief:
        away = Answer(307, (), {"Location": f"{thief.url}/v1/chat/completions"})
        async with opened(OPENAI, away) as (model, _):
            with pytest.raises(ModelUnavailable, match="answered 307"):
                await model.step(PROMPT)
        assert thief.got == []


def test_a_password_in_the_address_is_not_told() -> None:
    async def story() -> str:
        async with serving(error(404, "Nothing here.")) as server:
            base_url = server.url.replace("http://", "http://ada:hunter2@") + "/v1?token=hunter2"
            model = open_model(OPENAI, env=ENV, clock=SystemClock(), base_url=base_url)
            with pytest.raises(ModelUnavailable) as failed:
                await model.step(PROMPT)
            await model.close()
            return str(failed.value.to_dict())

    assert "hunter2" not in asyncio.run(story())


@each("base_url", ["127.0.0.1:8080", "ftp://host/v1", "http://", "http://[::1", "http://host:99999"])
def test_an_address_that_is_none_is_told_before_anything_is_sent(base_url: str) -> None:
    with pytest.raises(InvalidAction, match="is not an address"):
        open_model(OPENAI, env=ENV, clock=SystemClock(), base_url=base_url)


@pytest.mark.parametrize(("spec", "name"), [(OPENAI, "OPENAI_API_KEY"), (ANTHROPIC, "ANTHROPIC_API_KEY")])
def test_the_makers_own_servers_need_a_key(spec: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, KEY)  # what counts is the environment that was given
    with pytest.raises(InvalidAction, match=f"{name} is not set"):
        open_model(spec, env={}, clock=SystemClock())


@pytest.mark.parametrize("spec", [OPENAI, ANTHROPIC])
def test_a_local_server_needs_no_key_and_is_sent_none(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    async def story() -> str:
        async with serving(error(404, "Nothing here.")) as server:
            model = open_model(spec, env={}, clock=SystemClock(), base_url=server.url)
            with pytest.raises(ModelUnavailable):
                await model.step(PROMPT)
            await model.close()
            return str(server.got[0].headers)

    assert KEY not in asyncio.run(story())


def test_the_makers_own_models_see_and_others_are_taken_to_be_blind() -> None:
    async def story() -> list[bool]:
        models = [
            open_model(OPENAI, env=ENV, clock=SystemClock()),
            open_model(OPENAI, env=ENV, clock=SystemClock(), base_url="http://127.0.0.1:9/v1"),
            open_model(ANTHROPIC, env=ENV, clock=SystemClock()),
            open_model(ANTHROPIC, env=ENV, clock=SystemClock(), sees=False),
            open_model(OPENAI, env={**ENV, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, clock=SystemClock()),
        ]
        for model in models:
            await model.close()
        return [model.sees for model in models]

    assert asyncio.run(story()) == [True, False, True, False, False]
