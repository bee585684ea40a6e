"""WebDriverAgent's client against servers that refuse, lie, fall silent or hang up."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from handrail.errors import (
    DeviceBusy,
    HandrailError,
    IosCommandError,
    IosConnectionError,
    Timeout,
    Unsupported,
)
from handrail.http_exchange import HttpExchange
from handrail.ios.wda import CAPABILITIES, Wda
from tests.cases import each
from tests.scenario.world import play, usual_clock
from tests.unit.ios.scripted_wda import ScriptedWda, WdaRefusal, client_of

ASYNC_RUNNER = play

Story = Callable[[Wda, ScriptedWda], Awaitable[None]]


def tell(story: Story, script: ScriptedWda | None = None) -> ScriptedWda:
    told = script or ScriptedWda()

    async def run() -> None:
        async with client_of(told, usual_clock()) as wda:
            await story(wda, told)

    play(run())
    return told


@pytest.fixture
def script() -> ScriptedWda:
    return ScriptedWda()


@pytest.fixture
def wda(script: ScriptedWda) -> AbstractAsyncContextManager[Wda]:
    return client_of(script, usual_clock())


async def failing(work: Awaitable[Any]) -> HandrailError:
    with pytest.raises(HandrailError) as failed:
        await work
    return failed.value


def refusing(error: str, status: int = 400) -> Callable[[Any], Any]:
    def refuse(_: Any) -> Any:
        raise WdaRefusal(error, status, f"{error} happened")

    return refuse


async def test_a_session_starts_no_app_and_answers_no_alert(wda: Wda, script: ScriptedWda) -> None:
    await wda.open_session()
    [body] = script.sent("/session")
    assert body == {"capabilities": {"alwaysMatch": CAPABILITIES}}
    assert not {"bundleId", "defaultAlertAction"} & CAPABILITIES.keys()
    [settings] = script.sent("/appium/settings")
    assert settings["settings"]["respectSystemAlerts"] is True


async def test_requests_go_over_one_connection_one_after_another(wda: Wda, script: ScriptedWda) -> None:
    await asyncio.gather(*(wda.get("/wda/activeAppInfo") for _ in range(5)))
    assert (script.connections, len(script.asked)) == (1, 5)


DELIVERIES = [
    ("invalid argument", 400, "not_delivered", IosCommandError),
    ("element not visible", 400, "not_delivered", IosCommandError),
    ("no such element", 404, "not_delivered", IosCommandError),
    ("stale element reference", 404, "not_delivered", IosCommandError),
    ("no such alert", 404, "not_delivered", IosCommandError),
    ("unknown command", 404, "not_delivered", Unsupported),
    ("unknown method", 405, "not_delivered", Unsupported),
    ("unsupported operation", 500, "not_delivered", Unsupported),
    ("invalid element state", 400, "unknown", IosCommandError),
    ("unknown error", 500, "unknown", IosCommandError),
    ("timeout", 408, "unknown", Timeout),
]


@each("error, status, delivery, kind", DELIVERIES)
def test_an_error_tells_whether_the_input_can_have_arrived(
    error: str, status: int, delivery: str, kind: type[HandrailError]
) -> None:
    async def story(wda: Wda, script: ScriptedWda) -> None:
        script.routes["POST /actions"] = refusing(error, status)
        failed = await failing(wda.send("/actions", {"actions": []}))
        assert (type(failed), failed.delivery) == (kind, delivery)
        assert len(script.sent("/actions")) == 1

    tell(story)


async def test_a_read_gets_one_new_session_when_its_own_has_ended(wda: Wda, script: ScriptedWda) -> None:
    script.routes["GET /wda/batteryInfo"] = lambda _: {"level": 0.5}
    await wda.open_session()
    script.session = None
    assert await wda.read("/wda/batteryInfo") == {"level": 0.5}
    assert script.opened == 2


async def test_an_input_whose_session_has_ended_is_not_sent_again(wda: Wda, script: ScriptedWda) -> None:
    await wda.open_session()
    script.session = None
    failed = await failing(wda.send("/actions", {}))
    assert (failed.code, failed.delivery, failed.retryable) == ("IOS_COMMAND_ERROR", "not_delivered", True)
    await wda.send("/actions", {})
    assert len(script.sent("/actions")) == 2
    assert script.opened == 2


async def test_another_programs_session_is_told_and_not_ended(wda: Wda, script: ScriptedWda) -> None:
    await wda.open_session()
    script.session = "APPIUM"
    for _ in range(2):
        failed = await failing(wda.send("/actions", {}))
        assert (type(failed), failed.delivery) == (DeviceBusy, "not_delivered")
    assert (script.session, script.opened) == ("APPIUM", 1)
    script.session = None  # it has gone
    await wda.send("/actions", {})
    assert script.opened == 2


def test_a_session_that_is_there_at_first_is_ended_and_said() -> None:
    async def story(wda: Wda, script: ScriptedWda) -> None:
        await wda.open_session()
        assert any("another program" in line for line in wda.lines)

    tell(story, ScriptedWda(session="LEFT-BEHIND"))


def test_old_versions_tell_their_errors_by_a_number() -> None:
    async def answer(writer: asyncio.StreamWriter, path: str) -> bool:
        body = b'{"value": "no session", "status": 6, "sessionId": null}'
        if "batteryInfo" not in path:
            return False
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        return True

    async def story(wda: Wda, script: ScriptedWda) -> None:
        failed = await failing(wda.read("/wda/batteryInfo"))
        assert failed.details["error"] == "invalid session id"
        script.raw = None

    tell(story, ScriptedWda(raw=answer))


BROKEN = {
    "hangs up": b"",
    "stops in the head": b"HTTP/1.1 200 OK\r\nConte",
    "stops in the body": b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{",
    "is no HTTP": b"SSH-2.0-OpenSSH\r\n\r\n",
    "is no JSON": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<ht>",
    "is a list": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    "announces too much": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
    "is empty": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "has no body": b"HTTP/1.1 204 No Content\r\n\r\n",
    "is cut between chunks": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"val\r\n',
    "is cut without a length": b'HTTP/1.1 200 OK\r\n\r\n{"value":nul',
    "is JSON of another program": b'HTTP/1.1 200 OK\r\n\r\n{"detail": "welcome"}',
    "is an error page": b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>Bad gateway</html>",
    "is compressed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b'{"value":null}'),
}


@each("name", BROKEN)
def test_a_broken_answer_to_an_input_is_an_error_of_unknown_delivery(name: str) -> None:
    async def answer(writer: asyncio.StreamWriter, path: str) -> bool:
        if path.endswith("/actions"):
            writer.write(BROKEN[name])
            return True
        return False

    async def story(wda: Wda, script: ScriptedWda) -> None:
        failed = await failing(wda.send("/actions", {}))
        assert (type(failed), failed.delivery) == (IosConnectionError, "unknown")
        assert len(script.sent("/actions")) == 1
        script.raw = None
        await wda.send("/actions", {})  # and the next one goes over a new connection

    tell(story, ScriptedWda(raw=answer))


REFUSALS = {
    "an error that nobody knows": (500, {"value": {"error": "weird thing", "message": "m"}}),
    "an error with success": (200, {"value": {"error": "weird thing", "message": "m"}}),
    "an error that is no text": (200, {"value": {"error": {"code": 3}, "message": "m"}}),
    "an error by words alone": (500, {"value": "m"}),
    "a redirection": (302, {"value": None}),
    "a failure without words": (500, {"value": None}),
    "an old number": (200, {"value": "m", "status": 13}),
    "an old number as text": (200, {"value": "m", "status": "13"}),
}


@each("name", REFUSALS)
def test_an_answer_that_is_not_plainly_a_success_is_an_error_of_unknown_delivery(name: str) -> None:
    status, document = REFUSALS[name]

    async def answer(writer: asyncio.StreamWriter, path: str) -> bool:
        if path.endswith("/actions"):
            writer.write(b"HTTP/1.1 %d X\r\n\r\n%s" % (status, json.dumps(document).encode()))
        return path.endswith("/actions")

    async def story(wda: Wda, script: ScriptedWda) -> None:
        failed = await failing(wda.send("/actions", {}))
        assert (type(failed), failed.delivery) == (IosCommandError, "unknown")
        assert failed.message.endswith((": m", f"HTTP {status}, status 0")), failed.message
        script.raw = None

    tell(story, ScriptedWda(raw=answer))


def test_what_fails_before_the_input_is_sent_leaves_it_undelivered() -> None:
    async def answer(writer: asyncio.StreamWriter, path: str) -> bool:
        return path in ("/status", "/session")

    async def story(wda: Wda, script: ScriptedWda) -> None:
        failed = await failing(wda.send("/actions", {}))
        assert (type(failed), failed.delivery, script.sent("/actions")) == (
            IosConnectionError,
            "not_delivered",
            [],
        )
        script.raw = None

    tell(story, ScriptedWda(raw=answer))


def test_a_connection_with_a_second_answer_on_it_is_not_used_again() -> None:
    class Twice:
        async def read(self) -> bytes:
            return b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"value":null}' * 2

        async def write(self, data: bytes, /) -> None:
            raise AssertionError(data)

    async def story() -> None:
        exchange = HttpExchange(keep_alive=True)
        exchange.request("POST", "/wda/keys", "localhost", b"{}")
        assert (await exchange.answer(Twice())).status == 200
        assert not exchange.renew()

    play(story())


def test_a_read_is_repeated_once_where_the_connection_was_lost() -> None:
    cut: list[str] = []

    async def answer(writer: asyncio.StreamWriter, path: str) -> bool:
        cut.append(path)
        return len(cut) == 1

    async def story(wda: Wda, script: ScriptedWda) -> None:
        assert (await wda.get("/wda/activeAppInfo"))["pid"] == 7
        assert len(cut) == 2

    tell(story, ScriptedWda(raw=answer))


def test_silence_ends_at_the_deadline_and_nothing_is_claimed() -> None:
    async def answer(writer: asyncio.StreamWriter, path: str) -> bool:
        if path.endswith("/actions"):
            await asyncio.Event().wait()
        return False

    async def story(wda: Wda, script: ScriptedWda) -> None:
        failed = await failing(wda.send("/actions", {}, timeout_ms=4_000))
        assert (type(failed), failed.delivery, failed.retryable) == (Timeout, "unknown", False)

    tell(story, ScriptedWda(raw=answer))


def test_nobody_listening_is_said_before_anything_is_sent() -> None:
    async def run() -> HandrailError:
        async def refuse() -> Any:
            raise IosConnectionError("Nothing listens", delivery="not_delivered")

        return await failing(Wda(refuse, usual_clock(), "ios:x").send("/actions", {}))

    assert play(run()).delivery == "not_delivered"
