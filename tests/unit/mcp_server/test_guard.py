"""Who is let in by HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from handrail.bind import check_bind
from handrail.errors import InvalidAction
from handrail.mcp_server.http import McpGuard
from tests.cases import each

TOKEN = "a-token-of-some-length"
HERE = {"host": "127.0.0.1:8421"}


def status(headers: dict[str, str], *, host: str = "127.0.0.1", token: str | None = None) -> int:
    """What the guard answers; 200 where it lets the request pass."""
    sent: list[dict[str, Any]] = []

    async def app(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    raw = [(key.encode(), value.encode()) for key, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": raw}
    asyncio.run(McpGuard(app, host, 8421, token)(scope, receive, send))
    return int(sent[0]["status"])


@each("host", ["127.0.0.1:8421", "localhost:8421", "[::1]:8421"])
def test_this_machines_names_are_served(host: str) -> None:
    assert status({"host": host}) == 200


@each("host", ["evil.example:8421", "127.0.0.1:9", "127.0.0.1", "localhost.evil.example:8421", ""])
def test_a_rebound_name_is_not_served(host: str) -> None:
    assert status({"host": host}) == 421
    assert status({}) == 421


def test_pages_of_other_sites_are_kept_out_and_our_own_is_not() -> None:
    assert status(HERE | {"origin": "https://evil.example"}) == 403
    assert status(HERE | {"origin": "http://localhost:3000"}) == 403
    assert status(HERE | {"origin": "null"}) == 403
    assert status(HERE | {"origin": "http://localhost:8421"}) == 200


@each("given", ["", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer ", "Bearer é"])
def test_without_the_token_nobody_comes_in(given: str) -> None:
    assert status(HERE | ({"authorization": given} if given else {}), token=TOKEN) == 401


def test_with_the_token_one_comes_in_by_any_name() -> None:
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert status(HERE | bearer, token=TOKEN) == 200
    assert status({"host": "phones.example:8421"} | bearer, host="0.0.0.0", token=TOKEN) == 200


def test_another_address_needs_a_token_that_is_worth_the_name() -> None:
    check_bind("127.0.0.1", None)
    check_bind("localhost", None)
    check_bind("0.0.0.0", TOKEN, (Path("cert.pem"), Path("key.pem")))
    with pytest.raises(InvalidAction, match="plain HTTP"):
        check_bind("0.0.0.0", TOKEN)
    with pytest.raises(InvalidAction, match="no token"):
        check_bind("0.0.0.0", None)
    with pytest.raises(InvalidAction, match="at least 16"):
        check_bind("127.0.0.1", "short")
