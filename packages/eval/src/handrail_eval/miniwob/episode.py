"""One episode: a page opened anew, begun with its seed, worked on, and judged by itself.

The harness speaks to the page's own script to begin and to read the verdict, and to nothing else there.
Whoever solves the task has the session.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handrail.browser.process import launch
from handrail.browser.surface import BrowserSurface
from handrail.cdp.connection import Connection
from handrail.clock import Clock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.errors import BrowserCommandError, Timeout
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail_eval.miniwob.site import PACKAGE, WobTask

POLL_MS = 50.0
LOAD_MS = 15_000.0
NO_LIMIT_MS = 2_147_483_647
"""The longest time that a page's timer can count: the episode ends by what is done alone."""
POLICY = """
[[rule]]
name = "the task's own pages"
app = "{origin}"
effect = "input"
verdict = "allow"

[[rule]]
name = "nothing else"
effect = ["input", "system", "sensitive"]
verdict = "deny"
"""
_LOADED = (
    "location.pathname.endsWith(%s) && document.readyState === 'complete'"
    " && typeof core === 'object' && core.cover_div !== null"
)
_BEGIN = """(() => {
  const style = document.createElement('style');
  style.textContent = '#reward-display, #click-canvas, #sync-task-cover { display: none !important }';
  document.head.append(style);
  core.EPISODE_MAX_TIME = %d;
  Math.seedrandom(%s);
  core.startEpisodeReal();
})()"""
_GOAL = "(() => { const told = core.getUtterance(); return told.utterance || told; })()"
_VERDICT = "[WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL, String(WOB_REWARD_REASON || '')]"


@dataclass(frozen=True, slots=True)
class Reward:
    """What the page says of what was done; `raw` takes no account of time."""

    done: bool
    raw: float
    reason: str


class WobStage:
    """One browser with one session, in which episodes follow one another."""

    def __init__(self, origin: str, surface: BrowserSurface, session: Session, clock: Clock) -> None:
        self.session = session
        self._origin = origin
        self._surface = surface
        self._clock = clock

    async def begin(self, task: WobTask) -> WobTask:
        """The task with the page's words. The harness's own elements are not shown."""
        page = self._surface.tabs.front
        url = f"{self._origin}/{PACKAGE}/{task.id}.html"
        self._surface.request_filter.require(url)  # this origin of the machine, and no other
        await page.session.call("Page.navigate", {"url": url})
        await self._until(_LOADED % json.dumps(f"/{task.id}.html"))
        await self._script(_BEGIN % (NO_LIMIT_MS, json.dumps(str(task.seed))))
        await self._until("WOB_TASK_READY")
        return replace(task, instruction=str(await self._script(_GOAL)))

    async def reward(self) -> Reward:
        done, raw, reason = await self._script(_VERDICT)
        return Reward(bool(done), float(raw), reason)

    async def ended(self, stop: asyncio.Event) -> None:
        """Sets `stop` when the page has judged: nothing that is done later counts."""
        while not (await self.reward()).done:
            await self._clock.sleep_ms(POLL_MS)
        stop.set()

    async def _until(self, condition: str) -> None:
        deadline = self._clock.monotonic_ms() + LOAD_MS
        while not await self._asked(condition):
            if self._clock.monotonic_ms() > deadline:
                raise Timeout(f"The page is not ready after {LOAD_MS:g} ms: {condition}")
            await self._clock.sleep_ms(POLL_MS)

    async def _asked(self, condition: str) -> bool:
        try:
            return bool(
                await self._script(f"(() => {{ try {{ return {condition} }} catch {{ return false }} }})()")
            )
        except BrowserCommandError:
            return False  # between two documents

    async def _script(self, expression: str) -> Any:
        """In the page's own world, where its judge lives."""
        told = await self._surface.tabs.front.session.call(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True}
        )
        if "exceptionDetails" in told:
            raise BrowserCommandError(f"The task's page failed: {told['exceptionDetails'].get('text', '')}")
        return told["result"].get("value")


@asynccontextmanager
async def wob_stage(origin: str, home: Path, clock: Clock) -> AsyncIterator[WobStage]:
    """A browser that nobody has used, under a policy that knows one origin."""
    env = {**os.environ, "HANDRAIL_HOME": str(home)}
    config = Config.from_env(env)
    config.make_home()
    config.policy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    config.policy.touch(mode=0o600)
    config.policy.write_text(POLICY.format(origin=origin), encoding="utf-8")
    async with Runtime.open(
        config, clock=clock, env=env, caller=Caller(PACKAGE, "agent", "agent")
    ) as runtime:
        browser = await launch(env, home / "profile")
        connection = Connection(browser.wire, clock)
        surface = BrowserSurface(f"browser:{PACKAGE}", connection, clock, end=browser.close)
        try:
            await surface.open()
        except BaseException:
            await surface.close()
            raise
        yield WobStage(origin, surface, await runtime.session_with(surface), clock)
