"""Several browsers at one desk, and a desk that goes away and comes back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, WebSocket, expect

from tests.web.desk_person import Person
from tests.web.desk_server import DeskServer

TEXT = {"renderer": "text", "data": "Hello"}
ASK = {"type": "dialog.confirm", "id": "d1", "title": "Go on?", "message": "Really?"}


@pytest.fixture(scope="module")
def _both(browser: Browser, desk_server: DeskServer) -> Iterator[tuple[Person, Person]]:
    ada, ben = (Person.enter(browser, desk_server) for _ in range(2))
    yield ada, ben
    ada.leave()
    ben.leave()


@pytest.fixture
def pair(_both: tuple[Person, Person]) -> tuple[Person, Person]:
    """Two people at one empty desk."""
    for one in _both:
        one.clear()
    return _both


def test_what_one_drags_the_other_sees_while_it_moves(pair: tuple[Person, Person]) -> None:
    ada, ben = pair
    ada.show("a", TEXT)
    ben.window("a").wait_for()
    x, y = ada.title_bar("a")
    ada.drag((x, y), (x + 100, y + 60), drop=False)
    ben.until(lambda: ben.box("a") == (300, 140, 480, 320))
    ada.drag((x + 100, y + 60), (x + 200, y + 60), drop=False)
    ada.page.mouse.up()
    for one in (ada, ben):
        one.bounds_become("a", (400, 140, 480, 320))


def test_focus_title_and_content_agree_in_both(pair: tuple[Person, Person]) -> None:
    ada, ben = pair
    for name, x in (("a", 200), ("b", 720)):
        ada.show(name, TEXT, bounds={"x": x, "y": 80, "w": 400, "h": 300})
    ben.window("a").click()
    expect(ada.window("a")).to_have_class("window is-focused")
    content = {"renderer": "text", "data": "Changed"}
    ada.server.act({"type": "window.setContent", "windowId": "a", "content": content})
    for one in (ada, ben):
        expect(one.window("a").locator("pre")).to_have_text("Changed")


def test_a_question_answered_in_one_disappears_in_the_other(pair: tuple[Person, Person]) -> None:
    ada, ben = pair
    future = ada.server.begin_act(ASK)
    for one in (ada, ben):
        expect(one.page.get_by_role("dialog", name="Go on?")).to_be_visible()
    ben.button("Yes").click()
    for one in (ada, ben):
        expect(one.page.locator("dialog")).to_have_count(0)
    assert future.result(5)["confirmed"] is True
    assert ada.take_complaints() + ben.take_complaints() == []


def test_offline_is_said_and_what_was_missed_is_caught_up_by_number(pair: tuple[Person, Person]) -> None:
    ada, _ = pair
    ada.show("kept", TEXT)
    asked: list[str] = []
    frames: list[str] = []

    def watch(socket: WebSocket) -> None:
        asked.append(socket.url.partition("/ws")[2])
        socket.on("framereceived", lambda frame: frames.append(str(frame)[:200]))

    ada.page.on("websocket", watch)
    ada.context.set_offline(True)
    expect(ada.page.locator("#banner")).to_contain_text("Offline")
    ada.server.act({"type": "window.close", "windowId": "kept"})
    for number in range(40):
        ada.server.window(f"w{number}", TEXT)
    expect(ada.window("kept")).to_be_visible()
    ada.context.set_offline(False)
    expect(ada.window("w39")).to_be_visible()
    expect(ada.window("kept")).to_have_count(0)
    expect(ada.page.locator("#banner")).to_be_hidden()
    expect(ada.page.locator(".window")).to_have_count(40)
    assert asked[-1].startswith("?since=")
    assert not any('"SNAPSHOT"' in frame for frame in frames), "only what was missed came"
    ada.page.remove_listener("websocket", watch)


def test_what_is_done_offline_is_refused_in_words_and_not_kept(pair: tuple[Person, Person]) -> None:
    ada, _ = pair
    ada.show("a", TEXT)
    ada.context.set_offline(True)
    expect(ada.page.locator("#banner")).to_contain_text("Offline")
    ada.button("Close", ada.window("a")).click()
    expect(ada.page.locator(".toast")).to_contain_text("Not connected")
    ada.context.set_offline(False)
    expect(ada.page.locator("#banner")).to_be_hidden()
    expect(ada.window("a")).to_be_visible()


@pytest.mark.slow
def test_a_killed_server_comes_back_with_the_same_desk(browser: Browser, own_server: DeskServer) -> None:
    ada, ben = (Person.enter(browser, own_server) for _ in range(2))
    ada.show("first", TEXT, bounds={"x": 220, "y": 40, "w": 400, "h": 300})
    ada.show(
        "second",
        {"renderer": "markdown", "data": "# Still here"},
        bounds={"x": 500, "y": 90, "w": 400, "h": 300},
    )
    x, y = ada.title_bar("first")
    ada.drag((x, y), (x + 30, y + 200))
    ada.bounds_become("first", (250, 240, 400, 300))
    before = ada.server.state()
    ada.server.stop()
    expect(ada.page.locator("#banner")).to_contain_text("Offline")
    ada.server.start()
    for one in (ada, ben):
        expect(one.page.locator("#banner")).to_contain_text("signed out")  # a token ends with its server
        one.page.goto(own_server.link())
        expect(one.page.locator("#banner")).to_be_hidden()
        expect(one.window("second").locator("article h1")).to_have_text("Still here")
        assert one.box("first") == (250, 240, 400, 300)
        expect(one.window("first")).to_have_class("window is-focused")
    after = ada.server.state()
    assert {key: after[key] for key in ("windows", "monitors", "shortcuts", "badges")} == {
        key: before[key] for key in ("windows", "monitors", "shortcuts", "badges")
    }
    ada.server.window("third", TEXT)
    expect(ben.window("third")).to_be_visible()
    ada.leave()
    ben.leave()


@pytest.mark.slow
def test_two_hundred_quick_changes_are_the_same_in_both(pair: tuple[Person, Person]) -> None:
    ada, ben = pair
    for number in range(200):
        ada.server.window(
            f"w{number % 20}", TEXT, title=f"Version {number}"
        ) if number < 20 else ada.server.act(
            {"type": "window.setTitle", "windowId": f"w{number % 20}", "title": f"Version {number}"}
        )
    wanted = [f"Version {180 + number}" for number in range(20)]
    for one in (ada, ben):
        expect(one.page.locator(".task")).to_have_text(wanted)


@pytest.mark.slow
def test_at_phone_width_one_window_fills_the_screen_and_the_others_are_a_tap_away(
    browser: Browser, own_server: DeskServer
) -> None:
    one = Person.enter(browser, own_server, viewport={"width": 390, "height": 780}, has_touch=True)
    one.show("a", TEXT)
    one.show("b", TEXT)
    assert one.box("b") == (0, 0, 390, 728)
    assert one.server.seen("a")["bounds"] == {"x": 200, "y": 80, "w": 480, "h": 320}, (
        "others keep their windows"
    )
    one.page.locator(".task", has_text="a").tap()
    expect(one.window("a")).to_have_class("window is-focused")
    one.button("Desktop").tap()
    expect(one.window("a")).to_be_hidden()
    one.button("Phone").tap()
    expect(one.window("app-phone")).to_be_visible()
    one.leave()
