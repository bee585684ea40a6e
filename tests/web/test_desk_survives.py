"""A real server that dies and comes back, and a browser that was away: the desk is the same afterwards."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

pytestmark = pytest.mark.slow

HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]
LINK = re.compile(r"https?://\S+/login#code=\S+")
AWAY_S = 30
DEBOUNCE_S = 0.6
"""The desk is written down at most 200 ms after a change; a killed process loses no more than that."""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "HANDRAIL_HOME": str(tmp_path / "home"), "HANDRAIL_ADB": str(tmp_path / "no-adb")}


@contextmanager
def served(env: dict[str, str], port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and a link for one browser."""
    command = [*HANDRAIL, "serve", "--port", str(port), "--no-mcp"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            link = next(found[0] for line in process.stdout if (found := LINK.search(line)))
            yield process, link
        finally:
            process.kill()


def act(env: dict[str, str], **action: object) -> None:
    subprocess.run([*HANDRAIL, "desk", json.dumps(action)], env=env, check=True, capture_output=True)


def state(env: dict[str, str]) -> dict[str, object]:
    done = subprocess.run([*HANDRAIL, "desk", "state"], env=env, check=True, capture_output=True)
    told: dict[str, object] = json.loads(done.stdout)
    return told


def show(env: dict[str, str], name: str, x: int) -> None:
    content = {"renderer": "text", "data": f"I am {name}"}
    bounds = {"x": x, "y": 60, "w": 380, "h": 240}
    act(env, type="window.create", windowId=name, title=name, bounds=bounds, content=content)


def titles(page: Page) -> list[str]:
    return sorted(page.locator(".window:visible .window-title").all_inner_texts())


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_a_killed_server_comes_back_with_the_same_desk(browser: Browser, env: dict[str, str]) -> None:
    port, page = free_port(), browser.new_page()
    with served(env, port) as (process, link):
        page.goto(link)
        for name, x in (("first", 100), ("second", 300), ("third", 500)):
            show(env, name, x)
        expect(page.locator(".window")).to_have_count(3)
        title = page.locator(".window", has_text="I am first").locator(".window-title").bounding_box()
        page.mouse.move(title["x"] + 10, title["y"] + 8)
        page.mouse.down()
        page.mouse.move(title["x"] + 60, title["y"] + 108, steps=4)
        page.mouse.up()
        act(env, type="window.minimize", windowId="second")
        act(env, type="app.badge", appId="phone", count=7)
        page.wait_for_timeout(DEBOUNCE_S * 1000)
        before = state(env)
        process.send_signal(signal.SIGKILL)
        process.wait()
    expect(page.get_by_role("status").filter(has_text=re.compile("connect", re.I)).first).to_be_visible()
    with served(env, port) as (_, link):
        after = state(env)
        for name in ("windows", "monitors", "badges", "shortcuts"):
            assert after[name] == before[name], name
        banner = page.get_by_role("status").filter(has_text="signed out")
        expect(banner).to_be_visible()  # its login ended with the process that gave it
        page.goto(link)
        show(env, "fourth", 700)
        expect(page.locator(".window", has_text="I am fourth")).to_be_visible()
        assert titles(page) == ["first", "fourth", "third"]
    page.close()


def test_half_a_minute_offline_is_caught_up_by_number(browser: Browser, env: dict[str, str]) -> None:
    context = browser.new_context()
    page = context.new_page()
    frames: list[str] = []
    asked: list[str] = []

    def watch(opened: WebSocket) -> None:
        asked.append(opened.url)
        opened.on("framereceived", lambda frame: frames.append(str(frame)[:40]))

    with served(env, free_port()) as (_, link):
        page.goto(link)
        show(env, "before", 100)
        expect(page.locator(".window")).to_have_count(1)
        page.on("websocket", watch)
        context.set_offline(True)
        began = time.monotonic()
        page.evaluate("() => window.dispatchEvent(new Event('offline'))")
        for number in range(3):
            show(env, f"missed {number}", 200 + 100 * number)
            page.wait_for_timeout(1000 * AWAY_S / 3)
        act(env, type="window.close", windowId="before")
        assert time.monotonic() - began >= AWAY_S
        context.set_offline(False)
        page.evaluate("() => window.dispatchEvent(new Event('online'))")
        expect(page.locator(".window")).to_have_count(3)
        assert titles(page) == ["missed 0", "missed 1", "missed 2"]
    since = [url for url in asked if "since=" in url]
    assert since, asked
    assert not [frame for frame in frames if "SNAPSHOT" in frame]
    context.close()
