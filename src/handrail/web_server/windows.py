"""What the page asks before it shows a window: safe HTML of its text, and whether a frame's page loads.

Browsers fire `load` for their own error page too, so the server of a frame's page is asked here: one request
without credentials, to the very IP address that was judged. Redirects are followed by hand and judged anew.
Only a person's page may ask, because the answers tell of networks.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import socket
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from handrail.desk.render import render
from handrail.hosts import host_of, why_private

MOST_CACHED = 16_000_000
"""Characters of rendered HTML."""
WINDOW_POLICY = "default-src 'none'; img-src 'self' data:; frame-ancestors 'none'; sandbox"
"""Opened by itself it is nothing but text."""
LOOKUP_S = 2.0
"""A name that no resolver knows by then needs a person's yes."""
PROBE_S = 3.0
MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
FORBIDDEN = "This site does not let other pages show it."
NO_ANSWER = "The server of this page does not answer."
NOT_AN_ADDRESS = "This is not the address of a page."


class Rendered:
    """A cache of rendered HTML, by a hash of its source."""

    def __init__(self, most: int = MOST_CACHED) -> None:
        self._most = most
        self._cache: OrderedDict[bytes, str] = OrderedDict()
        self._size = 0

    async def html(self, renderer: str, source: str) -> str:
        key = hashlib.sha256(f"{renderer}\0{source}".encode("utf-8", "backslashreplace")).digest()
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        html = await asyncio.to_thread(render, renderer, source)
        if key not in self._cache:  # another request may have rendered it meanwhile
            self._cache[key] = html
            self._size += len(html)
        while self._size > self._most and len(self._cache) > 1:
            self._size -= len(self._cache.popitem(last=False)[1])
        return html


async def window_html(request: Request) -> HTMLResponse:
    """The text of the window `key`; `rev` only makes the address another one when the text is."""
    context = request.app.state.context
    window = context.desk.state.windows.get(request.query_params.get("key", ""))
    if window is None or window.content.renderer not in ("markdown", "html"):
        raise HTTPException(404, "There is no window with such a text.")
    html = await context.rendered.html(window.content.renderer, window.content.data)
    headers = {"content-security-policy": WINDOW_POLICY, "handrail-rev": str(window.content_rev)}
    return HTMLResponse(html, headers=headers)


async def frame(request: Request) -> JSONResponse:
    """Whether a person has to say yes before a frame loads `url`, and why."""
    why = await asks_about(request.query_params.get("url", ""))
    return JSONResponse({"asks": why is not None, "why": why or ""})


async def frame_problem(request: Request) -> JSONResponse:
    """Why a frame would show nothing of `url`, for the page that is about to show it."""
    visitor = request.state.visitor
    visitor.must_be_person("Looking whether a page can be shown")
    url = request.query_params.get("url", "")
    if host_of(url) is None:
        return JSONResponse({"problem": NOT_AN_ADDRESS})
    problem = await why_not_framed(url, request.headers["host"], near=not visitor.is_remote)
    return JSONResponse({"problem": problem})


async def asks_about(url: str) -> str | None:
    """Why a person has to say yes to this page; None for a page of the open internet.

    A name may resolve differently before a browser looks it up, so this does not keep anything out. What
    protects is that no browser has credentials to send along.
    """
    host = host_of(url)
    if host is None:
        return NOT_AN_ADDRESS
    if why := why_private(host):
        return why
    if host in (own := socket.gethostname().lower(), own.partition(".")[0]):
        return f"{host} is this machine."
    try:
        async with asyncio.timeout(LOOKUP_S):
            rows = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        return f"Where {host} is could not be found out."
    for address in (str(row[4][0]) for row in rows):
        if why_private(address.partition("%")[0]):
            return f"{host} leads to {address}, which is on this machine or in a private network."
    return None


@dataclass(frozen=True, slots=True)
class ProbedPage:
    """The head of a page's response."""

    status: int
    headers: Mapping[str, str]


async def why_not_framed(url: str, own_host: str, *, near: bool) -> str | None:
    """Why a frame would show nothing, in words for people; None where it would, or nobody can tell.

    A person has said yes to this address; where it redirects to is judged anew. `near`: the browser is on
    this machine, so what does not answer us does not answer it.
    """
    first = host_of(url)
    for _ in range(MOST_REDIRECTS):
        try:
            probe = asyncio.to_thread(_probe, url, may_be_private=host_of(url) == first)
            answer = await asyncio.wait_for(probe, PROBE_S + 1)
        except (OSError, http.client.HTTPException, TimeoutError, ValueError):
            return NO_ANSWER if near and not getproxies() else None
        if answer.status not in _REDIRECTS or "location" not in answer.headers:
            if answer.status >= 500:
                return f"The server of this page has a problem (it answered {answer.status})."
            if answer.status >= 400:
                return f"There is no such page (the server answered {answer.status})."
            if answer.headers.get("content-disposition", "").lower().startswith("attachment"):
                return "This is a file to download, not a page."
            return None if _may_be_framed(answer.headers, own_host) else FORBIDDEN
        url = urljoin(url, answer.headers["location"])
        host = host_of(url)
        if host != first and (host is None or why_private(host) is not None):
            return "The page leads to an address of this machine or of a private network."
    return "The page leads from address to address without end."


def _probe(url: str, *, may_be_private: bool) -> ProbedPage:
    """A public name that resolves to a private address is not called."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if secure else 80)
    address = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    if not may_be_private and why_private(address.partition("%")[0]):
        raise OSError(f"{host} leads to {address}")
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(host, port, timeout=PROBE_S)
    connection._create_connection = lambda _, *rest: socket.create_connection((address, port), *rest)  # type: ignore[attr-defined]
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Accept": "text/html", "User-Agent": "Handrail (desk)"})
        answer = connection.getresponse()
        return ProbedPage(answer.status, {name.lower(): text for name, text in answer.getheaders()})
    finally:
        connection.close()


def _may_be_framed(headers: Mapping[str, str], own_host: str) -> bool:
    """By `frame-ancestors`, which browsers heed before `X-Frame-Options`."""
    for directive in headers.get("content-security-policy", "").replace(",", ";").split(";"):
        name, *sources = directive.lower().split() or [""]
        if name == "frame-ancestors":
            return any(source in ("*", "http:", own_host, f"http://{own_host}") for source in sources)
    return headers.get("x-frame-options", "").strip().lower() not in ("deny", "sameorigin")


ROUTES = [
    Route("/api/windows/html", window_html),
    Route("/api/frames", frame),
    Route("/api/frames/problem", frame_problem),
]
