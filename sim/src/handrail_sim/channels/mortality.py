"""How a helper inside the phone dies: the `helper_dies` fault ends it, at once or after some requests."""

from __future__ import annotations

import asyncio

from handrail_sim.channels.http import Hangup
from handrail_sim.faults import Faults


class Mortal:
    """One helper process."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._requests = 0
        self.ended = asyncio.Event()
        self.is_dead = False

    def breathe(self) -> None:
        """A request came in; a helper that dies now never answers it."""
        fault = self._faults.active("helper_dies")
        if fault is None:
            self._requests = 0
            return
        self._requests += 1
        if self._requests > int(fault.options["requests"]) and self._faults.get("helper_dies") is not None:
            self.is_dead = True
            self.ended.set()
            raise Hangup
