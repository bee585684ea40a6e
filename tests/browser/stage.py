"""A real Chromium and pages that the tests write: the stage of the browser's stories. No sleeps, no mocks."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from handrail.browser.files import WebFiles
from handrail.browser.process import LaunchedBrowser, find_browser, launch
from handrail.browser.surface import BrowserSurface
from handrail.cdp.connection import Connection
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.errors import BrowserConnectionError
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime

PATIENCE_S = 30.0
REQUIRED = "HANDRAIL_REQUIRE_BROWSER"


def has_browser() -> bool:
    """Whether Chromium is here; a run that requires it fails where it is not."""
    try:
        find_browser(os.environ)
    except BrowserConnectionError:
        if os.environ.get(REQUIRED) == "1":
            raise
        return False
    return True


@dataclass
class Site:
    """Pages by path on loopback. `other` is the same machine by another site's name."""

    pages: dict[str, str] = field(default_factory=dict)
    port: int = 0
    held: dict[str, threading.Event] = field(default_factory=dict)
    """Paths that are answered when their event is set."""
    asked: list[str] = field(default_factory=list)
    posted: list[tuple[str, str]] = field(default_factory=list)
    """What forms have sent: path and body."""
    redirects: dict[str, str] = field(default_factory=dict)
    """Paths that lead elsewhere."""
    folder: Path | None = None
    """Of files, for paths that are no pages."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def other(self) -> str:
        return f"http://localhost:{self.port}"

    def url(self, path: str = "/") -> str:
        return self.origin + path

    def put(self, body: str, path: str = "/") -> str:
        """A page with this body; its address."""
        self.pages[path] = f"<!doctype html><meta charset=utf-8><title>Test</title>{body}"
        return self.url(path)

    def read(self, path: str) -> tuple[str, bytes | None]:
        """What is at a path, and of which kind."""
        if path in self.pages:
            return "text/html", self.pages[path].encode()
        file = self.folder / path.lstrip("/") if self.folder is not None else None
        if file is None or not file.is_file():
            return "text/html", None
        return mimetypes.guess_type(file.name)[0] or "text/plain", file.read_bytes()

    def hold(self, path: str, body: str = "") -> threading.Event:
        """Nothing is answered there until the event is set."""
        self.pages[path] = body
        self.held[path] = threading.Event()
        return self.held[path]


@contextmanager
def served() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            site.asked.append(self.path)
            if path in site.held:
                site.held[path].wait(PATIENCE_S)
            if path in site.redirects:
                self.send_response(302)
                self.send_header("location", site.redirects[path])
                self.end_headers()
                return
            kind, body = site.read(path)
            self.send_response(200 if body is not None else 404)
            self.send_header("content-type", f"{kind}; charset=utf-8")
            self.end_headers()
            self.wfile.write(body or b"nothing here")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            site.posted.append((self.path, body.decode()))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        for event in site.held.values():
            event.set()
        server.shutdown()
        server.server_close()


@dataclass
class Stage:
    """One browser, one home, one session."""

    site: Site
    home: Path
    runtime: Runtime
    session: Session
    surface: BrowserSurface
    browser: LaunchedBrowser

    async def show(self, body: str, path: str = "/") -> Envelope:
        """A page with this body in front, at rest."""
        return await self.goto(self.site.put(body, path))

    async def alone(self) -> None:
        """One empty tab, whatever the last story left."""
        tabs = self.surface.tabs
        fresh = await tabs.create()
        for page in [one for one in tabs.pages.values() if one is not fresh]:
            if page.dialog is not None:
                await page.session.call("Page.handleJavaScriptDialog", {"accept": True})
            await tabs.connection.root.call("Target.closeTarget", {"targetId": page.id})
        while len(tabs.pages) > 1:
            await asyncio.sleep(0)

    async def goto(self, url: str) -> Envelope:
        envelope = await self.session.run({"type": "open_url", "url": url}, reason="I open the page")
        assert envelope.success, envelope.to_json()
        return envelope

    async def act(self, kind: str, **fields: Any) -> Envelope:
        return await self.session.run({"type": kind, **fields}, reason="I try it")

    async def tap(self, text: str, **fields: Any) -> Envelope:
        return await self.act("tap", target={"text": text}, **fields)

    async def ui(self) -> str:
        envelope = await self.act("get_ui_tree")
        assert envelope.details is not None, envelope.to_json()
        return str(envelope.details["text"])

    async def js(self, expression: str) -> Any:
        """What the page itself says, in its own world: the tests' witness, not Handrail's eyes."""
        told = await self.surface.tabs.front.session.call(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True}
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")


def proved(envelope: Envelope) -> bool:
    """Done, and seen to be done."""
    return (
        envelope.success and envelope.verification is not None and envelope.verification.outcome == "verified"
    )


@asynccontextmanager
async def staged(
    site: Site,
    home: Path,
    policy: str = 'known_hosts = ["127.0.0.1", "localhost"]\n[secrets]\nPIN = "http://127.0.0.1:*"\n',
    before: Callable[[Connection], Awaitable[None]] | None = None,
    env: Mapping[str, str] | None = None,
    knows: Callable[[str], bool] | None = None,
    files: WebFiles | None = None,
) -> AsyncIterator[Stage]:
    """A browser of its own, known hosts: loopback by both names. `before`: what a person did in it before."""
    config_folder = home / "config"
    config_folder.mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    (config_folder / "policy.toml").write_text(policy)
    env = {**os.environ, "HANDRAIL_HOME": str(home), **(env or {})}
    async with Runtime.open(Config.from_env(env), env=env) as runtime:
        browser = await launch(env, home / "profile")
        clock = SystemClock()
        connection = Connection(browser.wire, clock)
        if before is not None:
            await before(connection)
        surface = BrowserSurface(
            "browser:test",
            connection,
            clock,
            is_listed=knows or runtime.knows_host,
            files=files or runtime.files,
            end=browser.close,
        )
        await surface.open()
        session = await runtime.session_with(surface)
        yield Stage(site, home, runtime, session, surface, browser)


class Loop:
    """One event loop in a thread: tests of a module share a browser that lives in it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE_S)
        self.loop.close()
