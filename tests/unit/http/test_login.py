"""How a browser comes in, and that it stays in: links, cookies, restarts, two desks on one machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from handrail.clock import ManualClock
from handrail.http.auth import LOGIN_LIFE_MS, Logins
from handrail.store import Store
from tests.unit.http.door import KEY, door


def test_a_stranger_is_told_how_to_get_in_and_a_person_gets_the_page(tmp_path: Path) -> None:
    async def story() -> None:
        async with door(tmp_path) as served:
            stranger = await served.ask("GET", "/")
            assert stranger.status == 401
            assert b"handrail desk link" in stranger.body
            cookie = await served.log_in()
            page = await served.ask("GET", "/", {"Cookie": cookie})
            assert page.status == 200
            policy = page.headers["content-security-policy"]
            for part in (
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                "img-src 'self' data: blob:", "frame-ancestors 'none'", "base-uri 'none'",
                "form-action 'none'",
            ):  # fmt: skip
                assert f"{part};" in f"{policy};"
            assert "unsafe" not in policy

    asyncio.run(story())


def test_the_owner_gets_links_for_more_browsers(tmp_path: Path) -> None:
    async def story() -> None:
        async with door(tmp_path) as served:
            link = (await served.send("POST", "/api/login-links", {}, token=KEY)).json["url"]
            assert link.startswith(f"{served.origin}/login?code=")
            welcome = await served.ask("GET", link.removeprefix(served.origin))
            assert welcome.status == 200
            # A page and no redirect: a strict cookie would not go with one that another site's link began.
            assert b'http-equiv="refresh"' in welcome.body

    asyncio.run(story())


def test_a_restart_logs_nobody_out(tmp_path: Path) -> None:
    async def story() -> None:
        async with door(tmp_path) as first:
            name, _, value = (await first.log_in()).partition("=")
        async with door(tmp_path) as second:
            assert name == f"handrail-{first.port}"  # two desks on one machine do not share a cookie
            cookie = f"handrail-{second.port}={value}"
            assert (await second.ask("GET", "/api/desk", {"Cookie": cookie})).status == 200
            assert (await second.ask("GET", "/api/desk", {"Cookie": f"{name}={value}"})).status == 401

    asyncio.run(story())


def test_a_cookie_ends_after_a_month_and_is_not_in_the_store(tmp_path: Path) -> None:
    async def story() -> None:
        clock, store = ManualClock(), Store(tmp_path / "handrail.db")
        try:
            logins = Logins(store, clock)
            await logins.load()
            value = await logins.begin()
            assert logins.knows(value)
            assert not logins.knows(value + "x")
            assert not logins.knows("")
            rows = await store.read(lambda db: [tuple(row) for row in db.execute("SELECT hash FROM logins")])
            assert len(rows) == 1
            assert value not in rows[0]
            await clock.advance(LOGIN_LIFE_MS)
            assert not logins.knows(value)
            await logins.load()
            assert await store.read(lambda db: db.execute("SELECT count(*) FROM logins").fetchone()[0]) == 0
        finally:
            store.close()

    asyncio.run(story())
