"""Http of scripts: only to hosts that were named, by judged addresses, every redirect anew."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from handrail_maestro.files import Workspace
from handrail_maestro.http_calls import HttpCalls
from handrail_maestro.scripts import Scripts

SEEN: list[tuple[str, str, dict[str, str], bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        SEEN.append((self.command, self.path, dict(self.headers), body))
        there = self.path.partition("to=")[2]
        self.send_response(302 if there else 404 if self.path == "/none" else 200)
        if there:
            self.send_header("Location", there)
        data = b"x" * (6 << 20) if self.path == "/huge" else b'{"who": "Ada"}'
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_POST = _answer  # noqa: N815  (the names that the base class calls)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def server() -> Iterator[int]:
    SEEN.clear()
    made = HTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield made.server_port
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


def call(url: str, allowed: tuple[str, ...], knows: bool = False, **more: Any) -> dict[str, Any]:
    calls = HttpCalls(Workspace(Path(__file__).parent), allowed, lambda _: knows)
    return asyncio.run(calls({"method": "GET", "url": url, **more}))


def test_a_script_gets_and_posts_where_it_was_allowed() -> None:
    async def work(port: int) -> list[str]:
        scripts = Scripts(HttpCalls(Workspace(Path(__file__).parent), ("127.0.0.1",)))
        try:
            url = f"http://127.0.0.1:{port}"
            return [
                await scripts.evaluate(f"json(http.get('{url}/a', {{headers: {{X: 'y'}}}}).body).who", {}),
                await scripts.evaluate(
                    f"const r = http.post('{url}/b', {{body: 'hi'}}); r.ok + ' ' + r.status", {}
                ),
                await scripts.evaluate(f"http.get('{url}/none').status", {}),
            ]
        finally:
            await scripts.close()

    with server() as port:
        assert asyncio.run(work(port)) == ["Ada", "true 200", "404"]
        assert [(one[0], one[1], one[3]) for one in SEEN] == [
            ("GET", "/a", b""),
            ("POST", "/b", b"hi"),
            ("GET", "/none", b""),
        ]
        assert SEEN[0][2]["X"] == "y"


@pytest.mark.parametrize(
    ("host", "allowed", "knows"),
    [
        ("127.0.0.1", (), False), ("127.0.0.1", (), True), ("127.0.0.1", ("example.org",), False),
        ("localhost", ("127.0.0.1",), False), ("0x7f.1", ("example.org",), True), ("127.1", (), True),
        ("[::ffff:127.0.0.1]", (), True), ("user@127.0.0.1", ("127.0.0.1",), True),
    ],
)  # fmt: skip
def test_this_machine_is_called_by_its_own_name_alone(
    host: str, allowed: tuple[str, ...], knows: bool
) -> None:
    with server() as port:
        assert "refused" in call(f"http://{host}:{port}/", allowed, knows)
        assert not SEEN


def test_every_call_is_noted_before_it_is_made_without_what_may_be_a_key() -> None:
    notes: list[dict[str, Any]] = []
    calls = HttpCalls(Workspace(Path(__file__).parent), ("127.0.0.1",), note=notes.append)

    async def work(port: int) -> None:
        await calls(
            {
                "method": "post",
                "url": f"http://127.0.0.1:{port}/a?key=k1",
                "body": "k2",
                "headers": {"X": "k3"},
            }
        )
        await calls({"url": "http://user:k4@example.org/b"})

    with server() as port:
        asyncio.run(work(port))
        assert [(note["method"], note["address"], note["state"]) for note in notes] == [
            ("POST", f"http://127.0.0.1:{port}/a", "asked"),
            ("POST", f"http://127.0.0.1:{port}/a", "answered 200"),
            ("GET", "http://example.org/b", "asked"),
            ("GET", "http://example.org/b", "refused"),
        ]
    assert not any(f"k{number}" in str(notes) for number in range(1, 5))


def test_a_redirect_is_judged_like_the_first_address() -> None:
    with server() as port:
        inside = f"http://127.0.0.1:{port}/?to=http://localhost:{port}/secret"
        assert "localhost" in call(inside, ("127.0.0.1",))["refused"]
        assert [one[1] for one in SEEN] == [f"/?to=http://localhost:{port}/secret"]
        again = call(inside, ("127.0.0.1", "localhost"), headers={"Authorization": "Bearer x", "A": "b"})
        assert again["status"] == 200
        assert "Authorization" not in SEEN[-1][2]  # another host is not told
        assert SEEN[-1][2]["A"] == "b"
        round_and_round = f"http://127.0.0.1:{port}/?to=?to=?to=?to=?to=?to=?to=x"
        assert "refused" in call(round_and_round, ("127.0.0.1",)) or SEEN[-1][0] == "GET"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://x.org/", "http://", "//x", "http://a b/", "javascript:1"]
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    assert "refused" in call(url, ("x.org", "a b", ""), knows=True)


def test_an_answer_has_a_limit_and_a_form_holds_files_of_the_workspace_alone() -> None:
    with server() as port:
        url = f"http://127.0.0.1:{port}"
        assert "5 MB" in call(f"{url}/huge", ("127.0.0.1",))["refused"]
        name = Path(__file__).name
        form = {"note": "hi", "file": {"filePath": name, "mediaType": "text/plain"}}
        assert call(f"{url}/form", ("127.0.0.1",), method="POST", multipartForm=form)["ok"]
        assert Path(__file__).read_bytes()[:60] in SEEN[-1][3]
        outside = {"file": {"filePath": "../../../../../../../etc/passwd"}}
        assert (
            "outside" in call(f"{url}/form", ("127.0.0.1",), method="POST", multipartForm=outside)["refused"]
        )
