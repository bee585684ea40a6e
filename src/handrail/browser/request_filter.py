"""Checks the address of every request of a browser against the policy before it leaves."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from handrail.cdp.connection import Answer, Connection
from handrail.clock import Clock
from handrail.errors import ActionRejected, HandrailError
from handrail.hosts import OWN_HEADER, read_address, why_private
from handrail.waiting import Background, Deadline, Expired

SCHEMES = frozenset({"http", "https", "about", "blob"})
"""Of pages that an agent may see; not the browser's own pages, files, or code in an address."""
_PATTERNS = [
    {"urlPattern": "*", "resourceType": "Document", "requestStage": stage}
    for stage in ("Request", "Response")
]
_SPACES = frozenset({"Loopback", "Local", "Private"})
"""The browser's names for non-public networks, by the connected address."""
MOST_TOLD = 500
MOST_LINES = 50
LOOKUP_MS = 2_000.0
IsListed = Callable[[str], bool]
"""Whether the policy lists a host."""


class RequestFilter:
    """Filter of one browser."""

    def __init__(self, connection: Connection, clock: Clock, is_listed: IsListed = lambda _: False) -> None:
        self._root = connection.root
        self._clock = clock
        self._is_listed = is_listed
        self._named: set[str] = set()
        """Private origins that were opened by name, which the policy has allowed."""
        self._own: set[str] = set()
        """Origins at which Handrail itself has answered."""
        self._spaces: dict[str, str] = {}
        """The address space of the answer to each request."""
        self._tasks = Background()
        self.is_persons: Callable[[str], bool] = lambda _: False
        """Whether a frame belongs to a tab that no agent sees: a person may go anywhere in it."""
        self.refused: dict[str, str] = {}
        """Why the last document of a frame was refused."""
        self.lines: list[str] = []

    async def open(self) -> None:
        """Every document is checked from now on."""
        self._root.on(
            "Fetch.requestPaused", lambda event: self._tasks.start(self._decide(event), "checking a document")
        )
        await self._root.call("Fetch.enable", {"patterns": _PATTERNS})

    async def close(self) -> None:
        with suppress(HandrailError):  # the browser may have ended
            await self._root.call("Fetch.disable", timeout_ms=1_000.0)
        await self._tasks.close()

    # what the surface asks

    def require(self, url: str) -> None:
        """Raises `ActionRejected` for addresses that no agent opens. A private address that the policy allows
        by name is remembered."""
        why = self.why_never(url)
        if why:
            raise refusal(url, why)
        read = read_address(url)
        if read is not None and why_private(read[0]):
            self._named.add(origin(url))

    def is_own(self, url: str) -> bool:
        return bool(self._own) and origin(url) in self._own

    def note_own(self, url: str) -> None:
        if origin(url):
            self._own.add(origin(url))

    def why_never(self, url: str) -> str:
        """Why an address is never opened, whatever the policy says."""
        scheme = urlsplit(url.strip()).scheme.lower()
        if scheme not in SCHEMES:
            return f"addresses with {scheme or 'no scheme'}: are never opened"
        if scheme in ("http", "https") and read_address(url) is None:
            return "its host is unknown"
        return "it is Handrail's own" if self.is_own(url) else ""

    def note_address_space(self, event: Answer) -> None:
        """`Network.responseReceivedExtraInfo` comes before the answer itself."""
        self._spaces[str(event.get("requestId"))] = str(event.get("resourceIPAddressSpace", ""))
        while len(self._spaces) > MOST_TOLD:
            del self._spaces[next(iter(self._spaces))]

    # every document

    async def _decide(self, event: Answer) -> None:
        request, frame = event["requestId"], str(event.get("frameId", ""))
        why = "" if self.is_persons(frame) else await self._why_not(event)
        with suppress(HandrailError):  # its tab was closed meanwhile
            if why:
                self.refused[frame] = why
                while len(self.refused) > MOST_LINES:
                    del self.refused[next(iter(self.refused))]
                self.lines.append(f"[wall] {str(event['request']['url'])[:120]!r} was not opened: {why}")
                del self.lines[:-MOST_LINES]
                params = {"requestId": request, "errorReason": "Aborted"}
                await self._root.call("Fetch.failRequest", params)
            else:
                await self._root.call("Fetch.continueRequest", {"requestId": request})

    async def _why_not(self, event: Answer) -> str:
        url = str(event["request"]["url"])
        if why := self.why_never(url):
            return why
        read = read_address(url)
        if read is None or self._is_listed(read[0]) or origin(url) in self._named:
            is_free = True
        else:
            is_free = False
            if private := why_private(read[0]):
                return f"{private} Only open_url leads there, which asks a person"
        if "responseStatusCode" not in event:
            return ""
        if any(
            str(header.get("name", "")).lower() == OWN_HEADER for header in event.get("responseHeaders") or ()
        ):
            self.note_own(url)
            return "it is Handrail's own"
        if is_free or read is None or not await self._is_private(event, read[0]):
            return ""
        return f"{read[0]} leads to this machine or a private network, and its name does not say so"

    async def _is_private(self, event: Answer, host: str) -> bool:
        space = self._spaces.get(str(event.get("networkId", "")))
        if space:
            return space in _SPACES
        try:  # not reported for cached answers and those of a service worker
            async with Deadline(self._clock, LOOKUP_MS):
                addresses = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, Expired):
            return False  # only a proxy knows this name
        return any(why_private(str(address[4][0]).partition("%")[0]) for address in addresses)


def origin(url: str) -> str:
    """Normalised scheme, host and port; '' if it is not a web address."""
    read = read_address(url)
    scheme = urlsplit(url).scheme.lower()
    return f"{scheme}://{read[0]}:{read[1]}" if read else ""


def refusal(url: str, why: str) -> ActionRejected:
    return ActionRejected(
        f"{url[:120]!r} is not opened: {why}",
        hint="No rule can allow it. Choose another way.",
        delivery="not_delivered",
    )
