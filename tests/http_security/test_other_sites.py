"""Attacks by pages of other sites, each of which fails: foreign origins, rebound names, simple requests."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from websockets.exceptions import InvalidStatus

from tests.unit.web_server.door import KEY, TOKEN, WINDOW, Answer, Door

EVIL = "https://evil.example"
JSON = {"Content-Type": "application/json"}


async def _post(served: Door, headers: Mapping[str, str]) -> Answer:
    return await served.ask("POST", "/api/actions", headers, json.dumps(WINDOW).encode())


async def _refused_socket(served: Door, headers: Mapping[str, str], host: str | None = None) -> int:
    with pytest.raises(InvalidStatus) as refusal:
        async with served.socket("", host=host, **headers):
            pass
    return refusal.value.response.status_code


async def test_a_page_of_another_site_can_neither_open_the_socket_nor_post(served: Door) -> None:
    page = {"Handrail-Page": await served.log_in()}
    neighbour = f"http://127.0.0.1:{served.port + 1}"
    for origin in (EVIL, "null", neighbour, f"http://{served.host}.evil.example", "http://localhost"):
        assert await _refused_socket(served, page | {"Origin": origin}) == 403
        assert (await _post(served, page | JSON | {"Origin": origin})).status == 403
        assert (await served.exchange(served.context.auth.link_code(), Origin=origin)).status == 403
        told = (await _post(served, JSON | {"Authorization": f"Bearer {KEY}", "Origin": origin})).json
        assert told["code"] == "ORIGIN_NOT_ALLOWED"
    assert served.desk.state.windows == {}
    assert (await _post(served, page | JSON | {"Origin": served.origin})).status == 200


async def test_a_page_without_an_origin_changes_nothing(served: Door) -> None:
    page = {"Handrail-Page": await served.log_in()}
    assert (await _post(served, page | JSON)).status == 403
    assert await _refused_socket(served, page) == 403
    code = json.dumps({"code": served.context.auth.link_code()}).encode()
    assert (await served.ask("POST", "/api/login", JSON, code)).status == 403
    assert served.desk.state.windows == {}


async def test_a_simple_post_is_not_read_whoever_sends_it(served: Door) -> None:
    """What a form of another site could send without asking first."""
    person = await served.page()
    program = {"Authorization": f"Bearer {TOKEN}"}
    kinds = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json")
    for who in (person, program):
        for kind in kinds:
            assert (await _post(served, who | {"Content-Type": kind})).status == 415
        assert (await _post(served, who)).status == 415
    assert served.desk.state.windows == {}


async def test_a_rebound_name_is_not_served(served: Door) -> None:
    page = {"Handrail-Page": await served.log_in()}
    for host in (f"evil.example:{served.port}", "127.0.0.1", f"127.0.0.1:{served.port}.evil.example"):
        for path in ("/", "/healthz", "/api/desk", "/static/style.css", "/login"):
            headers = {"Host": host, **page}
            assert (await served.ask("GET", path, headers)).status == 421, (host, path)
    same = {"Origin": f"http://evil.example:{served.port}"}
    assert await _refused_socket(served, same, f"evil.example:{served.port}") == 421


async def test_a_picture_or_a_frame_of_another_site_gets_nothing(served: Door) -> None:
    """Requests without an Origin still say where they come from."""
    for site in ("cross-site", "same-site"):
        for dest in ("image", "iframe", "script", "empty"):
            asked = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": dest}
            for path in ("/api/desk", "/login", "/"):
                told = await served.get(path, **asked)
                assert (told.status, told.json["code"]) == (403, "ORIGIN_NOT_ALLOWED")
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await served.ask("GET", "/login", followed)).status == 200


async def test_a_preflight_allows_nothing(served: Door) -> None:
    asked = {"Origin": EVIL, "Access-Control-Request-Method": "POST"}
    answer = await served.ask("OPTIONS", "/api/actions", asked)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]
