"""Counts what a phone and this process hold before and after: tasks, descriptors, programs, files."""

from __future__ import annotations

import asyncio
import gc
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from handrail.android.constants import DUMP_FOLDER
from handrail.errors import DeviceError
from tests.driver.ways import Held, Way, hold

PATIENCE_S = 60.0
OURS = ("ps", "sh", "-sh", "ls")
"""Programs that only the counting itself runs."""


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def on_the_phone(held: Held) -> Counter[str]:
    """Programs that shells run there, and dumps that lie about."""
    listed = (await held.sh("ps", "-A", "-o", "USER,NAME")).splitlines()[1:]
    names = [name for user, name in map(str.split, listed) if user == "shell" and name not in OURS]
    files = (await held.sh("ls", DUMP_FOLDER)).split()
    return Counter(names + [name for name in files if name.startswith("handrail-")])


async def more_than(held: Held, before: Counter[str]) -> bool:
    """Whether something is left; of a phone that is still coming back nobody knows."""
    try:
        return bool(await on_the_phone(held) - before)
    except DeviceError:
        return True


@asynccontextmanager
async def nothing_left(way: Way) -> AsyncIterator[Held]:
    """A phone; whatever the block did, it holds no more afterwards than before, and nothing in the end."""
    gc.collect()
    alone = descriptors()
    tasks = asyncio.all_tasks()
    async with hold(way) as held:
        await held.driver.look()
        before = await on_the_phone(held)
        yield held
        async with asyncio.timeout(PATIENCE_S):
            while await more_than(held, before):
                await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE_S):
        while asyncio.all_tasks() - tasks or descriptors() > alone:
            await asyncio.sleep(0)
