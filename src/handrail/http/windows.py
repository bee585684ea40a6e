"""`/api/windows/html`: agents' Markdown and HTML as safe HTML, made off the event loop and kept."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from handrail.desk.render import render

MOST_KEPT = 16_000_000
"""Characters of rendered HTML."""
SEALED = "default-src 'none'; img-src 'self' data:; frame-ancestors 'none'; sandbox"
"""Opened by itself it is nothing but text."""


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


ROUTES = [Route("/api/windows/html", window_html)]
