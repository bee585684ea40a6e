"""One host, composed: its home, its phones, its agent. Whoever calls it chooses the way to the head."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from handrail.config import Config
from handrail.errors import DeviceBusy
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail_fleet.agent import HostAgent
from handrail_fleet.host_phones import HostPhones, connected_host, simulated_host
from handrail_fleet.transport import FleetTransport

PER_CORE = 4
"""Simulated phones are this process's own work: more at a time than this for each core buys nothing."""
USUAL_LIMIT = 32
"""Real phones mostly wait."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HostSettings:
    """What a host is; as data, because another process may start it."""

    name: str
    home: str
    phones: int = 0
    """Simulated ones; 0: those that are connected."""
    devices: tuple[str, ...] = field(default_factory=tuple)
    tags: tuple[str, ...] = field(default_factory=tuple)
    limit: int = 0

    @property
    def is_down(self) -> bool:
        """Somebody has said that this host shall end and not come back."""
        return self.down_mark.exists()

    @property
    def down_mark(self) -> Path:
        return Path(self.home) / "fleet" / "down"


def host_name() -> str:
    """The machine's own, as far as a host may be called so."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname()) or "host"


async def serve_host(settings: HostSettings, transport: FleetTransport) -> None:
    """Until it is cancelled, or told to go down."""
    env = {**os.environ, "HANDRAIL_HOME": settings.home}
    config = Config.from_env(env)
    config.make_home()
    caller = Caller("fleet", "flow", "flow")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(_only_one(config.home))
        runtime = await stack.enter_async_context(Runtime.open(config, env=env, caller=caller))
        phones = await _phones(settings, runtime, stack)
        usual = PER_CORE * (os.cpu_count() or 1) if settings.phones else USUAL_LIMIT
        agent = HostAgent(settings.name, runtime, phones, transport, limit=settings.limit or usual)
        await agent.run()
        if agent.is_down:
            settings.down_mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            settings.down_mark.touch()


async def _phones(settings: HostSettings, runtime: Runtime, stack: AsyncExitStack) -> HostPhones:
    if settings.phones:
        return await stack.enter_async_context(simulated_host(settings.phones, runtime, settings.tags))
    return await connected_host(settings.devices, runtime, settings.tags)


@asynccontextmanager
async def _only_one(home: Path) -> AsyncIterator[None]:
    """Two agents in one home would each believe that its attempts are the other's, and lost."""
    path = home / "fleet" / "agent.lock"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        for _ in range(50):  # one that is being replaced needs a moment to end
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                await asyncio.sleep(0.1)
        else:
            raise DeviceBusy(f"Another host's agent runs in {home}", hint="Stop it, or set HANDRAIL_HOME.")
        yield
    finally:
        os.close(handle)
