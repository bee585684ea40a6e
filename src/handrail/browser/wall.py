"""Where a browser may go while an agent drives it: decided once for every document, whatever leads to it.

Each document that a tab or a frame wants stops here twice, before its request leaves and before its answer
reaches a page: links, redirects, frames, pop-ups and scripts have no other way. Handrail's own desk is known
by its answer, so that no name leads around it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from handrail.cdp.connection import Answer, Connection
from handrail.clock import Clock
from handrail.errors import ActionRejected, HandrailError
from handrail.hosts import OWN_HEADER, read_address, why_private
from handrail.waiting import Background, Deadline, Expired

SCHEMES = frozenset({"http", "https", "about", "blob"})
"""Of pages that an agent may see. The browser's own pages, files and code in an address are none."""
_PATTERNS = [
    {"urlPattern": "*", "resourceType": "Document", "requestStage": stage}
    for stage in ("Request", "Response")
]
_SPACES = frozenset({"Loopback", "Local", "Private"})
"""How the browser calls the networks that are not public, by the address that it was connected to."""
MOST_TOLD = 500
MOST_LINES = 50
LOOKUP_MS = 2_000.0
Known = Callable[[str], bool]
"""Whether the person who owns the policy has listed a host."""


class Wall:
    """One browser's."""

    def __init__(self, connection: Connection, clock: Clock, known: Known = lambda _: False) -> None:
        self._root = connection.root
        self._clock = clock
        self._known = known
        self._named: set[str] = set()
        """Origins of private networks that were opened by name, which policy was asked about."""
        self._own: set[str] = set()
        """Origins at which Handrail has answered."""
        self._spaces: dict[str, str] = {}
        """Where the answer to a request came from."""
        self._tasks = Background()
        self.is_persons: Callable[[str], bool] = lambda _: False
        """Whether a frame is a tab that no agent sees: a person may go anywhere in it."""
        self.refused: dict[str, str] = {}
        """Why the last document of a frame was refused."""
        self.lines: list[str] = []

    async def open(self) -> None:
        """From now on no document comes by without having been looked at."""
        self._root.on("Fetch.requestPaused", self._paused)
        await self._root.call("Fetch.enable", {"patterns": _PATTERNS})

    async def close(self) -> None:
        with suppress(HandrailError):  # the browser may have ended
            await self._root.call("Fetch.disable", timeout_ms=1_000.0)
        await self._tasks.close()

    # what the surface asks

    def require(self, url: str) -> None:
        """Raises `ActionRejected` for what no agent opens. What policy lets it open by name is let through,
        where the name itself says that it is of a private network."""
        why = self.why_never(url)
        if why:
            raise refusal(url, why)
        read = read_address(url)
        if read is not None and why_private(read[0]):
            self._named.add(origin(url))

    def is_own(self, url: str) -> bool:
        """Whether Handrail has answered there."""
        return bool(self._own) and origin(url) in self._own

    def note_own(self, url: str) -> None:
        """A page there has said that it is Handrail's."""
        if origin(url):
            self._own.add(origin(url))

    def why_never(self, url: str) -> str:
        """Why an address is not opened, whatever the policy says."""
        scheme = urlsplit(url.strip()).scheme.lower()
        if scheme not in SCHEMES:
            return f"addresses with {scheme or 'no scheme'}: are never opened"
        if scheme in ("http", "https") and read_address(url) is None:
            return "its host can't be told"
        return "it is Handrail's own" if self.is_own(url) else ""

    def told_address(self, told: Answer) -> None:
        """`Network.responseReceivedExtraInfo`: comes before the answer itself."""
        self._spaces[str(told.get("requestId"))] = str(told.get("resourceIPAddressSpace", ""))
        while len(self._spaces) > MOST_TOLD:
            del self._spaces[next(iter(self._spaces))]

    # every document

    def _paused(self, told: Answer) -> None:
        self._tasks.start(self._decide(told), "a document at the wall")

    async def _decide(self, told: Answer) -> None:
        request, frame = told["requestId"], str(told.get("frameId", ""))
        why = "" if self.is_persons(frame) else await self._why_not(told)
        if why:
            self._note(frame, str(told["request"]["url"]), why)
            step: tuple[str, dict[str, Any]] = (
                "Fetch.failRequest",
                {"requestId": request, "errorReason": "Aborted"},
            )
        else:
            step = "Fetch.continueRequest", {"requestId": request}
        with suppress(HandrailError):  # its tab was closed meanwhile
            await self._root.call(*step)

    async def _why_not(self, told: Answer) -> str:
        url = str(told["request"]["url"])
        if why := self.why_never(url):
            return why
        read = read_address(url)
        if read is None or self._known(read[0]) or origin(url) in self._named:
            is_free = True
        else:
            is_free = False
            if private := why_private(read[0]):
                return f"{private} Only open_url leads there, which asks a person"
        if "responseStatusCode" not in told:
            return ""
        if _has_own_header(told):
            self.note_own(url)
            return "it is Handrail's own"
        if is_free or read is None or not await self._is_private(told, read[0]):
            return ""
        return f"{read[0]} leads to this machine or a private network, and its name does not say so"

    async def _is_private(self, told: Answer, host: str) -> bool:
        space = self._spaces.get(str(told.get("networkId", "")))
        if space:
            return space in _SPACES
        try:  # the browser told nobody: it had the answer already, or a worker of the page gave it
            async with Deadline(self._clock, LOOKUP_MS):
                found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, Expired):
            return False  # a name that only a proxy knows
        return any(why_private(str(one[4][0]).partition("%")[0]) for one in found)

    def _note(self, frame: str, url: str, why: str) -> None:
        self.refused[frame] = why
        while len(self.refused) > MOST_LINES:
            del self.refused[next(iter(self.refused))]
        self.lines.append(f"[wall] {url[:120]!r} was not opened: {why}")
        del self.lines[:-MOST_LINES]


def origin(url: str) -> str:
    """Scheme, host and port without their spelling; '' for what is no web address."""
    read = read_address(url)
    scheme = urlsplit(url).scheme.lower()
    return f"{scheme}://{read[0]}:{read[1]}" if read else ""


def refusal(url: str, why: str) -> ActionRejected:
    """For what was named and is never opened."""
    return ActionRejected(
        f"{url[:120]!r} is not opened: {why}",
        hint="No rule can allow it. Choose another way.",
        delivery="not_delivered",
    )


def _has_own_header(told: Answer) -> bool:
    return any(str(one.get("name", "")).lower() == OWN_HEADER for one in told.get("responseHeaders") or ())
