"""A real browser for pages that people open. Without Chromium these tests skip, unless it is required."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.web.apps_stage import Stage
from tests.web.desk_person import PATIENCE_S, Person
from tests.web.desk_server import DeskServer

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
expect.set_options(timeout=PATIENCE_S * 1000)  # five seconds of a busy machine are no proof
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def chromium() -> str | None:
    """`$CHROME_BIN`, or what is found on the path."""
    named = os.environ.get("CHROME_BIN")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="package")  # its event loop runs in this thread: it must end before other tests begin
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        reason = "no Chromium found: install it, or name it in CHROME_BIN"
        if os.environ.get("HANDRAIL_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield running
        running.close()


@pytest.fixture(scope="module")
def desk_server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    """One desk for a module; `person` clears it before each test."""
    server = DeskServer(tmp_path_factory.mktemp("home"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def _lasting(browser: Browser, desk_server: DeskServer) -> Iterator[Person]:
    one = Person.enter(browser, desk_server)
    yield one
    one.leave()


@pytest.fixture
def person(_lasting: Person) -> Iterator[Person]:
    """Somebody at an empty desk. A complaint of the browser fails a test that does not provoke it."""
    _lasting.clear()
    yield _lasting
    assert _lasting.take_complaints() == []


@pytest.fixture
def page(desk: Stage, browser: Browser) -> Iterator[Page]:
    """The owner's page on the `desk` of a module that has one."""
    with desk.visited(browser) as opened:
        yield opened


@pytest.fixture
def own_server(browser: Browser, tmp_path: Path) -> Iterator[DeskServer]:
    """A desk for one test alone, which may kill it."""
    server = DeskServer(tmp_path / "home")
    server.start()
    yield server
    server.stop()
