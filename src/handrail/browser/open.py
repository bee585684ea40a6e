"""From a device's name to a browser: `browser`, `browser:NAME`, or `browser:ADDRESS` of one that runs."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from handrail.browser.files import NO_FILES, WebFiles
from handrail.browser.keeper import kept
from handrail.browser.surface import BrowserSurface
from handrail.browser.wall import Known
from handrail.cdp.connection import Connection
from handrail.cdp.wire import PipeWire, SocketWire, Wire
from handrail.clock import Clock
from handrail.config import Config, host_port, switch
from handrail.errors import BrowserConnectionError, InvalidAction
from handrail.surface.capabilities import WindowsCapability

DEFAULT = "default"
SHOWN = "HANDRAIL_BROWSER_SHOWN"
TABS = "HANDRAIL_BROWSER_TABS"
"""Patterns of addresses, with spaces between them: the tabs of a running browser that are shown."""
ASK_S = 5.0
MOST_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")


async def open_browser(
    device: str,
    config: Config,
    clock: Clock,
    env: Mapping[str, str],
    windows: WindowsCapability | None = None,
    known: Known = lambda _: False,
    files: WebFiles = NO_FILES,
) -> BrowserSurface:
    """One of our own by its name, with a profile that stays; or another one by its address.

    Raises `BrowserConnectionError`.
    """
    _, _, name = device.partition(":")
    wire = await _wire(device, name or DEFAULT, config, clock, env)
    surface = BrowserSurface(
        device,
        Connection(wire, clock),
        clock,
        windows,
        known=known,
        shows=None if isinstance(wire, PipeWire) else _named_tabs(env),
        files=replace(files, folder=_profile(config, name or DEFAULT) / "downloads"),
    )
    try:
        await surface.open()
    except BaseException:
        await surface.close()
        raise
    return surface


def _profile(config: Config, name: str) -> Path:
    return config.home / "browsers" / name


def _named_tabs(env: Mapping[str, str]) -> Callable[[str], bool]:
    patterns = env.get(TABS, "").split()
    return lambda url: any(fnmatchcase(url, one) for one in patterns)


async def _wire(device: str, name: str, config: Config, clock: Clock, env: Mapping[str, str]) -> Wire:
    if place := host_port(name):
        return await SocketWire.open(await _socket_of(*place))
    if name.startswith(("ws://", "wss://")):
        return await SocketWire.open(name)
    if not _NAME.fullmatch(name):
        raise InvalidAction(
            f"{device!r} names no browser",
            hint="Say browser, browser:NAME, browser:HOST:PORT or browser:ws://…",
            path="device",
        )
    return await kept(_profile(config, name), clock, headless=not switch(env, SHOWN))


async def _socket_of(host: str, port: int) -> str:
    """Where the browser at this address takes its calls, as it says itself."""
    try:
        async with asyncio.timeout(ASK_S):
            body = await _asked(host, port)
        return str(json.loads(body)["webSocketDebuggerUrl"])
    except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError, KeyError) as error:
        raise BrowserConnectionError(
            f"No browser answers at {host}:{port}: {error!r}",
            hint="Start it with --remote-debugging-port and a --user-data-dir of its own.",
        ) from None


async def _asked(host: str, port: int) -> bytes:
    """Read by length: the browser keeps the connection open."""
    reader, writer = await asyncio.open_connection(host, port, limit=MOST_BYTES)
    try:
        writer.write(f"GET /json/version HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"content-length:\s*(\d+)", head)
        if " 200 " not in head.partition("\r\n")[0] or length is None:
            raise ValueError(head.partition("\r\n")[0])
        return await reader.readexactly(min(int(length[1]), MOST_BYTES))
    finally:
        writer.close()
