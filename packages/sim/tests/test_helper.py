from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from handrail_sim import shell
from handrail_sim.channels.attach import HELPER_RUNNER
from handrail_sim.channels.helper import Helper
from handrail_sim.channels.http import HelperLife, Request, Response, serve
from handrail_sim.stream import pair
from tests.hand import Hand

CONTACTS = "com.google.android.contacts"


class Client:
    """Asks a helper without a socket."""

    def __init__(self) -> None:
        self.hand = Hand()
        self.helper = Helper(self.hand.phone, HelperLife(self.hand.phone.faults))

    async def raw(self, method: str, path: str, body: bytes = b"", **query: str) -> Response:
        answer: Response = await self.hand.run(self.helper.answer(Request(method, path, query, {}, body)))
        return answer

    async def get(self, path: str, **query: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((await self.raw("GET", path, **query)).body)
        return value

    async def post(self, path: str, **fields: Any) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((await self.raw("POST", path, json.dumps(fields).encode())).body)
        return value


def with_client(story: Callable[[Client], Awaitable[None]]) -> None:
    async def play() -> None:
        await story(Client())

    asyncio.run(play())


def test_status_names_protocol_and_phone() -> None:
    async def story(client: Client) -> None:
        status = await client.get("/status")
        assert status["ok"] is True
        assert status["protocolVersion"] == 1
        assert status["sdkInt"] == 34
        response = await client.raw("GET", "/status")
        assert response.headers["X-Helper-Version"] == status["version"]

    with_client(story)


def test_the_tree_is_that_of_the_dump() -> None:
    def flatten(node: dict[str, Any]) -> list[tuple[str, str, str]]:
        own = (node["className"], node["text"], node["contentDescription"])
        return [own, *(inner for child in node["children"] for inner in flatten(child))]

    async def story(client: Client) -> None:
        await client.hand.open(CONTACTS)
        answer = await client.get("/tree")
        assert answer["packageName"] == CONTACTS
        dumped = [(seen["class"], seen.text, seen.desc) for seen in client.hand.see()]
        assert flatten(answer["tree"]) == dumped
        compact = await client.get("/tree", compact="1")
        assert compact["compact"] is True
        assert len(flatten(compact["tree"])) < len(dumped)

    with_client(story)


def test_input_through_the_helper() -> None:
    async def story(client: Client) -> None:
        await client.hand.open(CONTACTS)
        x, y = client.hand.find("Create new contact").centre
        assert (await client.post("/tap", x=x, y=y))["ok"]
        await client.hand.settle()
        field = next(seen for seen in client.hand.see() if seen["class"] == "android.widget.EditText")
        assert (await client.post("/tap-coordinates", x=field.centre[0], y=field.centre[1]))["ok"]
        assert (await client.post("/text", text="Ada"))["ok"]
        assert client.hand.sees("Ada")
        assert (await client.post("/text", text="Grüße"))["ok"]
        assert not client.hand.sees("AdaGrüße")
        assert (await client.post("/key", keycode=67))["ok"]
        assert client.hand.sees("Ad")
        assert (await client.post("/swipe", x1=500, y1=1500, x2=500, y2=900))["ok"]
        assert (await client.post("/long-press", x=500, y=900, durationMs=700))["ok"]

    with_client(story)


def test_wait_idle_hears_the_events_and_the_silence_after_them() -> None:
    async def story(client: Client) -> None:
        phone = client.hand.phone
        phone.later(30, lambda: phone.start_activity(package=CONTACTS))
        answer = await client.get("/wait-idle", timeoutMs="5000")
        assert answer["idle"] is True
        assert answer["reason"] == "events_quiet"
        assert "WINDOW_STATE_CHANGED" in answer["events"]
        phone.faults.add("clock_ticks", ms=100)
        answer = await client.get("/wait-idle", timeoutMs="1000")
        assert (answer["idle"], answer["reason"]) == (False, "timeout")
        assert len(answer["events"]) <= 16

    with_client(story)


def test_the_framework_is_told_by_class_names() -> None:
    async def story(client: Client) -> None:
        await client.hand.open(CONTACTS)
        assert (await client.get("/framework"))["primary"] == "native"
        await client.hand.open("com.handrail.composelab")
        assert (await client.get("/framework"))["primary"] == "compose"
        await client.hand.open("com.handrail.reactlab")
        assert (await client.get("/framework"))["primary"] == "react_native"
        await client.hand.open("com.handrail.flutterlab")
        assert (await client.get("/framework"))["primary"] == "flutter"

    with_client(story)


def test_wrong_requests_are_refused_with_a_code() -> None:
    async def story(client: Client) -> None:
        missing = await client.raw("GET", "/nothing")
        assert missing.status == 404
        assert json.loads(missing.body)["code"] == "NOT_FOUND"
        broken = await client.raw("POST", "/tap", b"{")
        assert broken.status == 500
        assert json.loads(broken.body)["ok"] is False
        assert (await client.post("/tap", x=1))["code"] == "JSONException"

    with_client(story)


def test_instrumentation_needs_both_packages() -> None:
    async def story() -> None:
        hand = Hand()
        answer = await shell.capture(hand.phone, f"am instrument -w -r {HELPER_RUNNER}")
        assert "Unable to find instrumentation info" in answer.text
        for package in ("com.agentest.helper", "com.agentest.helper.test"):
            hand.phone.packages.install(package)
        running = asyncio.ensure_future(shell.capture(hand.phone, f"am instrument -w -r {HELPER_RUNNER}"))
        for _ in range(20):
            await asyncio.sleep(0)
        ours, theirs = pair()
        served = asyncio.ensure_future(hand.phone.ports["tcp:8765"](theirs))
        await ours.write(b"POST /shutdown HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
        assert b'{"ok":true}' in await ours.read()
        await served
        assert (await running).status == 0
        assert "tcp:8765" not in hand.phone.ports

    asyncio.run(story())


def test_http_survives_what_is_no_http() -> None:
    async def story() -> None:
        async def answer(_request: Request) -> Response:
            return Response(b"ok")

        for sent, status in ((b"\x00\x01\r\n\r\n", b" 400 "), (b"A" * 70000, b" 413 ")):
            ours, theirs = pair()
            served = asyncio.ensure_future(serve(theirs, answer))
            await ours.write(sent)
            assert status in await ours.read()
            await served
        ours, theirs = pair()
        served = asyncio.ensure_future(serve(theirs, answer))
        await ours.write(b"GET / HT")
        await ours.write(b"TP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\n")
        await served
        got = b""
        while data := await ours.read():
            got += data
        assert got.count(b"HTTP/1.1 200 OK") == 2

    asyncio.run(story())
