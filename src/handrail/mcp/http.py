"""Streamable HTTP: the server as an application, and that application on a port until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from handrail.bind import check_bind, listen
from handrail.mcp.guard import Guard

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette

PATH = "/mcp"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
GRACE_S = 2
"""What is in flight when the server stops has been cancelled; this is for its last words."""


def app(server: Server[Any], *, port: int, host: str = "127.0.0.1", token: str | None = None) -> Starlette:
    """Answers are streams, so that a client that goes away is noticed; older clients keep their sessions."""
    check_bind(host, token)
    made = server.streamable_http_app(
        streamable_http_path=PATH,
        # The guard checks hosts and origins, to the port.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    made.add_middleware(Guard, host=host, port=port, token=token)
    return made


async def serve(
    server: Server[Any], host: str, port: int, token: str | None, ready: Callable[[str], None]
) -> None:
    """Until SIGINT or SIGTERM, or until the task is cancelled; `ready` is told the address."""
    bound = listen(host, port)
    port = bound.getsockname()[1]
    config = uvicorn.Config(
        app(server, host=host, port=port, token=token),
        log_level="warning",
        ws="none",
        timeout_graceful_shutdown=GRACE_S,
        server_header=False,
    )
    serving = _Server(config)
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, serving.stop)
    ready(f"http://{host}:{port}{PATH}")
    try:
        await serving.serve(sockets=[bound])
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
        bound.close()


class _Server(uvicorn.Server):
    """Signals are ours: uvicorn would raise them again after a clean end."""

    def stop(self) -> None:
        self.should_exit = True

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()
