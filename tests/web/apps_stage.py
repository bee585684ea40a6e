"""A desk with a simulated phone, served from a thread of its own; the test's thread drives browsers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import Browser, Locator, Page

from handrail.protocol.read import action_from
from handrail.sync.openers import OpenBlock
from tests.scenario.world import World, until, world
from tests.unit.web_server.door import Door, door

T = TypeVar("T")
PATIENCE_S = 40
SIZE = {"width": 1280, "height": 800}


@dataclass
class Stage:
    """What a story plays with: the world and its door live in `loop`, pages in the thread of the test."""

    loop: asyncio.AbstractEventLoop
    world: World
    door: Door

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """In the server's loop, to its end."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """In the server's loop; somebody in a browser has to do something before it ends."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def until(self, condition: Callable[[], Awaitable[Any] | Any]) -> Any:
        return self.do(until(condition))

    def log_in(self, browser: Browser, **options: Any) -> Page:
        """A browser of the owner's, on the empty desk."""
        context = browser.new_context(**{"viewport": SIZE, "reduced_motion": "reduce", **options})
        page = context.new_page()
        page.goto(f"{self.door.origin}/login#code={self.door.context.auth.link_code()}")
        return page

    @contextmanager
    def visited(self, browser: Browser, **options: Any) -> Iterator[Page]:
        """The owner's page, which leaves an empty desk. No script on it may fail."""
        page, failures = self.log_in(browser, **options), []
        page.on("pageerror", lambda error: failures.append(str(error)))
        yield page
        for key in list(self.door.desk.state.windows):
            self.close(key.partition("/")[2])
        page.context.close()
        assert failures == []

    def open(self, page: Page, app: str, *, window: str | None = None, **bounds: int) -> Locator:
        """The app in a window of its own; its root once it is there."""
        place = {"x": 40, "y": 20, "w": 1100, "h": 700} | bounds
        create = {
            "type": "window.create",
            "windowId": window or app,
            "title": app.capitalize(),
            "bounds": place,
            "content": {"renderer": "iframe", "data": f"app:{app}"},
        }
        self.do(self.door.desk.apply(action_from(create), "test", is_person=True))
        root = page.locator(f".app-{app}")
        root.first.wait_for()
        return root

    def close(self, window: str) -> None:
        close = action_from({"type": "window.close", "windowId": window})
        self.do(self.door.desk.apply(close, "test", is_person=True))


@asynccontextmanager
async def _opened(home: Path, flows: Path | None, options: dict[str, Any]) -> AsyncIterator[Stage]:
    env = {"HANDRAIL_ADB": str(home / "no-adb"), "ANDROID_ADB_SERVER_PORT": "15797"}
    async with (
        world(home, env=env, **options) as w,
        door(home, runtime=w.runtime, flow_folders=[flows] if flows else []) as served,
    ):
        yield Stage(asyncio.get_running_loop(), w, served)


@contextmanager
def stage(home: Path, *, flows: Path | None = None, **options: Any) -> Iterator[Stage]:
    """Open while the block runs; `options` are those of `world`."""
    with closing(OpenBlock(_opened(home, flows, options))) as block:
        yield block.value
