"""One Chromium for all stories of a worker: starting it costs more than most of them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.browser.stage import Loop, Site, Stage, has_browser, served, staged

Story = Callable[[Stage], Coroutine[Any, Any, None]]
Play = Callable[[Story], None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not has_browser():
        skip = pytest.mark.skip(reason="no Chromium here; HANDRAIL_REQUIRE_BROWSER=1 makes this a failure")
        for item in items:
            if "tests/browser/" in str(item.path):
                item.add_marker(skip)


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    with served() as one:
        yield one


@contextmanager
def running(site: Site, home: Path) -> Iterator[tuple[Loop, Stage]]:
    loop = Loop()
    context = staged(site, home)
    stage = loop.run(context.__aenter__())
    try:
        yield loop, stage
    finally:
        loop.run(context.__aexit__(None, None, None))
        loop.close()


@pytest.fixture(scope="package")
def browser(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loop, Stage]]:
    with running(site, tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture
def play_apart(site: Site, tmp_path: Path) -> Iterator[Play]:
    """Plays a story that types a secret: a browser that got one hides fields and types with care later."""
    with running(site, tmp_path / "home") as (loop, stage):
        yield lambda story: loop.run(story(stage))


@pytest.fixture
def play(browser: tuple[Loop, Stage]) -> Play:
    """Plays a story on the browser of all."""
    loop, stage = browser

    def run(story: Story) -> None:
        loop.run(stage.alone())
        loop.run(story(stage))

    return run
