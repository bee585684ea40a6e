"""A phone for the length of a block, for programs and examples: made, served on a free port, gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from handrail.clock import SystemClock
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone


@asynccontextmanager
async def simulated_phone(*, seed: int = 1, apps: Sequence[str] | None = None) -> AsyncIterator[str]:
    """Its address, which is a serial for everything that takes one. The same seed is the same phone."""
    phone = Phone(clock=SystemClock(), seed=seed, apps=apps)
    async with serve([phone], port=0) as [served]:
        yield served.address
