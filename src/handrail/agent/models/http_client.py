"""The HTTP client of hosted models: it follows no redirect, keeps a tally of what was sent and came back, and
stops reading an answer that is longer than it may be.

A redirect would carry the key to a host that nobody chose.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

from httpx2 import (
    AsyncByteStream,
    AsyncClient,
    ConnectError,
    ConnectTimeout,
    Request,
    Response,
    Timeout,
    create_ssl_context,
)

from handrail.agent.models.metering import HttpTry

MAX_BYTES = 2_000_000
"""Of one answer, its wrapping included. One action with its thought is a few thousand."""
CONNECT_SEC = 10.0
_UNPACKED = 30
"""What a compressed byte may stand for. None was asked for, but a server may compress all the same."""
_TRY = "handrail_try"


class TooLong(Exception):
    """The answer is longer than it may be."""


class NothingLeft(Exception):
    """The budget was used up by the tries before."""


class ModelClient(AsyncClient):
    """Every request of every maker goes through `send`. One question is asked at a time."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.tries: list[HttpTry] = []
        """Since the question was begun."""
        self.most_tokens = 0
        """What the next answer may use."""

    def begin(self) -> None:
        self.tries = []

    def room(self, most: int, left: int | None) -> int:
        """What the next answer may use; `left` is what the whole question may cost. Raises `NothingLeft`."""
        spent = sum(count.read + count.written for count in (one.counted() for one in self.tries))
        self.most_tokens = most if left is None else min(most, left - spent)
        if self.most_tokens <= 0:
            raise NothingLeft
        return self.most_tokens

    async def send(self, request: Request, **how: Any) -> Response:
        sent = HttpTry(request.content, self.most_tokens)
        request.extensions[_TRY] = sent
        self.tries.append(sent)
        try:
            return await super().send(request, **how)
        except (ConnectError, ConnectTimeout):  # nobody has heard it
            self.tries.remove(sent)
            raise


class _Bounded(AsyncByteStream):
    """A body that ends in `TooLong`; `left` bytes may come at most."""

    def __init__(self, body: AsyncByteStream, left: int, sent: HttpTry) -> None:
        self._body = body
        self._left = left
        self._sent = sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            self._left -= len(chunk)
            self._sent.body += chunk
            if self._left < 0 or self._sent.is_too_long():
                raise TooLong(f"{len(self._sent.body):,} bytes came for {self._sent.most_tokens:,} tokens")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


async def _bound(response: Response) -> None:
    packed = response.headers.get("content-encoding", "identity").lower() != "identity"
    sent: HttpTry = response.request.extensions[_TRY]
    sent.status = response.status_code
    sent.is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    if isinstance(response.stream, AsyncByteStream):
        response.stream = _Bounded(response.stream, MAX_BYTES // (_UNPACKED if packed else 1), sent)


def open_client(timeout_sec: float) -> ModelClient:
    """A hook bounds the body: a transport of our own would switch off the user's proxies."""
    return ModelClient(
        verify=_certificates(),
        timeout=Timeout(timeout_sec, connect=CONNECT_SEC),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_bound]},
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes 40 ms, and an evaluation opens a model for every task."""
    return create_ssl_context()
