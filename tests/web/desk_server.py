"""The real desk behind a real port, in a thread of its own: Playwright's loop has this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from starlette.routing import BaseRoute

from handrail.bind import listen, separate_page_host
from handrail.config import Config
from handrail.desk.desk import Desk
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail.sync.openers import OpenBlock
from handrail.web_server.approvals import agent_answer_reader, agent_answer_writer
from handrail.web_server.auth import served_hosts
from handrail.web_server.server import DeskContext, PageHosts, build_desk_app, serving

T = TypeVar("T")
AGENT = "agent-1"
PATIENCE_S = 60.0


class DeskServer:
    """`start` serves, `stop` ends; a second `start` is the same desk on the same port."""

    def __init__(self, home: Path, host: str = "127.0.0.1") -> None:
        self.home = home
        self.host = host
        self.pages = ""
        """Where the desk's page lives."""
        self.port = 0
        self.desk: Desk
        self.context: DeskContext
        self.routes: list[BaseRoute]
        self._loop: asyncio.AbstractEventLoop
        self._block: OpenBlock[None] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._block = OpenBlock(self._serving())

    def stop(self) -> None:
        if self._block is not None:
            self._block.close()
            self._block = None

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        env = {"HANDRAIL_HOME": str(self.home), "HOME": str(self.home), "HANDRAIL_ADB": str(self.home / "no")}
        env["HANDRAIL_DISABLE_VISION"] = "1"
        env["ANDROID_ADB_SERVER_PORT"] = "15799"  # where no server of this machine listens
        async with Runtime.open(Config.from_env(env), env=env) as runtime:
            known = runtime.permissions
            self.desk = await Desk.open(
                runtime.store,
                runtime.clock,
                remember=agent_answer_writer(known),
                recall=agent_answer_reader(known),
            )
            runtime.attach_desk(self.desk)
            bound = listen("127.0.0.1", self.port)
            self.port = bound.getsockname()[1]
            page_host, sockets = separate_page_host(self.host, bound)
            self.pages = f"http://{page_host}" if page_host else self.address
            hosts = served_hosts(self.host, self.port)
            app = build_desk_app(
                runtime,
                self.desk,
                allowed_hosts=hosts,
                pages=PageHosts(page_host),
                flow_folders=[self.home / "flows"],
            )
            self.context, self.routes = app.state.context, app.routes
            try:
                async with serving(app, *sockets):
                    yield
            finally:
                await self.desk.close()

    def run(self, make: Callable[[], Awaitable[T]]) -> T:
        """A coroutine on the server's loop, and its result."""
        return self.begin(make).result(PATIENCE_S)

    def begin(self, make: Callable[[], Awaitable[T]]) -> Any:
        """The same without waiting: a future."""

        async def made() -> T:
            return await make()

        return asyncio.run_coroutine_threadsafe(made(), self._loop)

    def act(self, action: dict[str, Any], by: str = AGENT) -> dict[str, Any]:
        """An agent's action, and its details."""
        return self.run(lambda: self.desk.apply(action_from(action), by, False))

    def begin_act(self, action: dict[str, Any], by: str = AGENT) -> Any:
        """For what waits for a person."""
        return self.begin(lambda: self.desk.apply(action_from(action), by, False))

    def window(self, window_id: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
        """A window of an agent's."""
        action = {
            "type": "window.create",
            "windowId": window_id,
            "title": more.pop("title", window_id),
            "bounds": more.pop("bounds", {"x": 200, "y": 80, "w": 480, "h": 320}),
            "content": content,
        }
        return self.act(action | more)

    def state(self) -> dict[str, Any]:
        async def read() -> dict[str, Any]:
            return self.desk.snapshot()

        return self.run(read)

    def seen(self, window_id: str, monitor: str = "monitor-0") -> dict[str, Any]:
        """A window as the state has it."""
        found: dict[str, Any] = self.state()["windows"][f"{monitor}/{window_id}"]
        return found

    def letters(self, agent: str = AGENT) -> list[dict[str, Any]]:
        """What people did for this agent since the last call."""

        async def take() -> list[dict[str, Any]]:
            return self.desk.inbox(agent).take()

        return self.run(take)

    def link(self) -> str:
        """Logs one browser in."""

        async def code() -> str:
            return self.context.auth.link_code()

        return f"{self.pages}/login#code={self.run(code)}"
