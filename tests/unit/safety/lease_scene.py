"""Leases in a store and at a time of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import DeviceBusy
from handrail.safety.leases import Holder, Leases
from handrail.store import Store
from handrail_sim.clock import ManualClock

PHONE = "127.0.0.1:6555"
AGENT = Holder("a1", "agent", "shopper", "mcp")
FLOW = Holder("f1", "flow", "nightly", "cli")


class Scene:
    """Leases in a store of their own, and a clock that the test moves."""

    def __init__(self, path: Path) -> None:
        self.clock = ManualClock()
        self.store = Store(path / "handrail.db")
        self.leases = Leases(self.store, self.clock)


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Scene]:
    scene = Scene(path)
    try:
        yield scene
    finally:
        scene.store.close()


def play(path: Path, story: Callable[[Scene], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with opened(path) as scene:
            return await story(scene)

    return asyncio.run(run())


async def busy(attempt: Awaitable[Any]) -> DeviceBusy:
    with pytest.raises(DeviceBusy) as caught:
        await attempt
    return caught.value
