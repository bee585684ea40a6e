"""A uiautomator2 server on a phone with a manual clock, called without a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from handrail_sim.channels.http import HelperLife, Request, Response
from handrail_sim.channels.u2 import Http, Server
from tests.hand import Hand

BITS = {"text": 1, "textContains": 2, "textMatches": 4, "textStartsWith": 8, "className": 0x10}
BITS |= {"description": 0x40, "checked": 0x800, "clickable": 0x1000, "scrollable": 0x4000}
BITS |= {"packageName": 0x80000, "resourceId": 0x200000, "index": 0x800000, "instance": 0x1000000}


def sel(*steps: tuple[str, dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A selector as the Python client sends it: `sel(("child", sel(text="x")), className="…")`."""
    return {
        "mask": sum(BITS[name] for name in fields),
        "childOrSibling": [word for word, _ in steps],
        "childOrSiblingSelector": [inner for _, inner in steps],
        **fields,
    }


class Automator:
    """Calls methods and gives results back; time passes only while a call needs it."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.server = Server(hand.phone)
        self.http = Http(self.server, HelperLife(hand.phone.faults))
        hand.phone.on_event(self.server.on_accessibility_event)

    async def request(self, method: str, path: str, body: bytes = b"") -> Response:
        answer: Response = await self.hand.run(self.http.answer(Request(method, path, {}, {}, body)))
        return answer

    async def reply(self, name: str, *params: Any) -> dict[str, Any]:
        """The whole JSON-RPC answer."""
        body = {"jsonrpc": "2.0", "id": 1, "method": name, "params": list(params) or {}}
        response = await self.request("POST", "/jsonrpc/0", json.dumps(body).encode())
        assert response.status == 200
        value: dict[str, Any] = json.loads(response.body)
        return value

    async def call(self, name: str, *params: Any) -> Any:
        answer = await self.reply(name, *params)
        assert "error" not in answer, answer
        return answer["result"]


def with_automator(story: Callable[[Automator], Awaitable[None]], **options: Any) -> None:
    """Run a story on a fresh phone."""

    async def play() -> None:
        await story(Automator(Hand(**options)))

    asyncio.run(play())
