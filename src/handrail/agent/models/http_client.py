"""The HTTP client of hosted models: it follows no redirect, and stops reading an answer that is too long.

A redirect would carry the key to a host that nobody chose.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import cache

from httpx2 import AsyncByteStream, AsyncClient, Response, Timeout, create_ssl_context

MAX_BYTES = 2_000_000
"""Of one answer, its wrapping included. One action with its thought is a few thousand."""
CONNECT_SEC = 10.0
_UNPACKED = 30
"""What a compressed byte may stand for. None was asked for, but a server may compress all the same."""


class TooLong(Exception):
    """The answer is longer than anybody should read."""


class _Bounded(AsyncByteStream):
    """A body that ends in `TooLong`; `left` bytes may still come."""

    def __init__(self, body: AsyncByteStream, left: int) -> None:
        self._body = body
        self._left = left

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLong(f"the answer has more than {MAX_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


async def _bound(response: Response) -> None:
    packed = response.headers.get("content-encoding", "identity").lower() != "identity"
    if isinstance(response.stream, AsyncByteStream):
        response.stream = _Bounded(response.stream, MAX_BYTES // (_UNPACKED if packed else 1))


def open_client(timeout_sec: float) -> AsyncClient:
    """A hook bounds the body: a transport of our own would switch off the user's proxies."""
    return AsyncClient(
        verify=_certificates(),
        timeout=Timeout(timeout_sec, connect=CONNECT_SEC),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_bound]},
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes 40 ms, and an evaluation opens a model for every task."""
    return create_ssl_context()
