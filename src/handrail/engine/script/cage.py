"""Namespaces for a real shell, where the kernel allows them: no network, and process numbers of its own.

With its own process numbers everything that a script ever started dies with its first process.
"""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass

OWN_NUMBERS = ("--pid", "--fork", "--kill-child")
WAYS = (
    ("--net", *OWN_NUMBERS),
    ("--user", "--map-root-user", "--net", *OWN_NUMBERS),
    ("--user", "--map-root-user", "--net"),
)
"""What is tried, best first. Root needs no user namespace; for others it is what makes the rest possible."""


@dataclass(frozen=True, slots=True)
class Cage:
    """What stands before the command, and what it achieves."""

    prefix: tuple[str, ...] = ()

    @property
    def network_cut(self) -> bool:
        return "--net" in self.prefix


async def find_cage() -> Cage:
    """The best that works here; an empty one where nothing does."""
    unshare = shutil.which("unshare")
    for way in WAYS if unshare else ():
        prefix = (str(unshare), *way, "--")
        if await _works(prefix):
            return Cage(prefix)
    return Cage()


async def _works(prefix: tuple[str, ...]) -> bool:
    null = asyncio.subprocess.DEVNULL
    try:
        probe = await asyncio.create_subprocess_exec(*prefix, "true", stdin=null, stdout=null, stderr=null)
    except OSError:
        return False
    return await probe.wait() == 0
