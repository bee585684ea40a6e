"""Calls over a wire: every one ends, by an answer, a deadline, a cancellation, a crash or the wire's end."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from handrail.cdp.connection import CdpSession, Connection, WireClosed
from handrail.clock import SystemClock
from handrail.errors import AppCrashed, BrowserCommandError, BrowserConnectionError, Timeout
from handrail_sim.clock import ManualClock
from tests.cases import each


class Rope:
    """A wire whose other end is the test."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._coming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.is_cut = False

    async def send(self, message: bytes) -> None:
        if self.is_cut:
            raise WireClosed("cut")
        self.sent.put_nowait(json.loads(message))

    async def receive(self) -> bytes:
        data = await self._coming.get()
        if data is None:
            raise WireClosed("the browser has ended")
        return data

    async def close(self) -> None:
        self._coming.put_nowait(None)

    def say(self, **message: Any) -> None:
        self._coming.put_nowait(json.dumps(message).encode())

    def say_bytes(self, data: bytes | None) -> None:
        self._coming.put_nowait(data)


async def test_answers_find_their_calls_in_any_order() -> None:
    rope = Rope()
    connection = Connection(rope, SystemClock())
    one = asyncio.create_task(connection.root.call("A.one"))
    two = asyncio.create_task(connection.root.call("B.two"))
    first, second = await rope.sent.get(), await rope.sent.get()
    rope.say(id=second["id"], result={"is": 2})
    rope.say(id=first["id"], result={"is": 1})
    assert [await one, await two] == [{"is": 1}, {"is": 2}]
    await connection.close()


async def test_a_refusal_says_that_nothing_was_delivered() -> None:
    rope = Rope()
    connection = Connection(rope, SystemClock())
    call = asyncio.create_task(connection.root.call("A.one"))
    rope.say(id=(await rope.sent.get())["id"], error={"code": -1, "message": "No such thing"})
    with pytest.raises(BrowserCommandError, match="No such thing") as refused:
        await call
    assert refused.value.details["delivery"] == "not_delivered"
    await connection.close()


async def test_a_deadline_leaves_the_delivery_unknown_and_a_late_answer_harms_nobody() -> None:
    rope, clock = Rope(), ManualClock()
    connection = Connection(rope, clock)
    call = asyncio.create_task(connection.root.call("A.one", timeout_ms=100))
    asked = await rope.sent.get()
    await clock.advance(101)
    with pytest.raises(Timeout) as late:
        await call
    assert late.value.details["delivery"] == "unknown"
    rope.say(id=asked["id"], result={})
    again = asyncio.create_task(connection.root.call("A.two", timeout_ms=100))
    rope.say(id=(await rope.sent.get())["id"], result={"ok": 1})
    assert await again == {"ok": 1}
    await connection.close()


async def test_the_end_of_the_wire_ends_what_is_pending_and_refuses_what_comes() -> None:
    rope = Rope()
    connection = Connection(rope, SystemClock())
    call = asyncio.create_task(connection.root.call("A.one"))
    await rope.sent.get()
    rope.say_bytes(None)
    with pytest.raises(BrowserConnectionError) as lost:
        await call
    assert lost.value.details["delivery"] == "unknown"
    with pytest.raises(BrowserConnectionError) as refused:
        await connection.root.call("A.two")
    assert refused.value.details["delivery"] == "not_delivered"
    assert not connection.is_open
    await connection.close()


@each("junk", [b"{", b"[]", b"\xff\xfe", b'"text"'])
def test_what_is_no_message_ends_the_connection(junk: bytes) -> None:
    async def story() -> None:
        rope = Rope()
        connection = Connection(rope, SystemClock())
        call = asyncio.create_task(connection.root.call("A.one"))
        await rope.sent.get()
        rope.say_bytes(junk)
        with pytest.raises(BrowserConnectionError):
            await call
        await connection.close()

    asyncio.run(story())


async def test_a_crash_fails_the_calls_of_its_session_alone() -> None:
    rope = Rope()
    connection = Connection(rope, SystemClock())
    page, other = connection.session("S1", "T1"), connection.session("S2", "T2")
    dying = asyncio.create_task(page.call("Runtime.evaluate"))
    living = asyncio.create_task(other.call("Runtime.evaluate"))
    await rope.sent.get()
    asked = await rope.sent.get()
    page.fail(AppCrashed("gone", delivery="unknown"), for_good=False)
    with pytest.raises(AppCrashed):
        await dying
    rope.say(id=asked["id"], result={}, sessionId="S2")
    assert await living == {}
    await connection.close()


async def test_a_session_that_was_detached_answers_no_more() -> None:
    rope = Rope()
    connection = Connection(rope, SystemClock())
    page = connection.session("S1", "T1")
    call = asyncio.create_task(page.call("Runtime.evaluate"))
    await rope.sent.get()
    rope.say(method="Target.detachedFromTarget", params={"sessionId": "S1"})
    with pytest.raises(BrowserConnectionError):
        await call
    with pytest.raises(BrowserConnectionError) as refused:
        await page.call("Runtime.evaluate")
    assert refused.value.details["delivery"] == "not_delivered"
    await connection.close()


async def test_events_reach_their_session_in_order_and_a_bad_handler_deafens_nobody() -> None:
    rope = Rope()
    connection = Connection(rope, SystemClock())
    page: CdpSession = connection.session("S1", "T1")
    heard: list[int] = []
    page.on("Some.event", lambda told: heard.append(1 // told["n"]))
    for number in (1, 0, 1):
        rope.say(method="Some.event", params={"n": number}, sessionId="S1")
    rope.say(method="Some.event", params={"n": 1}, sessionId="unknown")
    call = asyncio.create_task(page.call("A.one"))
    rope.say(id=(await rope.sent.get())["id"], result={}, sessionId="S1")
    await call
    assert heard == [1, 1]
    await connection.close()


async def test_a_cancelled_call_is_forgotten() -> None:
    rope = Rope()
    connection = Connection(rope, SystemClock())
    call = asyncio.create_task(connection.root.call("A.one"))
    asked = await rope.sent.get()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    rope.say(id=asked["id"], result={})
    again = asyncio.create_task(connection.root.call("A.two"))
    rope.say(id=(await rope.sent.get())["id"], result={"ok": 1})
    assert await again == {"ok": 1}
    await connection.close()
