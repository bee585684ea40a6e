"""A real browser for pages that people open. Without Chromium these tests skip, unless it is required."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def chromium() -> str | None:
    """`$CHROME_BIN`, or what is found on the path."""
    named = os.environ.get("CHROME_BIN")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")  # its event loop runs in this thread: it must end before other tests begin
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
