"""The one way in which a channel into an app ends: it is gone. Nothing above `FrameworkSync` ever sees it."""

from __future__ import annotations

from handrail.errors import AdbConnectionError


class ChannelLost(AdbConnectionError):
    """The other side closed, broke the protocol, or was never there."""

    hint = "Sync goes on without this channel; it is opened again when the app is."
