"""React Native's bundler: which JavaScript runtimes it knows, which of them is the app's, how to reach it.

Metro is asked through the phone first: `adb reverse` leads from there to the right one, whoever runs several.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from handrail.adb.device import AdbDevice
from handrail.android.http_over_adb import HttpPort, Opens
from handrail.android.sync.answers import ChannelLost, Metro
from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout

LIST_MS = 1_000.0
MAX_LIST = 1 << 20


@dataclass(frozen=True, slots=True)
class Target:
    """One runtime in `/json/list`."""

    url: str
    title: str = ""
    description: str = ""
    app_id: str = ""
    device_name: str = ""
    type: str = ""
    vm: str = ""


@dataclass(frozen=True, slots=True)
class MetroWay:
    """How one Metro is reached; its sockets are reached in the same way, whatever address it gives them."""

    opens: Opens
    port: int

    @property
    def service(self) -> str:
        return f"tcp:{self.port}"

    def uri(self, target: Target) -> str:
        """Metro speaks of localhost, [::1] or 10.0.2.2 as it sees itself; only path and query are kept."""
        parts = urlsplit(target.url)
        query = f"?{parts.query}" if parts.query else ""
        return f"ws://127.0.0.1:{self.port}{parts.path or '/'}{query}"


def ways(device: AdbDevice, metro: Metro) -> tuple[MetroWay, MetroWay]:
    """Through the phone, then straight."""
    host, port = metro
    return MetroWay(device, port), MetroWay(HostTcp(host, port), port)


async def list_targets(way: MetroWay, clock: Clock) -> list[Target]:
    """Raises `DeviceError` or `Timeout` when no Metro answers there."""
    http = HttpPort(way.opens, way.port, clock, max_body=MAX_LIST)
    answer = await http.get("/json/list", timeout_ms=LIST_MS)
    try:
        told = json.loads(answer.body)
    except ValueError:
        told = None
    if answer.status != 200 or not isinstance(told, list):
        raise ChannelLost(f"port {way.port} answers, but is no Metro (HTTP {answer.status})")
    return [target for one in told if (target := _target(one)) is not None]


def _target(told: Any) -> Target | None:
    if not isinstance(told, dict) or not isinstance(told.get("webSocketDebuggerUrl"), str):
        return None
    names = {"title": "title", "description": "description", "app_id": "appId", "device_name": "deviceName"}
    names |= {"type": "type", "vm": "vm"}
    texts = {field: str(told.get(name) or "") for field, name in names.items()}
    return Target(told["webSocketDebuggerUrl"], **texts)


def candidates(targets: Iterable[Target], package: str) -> list[Target]:
    """Those of the app, by the first rule that finds any. A target that names another app is never taken."""
    usable = [one for one in targets if one.vm != "don't use" or "Improved Chrome Reloads" in one.title]
    anonymous = [one for one in usable if not one.app_id]
    rules = (
        [one for one in usable if one.app_id == package],
        [one for one in anonymous if package in one.description],
        [one for one in anonymous if package in one.title],
        [one for one in anonymous if "hermes" in f"{one.title} {one.vm}".lower() or one.type == "node"],
        anonymous if len(usable) == 1 else [],
    )
    return next((found for found in rules if found), [])


def choose(found: list[Target], model: str = "") -> Target:
    """Of several: on this model of phone, then the one that survives reloads, then the newest."""
    here = [one for one in found if model and model in one.device_name] or found
    lasting = [one for one in here if "Improved Chrome Reloads" in one.title] or here
    return lasting[-1]


async def find_target(device: AdbDevice, package: str, clock: Clock, metro: Metro) -> tuple[MetroWay, Target]:
    """The app's runtime and the way to it; `ChannelLost` says what was found instead."""
    tried: list[str] = []
    for way, place in zip(ways(device, metro), ("the phone", metro[0]), strict=True):
        try:
            targets = await list_targets(way, clock)
        except (DeviceError, Timeout) as error:
            tried.append(f"on {place}: {error.message}")
            continue
        if found := candidates(targets, package):
            return way, choose(found, await _model(device, found))
        tried.append(f"on {place}: {len(targets)} targets, none of {package}")
    raise ChannelLost("; ".join(tried))


async def _model(device: AdbDevice, found: list[Target]) -> str:
    """Asked for only where one Metro serves the same app on several phones."""
    if len({one.device_name for one in found}) < 2:
        return ""
    told = await device.shell.run(["getprop", "ro.product.model"], timeout_ms=LIST_MS, check=False)
    return told.text.strip()


async def metro_signals(device: AdbDevice, package: str, clock: Clock, metro: Metro) -> tuple[str, ...]:
    """`metro:package` when a Metro names this app; nothing less counts as a sign."""
    for way in ways(device, metro):
        try:
            targets = await list_targets(way, clock)
        except (DeviceError, Timeout):
            continue
        if any(package in (one.app_id, one.description, one.title) for one in targets):
            return (f"metro:{package}",)
    return ()


CHUNK = 64 << 10


class HostTcp:
    """Opens the same address whichever service is named: the port is the one that was configured."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    async def open(self, service: str) -> TcpStream:
        """`service` is what the phone would have been asked for."""
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port)
        except OSError as error:
            reason = f"{self.host}:{self.port} can't be reached for {service}: {error.strerror or error}"
            raise ChannelLost(reason) from None
        return TcpStream(reader, writer)


class TcpStream:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(CHUNK)
        except OSError as error:
            raise ChannelLost(f"the connection broke: {error}") from None

    async def write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise ChannelLost(f"the connection broke: {error}") from None

    async def close(self) -> None:
        """At once: what the other side has not taken by now it need not have."""
        self._writer.transport.abort()
        try:
            await self._writer.wait_closed()
        except OSError:
            return
