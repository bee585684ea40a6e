"""One phone, one home, one runtime: the stage of every story. Real sockets, real SQLite, no mocks."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from handrail.clock import Clock, SystemClock
from handrail.config import Config, Helper
from handrail.engine.session import Session
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail_sim.adbd.server import serve
from handrail_sim.iphone import IPhone, serve_iphone
from handrail_sim.phone import Phone
from tests.story_loop import STORY_BEGINS_MS, LiveLoop, StoryClock, StoryLoop

T = TypeVar("T")
PATIENCE_S = 60.0
PHONES: dict[str, type[Phone]] = {"android": Phone, "ios": IPhone}
phone_kind = "android"
on_both_phones = pytest.mark.usefixtures("both_phones")
"""The story is told on an Android phone and on an iPhone (tests/conftest.py)."""


class FastClock:
    """The loop's clock at `speed` times its pace: ten seconds of budget pass in one."""

    def __init__(self, speed: float = 10.0) -> None:
        self.speed = speed
        self.timer = f"fast-{id(self)}"
        self._zero: float | None = None
        self._start_ms = 0

    def now_ms(self) -> int:
        elapsed = int(self.monotonic_ms())
        return self._start_ms + elapsed

    def monotonic_ms(self) -> float:
        now = _loop_time()
        if self._zero is None:
            self._zero = now
            self._start_ms = STORY_BEGINS_MS if in_story() else time.time_ns() // 1_000_000
        return (now - self._zero) * 1000 * self.speed

    async def sleep_ms(self, duration_ms: float) -> None:
        await asyncio.sleep(max(0.0, duration_ms) / 1000 / self.speed)


def _loop_time() -> float:
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return time.monotonic()


def in_story() -> bool:
    try:
        return isinstance(asyncio.get_running_loop(), StoryLoop)
    except RuntimeError:
        return False


def usual_clock() -> Clock:
    """The loop's time in a story, the machine's elsewhere."""
    return StoryClock() if in_story() else SystemClock()


@dataclass
class World:
    """What a story plays with."""

    phone: Phone
    serial: str
    home: Path
    runtime: Runtime
    session: Session

    async def open(self, package: str) -> Envelope:
        """An app in front, whatever was there."""
        envelope = await self.session.start_app(package)
        assert envelope.success, envelope.to_json()
        return envelope

    async def ref(self, label: str) -> str:
        """The ref of the line that has this label."""
        envelope = await self.session.get_ui_tree()
        assert envelope.details
        for line in envelope.details["text"].splitlines():
            if label in line and line.strip().startswith("@"):
                return str(line.split()[0])
        raise AssertionError(f"{label!r} has no ref in:\n{envelope.details['text']}")

    async def sees_what_is_shown(self) -> bool:
        """Whether its picture is the phone's own; the clock on it may tick meanwhile."""
        before = await self.phone.screenshot()
        seen = await self.session.screens.reader.screenshot()
        return seen in (before, await self.phone.screenshot())

    def app_state(self, package: str) -> Any:
        self.phone.catch_up()
        return self.phone.state()["apps"][package]

    def inputs(self) -> list[dict[str, Any]]:
        """Every input that the phone has ever got."""
        return list(self.phone.input_log)

    def events(self) -> list[dict[str, Any]]:
        """The journal, oldest first."""
        return [json.loads(line) for line in self.runtime.journal.export()]


def handset(**options: Any) -> Phone:
    """A phone of the kind that the story is told on; `both_phones` tells it on each."""
    return PHONES[phone_kind](**options)


@asynccontextmanager
async def address_of(phone: Phone) -> AsyncIterator[str]:
    """What a session calls this phone, for as long as it is served."""
    if isinstance(phone, IPhone):
        async with serve_iphone(phone) as iphone:
            yield f"ios:{iphone.wda_url}"
    else:
        async with serve([phone], port=0) as [android]:
            yield android.address


@asynccontextmanager
async def world(
    home: Path,
    *,
    clock: Clock | None = None,
    helper: Helper = "none",
    policy: str | None = None,
    env: dict[str, str] | None = None,
    caller: Caller | None = None,
    phone: Phone | None = None,
) -> AsyncIterator[World]:
    clock = clock or usual_clock()
    phone = phone or handset(clock=clock)
    given = {"HANDRAIL_HOME": str(home), "HOME": str(home), "HANDRAIL_DISABLE_VISION": "1", **(env or {})}
    config = Config.from_env(given)
    if policy is not None:
        config.policy.parent.mkdir(parents=True, exist_ok=True)
        config.policy.write_text(policy)
    async with (
        address_of(phone) as address,
        Runtime.open(config, clock=clock, env=given, caller=caller) as runtime,
    ):
        session = await runtime.session(address, helper=helper)
        yield World(phone, address, home, runtime, session)


def play(story: Coroutine[Any, Any, T]) -> T:
    """Run one story to its end, in the loop's own time: for worlds that are all in this process."""
    with asyncio.Runner(loop_factory=StoryLoop) as runner:
        return runner.run(story)


def play_live(story: Coroutine[Any, Any, T]) -> T:
    """Run one story to its end in real time: for processes, browsers and threads."""
    with asyncio.Runner(loop_factory=LiveLoop) as runner:
        return runner.run(story)


def live(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., Coroutine[Any, Any, None]]:
    """A test in real time, in a module whose other tests run in the loop's own."""
    test.async_runner = play_live  # type: ignore[attr-defined]
    return test


async def until(condition: Callable[[], Awaitable[Any] | Any]) -> Any:
    """Wait for something that another task brings about."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            value = condition()
            if isinstance(value, Awaitable):
                value = await value
            if value:
                return value
            await asyncio.sleep(0.002)
