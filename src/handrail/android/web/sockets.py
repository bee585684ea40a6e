"""Debugging sockets of a phone and the pages behind them, by HTTP and WebSocket through adb streams."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.android.http_over_adb import HttpPort
from handrail.cdp.connection import Connection
from handrail.cdp.wire import StreamWire, WireClosed
from handrail.clock import Clock
from handrail.errors import AdbConnectionError, BrowserConnectionError, HandrailError
from handrail.tree.node import Bounds
from handrail.waiting import Deadline, Expired

LIST_COMMAND = ["cat", "/proc/net/unix"]
_NAME = re.compile(r"@([\w.]*devtools_remote(?:_[\w.]+)?)\s*$", re.MULTILINE)
MOST_SOCKETS = 12
MOST_PAGES = 64
MOST_BODY = 1 << 20
ASK_MS = 1_000.0


@dataclass(frozen=True, slots=True)
class ListedPage:
    """One page as its socket lists it."""

    socket: str
    id: str
    title: str
    is_shown: bool
    """False where it says itself that it is not attached or not visible."""
    place: Bounds | None
    """Where its view is on the screen; None where the app does not tell, as browsers."""


def read_names(listing: str) -> list[str]:
    """The sockets' names in the kernel's list, each once."""
    return list(dict.fromkeys(_NAME.findall(listing)))[:MOST_SOCKETS]


class Sockets:
    """One phone's."""

    def __init__(self, device: AdbDevice, clock: Clock) -> None:
        self._device = device
        self._clock = clock

    async def of(self, package: str) -> list[str]:
        """The sockets of this app's processes. Raises `DeviceError` or `Timeout`."""
        output = await self._device.shell.run(LIST_COMMAND, timeout_ms=ASK_MS, check=False)
        return [name for name in read_names(output.text) if await self._owner(name) == package]

    async def _owner(self, socket: str) -> str:
        """The app behind a socket, by its own word; "" where it does not tell."""
        try:
            told = await self._ask(socket, "/json/version")
        except HandrailError:
            return ""  # what listens there is no page, or it has just ended
        return str(told.get("Android-Package", "")) if isinstance(told, dict) else ""

    async def pages(self, socket: str) -> list[ListedPage]:
        """Raises `DeviceError` or `Timeout`."""
        told = await self._ask(socket, "/json/list")
        if not isinstance(told, list):
            raise AdbConnectionError(f"{socket} lists no pages")
        found = [_listed(socket, one) for one in told[:MOST_PAGES] if isinstance(one, dict)]
        return [one for one in found if one is not None]

    async def _ask(self, socket: str, path: str) -> Any:
        port = HttpPort(self._device, f"localabstract:{socket}", self._clock, MOST_BODY)
        answer = await port.get(path, timeout_ms=ASK_MS)
        try:
            return json.loads(answer.body) if answer.status == 200 else None
        except ValueError:
            raise AdbConnectionError(f"{socket}{path} is no JSON") from None

    async def connect(self, page: ListedPage) -> Connection:
        """A debugging session with one page. Raises `DeviceError` or `BrowserConnectionError`."""
        stream = await self._device.open(f"localabstract:{page.socket}")
        try:
            async with Deadline(self._clock, ASK_MS):
                wire = await StreamWire.open(stream, f"ws://localhost/devtools/page/{page.id}")
        except BaseException as error:
            await stream.close()
            if isinstance(error, WireClosed | Expired):
                raise BrowserConnectionError(f"The page {page.title!r} can't be asked: {error}") from None
            raise
        return Connection(wire, self._clock)


def _listed(socket: str, told: Mapping[str, Any]) -> ListedPage | None:
    if told.get("type") != "page" or not re.fullmatch(r"[\w-]{1,80}", str(told.get("id", ""))):
        return None
    try:
        place = json.loads(told.get("description") or "null")
    except (TypeError, ValueError):
        place = None
    if not isinstance(place, dict):
        place = {}
    is_shown = all(place.get(name, True) for name in ("attached", "visible")) and not place.get("empty")
    return ListedPage(socket, str(told["id"]), str(told.get("title", "")), is_shown, _bounds(place))


def _bounds(place: Mapping[str, Any]) -> Bounds | None:
    left, top, width, height = (place.get(name) for name in ("screenX", "screenY", "width", "height"))
    if not all(isinstance(one, int | float) for one in (left, top, width, height)):
        return None
    return Bounds(round(left), round(top), round(left + width), round(top + height))  # type: ignore[arg-type, operator]


def overlap(one: Bounds, other: Bounds) -> float:
    """The share that two boxes have in common, of the larger one."""
    return one.intersect(other).area / max(one.area, other.area, 1)


ENOUGH = 0.9


def matched(views: Sequence[tuple[Bounds, str]], pages: Sequence[ListedPage]) -> dict[int, ListedPage]:
    """Which page each view shows, by the view's number; views by their box and their page's title.

    A page that tells its place must be there. One that does not must be the only one, or the only one with
    this title. A view that could have two has none.
    """
    shown = [page for page in pages if page.is_shown]
    found: dict[int, ListedPage] = {}
    for number, (view, _) in enumerate(views):
        placed = [page for page in shown if page.place is not None and overlap(page.place, view) >= ENOUGH]
        if len(placed) == 1:
            found[number] = placed[0]
    untold = [page for page in shown if page.place is None]
    if len(views) == 1 and not found and untold:
        named = [page for page in untold if page.title == views[0][1]] if len(untold) > 1 else untold
        found = {0: named[0]} if len(named) == 1 else {}
    return found
