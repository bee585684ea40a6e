"""A site of pages that other people wrote, and a judge inside each: `browser_strangers.py` opens them.

HANDRAIL_STRANGERS names the folder: `node_modules` with packages of npm, and beside it the repositories
`aria-practices`, `todomvc` and `the-internet`. The judge is a script at the head of each page. It says
nothing until the bench asks it, by a WebSocket of its own, what an expression is worth in that page.
"""

from __future__ import annotations

import json
import mimetypes
import re
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

JUDGE = """<script>(() => { if (top !== self) return;
const events = globalThis.judged = [];
for (const kind of ['click', 'dblclick', 'auxclick', 'contextmenu', 'mouseover'])
  addEventListener(kind, (e) => { if (e.isTrusted) events.push([kind, e.composedPath()[0]]); }, true);
const socket = new WebSocket('ws://127.0.0.1:PORT/');
socket.onmessage = ({ data }) => { let answer;
  try { answer = (0, eval)(data); } catch (e) { answer = String(e); }
  socket.send(JSON.stringify(answer ?? null)); };
})()</script>"""
PATIENCE_S = 2.0
"""Until what was done must be seen."""


@dataclass
class StrangersSite:
    """Files of the folder, pages of the table, and what has come by POST."""

    folder: Path
    bodies: Mapping[str, str]
    port: int = 0
    judge_port: int = 0
    posted: list[str] = field(default_factory=list)
    bundles: dict[str, bytes] = field(default_factory=dict)
    judges: list[ServerConnection] = field(default_factory=list)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def holds(self, expression: str) -> tuple[bool, Any]:
        """Whether it becomes true in a page that is open, and what it was worth last in the newest."""
        end, answer = time.monotonic() + PATIENCE_S, None
        while time.monotonic() < end:
            answer = self.worth(expression)
            if answer is True:
                return True, answer
            time.sleep(0.05)
        return False, answer

    def worth(self, expression: str) -> Any:
        if expression.startswith("posted:"):
            return any(expression.removeprefix("posted:") in body for body in self.posted)
        answers = []
        for judge in reversed(self.judges):
            with suppress(ConnectionClosed, TimeoutError):
                judge.send(expression)
                answers.append(json.loads(judge.recv(5)))
        return True if True in answers else next(iter(answers), "no page is open")

    def page(self, path: str) -> tuple[str, bytes] | None:
        """The kind and the bytes of what is at a path."""
        if path in self.bodies:
            return "text/html", self.bodies[path].encode()
        if path.startswith("/bundle/"):
            return "text/javascript", self._bundle(path)
        if path.startswith("/download/"):  # the repository has none of its files
            return "application/octet-stream", b"-"
        erb = self.folder / "the-internet" / "views" / f"{path.strip('/')}.erb"
        if re.fullmatch(r"/[a-z_0-9]+", path) and erb.is_file():
            return "text/html", self._rendered(erb).encode()
        places = {"/npm/": "node_modules", "/apg/": "aria-practices", "/todomvc/": "todomvc"}
        place = next((prefix for prefix in places if path.startswith(prefix)), "/")
        folder = self.folder / places.get(place, "the-internet/public")
        file = (folder / path.removeprefix(place)).resolve()
        if not file.is_file() or not file.is_relative_to(folder.resolve()):
            return None
        return mimetypes.guess_type(file.name)[0] or "application/octet-stream", file.read_bytes()

    def _rendered(self, erb: Path) -> str:
        """A view in its layout, with the only loop that these views have."""
        body, layout = erb.read_text(), (erb.parent / "layout.erb").read_text()
        loop = re.compile(r"<% (\d+)\.times do \|(\w+)\| %>(.*?)<% end %>", re.DOTALL)
        while found := loop.search(body):
            count, name, inner = int(found[1]), found[2], found[3]
            counted = re.compile(rf"<%= {name}\s*(?:\+\s*(\d+))?\s*%>")
            turns = (
                counted.sub(lambda match, at=at: str(at + int(match[1] or 0)), inner) for at in range(count)
            )
            body = body[: found.start()] + "".join(turns) + body[found.end() :]
        flashes = re.compile(r"<% %w\[notice.*?<% end %>\s*<% end %>", re.DOTALL)
        page = flashes.sub("", layout).replace("<%= yield %>", body)
        return re.sub(r"<%.*?%>", "", page, flags=re.DOTALL)

    def _bundle(self, path: str) -> bytes:
        """A script of the table with the packages that it imports."""
        if path not in self.bundles:
            command = [str(self.folder / "node_modules/.bin/esbuild"), "--bundle", "--format=esm"]
            command += ["--loader=jsx", "--jsx=automatic", '--define:process.env.NODE_ENV="production"']
            entry = self.bodies[f"entry:{path.removeprefix('/bundle/')}"]
            done = subprocess.run(
                command, cwd=self.folder, input=entry.encode(), capture_output=True, check=False
            )
            if done.returncode:
                raise SystemExit(f"{path}: {done.stderr.decode()[:2000]}")
            self.bundles[path] = done.stdout
        return self.bundles[path]


@contextmanager
def strangers_site(folder: Path, bodies: Mapping[str, str]) -> Iterator[StrangersSite]:
    site = StrangersSite(folder, bodies)

    def judge(socket: ServerConnection) -> None:
        site.judges.append(socket)
        socket.close_timeout = 0.2
        closed.wait()

    closed = threading.Event()
    judges = serve(judge, "127.0.0.1", 0)
    site.judge_port = judges.socket.getsockname()[1]
    threading.Thread(target=judges.serve_forever, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    server.daemon_threads = True
    site.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        closed.set()
        server.shutdown()
        server.server_close()
        judges.shutdown()


def _handler(site: StrangersSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/poll":
                held.wait(20)
            found = site.page(path)
            kind, body = found or ("text/plain", b"nothing here")
            if kind == "text/html":
                script = JUDGE.replace("PORT", str(site.judge_port)).encode()
                body = re.sub(rb"(?i)<head>|<!doctype html>", lambda tag: tag[0] + script, body, count=1)
            self.send_response(200 if found else 404)
            if path.startswith("/download/"):
                self.send_header("content-disposition", "attachment")
            self.send_header("content-type", kind if "text/" not in kind else f"{kind}; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            site.posted.append(f"{self.path} {body.decode(errors='replace')}")
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Sent</title><h1>Thank you</h1>")

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    held = threading.Event()
    return Handler
