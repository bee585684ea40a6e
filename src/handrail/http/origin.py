"""Who may speak to this server, by what a browser can't forge: Host, Origin and fetch metadata. Pure.

A page of another site has an Origin that is not ours; a rebound name is a Host that is not ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from handrail.bind import hosts_at, is_loopback

_HOST = re.compile(r"[\w.-]+(:\d{1,5})?|\[[\da-fA-F:.]+\](:\d{1,5})?", re.ASCII)
SAFE = frozenset({"GET", "HEAD"})
"""Methods that change nothing. A WebSocket counts as a method that does."""


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """Why somebody is turned away at the door."""

    status: int
    code: str
    message: str
    hint: str


def hosts_of(host: str, port: int) -> frozenset[str] | None:
    """The Host headers that are served; None on an address that others can reach, where names are many.

    There a rebound name gains nothing: no browser sends anything by itself that would log it in.
    """
    if not is_loopback(host):
        return None
    return hosts_at(host, port)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one server."""

    hosts: frozenset[str] | None = None

    def wrong_host(self, headers: Mapping[str, str]) -> HttpRefusal | None:
        """A name that is not served here, or none that could be one."""
        host = headers.get("host", "")
        is_served = host in self.hosts if self.hosts is not None else _HOST.fullmatch(host)
        return None if is_served else _FOREIGN_HOST

    def wrong_origin(self, method: str, headers: Mapping[str, str]) -> HttpRefusal | None:
        """A page of another site, by what its browser says of it."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return _FOREIGN_ORIGIN
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not _is_visit(method, headers):
            return _FOREIGN_ORIGIN
        return None


def needs_origin(method: str) -> bool:
    """A browser sends Origin with whatever may change something: a page without one is not believed."""
    return method not in SAFE


def _is_visit(method: str, headers: Mapping[str, str]) -> bool:
    """A link that was followed: the address bar changes, and no page can read the answer."""
    is_page = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return method == "GET" and is_page


_FOREIGN_HOST = HttpRefusal(
    421, "HOST_NOT_SERVED", "This host is not served here.", "Use the address that `handrail serve` printed."
)
_FOREIGN_ORIGIN = HttpRefusal(
    403, "ORIGIN_NOT_ALLOWED", "Pages of other sites may not come in.", "Open the desk's own page."
)
