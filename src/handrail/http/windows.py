"""What the page asks before it shows a window: Markdown and HTML made safe, and where a frame's page is."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections import OrderedDict

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from handrail.desk.render import render
from handrail.hosts import host_of, why_private
from handrail.http.frame_probe import why_not_framed

MOST_KEPT = 16_000_000
"""Characters of rendered HTML."""
SEALED = "default-src 'none'; img-src 'self' data:; frame-ancestors 'none'; sandbox"
"""Opened by itself it is nothing but text."""
LOOKUP_S = 2.0
"""A name that nobody knows by then is asked about."""


class Rendered:
    """What was rendered lately, by a hash of what it was rendered from."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, str] = OrderedDict()
        self._size = 0

    async def html(self, renderer: str, data: str) -> str:
        key = hashlib.sha256(f"{renderer}\0{data}".encode("utf-8", "backslashreplace")).digest()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = await asyncio.to_thread(render, renderer, data)
        self._keep(key, made)
        return made

    def _keep(self, key: bytes, made: str) -> None:
        if key not in self._kept:
            self._kept[key] = made
            self._size += len(made)
        while self._size > self._most and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1])


async def window_html(request: Request) -> HTMLResponse:
    """The text of the window `key`; `rev` only makes the address another one when the text is."""
    context = request.app.state.context
    window = context.desk.state.windows.get(request.query_params.get("key", ""))
    if window is None or window.content.renderer not in ("markdown", "html"):
        raise HTTPException(404, "There is no window with such a text.")
    html = await context.rendered.html(window.content.renderer, window.content.data)
    headers = {"content-security-policy": SEALED, "handrail-rev": str(window.content_rev)}
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
        return JSONResponse({"problem": "This is no address of a page."})
    problem = await why_not_framed(url, request.headers["host"], near=not visitor.is_remote)
    return JSONResponse({"problem": problem})


async def asks_about(url: str) -> str | None:
    """None for a page of the open internet. A name's numbers may change before a browser looks them up: that
    is no wall. What holds without it is that no browser has anything to send along."""
    host = host_of(url)
    if host is None:
        return "This is no address of a page."
    if why := why_private(host):
        return why
    if host in (own := socket.gethostname().lower(), own.partition(".")[0]):
        return f"{host} is this machine."
    return await _why_by_numbers(host)


async def _why_by_numbers(host: str) -> str | None:
    try:
        async with asyncio.timeout(LOOKUP_S):
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        return f"Where {host} is could not be found out."
    private = [str(one[4][0]) for one in found if why_private(str(one[4][0]).partition("%")[0])]
    return (
        f"{host} leads to {private[0]}, which is on this machine or in a private network."
        if private
        else None
    )


ROUTES = [
    Route("/api/windows/html", window_html),
    Route("/api/frames", frame),
    Route("/api/frames/problem", frame_problem),
]
