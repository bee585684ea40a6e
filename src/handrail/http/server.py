"""The HTTP door as one application, and on a port: the page, REST, WebSocket and a program's own routes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from handrail.asgi_server import DoorServer, door_server
from handrail.desk.desk import Desk
from handrail.errors import HandrailError
from handrail.http import (
    activity,
    api,
    approvals,
    desk_apps,
    first_contact,
    flows,
    journal,
    journal_runs,
    openapi,
    pages,
    phone,
    settings,
    storage,
    subscriptions,
    wall,
    websocket,
    windows,
)
from handrail.http.activity import Follower
from handrail.http.auth import HttpAuth, Keys
from handrail.http.context import Context, PageHosts
from handrail.http.desk_apps import app_ids
from handrail.http.guard import HttpGuard
from handrail.http.origin import Rules
from handrail.http.responses import on_failure, on_http, on_unknown
from handrail.runtime import Runtime
from handrail.waiting import Background, beside

_PARTS = (
    activity,
    api,
    approvals,
    desk_apps,
    first_contact,
    flows,
    journal,
    journal_runs,
    openapi,
    pages,
    phone,
    settings,
    storage,
    wall,
    subscriptions,
    websocket,
    windows,
)
GRACE_S = 2
"""What is in flight when the server stops gets so long for its last words."""
PING_S = 20.0
MOST_FRAME = 21_000_000
"""Bytes: a captured window, and nothing else, is that large."""


def build(
    runtime: Runtime,
    desk: Desk,
    *,
    token: str | None = None,
    key: str | None = None,
    allowed_hosts: Collection[str] | None = None,
    routes: Sequence[BaseRoute] = (),
    flow_folders: Sequence[Path] = (),
    pages: PageHosts | None = None,
) -> Starlette:
    """`token` is a program's and `key` the owner's, made where none is given: nobody comes in without one.

    `allowed_hosts` are the Host headers that are served, such as `127.0.0.1:8420`; None serves any name,
    for an address that others can reach. `pages` are the ones at which pages live and log in.
    """
    auth = HttpAuth(runtime.clock, Keys.make(token, key))
    pages = pages or PageHosts()
    auth.tunnel = pages.public if pages.is_tunnel else None
    own = {one for one in (pages.own, pages.public) if one}
    rules = Rules(None if allowed_hosts is None else frozenset(allowed_hosts) | own)
    context = Context(runtime, desk, auth, flow_folders, pages)
    desk.own_hosts = rules.hosts or frozenset()
    desk.apps = partial(app_ids, runtime.config.apps)
    app = Starlette(
        routes=[*(route for part in _PARTS for route in part.ROUTES), *routes],
        middleware=[Middleware(HttpGuard, auth=auth, rules=rules)],
        exception_handlers={HandrailError: on_failure, HTTPException: on_http, Exception: on_unknown},
        lifespan=_life,
    )
    app.state.context = context
    return app


@asynccontextmanager
async def _life(app: Starlette) -> AsyncIterator[None]:
    context: Context = app.state.context
    await context.subscriptions.load()
    try:
        async with Background() as watching:  # whatever fails, the desk goes on without it
            watching.start(context.approvals.run(), "approvals on the desk")
            watching.start(Follower(context).run(), "actions on the desk")
            yield
    finally:
        await context.close()


@asynccontextmanager
async def serving(
    app: ASGIApp, *bound: socket.socket, certificate: tuple[Path, Path] | None = None
) -> AsyncIterator[None]:
    """Answers while the block runs, then closes the sockets. `certificate`: it and its key, for TLS."""
    server = door_server(
        app,
        log_config=None,
        lifespan="on",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=MOST_FRAME,
        ws_ping_interval=PING_S,
        ws_ping_timeout=PING_S,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=GRACE_S,
        proxy_headers=False,
        ssl_certfile=certificate[0] if certificate else None,
        ssl_keyfile=certificate[1] if certificate else None,
    )
    with ExitStack() as closing:
        for one in bound:
            closing.enter_context(one)
        async with beside(server.serve(sockets=list(bound)), "http server") as running:
            try:
                await _started(server, running)
                yield
            finally:
                server.stop()
                await asyncio.wait({running})


async def _started(server: DoorServer, running: asyncio.Task[None]) -> None:
    while not server.started:
        if running.done():
            raise HandrailError("The server ended before it began", hint="The log above says why.")
        await asyncio.sleep(0.005)
