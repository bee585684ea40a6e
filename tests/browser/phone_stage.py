"""A simulated phone with pages by a real Chromium, and a session on it: by adb's server or direct."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.link import Link
from handrail.adb.server import Server, ServerLink
from handrail.android.driver import Driver, connect
from handrail.android.surface import AndroidSurface
from handrail.clock import SystemClock
from handrail.config import Config, Helper
from handrail.engine.session import Session
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime
from handrail.screen.node import Node, Screen
from handrail_sim.adbd.server import Served, serve
from handrail_sim.channels.web import ChromiumEngine, web_by_chromium
from handrail_sim.clock import SystemClock as PhoneClock
from handrail_sim.phone import Phone
from tests.browser.stage import PATIENCE_S, Site
from tests.driver.conftest import find_adb, free_port

LAB = "com.handrail.webviewlab"
BROWSER = "com.handrail.browser"
BUSY_MACHINE_MS = 3_000.0
"""For what pages say, where other tests run beside this one."""
HEAD = "<meta name=viewport content='width=device-width'>"
POLICY = 'known_hosts = ["127.0.0.1", "localhost"]\n[secrets]\nPIN = "http://127.0.0.1:*"\n'


@dataclass
class PhoneStage:
    """One phone, one session."""

    site: Site
    phone: Phone
    engine: ChromiumEngine
    runtime: Runtime
    session: Session
    driver: Driver
    device: AdbDevice

    async def show(self, body: str, *, path: str = "/", **extras: str) -> None:
        """A page with this body in the lab's WebView."""
        await self.goto(self.site.put(HEAD + body, path), **extras)

    async def goto(self, url: str, package: str = LAB, **extras: str) -> None:
        self.phone.start_activity(component=f"{package}/.MainActivity", data=url, extras=extras)
        await self.phone.refresh_web()

    async def act(self, kind: str, **fields: Any) -> Envelope:
        return await self.session.run({"type": kind, **fields}, reason="I try it")

    async def tap(self, text: str, **fields: Any) -> Envelope:
        return await self.act("tap", target={"text": text}, **fields)

    async def ui(self) -> str:
        envelope = await self.act("get_ui_tree")
        assert envelope.details is not None, envelope.to_json()
        return str(envelope.details["text"])

    async def screen(self) -> Screen:
        """As the surface tells it."""
        return await self.driver.look()

    async def asked(self) -> None:
        """Until the pages in sight tell themselves what they show."""
        async with asyncio.timeout(PATIENCE_S):
            while not any(one.native_id for one in (await self.screen()).nodes):
                continue

    async def node(self, name: str) -> Node:
        """The one element of the page that is called so."""
        found = [
            one for one in (await self.screen()).nodes if name in (one.text, one.description, one.resource_id)
        ]
        assert len(found) == 1, (name, found)
        return found[0]

    async def js(self, expression: str, name: str = "first_page") -> Any:
        """What the page itself says: the tests' witness, not Handrail's eyes."""
        tab = next(tab for (_, view), tab in self.engine.tabs.items() if view == name)
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        told = await tab.call("Runtime.evaluate", asked)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                await self.phone.refresh_web()

    async def close_all(self) -> None:
        """What the last story left."""
        for package in (LAB, BROWSER):
            self.phone.force_stop(package)
        for name in [one for one in self.phone.ports if "devtools" in one]:
            del self.phone.ports[name]  # one that a story put there itself


@asynccontextmanager
async def phone_staged(
    site: Site,
    home: Path,
    *,
    helper: Helper = "none",
    by_server: bool = False,
    policy: str = POLICY,
    env: Mapping[str, str] | None = None,
) -> AsyncIterator[PhoneStage]:
    """Known hosts: loopback by both names. The stock adb server is one of its own."""
    (home / "config").mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    (home / "config" / "policy.toml").write_text(policy)
    env = {**os.environ, "HANDRAIL_HOME": str(home), **(env or {})}
    phone, clock = Phone(clock=PhoneClock(), apps=["browser", "webview_lab", "notes"]), SystemClock()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(web_by_chromium([phone], os.environ))
        [served] = await stack.enter_async_context(serve([phone], port=0))
        link = await stack.enter_async_context(_linked(served, home, by_server=by_server))
        runtime = await stack.enter_async_context(Runtime.open(Config.from_env(env), env=env))
        device = AdbDevice(link, clock)
        driver = await connect(device, clock=clock, helper=helper, env=env)
        session = await runtime.session_with(AndroidSurface(device, driver, clock))
        assert isinstance(phone.web, ChromiumEngine)
        assert driver.webs is not None
        driver.webs.look_ms = BUSY_MACHINE_MS
        yield PhoneStage(site, phone, phone.web, runtime, session, driver, device)


@asynccontextmanager
async def _linked(served: Served, home: Path, *, by_server: bool) -> AsyncIterator[Link]:
    if not by_server:
        yield Direct(served.host, served.port)
        return
    binary, port = find_adb(), free_port()
    assert binary is not None
    env = {**os.environ, "HOME": str(home), "ANDROID_USER_HOME": str(home), "TMPDIR": str(home)}
    env["ANDROID_ADB_SERVER_PORT"] = str(port)

    async def adb(*words: str) -> None:
        await asyncio.to_thread(subprocess.run, [binary, *words], env=env, check=True, capture_output=True)

    await adb("start-server")
    try:
        await adb("connect", served.address)
        yield ServerLink(Server(port=port, env=env), served.address)
    finally:
        await adb("kill-server")
