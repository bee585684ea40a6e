"""One attempt at work on its host, and the fence that it may not pass. Stops nothing by itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from handrail_fleet.fence import HostFence, cut_off
from handrail_fleet.host_phones import HostPhone
from handrail_fleet.ledger import Ended, Fenced, HandedUnit
from handrail_fleet.unit_kind import UnitStage


@dataclass(slots=True)
class AttemptFence:
    """What the engine asks before every dispatch of one attempt. Closed once, it stays closed: an attempt
    with a gap in it is none."""

    host: HostFence
    attempt: Fenced
    is_closed: bool = False

    def check(self) -> None:
        """Raises `Cancelled` where it is, or has been, closed."""
        self.is_closed |= self.host.left_ms <= 0
        if self.is_closed:
            raise cut_off()


@dataclass(slots=True)
class Underway:
    """One attempt at work."""

    handed: HandedUnit
    phones: list[HostPhone]
    fence: AttemptFence
    stage: UnitStage | None = None
    task: asyncio.Task[None] | None = None
    ended: Ended = "accepted"
    """How it will be reported, unless it ends by itself before."""
    why: str = ""

    @property
    def fenced(self) -> Fenced:
        return self.handed.unit, self.handed.attempt
