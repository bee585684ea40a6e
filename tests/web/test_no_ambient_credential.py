"""Nothing that a browser sends by itself logs anybody in: an agent's frame steals no login, nor its family.

Once, an agent with only the program's token opened a frame on another port of this machine. The browser sent
the person's cookie there, and the agent answered its own questions with that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from starlette.routing import Route

from tests.web.desk_person import Person
from tests.web.desk_server import DeskServer
from tests.web.thief import Thief, opened_by, thieving

STORED = "() => JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie])"
TOKEN = "() => sessionStorage.getItem('handrail.page')"
BY_ITSELF = """async () => {
  const status = async (path, more) => (await fetch(path, { credentials: "include", ...more })).status;
  const image = () => new Promise((done) => {
    const one = new Image();
    one.onload = () => done("shown");
    one.onerror = () => done("refused");
    one.src = "/api/storage/a.png";
  });
  const socket = (first) => new Promise((done) => {
    const one = new WebSocket(location.origin.replace("http", "ws") + "/ws");
    one.onopen = () => one.send(first);
    one.onmessage = () => done("told");
    one.onclose = ({ code }) => done(code);
  });
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  return [
    await status("/api/desk"), await status("/api/storage/a.png"), await status("/api/login-links", json),
    await image(), await socket('{"type": "HELLO", "clientId": "x"}'), await socket('{"type": "INTERRUPT"}'),
  ];
}"""


@pytest.fixture
def thief(person: Person) -> Iterator[Thief]:
    with thieving(person.server.address) as one:
        yield one


def nothing_was_stolen(person: Person, thief: Thief) -> None:
    """No header, no word of the page, and nothing that opens the desk by whatever way it is brought."""
    token = person.page.evaluate(TOKEN)
    assert len(token) >= 40
    assert thief.loot, "it was never asked for anything"
    assert not [
        line for line in thief.loot if line.lower().startswith(("cookie:", "authorization:", "handrail"))
    ]
    assert token not in "\n".join(thief.loot)
    assert opened_by(thief.loot, person.server.port) == []
    assert opened_by([token], person.server.port) == [token], "the check itself works"
    for grabbed in thief.grabbed:
        found = {
            name: value
            for name, value in grabbed.items()
            if value and name not in ("worker", "headers", "url")
        }
        assert found == {}, found
    person.provokes = True  # the browser's own words about what it stopped


def in_a_frame(person: Person, address: str) -> None:
    person.show("a", {"renderer": "iframe", "data": address})
    person.allow("a")


def test_a_frame_on_another_port_gets_no_login(person: Person, thief: Thief) -> None:
    in_a_frame(person, f"http://127.0.0.1:{thief.port}/")
    person.until(lambda: thief.grabbed)
    nothing_was_stolen(person, thief)


@pytest.mark.slow
def test_a_frame_on_localhost_gets_no_login(person: Person, thief: Thief) -> None:
    in_a_frame(person, f"http://localhost:{thief.port}/")
    person.until(lambda: thief.grabbed)
    nothing_was_stolen(person, thief)


@pytest.mark.slow
def test_a_frame_on_the_other_loopback_gets_no_login(person: Person) -> None:
    with thieving(person.server.address, "::1") as thief:
        in_a_frame(person, f"http://[::1]:{thief.port}/")
        person.until(lambda: thief.grabbed)
        nothing_was_stolen(person, thief)


@pytest.mark.slow
def test_the_desks_own_port_on_the_other_loopback_gets_no_login(person: Person) -> None:
    """A browser that is sent to `localhost` ends up there. The desk's page is never of that origin."""
    with thieving(person.server.address, "::1", person.server.port) as thief:
        tab = person.context.new_page()
        tab.goto(f"http://localhost:{thief.port}/")
        expect(tab.locator("#log")).to_have_text("done")
        nothing_was_stolen(person, thief)
        tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["/api/desk", "/api/login-links", "/login", "/", "elsewhere"])
def test_a_frame_that_is_sent_on_gets_no_login(person: Person, thief: Thief, target: str) -> None:
    with thieving(person.server.address) as second:
        thief.turns_to = (
            f"http://localhost:{second.port}/" if target == "elsewhere" else person.server.address + target
        )
        person.show("a", {"renderer": "iframe", "data": f"http://127.0.0.1:{thief.port}/turn"})
        person.window("a").get_by_role("button", name="Show it").click()
        person.until(lambda: thief.loot)
        if target == "elsewhere":
            # It leads from one address of this machine to another one: nobody has said yes to that.
            expect(person.window("a")).to_contain_text("leads to an address of this machine")
            nothing_was_stolen(person, second)
        nothing_was_stolen(person, thief)
        # The desk in a frame is no page: the browser may show nothing of it.
        assert person.window("a").locator("iframe").content_frame.locator("#stage").count() == 0


@pytest.mark.slow
def test_a_service_worker_of_the_attackers_origin_gets_no_login(person: Person, thief: Thief) -> None:
    tab = person.context.new_page()
    tab.goto(f"http://127.0.0.1:{thief.port}/")
    expect(tab.locator("#log")).to_have_text("done")
    assert [one["worker"] for one in thief.grabbed if "worker" in one] == ["registered"]
    in_a_frame(person, f"http://127.0.0.1:{thief.port}/again")
    person.until(lambda: "/again" in "\n".join(thief.loot))
    tab.goto(f"http://127.0.0.1:{thief.port}/once-more")
    person.until(lambda: [one for one in thief.grabbed if str(one.get("url", "")).endswith("/once-more")])
    nothing_was_stolen(person, thief)
    tab.close()


def test_nothing_works_without_the_pages_own_token(person: Person) -> None:
    storage = person.server.home / "storage"
    storage.mkdir(exist_ok=True)
    (storage / "a.png").write_bytes(b"\x89PNG")
    assert person.page.evaluate(BY_ITSELF) == [401, 401, 401, "refused", 4401, 4401]
    assert person.context.cookies() == []
    for route in person.server.routes:
        if (
            isinstance(route, Route)
            and "GET" in (route.methods or ())
            and route.path.startswith(("/api", "/apps"))
        ):
            path = route.path.replace("{path:path}", "x").replace("{", "").replace("}", "")
            assert person.context.request.get(person.server.address + path).status == 401, path
    person.provokes = True


def is_in(page: Page) -> None:
    expect(page.locator(".desk-icon").first).to_be_visible()


@pytest.mark.slow
def test_a_reload_and_a_second_tab_stay_logged_in(browser: Browser, desk_server: DeskServer) -> None:
    context = browser.new_context()
    first, second = context.new_page(), context.new_page()
    first.goto(desk_server.link())
    is_in(first)
    assert first.url == f"{desk_server.address}/"  # the code does not stay in the history
    first.reload()
    is_in(first)
    second.goto(desk_server.address)
    is_in(second)
    first.close()
    second.reload()
    is_in(second)
    by_name = context.new_page()
    by_name.goto(desk_server.address.replace("127.0.0.1", "localhost"))
    is_in(by_name)
    assert by_name.url == f"{desk_server.address}/"
    context.close()


@pytest.mark.slow
def test_a_stranger_is_told_how_to_get_in_and_a_link_in_another_tab_lets_them(
    browser: Browser, desk_server: DeskServer
) -> None:
    context = browser.new_context()
    page, other = context.new_page(), context.new_page()
    page.goto(desk_server.address)
    expect(page.locator("body.door")).to_contain_text("handrail desk link")
    link = desk_server.link()
    other.goto(link)
    is_in(other)
    is_in(page)
    context.close()
    late = browser.new_page()
    late.goto(link)
    expect(late.get_by_role("alert")).to_contain_text("used already")
    late.close()


@pytest.mark.slow
def test_after_a_restart_an_old_token_is_refused_and_a_new_link_brings_every_tab_back(
    browser: Browser, own_server: DeskServer
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(own_server.link())
    is_in(page)
    kept, token = page.evaluate(STORED), page.evaluate(TOKEN)
    assert opened_by([kept], own_server.port) == [token]
    own_server.stop()
    own_server.start()
    assert opened_by([kept], own_server.port) == []
    expect(page.locator("#banner")).to_contain_text("signed out")
    assert page.evaluate(TOKEN) is None
    other = context.new_page()
    other.goto(own_server.link())
    is_in(other)
    expect(page.locator("#banner")).to_be_hidden()
    own_server.window("again", {"renderer": "text", "data": "here"})
    expect(page.locator(".window", has_text="here")).to_be_visible()
    context.close()


@pytest.mark.slow
def test_another_server_on_the_same_port_can_not_use_what_it_finds_in_the_pages_storage(
    browser: Browser, own_server: DeskServer
) -> None:
    context = browser.new_context()
    page, other = context.new_page(), context.new_page()
    page.goto(own_server.link())
    is_in(page)
    other.goto(own_server.address)
    is_in(other)
    own_server.stop()
    loot = _visited(context, page, own_server)
    own_server.start()
    assert opened_by(loot, own_server.port) == []
    context.close()


def _visited(context: BrowserContext, page: Page, server: DeskServer) -> list[str]:
    """The page is loaded again while somebody else has the port; one more tab is still the desk's."""
    with thieving(server.address, port=server.port) as thief:
        page.goto(server.address)
        expect(page.locator("#log")).to_have_text("done")
        [grabbed] = [one for one in thief.grabbed if "session" in one]
        assert "handrail.page=" in grabbed["session"], "it has the same origin, and does find something"
        return thief.loot


@pytest.mark.slow
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_worker_that_another_server_left_on_the_same_port_sees_no_link(
    browser: Browser, tmp_path: Path, host: str
) -> None:
    """It would answer for the desk's page before the server is asked. `--host 127.0.0.1` is the control:
    there the page has the worker's origin, and the worker has the link."""
    server, context = DeskServer(tmp_path / "home", host), browser.new_context()
    server.start()
    page = context.new_page()
    page.goto(server.link())
    is_in(page)
    old = server.pages
    server.stop()
    with thieving(server.address) as home:
        with thieving(server.address, port=server.port, home=f"http://127.0.0.1:{home.port}") as squatter:
            for address in {old, server.address}:
                page.goto(address)
                expect(page.locator("#log")).to_have_text("done")
            assert {one["worker"] for one in home.grabbed if "worker" in one} == {"registered"}
            assert squatter.loot
        home.loot.clear()
        server.start()
        link = server.link()
        page.goto(link)
        if host == "localhost":
            is_in(page)
            assert opened_by(home.loot, server.port) == []
            assert link.partition("code=")[2] not in "\n".join(home.loot)
            page.goto(server.address)  # even by the number, which the worker still answers for
        expect(page.locator("#log")).to_have_text("taken")
    context.close()
    server.stop()
