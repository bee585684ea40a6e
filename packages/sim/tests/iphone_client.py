"""A client of an iPhone's WebDriverAgent, without sockets and in the phone's own time."""

from __future__ import annotations

import json
from typing import Any

from handrail_sim.channels.http import Request
from handrail_sim.clock import ManualClock
from handrail_sim.iphone import make_iphone
from handrail_sim.iphone.wda import Wda
from tests.hand import Hand


class Client:
    """`await client.get("/status")`; an answer is its status and its value."""

    def __init__(self, **options: Any) -> None:
        self.phone = make_iphone(clock=ManualClock(), **options)
        self.hand = Hand(self.phone)
        self.wda = Wda(self.phone)
        self.session = ""

    async def ask(self, method: str, path: str, body: Any = None, query: str = "") -> tuple[int, Any]:
        pairs = dict(part.split("=") for part in query.split("&") if part)
        raw = b"" if body is None else json.dumps(body).encode()
        answer = await self.hand.run(self.wda.answer(Request(method, path, pairs, {}, raw)))
        if answer.content_type == "text/html":
            return answer.status, answer.body.decode()
        content = json.loads(answer.body)
        assert content.keys() == {"value", "sessionId"}
        return answer.status, content["value"]

    async def get(self, path: str, query: str = "") -> Any:
        status, value = await self.ask("GET", path, query=query)
        assert status == 200, value
        return value

    async def begin(self, **capabilities: Any) -> None:
        status, value = await self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        assert status == 200, value
        self.session = value["sessionId"]

    async def do(self, path: str, method: str = "POST", **body: Any) -> Any:
        """A command of the session, which must succeed."""
        status, value = await self.send(path, method, **body)
        assert status == 200, value
        return value

    async def send(self, path: str, method: str = "POST", **body: Any) -> tuple[int, Any]:
        return await self.ask(method, f"/session/{self.session}{path}", body if method == "POST" else None)

    async def refused(self, path: str, method: str = "POST", **body: Any) -> tuple[int, str, str]:
        """What a command of the session is refused with."""
        status, value = await self.send(path, method, **body)
        assert status != 200, value
        return status, value["error"], value["message"]

    async def find(self, value: str, using: str = "accessibility id") -> str:
        found: str = (await self.do("/element", using=using, value=value))["ELEMENT"]
        return found

    async def tap(self, label: str) -> None:
        """The first visible element with this label."""
        chosen = await self.find(f"label == '{label}' AND visible == 1", "predicate string")
        await self.do(f"/element/{chosen}/click")

    async def names(self, kind: str = "") -> list[str]:
        """The names of what is on the screen, of one type or of all."""
        names: list[str] = []

        def walk(node: dict[str, Any]) -> None:
            if node["name"] and kind in ("", node["type"]):
                names.append(node["name"])
            for child in node.get("children", []):
                walk(child)

        walk(await self.get("/source", "format=json"))
        return names
