"""What a JavaScript program had under way at one moment, as the script in it told."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

from handrail.android.sync.lost import ChannelLost


@dataclass(frozen=True, slots=True)
class Work:
    """One answer of a probe."""

    requests: dict[int, str]
    timers: tuple[float, ...] = ()
    """ms until each is due."""
    beat: int = 0
    turned: bool = True
    """Whether the thread has come round since the beat was asked for."""

    @property
    def names(self) -> list[str]:
        """A fetch that is made of a request is one thing."""
        fetched = {what.removeprefix("fetch") for what in self.requests.values()}
        told = [what for what in self.requests.values() if what.removeprefix("request") not in fetched]
        many = f"{len(self.timers)} timers" if len(self.timers) > 1 else "a timer"
        return [*told, *([many] if self.timers else [])]

    def without(self, endless: Container[int]) -> Work:
        return replace(self, requests={n: what for n, what in self.requests.items() if n not in endless})


def read_work(told: Any) -> Work:
    """`ChannelLost` for anything else, because whoever answers so is not the app."""
    try:
        found = json.loads(told)
        requests = {int(number): str(what) for number, what in found["requests"]}
        timers = tuple(float(left) for left in found["timers"])
        return Work(requests, timers, int(found["beat"]), bool(found["turned"]))
    except (TypeError, ValueError, KeyError):
        raise ChannelLost(f"the app answers nonsense: {str(told)[:80]!r}") from None
