"""The desk as its users met it: each test is named after what they saw, and failed before it was mended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from handrail.errors import ERRORS, HandrailError, InvalidAction
from tests.web.desk_person import Person
from tests.web.desk_server import DeskServer

WEB = Path(__file__).parents[2] / "src" / "handrail" / "web"
HTTP = Path(__file__).parents[2] / "src" / "handrail" / "web_server"
PHONE_SIZE = {"width": 390, "height": 844}
WIDE_SIZE = {"width": 1440, "height": 900}
RAW = re.compile(r"windowId|monitor-0/|\[\d+\]|action \d|[A-Z]{3,}_[A-Z]{3,}|window\.\w+[A-Z]")
"""What no person should have to read: fields, keys, codes, names of actions."""
PICTURE = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


def said(person: Person) -> str:
    """All that is visible, without folds that nobody opened."""
    return person.page.locator("body").inner_text()


# 1: errors


def test_double_clicking_an_icon_shows_one_window_in_front_and_no_raw_message(person: Person) -> None:
    person.show("other", {"renderer": "text", "data": "x"}, bounds={"x": 300, "y": 90, "w": 500, "h": 400})
    person.page.locator(".desk-icon", has_text="Journal").dblclick()
    person.window("app-journal").wait_for()
    person.until(lambda: person.server.state()["monitors"][0]["focused"] == "monitor-0/app-journal")
    person.page.wait_for_timeout(150)
    assert person.page.locator(".toast").count() == 0
    assert not RAW.search(said(person))
    person.page.locator(".task", has_text="other").click()
    person.until(lambda: person.server.state()["monitors"][0]["focused"] == "monitor-0/other")
    person.page.locator(".desk-icon", has_text="Journal").click()
    person.until(lambda: person.server.state()["monitors"][0]["focused"] == "monitor-0/app-journal")


def codes() -> list[str]:
    refusals = re.compile(r'HttpRefusal\(\s*\d+,\s*"([A-Z_]+)"')
    found = {code for path in HTTP.glob("*.py") for code in refusals.findall(path.read_text())}
    assert len(found) > 8
    return sorted({*ERRORS, *found, "OFFLINE"})


def test_every_error_has_words_for_people_and_our_own_text_is_behind_a_fold(person: Person) -> None:
    made = person.page.evaluate(
        """async (codes) => {
          const { problem, shortly, whatFailed } = await import("/static/desk/error_words.js");
          return codes.map((code) => {
            const ours = { message: "windowId: 'monitor-0/app-phone' exists", hint: "Use window.setContent" };
            const shown = problem({ code, ...ours });
            document.body.append(shown);
            const folded = shown.querySelector("details").innerText;
            const text = shown.innerText;
            shown.querySelector("details").open = true;
            const opened = shown.innerText;
            shown.remove();
            return { code, text, opened, folded, short: shortly(code), sentence: whatFailed(code) };
          });
        }""",
        [*codes(), "NO_SUCH_CODE"],
    )
    other = made.pop()
    for one in made:
        assert one["sentence"] != other["sentence"], f"{one['code']} has no words"
        assert one["sentence"][0].isupper()
        assert one["sentence"].endswith(".")
        assert len(one["short"]) <= 24
    for one in [*made, other]:
        assert not RAW.search(one["text"]), one["text"]
        assert "monitor-0/app-phone" not in one["text"]
        assert "monitor-0/app-phone" in one["opened"]


def test_no_module_but_the_table_shows_a_message_of_ours(person: Person) -> None:
    """Whoever writes `error.message` into the page brings the family back."""
    allowed = {"desk/error_words.js", "desk/api.js", "desk/capture.js", "desk/render_app.js"}
    # What is wrong in a text that a person writes is said as the command line says it.
    allowed |= {
        "apps/settings/rules_editor.js",
        *(f"apps/studio/{name}.js" for name in ("editor", "inspector", "keep")),
    }
    allowed.add("apps/phone/live.js")  # why there is no video
    found = [
        str(path.relative_to(WEB))
        for path in WEB.rglob("*.js")
        if re.search(r"\b(error|failure|envelope|problem)\??\.(message|hint)\b", path.read_text())
    ]
    assert set(found) <= allowed


def test_a_refused_frame_is_told_in_words(person: Person) -> None:
    person.show("w", {"renderer": "text", "data": "x"})
    person.server.act({"type": "window.close", "windowId": "w"})
    refused = HandrailError("windowId: there is no window 'w' on monitor-0", hint="Create it first.")
    client = next(iter(person.server.desk.hub.clients))
    person.server.run(lambda: _send(person.server, client, refused))
    toast = person.page.locator(".toast-error")
    expect(toast).to_be_visible()
    assert not RAW.search(toast.inner_text())
    toast.locator("summary").click()
    expect(toast).to_contain_text("there is no window")
    person.button("Dismiss", toast).click()


async def _send(server: DeskServer, client: Any, error: HandrailError) -> None:
    told = {"code": error.code, "path": "", "message": error.message, "hint": error.hint}
    server.desk.hub.send(client, "ERROR", told)


# 5: after a reload


def test_after_a_reload_windows_of_apps_have_their_own_icon_and_no_globe(person: Person) -> None:
    person.page.locator(".desk-icon", has_text="Approvals").click()
    symbol = person.window("app-approvals").locator(".window-symbol path")
    drawn = person.page.locator(".desk-icon", has_text="Approvals").locator("path").get_attribute("d")
    expect(symbol).to_have_attribute("d", drawn or "")
    person.page.reload()
    expect(symbol).to_have_attribute("d", drawn or "")


# 6: offline


@pytest.mark.parametrize("size", [WIDE_SIZE, PHONE_SIZE], ids=["wide", "phone"])
def test_offline_switches_off_everything_that_needs_the_server(
    browser: Browser, own_server: DeskServer, size: dict[str, int]
) -> None:
    person = Person.enter(browser, own_server, viewport=size)
    try:
        for app in ("Journal", "Approvals", "Console"):
            person.page.evaluate("() => document.body.classList.add('at-home')")
            person.page.locator(".desk-icon", has_text=app).click()
            person.window(f"app-{app.lower()}").wait_for()
        person.context.set_offline(True)
        person.page.locator("#banner").get_by_text("Offline").wait_for()
        enabled = """() => [...document.querySelectorAll("button, input, select, textarea")]
          .filter((one) => !one.disabled && !one.closest("[data-local]")).map((one) => one.outerHTML)"""
        assert person.page.evaluate(enabled) == []
        assert (
            person.page.evaluate("() => document.querySelectorAll('[data-local]:not(:disabled)').length") > 3
        )
        own_server.window("late", {"renderer": "text", "data": "x"})
        person.context.set_offline(False)
        person.page.locator("#banner").wait_for(state="hidden")
        expect(person.button("Verify records", person.window("app-journal"))).to_be_enabled()
    finally:
        person.leave()


# 7: many windows, tables, pages, pictures


def test_many_windows_have_whole_names_in_the_taskbar_and_in_a_list(person: Person) -> None:
    for number in range(20):
        person.server.window(f"w{number}", {"renderer": "text", "data": "x"}, title=f"Window {number}")
    person.window("w19").wait_for()
    person.page.set_viewport_size(WIDE_SIZE)
    cut = """() => [...document.querySelectorAll(".task > span")]
      .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"""
    assert person.page.evaluate(cut) == []
    more = person.page.locator(".all-tasks")
    expect(more).to_have_attribute("aria-label", "All 20 windows")
    more.click()
    menu = person.page.get_by_role("menu", name="Windows")
    expect(menu.get_by_role("menuitem")).to_have_count(20)
    menu.get_by_role("menuitem", name="Window 3", exact=True).click()
    person.until(lambda: person.server.state()["monitors"][0]["focused"] == "monitor-0/w3")
    person.page.set_viewport_size({"width": 1280, "height": 772})


@pytest.mark.parametrize("width", [160, 240, 300, 480])
def test_a_tag_on_a_window_is_whole_ends_in_dots_or_is_not_there(person: Person, width: int) -> None:
    person.server.window(
        "w",
        {"renderer": "text", "data": "x"},
        title="A rather long title of a window",
        bounds={"x": 200, "y": 80, "w": width, "h": 200},
    )
    person.window("w").wait_for()
    clipped = person.window("w").evaluate(
        """(win) => {
          const room = win.querySelector(".window-marks").getBoundingClientRect();
          const tags = [...win.querySelectorAll(".window-agent")].filter((one) => one.checkVisibility());
          return tags.some((one) => {
            const box = one.getBoundingClientRect();
            const isDotted = getComputedStyle(one).display.endsWith("block");
            const isCut = one.scrollWidth > one.clientWidth && !isDotted;
            return box.right > room.right + 0.5 || isCut || box.width < 24;
          });
        }"""
    )
    assert not clipped


@pytest.mark.parametrize("rows", [3, 500], ids=["short", "long"])
def test_no_cell_of_a_table_is_cut_without_a_way_to_read_it(person: Person, rows: int) -> None:
    longest = "A cell with a text that is much longer than its column could ever be, and goes on. " * 2
    data = {
        "headers": ["Name", "What it is", "Note"],
        "rows": [["Ada", "a person who computes things", longest]] * rows,
    }
    person.show("t", {"renderer": "table", "data": data})
    cut = (
        person.window("t")
        .locator("td:not(.is-long)")
        .evaluate_all(
            "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
        )
    )
    assert cut == []
    if rows > 200:
        person.window("t").locator("td.is-long").first.click()
        expect(person.page.locator("dialog[open]")).to_contain_text("and goes on. A cell")
        person.page.keyboard.press("Escape")


class Pages(BaseHTTPRequestHandler):
    """A site with a page for each trouble."""

    def do_GET(self) -> None:
        status = {"/missing": 404, "/broken": 500, "/moved": 302}.get(self.path, 200)
        self.send_response(status)
        if self.path == "/xfo":
            self.send_header("X-Frame-Options", "DENY")
        if self.path == "/ancestors":
            self.send_header("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'")
        if self.path == "/moved":
            self.send_header("Location", "/missing")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>Here</h1>")

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


TROUBLES = {
    "/missing": "no such page",
    "/broken": "has a problem",
    "/xfo": "does not let other pages show it",
    "/ancestors": "does not let other pages show it",
    "/moved": "no such page",
    "refused": "does not answer",
}


@pytest.mark.parametrize("path", list(TROUBLES))
def test_a_page_that_can_not_be_shown_is_not_told_as_loaded(person: Person, site: str, path: str) -> None:
    address = "http://127.0.0.1:9/" if path == "refused" else site + path
    content = {"renderer": "iframe", "data": address}
    person.server.window("page", content, requestId=f"r-{path}")
    person.window("page").get_by_role("button", name="Show it").click()
    expect(person.window("page")).to_contain_text(TROUBLES[path])
    assert person.window("page").locator("iframe").count() == 0
    person.take_complaints()  # the browser tells its console of 404 and framing


def test_loaded_is_false_for_a_page_that_answers_404_and_true_for_one_that_is_there(
    person: Person, site: str
) -> None:
    """As on the open internet, where nobody is asked first."""
    free = "**/api/frames?*"
    person.page.route(free, lambda route: route.fulfill(json={"asks": False, "why": ""}))
    try:
        for at, (path, loaded) in enumerate({"/": True, **dict.fromkeys(list(TROUBLES)[:5], False)}.items()):
            frame = {"url": site + path, "sandbox": "allow-scripts Allow-Popups"}
            create = {
                "windowId": f"page{at}",
                "title": "Page",
                "bounds": {"x": 200, "y": 80, "w": 480, "h": 320},
            }
            content = {"renderer": "iframe", "data": frame}
            asked = person.server.begin_act({"type": "window.create", **create, "content": content})
            person.until(asked.done)
            told = asked.result()
            assert told["iframe"]["loaded"] is loaded, path
            assert told["dropped_sandbox"] == ["Allow-Popups"]
    finally:
        person.page.unroute(free)
    person.take_complaints()


def test_a_capture_says_how_it_was_made_and_a_page_of_another_site_is_no_white_success(
    person: Person, site: str
) -> None:
    person.show("text", {"renderer": "markdown", "data": "# Hello"})
    told = person.server.act({"type": "window.capture", "windowId": "text"})
    assert told["madeFrom"] == "a copy of the window"
    assert "missing" not in told
    person.server.window("page", {"renderer": "iframe", "data": f"{site}/"})
    person.allow("page")
    with pytest.raises(HandrailError, match="another site") as refused:
        person.server.act({"type": "window.capture", "windowId": "page"})
    assert refused.value.code == "UNSUPPORTED"
    person.take_complaints()


def test_a_picture_from_elsewhere_is_left_out_and_the_window_is_there(person: Person) -> None:
    data = {
        "components": [
            {"type": "image", "src": "https://example.org/a.png"},
            {"type": "image", "src": PICTURE},
            {"type": "text", "content": "Still here"},
        ]
    }
    told = person.show("pictures", {"renderer": "component", "data": data})
    assert [one["path"] for one in told["not_shown"]] == ["content.data.components[0].src"]
    expect(person.window("pictures")).to_contain_text("Still here")
    expect(person.window("pictures")).to_contain_text("A picture from example.org is not loaded")
    assert not [one for one in person.requests if "example.org" in one]
    changed = person.server.act(
        {
            "type": "window.setContent",
            "windowId": "pictures",
            "content": {"renderer": "component", "data": data},
        }
    )
    assert "not_shown" in changed


def test_a_badge_of_an_app_that_there_is_not_is_refused(person: Person) -> None:
    with pytest.raises(InvalidAction, match="no app 'jurnal'") as refused:
        person.server.act({"type": "app.badge", "appId": "jurnal", "count": 3})
    assert "journal" in refused.value.hint
    person.server.act({"type": "app.badge", "appId": "journal", "count": 3})
    expect(person.page.locator(".desk-icon", has_text="Journal").locator(".count")).to_have_text("3")
    person.server.act({"type": "app.badge", "appId": "journal", "count": 0})


# 9: words


ODD = ("Any end", "Only what touches", "Its life", "Entry", "Also looking", "Nothing fits", "Keys")


def test_no_odd_words_stand_in_the_sources_of_the_desk() -> None:
    shown = re.compile(r'"([^"\n]{3,})"')
    texts = [one for path in WEB.rglob("*.js") for one in shown.findall(path.read_text())]
    assert [one for one in texts if one in ODD] == []


def test_a_narrow_screen_is_not_told_of_the_left_side_or_of_a_key(
    browser: Browser, own_server: DeskServer
) -> None:
    person = Person.enter(browser, own_server, viewport=PHONE_SIZE, has_touch=True)
    try:
        start = person.page.get_by_role("region", name="First steps")
        expect(start).to_contain_text("Connect a phone")
        expect(start).to_contain_text("Give it to an agent")
        assert "left" not in start.inner_text()
        assert "press" not in start.inner_text()
    finally:
        person.leave()


# 10: the console


def test_without_a_model_the_console_offers_no_input_and_says_why(person: Person) -> None:
    console = person.server.context.console
    console.has_model = False
    try:
        person.page.locator(".desk-icon", has_text="Console").click()
        root = person.window("app-console")
        expect(root).to_contain_text("No model is set up")
        expect(root).to_contain_text("handrail serve --model")
        expect(root.get_by_label("Message to the agent")).to_be_disabled()
        expect(person.button("Send", root)).to_be_disabled()
    finally:
        console.has_model = True
    expect(root.get_by_label("Message to the agent")).to_be_enabled()


def test_a_failure_in_the_console_is_told_in_words(person: Person) -> None:
    person.page.locator(".desk-icon", has_text="Console").click()
    root = person.window("app-console")
    root.wait_for()
    raw = "windowId: 'monitor-0/x' exists already. Use window.setContent."

    async def fail() -> None:
        fields = {"agent_id": "console", "status": "failed", "message": raw, "code": "INVALID_ACTION"}
        person.server.desk.publish("AGENT_STATUS", **fields)

    person.server.run(fail)
    expect(root.locator(".console-message").last).to_contain_text("did not understand")
    assert not RAW.search(said(person))
