"""One Chromium for all stories of a worker: starting it costs more than most of them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
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


@pytest.fixture(scope="package")
def browser(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loop, Stage]]:
    loop = Loop()
    context = staged(site, tmp_path_factory.mktemp("home"))
    stage = loop.run(context.__aenter__())
    try:
        yield loop, stage
    finally:
        loop.run(context.__aexit__(None, None, None))
        loop.close()


@pytest.fixture
def play(browser: tuple[Loop, Stage]) -> Play:
    """Plays a story on the browser of all."""
    loop, stage = browser

    def run(story: Story) -> None:
        loop.run(stage.alone())
        loop.run(story(stage))

    return run
