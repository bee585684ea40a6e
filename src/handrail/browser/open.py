"""From a device's name to a browser: `browser`, `browser:NAME`, or `browser:ADDRESS` of one that runs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from handrail.browser.launch import launch
from handrail.browser.surface import BrowserSurface
from handrail.cdp.connection import Connection
from handrail.clock import Clock
from handrail.config import Config
from handrail.errors import InvalidAction
from handrail.surface.capabilities import WindowsCapability

DEFAULT = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")


async def open_browser(
    device: str,
    config: Config,
    clock: Clock,
    env: Mapping[str, str],
    windows: WindowsCapability | None = None,
) -> BrowserSurface:
    """Started with the profile of this name, which stays. Raises `BrowserConnectionError`."""
    _, _, name = device.partition(":")
    name = name or DEFAULT
    if not _NAME.fullmatch(name):
        raise InvalidAction(
            f"{device!r} names no browser",
            hint="Say browser, browser:NAME or browser:HOST:PORT.",
            path="device",
        )
    browser = await launch(env, config.home / "browsers" / name)
    surface = BrowserSurface(device, Connection(browser.wire, clock), clock, browser.close, windows)
    try:
        await surface.open()
    except BaseException:
        await surface.close()
        raise
    return surface
