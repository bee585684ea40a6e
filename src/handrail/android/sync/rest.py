"""What one channel says about an app at rest, and what every channel is to `FrameworkSync`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Rest:
    """The end of one wait."""

    idle: bool
    """False when the time was up before the app was done."""
    waited_for: tuple[str, ...] = ()
    """What went on meanwhile; empty when there was nothing to wait for."""


class Channel(Protocol):
    """A way into one app."""

    async def wait_idle(self, timeout_ms: float) -> Rest:
        """Until the app is done, or the time is up. Raises `ChannelLost` when the app can't be asked."""

    async def close(self) -> None:
        """Leaves the app as it was found."""
