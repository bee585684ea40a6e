"""Whether a page can be shown in a frame. Browsers fire `load` for their own error page, too: ask its server.

One request without credentials, to the very number that was judged. Redirects are followed by hand and judged
anew. Only a person's page may ask: what is found out here tells of networks.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies

from handrail.hosts import host_of, why_private

PROBE_S = 3.0
MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
FORBIDDEN = "This site does not let other pages show it."
NO_ANSWER = "The server of this page does not answer."


@dataclass(frozen=True, slots=True)
class Answered:
    """What a server said of one address."""

    status: int
    headers: Mapping[str, str]


async def why_not_framed(url: str, own_host: str, *, near: bool) -> str | None:
    """Why a frame would show nothing, in words for people; None where it would, or nobody can tell.

    A person has said yes to this address; where it leads on is judged anew. `near`: the browser is on this
    machine, so what does not answer us does not answer it.
    """
    first = host_of(url)
    for _ in range(MOST_REDIRECTS):
        try:
            answered = await asyncio.wait_for(
                asyncio.to_thread(_ask, url, host_of(url) == first), PROBE_S + 1
            )
        except (OSError, http.client.HTTPException, TimeoutError, ValueError):
            return NO_ANSWER if near and not getproxies() else None
        if answered.status not in _REDIRECTS or "location" not in answered.headers:
            return _why_not(answered, own_host)
        url = urljoin(url, answered.headers["location"])
        if host_of(url) != first and _is_private(url):
            return "The page leads to an address of this machine or of a private network."
    return "The page leads from address to address without end."


def _is_private(url: str) -> bool:
    host = host_of(url)
    return host is None or why_private(host) is not None


def _ask(url: str, may_be_private: bool) -> Answered:
    """The head of the answer. A public name whose number is private is not called."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if secure else 80)
    number = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    if not may_be_private and why_private(number.partition("%")[0]):
        raise OSError(f"{host} leads to {number}")
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    line = kind(host, port, timeout=PROBE_S)
    line._create_connection = lambda _, *rest: socket.create_connection((number, port), *rest)  # type: ignore[attr-defined]
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        line.request("GET", path, headers={"Accept": "text/html", "User-Agent": "Handrail (desk)"})
        answer = line.getresponse()
        return Answered(answer.status, {name.lower(): value for name, value in answer.getheaders()})
    finally:
        line.close()


def _why_not(answered: Answered, own_host: str) -> str | None:
    if answered.status >= 500:
        return f"The server of this page has a problem (it answered {answered.status})."
    if answered.status >= 400:
        return f"There is no such page (the server answered {answered.status})."
    if answered.headers.get("content-disposition", "").lower().startswith("attachment"):
        return "This is a file to download, not a page."
    return None if _may_be_framed(answered.headers, own_host) else FORBIDDEN


def _may_be_framed(headers: Mapping[str, str], own_host: str) -> bool:
    """By `frame-ancestors`, which browsers heed before `X-Frame-Options`."""
    for directive in headers.get("content-security-policy", "").replace(",", ";").split(";"):
        name, *sources = directive.lower().split() or [""]
        if name == "frame-ancestors":
            return any(one in ("*", "http:", own_host, f"http://{own_host}") for one in sources)
    return headers.get("x-frame-options", "").strip().lower() not in ("deny", "sameorigin")
