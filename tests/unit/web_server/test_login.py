"""How a page comes in, and that it stays in: links, tokens, restarts, two desks on one machine, tickets."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.bind import replace_localhost
from handrail.web_server.auth import MOST_LOGINS, MOST_TICKETS, TICKET_LIFE_MS, Logins, Tickets, Visitor
from handrail_sim.clock import ManualClock
from tests.cases import each
from tests.unit.web_server.door import KEY, TOKEN, Door, door

PERSON = Visitor.person(is_remote=False)


async def test_the_page_is_no_secret_and_has_a_strict_policy(served: Door) -> None:
    page = await served.ask("GET", "/")
    assert page.status == 200
    policy = page.headers["content-security-policy"]
    for part in (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
        "img-src 'self' data: blob:", "frame-ancestors 'none'", "base-uri 'none'",
        "form-action 'none'",
    ):  # fmt: skip
        assert f"{part};" in f"{policy};"
    assert "unsafe" not in policy


async def test_the_owner_gets_links_for_more_pages(served: Door) -> None:
    link = (await served.send("POST", "/api/login-links", {}, token=KEY)).json["url"]
    place, _, code = link.partition("#code=")
    assert place == f"{served.origin}/login"
    token = (await served.exchange(code)).json["token"]
    for given, status in ((token, 200), (token[:-1], 401)):
        told = await served.ask("GET", "/api/login", {"Handrail-Page": given})
        assert told.status == status
    assert (await served.ask("GET", "/api/login")).json["code"] == "NOT_LOGGED_IN"


async def test_a_restart_ends_every_login_and_every_seal(tmp_path: Path) -> None:
    (tmp_path / "apps" / "notes").mkdir(parents=True)
    (tmp_path / "apps" / "notes" / "app.json").write_text('{"name": "Notes"}')
    (tmp_path / "apps" / "notes" / "index.html").write_text("<p>Hi")
    async with door(tmp_path) as first:
        old, code = await first.page(), first.context.auth.link_code()
        apps = {one["id"]: one for one in (await first.ask("GET", "/api/apps", old)).json["apps"]}
        assert (await first.ask("GET", apps["notes"]["url"])).status == 200
    async with door(tmp_path) as second:
        moved = old | {"Origin": second.origin}
        told = await second.ask("GET", "/api/desk", moved)
        assert (told.status, told.json["code"]) == (401, "LOGIN_OVER")
        assert (await second.ask("GET", apps["notes"]["url"])).status == 401
        assert (await second.exchange(code)).status == 401


async def test_a_token_counts_at_the_host_that_it_was_given_to(served: Door) -> None:
    page = await served.page()
    by_name = page | {"Host": f"localhost:{served.port}", "Origin": f"http://localhost:{served.port}"}
    assert (await served.ask("GET", "/api/desk", page)).status == 200
    assert (await served.ask("GET", "/api/desk", by_name)).status == 401


async def test_a_page_of_this_machine_is_shown_by_its_number_only(served: Door) -> None:
    """`localhost` has two addresses: another process may listen on the second and be of the same origin."""
    host = f"localhost:{served.port}"
    told = await served.ask("GET", "/login", {"Host": host})
    assert (told.status, told.headers["location"]) == (307, f"{served.origin}/login")
    code = served.context.auth.link_code()
    refused = await served.exchange(code, Host=host, Origin=f"http://{host}")
    assert (refused.status, refused.json["code"]) == (403, "NOT_THE_PAGES_HOST")
    assert (await served.exchange(code)).status == 200
    headers = {"Host": host, "Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    link = (await served.ask("POST", "/api/login-links", headers, b"{}")).json["url"]
    assert link.startswith(f"{served.origin}/login#code=")


@each(
    ("host", "server", "shown"),
    [
        ("localhost:1", ("127.0.0.1", 1), "127.0.0.1:1"),
        ("LOCALHOST.:1", ("::1", 1), "[::1]:1"),
        ("127.0.0.1:1", ("127.0.0.1", 1), "127.0.0.1:1"),
        ("desk.example:1", ("10.0.0.1", 1), "desk.example:1"),
        ("localhost:1", None, "localhost:1"),
    ],
)
def test_only_the_name_of_this_machine_is_replaced_by_its_number(
    host: str, server: tuple[str, int] | None, shown: str
) -> None:
    assert replace_localhost(host, server) == shown


def test_tokens_are_many_but_not_endless() -> None:
    logins = Logins()
    first, *_, last = [logins.begin("a") for _ in range(MOST_LOGINS + 1)]
    assert not logins.knows(first, "a")
    assert logins.knows(last, "a")
    assert not logins.knows(last, "b")
    assert not logins.knows("", "")


async def test_a_ticket_opens_one_file_once_and_within_a_minute(tmp_path: Path) -> None:
    (tmp_path / "storage").mkdir()
    (tmp_path / "storage" / "a b.txt").write_text("mine")
    async with door(tmp_path) as served:
        wanted = "/api/storage/a%20b.txt"
        url = (await served.send("POST", "/api/tickets", {"path": wanted})).json["url"]
        assert (await served.ask("HEAD", url)).status == 410
        url = (await served.send("POST", "/api/tickets", {"path": wanted})).json["url"]
        assert (await served.ask("GET", url)).body == b"mine"
        again = await served.ask("GET", url)
        assert (again.status, again.json["code"]) == (410, "ADDRESS_USED")


@pytest.mark.parametrize(
    "path", ["/api/desk", "/", "//evil.example/", "http://evil.example", "", "/api/approvals"]
)
async def test_a_ticket_is_for_pictures_files_and_reports(served: Door, path: str) -> None:
    told = await served.send("POST", "/api/tickets", {"path": path}, token=TOKEN)
    assert (told.status, told.json["code"]) == (422, "INVALID_ACTION")


async def test_an_old_ticket_is_void_and_waiting_ones_are_not_endless() -> None:
    clock = ManualClock()
    tickets = Tickets(clock)
    late = tickets.make("/x", PERSON)
    await clock.advance(TICKET_LIFE_MS)
    assert tickets.take(late) is None
    first, *_, last = [tickets.make("/x", PERSON) for _ in range(MOST_TICKETS + 1)]
    assert tickets.take(first) is None
    assert tickets.take(last) is not None
    assert tickets.take(last) is None
