"""An application on a port, until the block ends. Signals are the program's own affair."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext

import uvicorn
from starlette.types import ASGIApp

from handrail.errors import HandrailError

GRACE_S = 2
"""What is in flight when the server stops gets so long for its last words."""
PING_S = 20.0
MOST_FRAME = 21_000_000
"""Bytes: a captured window, and nothing else, is that large."""


@asynccontextmanager
async def serving(app: ASGIApp, bound: socket.socket) -> AsyncIterator[None]:
    """Answers while the block runs. The socket is closed with it."""
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            lifespan="on",
            access_log=False,
            ws="websockets-sansio",
            ws_max_size=MOST_FRAME,
            ws_ping_interval=PING_S,
            ws_ping_timeout=PING_S,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=GRACE_S,
            server_header=False,
            proxy_headers=False,
        )
    )
    running = asyncio.create_task(server.serve(sockets=[bound]), name="http server")
    try:
        await _started(server, running)
        yield
    finally:
        server.should_exit = True
        await asyncio.wait({running})
        bound.close()


async def _started(server: uvicorn.Server, running: asyncio.Task[None]) -> None:
    while not server.started:
        if running.done():
            raise HandrailError("The server ended before it began", hint="The log above says why.")
        await asyncio.sleep(0.005)


class _Server(uvicorn.Server):
    """Signals are ours: uvicorn would raise them again after a clean end."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()
