"""Attacks through what agents may write. Each would work on a desk that trusts them; each must fail here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.desk_person import Person

EVIL = (
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
    "<svg onload='window.pwned = 1'></svg><iframe srcdoc='<script>parent.pwned = 1</script>'></iframe>"
    "<a href='javascript:window.pwned = 1'>click me</a><form action='/api/actions'><button>b</button></form>"
    "<style>* { display: none }</style>"
    "<div style='position:fixed;inset:0' id='stage' onclick='window.pwned=1'>d</div>"
)
HOSTILE = """<!doctype html><p id="log"></p><script>
const log = document.getElementById("log");
const tried = [];
const attempt = async (name, run) => {
  try { await run(); tried.push(name); } catch (error) { /* as it should be */ }
};
(async () => {
  await attempt("parent document", () => parent.document.body.append("pwned"));
  await attempt("parent global", () => { parent.pwned = 1; });
  await attempt("cookies", () => { if (!document.cookie) throw 0; });
  await attempt("storage", () => localStorage.setItem("x", "y"));
  await attempt("read the api", () => fetch("__DESK__/api/apps", {credentials: "include"}));
  await attempt("act", async () => {
    const made = {type: "window.create", windowId: "mine", title: "x", bounds: {x: 0, y: 0, w: 300, h: 200},
      content: {renderer: "text", data: "x"}};
    const answer = await fetch("__DESK__/api/actions", {method: "POST", credentials: "include",
      headers: {"content-type": "text/plain"}, mode: "no-cors", body: JSON.stringify(made)});
    if (answer.type === "opaque") throw 0;
  });
  await attempt("socket", () => new Promise((done, fail) => {
    const socket = new WebSocket("__DESK__/ws".replace("http", "ws"));
    socket.onmessage = done; socket.onerror = fail; socket.onclose = fail;
  }));
  await attempt("top navigation", () => { top.location = "about:blank"; });
  await attempt("popup", () => { if (!window.open("about:blank")) throw 0; });
  for (const type of ["send", "title", "open", "ready", "captured"])
    parent.postMessage({handrail: 1, type, text: "forged", title: "forged", app: "phone"}, "*");
  log.textContent = "tried: " + JSON.stringify(tried);
})();
</script>"""


INLINE = """() => {
  const script = document.createElement("script");
  script.text = "window.pwned = 1";
  document.head.append(script);
}"""
PAST_THE_FILTER = """async () => {
  const { Page } = await import("/static/desk/render_page.js");
  const { anyIcon, isOwnPicture } = await import("/static/desk/icons.js");
  const shell = { connection: { send: () => true } };
  const shown = async (data) => {
    const root = document.createElement("div");
    const win = { title: "x", windowId: "x", requestId: null, content: { data } };
    await new Page(root, shell, null).show(win);
    return root.querySelector("iframe");
  };
  return [
    await shown("javascript:alert(1)"), await shown(location.href),
    isOwnPicture("http://evil.example/x.png"), isOwnPicture("/api/storage/../../api/x"),
    anyIcon("http://evil.example/x.png", "file", "image").tagName,
  ];
}"""


class Site:
    """Another origin, and what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.page = b""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(site.page)))
                self.end_headers()
                self.wfile.write(site.page)

            def log_message(self, *words: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://localhost:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    one = Site()
    yield one
    one.close()


def nothing_happened(person: Person) -> None:
    person.frame()
    assert person.page.evaluate("() => window.pwned") is None
    expect(person.button("Phone")).to_be_visible()
    person.provokes = True  # the policy's own words about what it stopped


@pytest.mark.parametrize("renderer", ["markdown", "html"])
def test_script_in_a_document_does_not_run(person: Person, renderer: str) -> None:
    person.show("a", {"renderer": renderer, "data": f"before\n\n{EVIL}\n\nafter"})
    document = person.window("a").locator(".prose")
    expect(document).to_contain_text("after")
    for link in document.get_by_text("click me").all():
        link.click(force=True, modifiers=["Shift"])
    bad = "script, iframe, form, style, [onerror], [onload], [onclick], [style], [id]"
    assert document.evaluate("(e, bad) => e.shadowRoot.querySelectorAll(bad).length", bad) == 0
    nothing_happened(person)


def test_markup_in_text_table_and_title_stays_text(person: Person) -> None:
    person.show("a", {"renderer": "text", "data": EVIL}, title=EVIL)
    assert person.window("a").locator("pre").inner_text() == EVIL
    assert person.window("a").locator(".window-title").inner_text() == EVIL
    person.show("b", {"renderer": "table", "data": {"headers": [EVIL], "rows": [[EVIL]]}})
    assert person.window("b").locator("td").inner_text() == EVIL
    nothing_happened(person)


def test_markup_in_components_stays_text(person: Person) -> None:
    options = [{"value": EVIL, "label": EVIL}]
    components = [
        {"type": "text", "content": EVIL},
        {"type": "text", "content": EVIL, "variant": "code"},
        {"type": "button", "label": EVIL, "action": EVIL, "icon": EVIL},
        {"type": "badge", "label": EVIL},
        {"type": "progress", "value": 1, "label": EVIL},
        {"type": "input", "name": "x", "label": EVIL, "placeholder": EVIL, "defaultValue": EVIL},
        {"type": "select", "name": "y", "label": EVIL, "placeholder": EVIL, "options": options},
    ]
    person.show("a", {"renderer": "component", "data": {"components": components}})
    assert person.window("a").locator(".grid script, .grid iframe, .grid form, .grid style").count() == 0
    assert person.window("a").locator(".text").first.inner_text() == EVIL
    nothing_happened(person)


def test_markup_in_notifications_toasts_shortcuts_and_questions_stays_text(person: Person) -> None:
    act = person.server.act
    act({"type": "notification.show", "id": EVIL, "title": EVIL, "body": EVIL, "icon": EVIL})
    act({"type": "toast.show", "id": "t", "message": EVIL, "action": {"label": EVIL, "eventId": "e"}})
    one = {"id": "s", "label": EVIL, "icon": EVIL, "type": "action", "target": EVIL, "createdAt": 1}
    act({"type": "desktop.createShortcut", "shortcut": one})
    asked = {"type": "dialog.confirm", "id": "d", "title": EVIL, "message": EVIL, "confirmText": EVIL}
    future = person.server.begin_act(asked)
    expect(person.page.locator("dialog h2")).to_have_text(EVIL)
    person.button("No").click()
    person.until(future.done)
    assert person.page.locator(".note p").first.inner_text() == EVIL
    assert person.page.locator(".toast-text").inner_text() == EVIL
    nothing_happened(person)


@pytest.mark.parametrize("renderer", ["markdown", "html"])
def test_no_picture_is_fetched_from_elsewhere(person: Person, site: Site, renderer: str) -> None:
    address = f"{site.address}/spy.png"
    body = f"x ![]({address})\n" if renderer == "markdown" else (
        f"x<img src='{address}'><img srcset='{address} 2x'><video poster='{address}'></video>"
        f"<div style='background:url({address})'></div><link rel=stylesheet href='{address}'>"
    )  # fmt: skip
    person.show("a", {"renderer": renderer, "data": body})
    expect(person.window("a").locator(".prose")).to_contain_text("x")
    person.frame()
    assert site.asked == []
    assert [url for url in person.requests if "spy" in url] == []
    nothing_happened(person)


def test_the_page_itself_could_not_load_a_foreign_picture_or_script(person: Person, site: Site) -> None:
    blocked = person.page.evaluate(
        """address => Promise.all([["img", "src"], ["script", "src"], ["link", "href"]].map(([tag, name]) =>
          new Promise(done => { const e = document.createElement(tag); e.onerror = () => done(tag);
            e.onload = () => done("loaded"); if (tag === "link") e.rel = "stylesheet"; e[name] = address;
            document.head.append(e) })))""",
        f"{site.address}/x",
    )
    assert blocked == ["img", "script", "link"]
    assert site.asked == []
    person.page.evaluate(INLINE)
    nothing_happened(person)


def test_a_hostile_page_reaches_neither_the_desk_nor_its_api(person: Person, site: Site) -> None:
    site.page = HOSTILE.replace("__DESK__", person.server.address).encode()
    person.show("a", {"renderer": "iframe", "data": site.address}, title="Honest")
    log = person.allow("a").content_frame.locator("#log")
    expect(log).to_have_text("tried: []")
    state = person.server.state()
    assert list(state["windows"]) == ["monitor-0/a"]
    assert state["windows"]["monitor-0/a"]["title"] == "Honest"
    assert person.server.letters("console") == []
    letters = person.server.letters()
    assert [letter["type"] for letter in letters] == ["rendering_feedback"], "the desk's own"
    assert person.page.url == f"{person.server.address}/"
    nothing_happened(person)
    site.asked.clear()


def test_a_hostile_app_of_the_users_own_is_no_stronger(person: Person) -> None:
    folder = person.server.home / "apps" / "evil"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.json").write_text(json.dumps({"name": "Evil"}))
    (folder / "index.html").write_text(HOSTILE.replace("__DESK__", person.server.address))
    person.server.act({"type": "desktop.refreshApps"})
    person.button("Evil").click()
    log = person.window("app-evil").locator("iframe").content_frame.locator("#log")
    expect(log).to_have_text("tried: []")
    assert list(person.server.state()["windows"]) == ["monitor-0/app-evil"]
    assert person.server.letters("console") == []
    nothing_happened(person)


def test_a_message_from_another_window_is_not_an_apps(person: Person) -> None:
    person.show("a", {"renderer": "text", "data": "x"})
    person.page.evaluate("() => window.postMessage({handrail: 1, type: 'send', text: 'forged'}, '*')")
    person.frame()
    assert person.server.letters("console") == []


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "file:///etc/passwd"]
)
def test_a_frame_or_shortcut_takes_only_web_addresses(person: Person, address: str) -> None:
    box = {"x": 0, "y": 0, "w": 300, "h": 200}
    content = {"renderer": "iframe", "data": address}
    action = {"type": "window.create", "windowId": "a", "title": "x", "bounds": box, "content": content}
    made = person.server.begin_act(action)
    assert "INVALID_ACTION" in repr(made.exception(5).to_dict())
    one = {"id": "s", "label": "Bad", "icon": "x", "type": "url", "target": address, "createdAt": 1}
    made = person.server.begin_act({"type": "desktop.createShortcut", "shortcut": one})
    assert "INVALID_ACTION" in repr(made.exception(5).to_dict())


def test_what_came_past_the_servers_filter_is_stopped_by_the_page(person: Person) -> None:
    """The page has rules of its own, should the server's ever fail."""
    drawn = person.page.evaluate(PAST_THE_FILTER)
    assert drawn == [None, None, False, False, "svg"]
