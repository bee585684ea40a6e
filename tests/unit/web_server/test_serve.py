"""`handrail serve` and `handrail desk` as people run them: one server, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import DeviceBusy
from tests.unit.cli.command import handrail
from tests.unit.web_server.push_service import certificate

__all__ = ["handrail"]
CREATE = "window.create windowId=hi title=2026 bounds.x=40 bounds.y=40 bounds.w=400 bounds.h=200".split()
CONTENT = ["content.renderer=markdown", "content.data=# Hello"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HANDRAIL_ADB", str(tmp_path / "no-adb"))
    return tmp_path / "home"


@contextmanager
def _running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "handrail.cli.main", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def server(home: Path) -> Iterator[subprocess.Popen[str]]:
    with _running("serve", "--port", "0", "--no-mcp") as process:
        yield process


def _told(server: subprocess.Popen[str]) -> str:
    """What it prints before it serves."""
    assert server.stdout
    lines = []
    for line in server.stdout:
        lines.append(line)
        if "Ctrl-C" in line:
            break
    return "".join(lines)


def _status(request: urllib.request.Request | str) -> int:
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def _exchanged(link: str) -> int:
    """As the page does it."""
    origin, _, code = link.partition("/login#code=")
    host = origin.removeprefix("http://")
    headers = {"Host": host, "Origin": origin, "Content-Type": "application/json"}
    body = json.dumps({"code": code}).encode()
    address = f"http://127.0.0.1:{host.rpartition(':')[2]}/api/login"  # only browsers know the page's name
    return _status(urllib.request.Request(address, body, headers))


def test_a_server_is_started_used_and_stopped(
    home: Path, server: subprocess.Popen[str], handrail: Callable[..., Any]
) -> None:
    told = _told(server)
    [link] = re.findall(r"http://\S+/login#code=\S+", told)
    assert [_exchanged(link), _exchanged(link)] == [200, 401]  # once
    notice = home / "config" / "desk.json"
    assert notice.stat().st_mode & 0o777 == 0o600
    assert json.loads(notice.read_text())["address"] in told

    assert handrail("desk", *CREATE, *CONTENT).code == 0
    window = json.loads(handrail("desk", "state").out)["windows"]["monitor-0/hi"]
    assert (window["title"], window["isPersons"]) == ("2026", True)
    close = handrail("desk", '{"type": "window.close", "windowId": "hi"}', "--json")
    assert json.loads(close.out)["success"] is True
    as_agent = handrail("desk", "--as", "writer", *CREATE, *CONTENT)
    assert as_agent.code == 0
    window = json.loads(handrail("desk", "state").out)["windows"]["monitor-0/hi"]
    assert (window["agentId"], window["isPersons"]) == ("writer", False)

    missing = handrail("desk", "window.focus", "windowId=none")
    assert missing.code != 0
    assert "INVALID_ACTION" in missing.err
    slip = handrail("desk", "window.focus", "none")
    assert (slip.code, "FIELD=VALUE" in slip.err) == (2, True)
    another = handrail("desk", "link").out.strip()
    assert _exchanged(another) == 200

    with _running("desk", "events") as following:
        assert following.stdout
        assert json.loads(following.stdout.readline())["type"] == "SNAPSHOT"
        following.send_signal(signal.SIGINT)
        assert following.communicate(timeout=60)[1] == ""
        assert following.returncode == 0

    twice = handrail("serve", "--port", "0", "--no-mcp")
    assert DeviceBusy.code in twice.err
    assert "handrail desk link" in twice.err

    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=60)
    assert (server.returncode, out, err) == (0, "", "")
    gone = handrail("desk", "link")
    assert gone.code == 3
    assert "handrail serve" in gone.err


def test_without_a_server_the_desk_says_how_to_get_one(home: Path, handrail: Callable[..., Any]) -> None:
    for words in (["state"], ["link"], ["events"], ["toast.dismiss", "id=x"]):
        done = handrail("desk", *words)
        assert done.code == 3
        assert "handrail serve" in done.err
    assert not home.exists() or not os.listdir(home)


@pytest.mark.slow
def test_mcp_is_behind_the_same_guard_and_has_the_phone_and_the_desk(home: Path) -> None:
    with _running("serve", "--port", "0", "--sim", "1") as server:
        told = _told(server)
        assert "Simulated Phone" in told
        notice = json.loads((home / "config" / "desk.json").read_text())
        token = {"Authorization": f"Bearer {notice['token']}"}
        for headers, status in (
            ({}, 401),
            (token | {"Origin": "https://evil.example"}, 403),
            (token | {"Host": "evil.example"}, 421),
            (token | {"Content-Type": "text/plain"}, 415),
        ):
            assert _status(_listing(notice["address"], headers)) == status
        with urllib.request.urlopen(_listing(notice["address"], token), timeout=60) as answer:
            names = answer.read().decode()
        assert '"name":"desk"' in names
        assert '"name":"tap"' in names
        server.send_signal(signal.SIGTERM)
        assert server.communicate(timeout=60)[1] == ""
        assert server.returncode == 0


def _listing(address: str, headers: dict[str, str]) -> urllib.request.Request:
    """Which tools there are, asked as a client of the newest protocol asks: without a session."""
    version = "2026-07-28"
    client = {"name": "test", "version": "1"}
    prefix = "io.modelcontextprotocol/"
    told = {
        f"{prefix}protocolVersion": version,
        f"{prefix}clientInfo": client,
        f"{prefix}clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": told}}
    more = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        "Mcp-Method": "tools/list",
    }
    return urllib.request.Request(f"{address}/mcp", json.dumps(body).encode(), more | headers)


@pytest.mark.slow
def test_a_desk_that_others_reach_speaks_tls_only_and_its_owners_programs_know_it_by_its_certificate(
    home: Path, tmp_path: Path, handrail: Callable[..., Any]
) -> None:
    cert, key = certificate(tmp_path, "desk.ferry-lane.net", "127.0.0.1")
    tls = ("--host", "0.0.0.0", "--token", "x" * 20, "--cert", str(cert), "--key", str(key))
    with _running("serve", "--port", "0", "--no-mcp", *tls) as process:
        told = _told(process)
        [link] = re.findall(r"https://desk.ferry-lane.net:\d+/login#code=\S+", told)
        port = int(re.findall(r":(\d+)/login", link)[0])
        assert handrail("desk", "link").out.startswith(f"https://127.0.0.1:{port}/login#code=")
        with pytest.raises((OSError, urllib.error.URLError)):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10)
        with pytest.raises(urllib.error.URLError, match="certificate"):
            urllib.request.urlopen(f"https://127.0.0.1:{port}/healthz", timeout=60)
        trusted = ssl.create_default_context(cafile=str(cert))
        with urllib.request.urlopen(f"https://127.0.0.1:{port}/", timeout=60, context=trusted) as answer:
            assert answer.status == 200
