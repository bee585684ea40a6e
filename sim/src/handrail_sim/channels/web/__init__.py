"""Web pages of a phone drawn by a real Chromium on this machine: `handrail-sim --web chromium`.

The phone has their pixels, their accessibility as Android tells it, and their debugging sockets. It gives
them fingers and keys. Without Chromium the phone has its own small pages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from handrail_sim.channels.web.chromium import Chromium
from handrail_sim.channels.web.engine import ChromiumEngine

if TYPE_CHECKING:
    from handrail_sim.handset import Handset


@asynccontextmanager
async def web_by_chromium(phones: Sequence[Handset], env: Mapping[str, str]) -> AsyncIterator[Chromium]:
    """These phones share one Chromium, each with cookies of its own, while the block runs.

    Raises `BadSetting` where no Chromium is found.
    """
    async with Chromium.started(env) as chromium:
        engines = [ChromiumEngine(phone, chromium) for phone in phones]
        for phone, engine in zip(phones, engines, strict=True):
            phone.web = engine
        try:
            yield chromium
        finally:
            for phone, engine in zip(phones, engines, strict=True):
                phone.web = None
                await engine.close()


__all__ = ["Chromium", "ChromiumEngine", "web_by_chromium"]
