"""The frameworks that are told apart, in the order in which they win when an app shows signs of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from handrail.errors import AdbConnectionError
from handrail.surface.values import Framework

PRIORITY: tuple[Framework, ...] = ("flutter", "react_native", "compose")
"""An app with none of their signs is native."""
Metro = tuple[str, int]
METRO: Metro = ("127.0.0.1", 8081)
"""Where React Native's bundler listens unless it was told otherwise; the port is the same on the phone."""


class ChannelLost(AdbConnectionError):
    """The other side closed, broke the protocol, or was never there."""

    hint = "Sync goes on without this channel; it is opened again when the app is."


@dataclass(frozen=True, slots=True)
class Rest:
    """The end of one wait."""

    idle: bool
    """False when the time was up before the app was done."""
    waited_for: tuple[str, ...] = ()
    """What went on meanwhile; empty when there was nothing to wait for."""


class AppChannel(Protocol):
    """A way into one app."""

    async def wait_idle(self, timeout_ms: float) -> Rest:
        """Until the app is done, or the time is up. Raises `ChannelLost` when the app can't be asked."""

    async def close(self) -> None:
        """Leaves the app as it was found."""
