"""Web pages by a real Chromium: pixels, Android's accessibility, fingers and keys, the debugging socket."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from handrail_sim.channels.web import ChromiumEngine, web_by_chromium
from handrail_sim.channels.web.chromium import find
from handrail_sim.clock import SystemClock
from handrail_sim.errors import BadSetting
from handrail_sim.phone import Phone
from handrail_sim.screen.accessibility import Node, active_root
from tests.debugger import debugging, reached

BROWSER, LAB = "com.handrail.browser", "com.handrail.webviewlab"
REQUIRED = "HANDRAIL_REQUIRE_BROWSER"
HEAD = "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
PAGE = f"{HEAD}<title>Page</title>"


def has_chromium() -> bool:
    try:
        find(os.environ)
    except BadSetting:
        if os.environ.get(REQUIRED) == "1":
            raise
        return False
    return True


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not has_chromium(), reason="no Chromium here; HANDRAIL_REQUIRE_BROWSER=1 requires it"),
]


class Site:
    """Pages on loopback; `posted` is what forms have sent."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.posted: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(site.pages.get(self.path, ""))

            def do_POST(self) -> None:
                site.posted.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
                self._answer("<p>Thank you")

            def _answer(self, body: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write((PAGE + body).encode())

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def put(self, body: str) -> str:
        self.pages["/"] = body
        return f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture
def site() -> Iterator[Site]:
    one = Site()
    yield one
    one.server.shutdown()
    one.server.server_close()


Story = Callable[[Phone], Awaitable[None]]


def play(story: Story) -> None:
    @asynccontextmanager
    async def phone_with_web() -> AsyncIterator[Phone]:
        phone = Phone(clock=SystemClock(), apps=["browser", "webview_lab"])
        async with web_by_chromium([phone], os.environ):
            yield phone

    async def run() -> None:
        async with phone_with_web() as phone:
            await story(phone)

    asyncio.run(run())


async def shown(phone: Phone, url: str, package: str = LAB, **extras: str) -> None:
    phone.start_activity(component=f"{package}/.MainActivity", data=url, extras=extras)
    await phone.refresh_web()


def nodes(phone: Phone) -> list[Node]:
    root = active_root(phone)
    return list(root) if root is not None else []


def named(phone: Phone, name: str) -> Node:
    found = [one for one in nodes(phone) if name in (one.text, one.resource_id.rpartition("/")[2], one.desc)]
    assert found, (name, [(one.cls, one.text, one.resource_id) for one in nodes(phone)])
    return found[0]


async def until(phone: Phone, holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not holds():
            await phone.refresh_web()


def test_a_form_is_filled_by_fingers_and_keys_and_the_server_gets_it(site: Site) -> None:
    url = site.put(
        "<form method=post action=/sent><input id=who name=who><input id=pin name=pin type=password>"
        "<select id=size name=size><option>Small<option>Large</select>"
        "<label><input type=checkbox id=gift name=gift> Gift</label><button>Order</button></form>"
    )

    async def story(phone: Phone) -> None:
        await shown(phone, url)
        await phone.tap(*named(phone, "who").center)
        phone.type_ascii("Ada L")
        await phone.tap(*named(phone, "pin").center)
        phone.commit_text("söz")
        await phone.tap(*named(phone, "size").center)
        await until(phone, lambda: any(one.text == "Large" and one.clickable for one in nodes(phone)))
        await phone.tap(*named(phone, "Large").center)
        await phone.refresh_web()
        await phone.tap(*named(phone, "gift").center)
        await phone.refresh_web()
        assert named(phone, "gift").checked
        assert named(phone, "pin").text == "•••"
        assert named(phone, "pin").password
        await phone.tap(*named(phone, "Order").center)
        await until(phone, lambda: bool(site.posted))

    play(story)
    assert site.posted == ["who=Ada+L&pin=s%C3%B6z&size=Large&gift=on"]


def test_roles_are_told_as_android_tells_them_in_the_order_of_the_document(site: Site) -> None:
    url = site.put(
        "<h1>Shop</h1><a href=/x>Terms</a><ul><li>One</ul><input id=n placeholder=Name>"
        "<div role=dialog aria-label=Sure style='position:fixed;z-index:2;top:300px;left:20px'>"
        "<button>Yes</button></div>"
        "<form style='position:fixed;inset:0;z-index:1;display:grid'><button>close</button></form>"
    )

    async def story(phone: Phone) -> None:
        await shown(phone, url)
        told = [(one.cls.rpartition(".")[2], one.text) for one in nodes(phone) if one.text]
        at = told.index(("WebView", "Page"))
        assert told[at:] == [
            ("WebView", "Page"),
            ("View", "Shop"),
            ("View", "Terms"),
            ("TextView", "One"),
            ("EditText", "Name"),
            ("Dialog", "Sure"),
            ("Button", "Yes"),
            ("Button", "close"),  # it lies under the dialog, and comes after it
        ]
        assert named(phone, "close").bounds[:2] == named(phone, "Page").bounds[:2]

    play(story)


def test_its_pixels_are_in_the_screenshot_and_a_swipe_scrolls_it(site: Site) -> None:
    url = site.put(
        "<style>body{margin:0}</style><div style='height:4000px;background:#f00'></div><p id=end>The end"
    )

    async def story(phone: Phone) -> None:
        await shown(phone, url)
        left, top, right, bottom = named(phone, "first_page").bounds
        middle = ((left + right) // 2, (top + bottom) // 2)
        picture = Image.open(io.BytesIO(await phone.screenshot())).convert("RGB")
        assert picture.getpixel(middle) == (255, 0, 0)
        for _ in range(12):
            await phone.swipe(middle[0], bottom - 100, middle[0], top + 100, 120)
            await phone.refresh_web()
        await until(phone, lambda: any(one.resource_id == "end" for one in nodes(phone)))

    play(story)


def test_pages_can_be_asked_by_the_socket_of_their_app_and_by_no_other(site: Site) -> None:
    url = site.put("<button onclick=\"alert('Hello')\">Greet</button>")

    async def story(phone: Phone) -> None:
        await shown(phone, url)
        pid = phone.packages.pid_of(LAB)
        name = f"localabstract:webview_devtools_remote_{pid}"
        assert [one for one in phone.ports if "devtools" in one] == [name]
        async with reached(phone, name) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /json/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            [page] = json.loads((await reader.read()).partition(b"\r\n\r\n")[2])
            writer.close()
            place = json.loads(page["description"])
            assert (place["visible"], place["screenY"]) == (True, named(phone, "first_page").bounds[1])
            async with debugging(f"ws://127.0.0.1:{port}/devtools/page/{page['id']}") as debugger:
                told = await debugger.evaluate("document.title")
                assert told["result"]["value"] == "Page"
        engine = phone.web
        assert isinstance(engine, ChromiumEngine)
        engine.stop_debugging(LAB)
        assert not [one for one in phone.ports if "devtools" in one]
        await phone.tap(*named(phone, "Greet").center)
        await until(phone, lambda: any(one.text == "Hello" for one in nodes(phone)))
        await phone.tap(*named(phone, "OK").center)
        await until(phone, lambda: any(one.text == "Greet" for one in nodes(phone)))

    play(story)


def test_the_browsers_own_pages_are_drawn_too_and_back_goes_through_their_history() -> None:
    async def story(phone: Phone) -> None:
        await shown(phone, "https://harbour.example/", BROWSER)
        await until(phone, lambda: any(one.text == "Opening hours" for one in nodes(phone)))
        await phone.tap(*named(phone, "Opening hours").center)
        await until(phone, lambda: named(phone, "url_bar").text.endswith("/hours"))
        phone.key(4)
        await until(phone, lambda: named(phone, "url_bar").text.endswith("example/"))
        assert "localabstract:chrome_devtools_remote" in phone.ports

    play(story)


def test_the_command_serves_pages_by_chromium_and_leaves_none_behind() -> None:
    command = [sys.executable, "-m", "handrail_sim", "--port", "0", "--web", "chromium", "--apps", "browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["port"] > 0
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children
        process.terminate()
        assert process.wait(20) == 0
    assert not [one for one in children if Path(f"/proc/{one}").exists()]


def test_a_chromium_that_is_not_there_is_named_with_what_helps() -> None:
    command = [sys.executable, "-m", "handrail_sim", "--port", "0", "--web", "chromium", "--apps", "browser"]
    env = {**os.environ, "CHROME_BIN": "no-such-browser"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert "no-such-browser" in done.stderr
    assert "CHROME_BIN" in done.stderr
