"""What windows show: documents, text, tables, pages, and pictures of all that."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.web.desk_person import Person

pytestmark = pytest.mark.slow

PAGE = b"<!doctype html><title>Elsewhere</title><body style='background:#c00'>A page from elsewhere"
PAINTER = b"""<!doctype html><script>
addEventListener("message", ({data}) => {
  if (data.handrail !== 1 || data.type !== "capture") return;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 50;
  const brush = canvas.getContext("2d");
  brush.fillStyle = "#00ff00"; brush.fillRect(0, 0, 50, 50);
  parent.postMessage({handrail: 1, type: "captured", id: data.id, image: canvas.toDataURL("image/png")}, "*");
});
</script>"""


CANVAS = """content => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 40;
  canvas.style.display = "block";
  const brush = canvas.getContext("2d");
  brush.fillStyle = "#ff00ff"; brush.fillRect(0, 0, 40, 40);
  content.prepend(canvas);
}"""


class _Elsewhere(BaseHTTPRequestHandler):
    """Another site on this machine."""

    def do_GET(self) -> None:
        body = PAINTER if self.path == "/painter" else PAGE
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def captured(person: Person, window_id: str) -> Image.Image:
    details = person.server.act({"type": "window.capture", "windowId": window_id})
    return Image.open(io.BytesIO(base64.b64decode(details["imageData"]))).convert("RGB")


def test_markdown_is_rendered_and_grows_as_the_agent_writes(person: Person) -> None:
    person.show("a", {"renderer": "markdown", "data": "# Title\n\nSome **bold** words"})
    document = person.window("a").locator("article")
    expect(document.locator("h1")).to_have_text("Title")
    expect(document.locator("strong")).to_have_text("bold")
    for word in ("one", "two", "three"):
        operation = {"op": "append", "data": f"\n- {word}"}
        person.server.act({"type": "window.updateContent", "windowId": "a", "operation": operation})
    expect(document.locator("li")).to_have_text(["one", "two", "three"])


def test_html_is_shown_and_an_empty_one_says_so(person: Person) -> None:
    person.show("a", {"renderer": "html", "data": "<h2>Hi</h2><ul><li>x</li></ul>"})
    expect(person.window("a").locator("h2:not(.window-title)")).to_have_text("Hi")
    person.server.act({"type": "window.updateContent", "windowId": "a", "operation": {"op": "clear"}})
    expect(person.window("a").locator(".state")).to_have_text("Nothing here yet")


def test_a_renderer_may_change(person: Person) -> None:
    person.show("a", {"renderer": "text", "data": "  as <b>written</b>\n  "})
    assert person.window("a").locator("pre").inner_text() == "  as <b>written</b>\n  "
    content = {"renderer": "table", "data": {"headers": ["x"], "rows": [["1"]]}}
    person.server.act({"type": "window.setContent", "windowId": "a", "content": content})
    expect(person.window("a").locator("td")).to_have_text("1")
    expect(person.window("a").locator("pre")).to_have_count(0)


def test_a_table_sorts_numbers_as_numbers_up_down_and_back(person: Person) -> None:
    rows = [["pear", "10"], ["Apple", "9"], ["fig", "100"]]
    person.show("a", {"renderer": "table", "data": {"headers": ["Name", "Count"], "rows": rows}})
    first, counts = person.window("a").locator("td:first-child"), person.window("a").locator("td:last-child")
    header = person.window("a").locator("th").nth(1)
    header.click()
    expect(counts).to_have_text(["9", "10", "100"])
    expect(header).to_have_attribute("aria-sort", "ascending")
    header.click()
    expect(counts).to_have_text(["100", "10", "9"])
    header.click()
    expect(first).to_have_text(["pear", "Apple", "fig"])


def test_a_long_table_has_only_the_rows_in_sight_and_scrolls_to_its_last(person: Person) -> None:
    rows = [[f"row {n}", str(n)] for n in range(20_000)]
    person.show("a", {"renderer": "table", "data": {"headers": ["Name", "Number"], "rows": rows}})
    box = person.window("a").locator(".table-box")
    expect(box.locator("td").first).to_have_text("row 0")
    assert box.locator("tr").count() < 60
    box.evaluate("e => e.scrollTop = e.scrollHeight")
    expect(box.get_by_text("row 19999", exact=True)).to_be_in_viewport()
    head = box.locator("th").first.bounding_box()
    top = box.bounding_box()
    assert round(head["y"]) == round(top["y"]), "the header stays in sight"


def test_a_page_that_loads_is_told_to_the_agent(person: Person, elsewhere: str) -> None:
    public = "http://93.184.215.14/"  # a number of the open internet, which the test answers for
    person.context.route(f"{public}**", lambda route: route.fulfill(body="A page of the internet"))
    free = "**/api/frames/problem?*"  # no test asks the internet
    person.context.route(free, lambda route: route.fulfill(json={"problem": None}))
    content = {"renderer": "iframe", "data": public}
    made = person.server.begin(lambda: asyncio.to_thread(person.server.window, "a", content))
    person.until(made.done)
    assert made.result()["iframe"] == {"loaded": True}
    frame = person.window("a").locator("iframe")
    expect(frame.content_frame.get_by_text("A page of the internet")).to_be_visible()
    assert frame.get_attribute("sandbox") == "allow-scripts allow-forms"
    assert frame.get_attribute("referrerpolicy") == "no-referrer"
    assert frame.evaluate("frame => frame.credentialless") is True
    person.context.unroute_all()


def test_a_page_of_this_machine_is_shown_after_a_persons_yes(person: Person, elsewhere: str) -> None:
    details = person.show("a", {"renderer": "iframe", "data": elsewhere})
    assert details["iframe"]["loaded"] is False
    assert "A person has to say yes first" in details["iframe"]["error"]
    assert not [url for url in person.requests if url.startswith(elsewhere)]
    yes = person.window("a").get_by_role("button", name="Show it")
    yes.evaluate("button => { button.disabled = false; button.click(); }")  # no person's click
    assert not [url for url in person.requests if url.startswith(elsewhere)]
    expect(person.allow("a").content_frame.get_by_text("A page from elsewhere")).to_be_visible()
    again = {"renderer": "iframe", "data": f"{elsewhere}/other"}
    person.server.act({"type": "window.setContent", "windowId": "a", "content": again})
    expect(yes).to_be_visible()  # a yes is for one address
    assert not [url for url in person.requests if url.startswith(f"{elsewhere}/other")]


def test_a_page_that_a_shortcut_opens_is_in_the_same_sandbox(person: Person, elsewhere: str) -> None:
    made = {"id": "s", "label": "Short", "icon": "", "type": "url", "target": elsewhere, "createdAt": 1}
    person.server.act({"type": "desktop.createShortcut", "shortcut": made})
    person.button("Short").click()
    person.button("Show it").click()
    frame = person.page.locator(".window iframe")
    expect(frame.content_frame.get_by_text("A page from elsewhere")).to_be_visible()
    assert frame.get_attribute("sandbox") == "allow-scripts allow-forms"


def test_an_agents_sandbox_only_narrows(person: Person, elsewhere: str) -> None:
    words = "allow-same-origin allow-forms allow-top-navigation"
    person.show("a", {"renderer": "iframe", "data": {"url": elsewhere, "sandbox": words}})
    assert person.allow("a").get_attribute("sandbox") == "allow-forms"


def test_a_page_nobody_serves_is_told_to_the_agent(person: Person) -> None:
    details = person.show("a", {"renderer": "iframe", "data": "app:nobody"})
    assert details["iframe"]["loaded"] is False
    expect(person.window("a")).to_contain_text("There is no app")


def test_a_window_is_captured_as_it_looks(person: Person) -> None:
    look = {"background": "#204060", "color": "#ffffff"}
    person.show("a", {"renderer": "text", "data": "words"}, windowStyle=look)
    picture = captured(person, "a")
    assert picture.size == (480, 320)
    assert picture.getpixel((300, 250)) == (32, 64, 96)
    assert any(min(picture.getpixel((x, 66))) > 200 for x in range(18, 70)), "white letters are drawn"  # type: ignore[type-var]


def test_a_document_and_a_canvas_are_in_the_picture(person: Person) -> None:
    person.show("a", {"renderer": "markdown", "data": "# ████████"})
    expect(person.window("a").locator("article h1")).to_be_visible()
    person.window("a").locator(".content").evaluate(CANVAS)
    colours = {colour for _, colour in captured(person, "a").getcolors(200_000) or []}
    assert (255, 0, 255) in colours, "the canvas"
    assert (26, 32, 48) in colours, "the heading's own colour"


def test_a_page_that_can_draws_its_own_picture(person: Person, elsewhere: str) -> None:
    person.show("a", {"renderer": "iframe", "data": f"{elsewhere}/painter"})
    person.allow("a")
    assert captured(person, "a").getpixel((240, 200)) == (0, 255, 0)


def test_of_a_page_that_can_not_there_is_no_white_picture(person: Person, elsewhere: str) -> None:
    person.show("a", {"renderer": "iframe", "data": elsewhere}, title="Frame alone")
    person.allow("a")
    future = person.server.begin_act({"type": "window.capture", "windowId": "a"})
    person.until(future.done)
    assert "another site" in str(future.exception())


def test_a_minimised_window_can_not_be_captured(person: Person) -> None:
    person.show("a", {"renderer": "text", "data": "x"}, minimized=True)
    future = person.server.begin_act({"type": "window.capture", "windowId": "a"})
    person.until(future.done)
    assert "minimised" in str(future.exception())
