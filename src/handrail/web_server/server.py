"""The web application: what its routes share, its OpenAPI document, and serving it on a port."""

from __future__ import annotations

import asyncio
import inspect
import re
import socket
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from handrail import __version__
from handrail.asgi_server import door_server
from handrail.desk.desk import Desk
from handrail.errors import HandrailError
from handrail.protocol.actions import ACTION
from handrail.protocol.envelope import Envelope
from handrail.protocol.schema import schema_of
from handrail.runtime import Runtime
from handrail.waiting import Background, beside
from handrail.web_server import api, approvals, flows, journal, pages, phone, push_notifications, websocket
from handrail.web_server.api import Conversations
from handrail.web_server.approvals import AnswerBody, DeskApprovals
from handrail.web_server.auth import PAGE_HEADER, HostRules, HttpAuth, HttpGuard, Visitor
from handrail.web_server.flows import FlowRuns
from handrail.web_server.pages import RenderedTexts, app_ids
from handrail.web_server.phone import AddedPhones, Phones
from handrail.web_server.push_notifications import Notifier, NotifyUrl, Subscriptions
from handrail.web_server.responses import on_failure, on_http, on_unknown
from handrail.web_server.websocket import ActionFeed, ConsoleMessages

_ROUTE_MODULES = (api, approvals, flows, journal, pages, phone, push_notifications, websocket)
GRACE_S = 2  # seconds that requests in flight get when the server stops
PING_S = 20.0
MOST_FRAME = 21_000_000  # bytes: a captured window, and nothing else, is that large
_REF = "#/components/schemas/"
_BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/api/actions"): {
        "oneOf": [{"$ref": f"{_REF}Action"}, {"type": "array", "items": {"$ref": f"{_REF}Action"}}]
    },
    ("POST", "/api/approvals"): {"$ref": f"{_REF}Answer"},
}
_ANSWERS = {("POST", "/api/actions"): {"$ref": f"{_REF}Envelope"}}
_FAILURE_FIELDS = {"code": "string", "message": "string", "hint": "string", "retryable": "boolean"}
_FAILURE: dict[str, Any] = {
    "type": "object",
    "required": [*_FAILURE_FIELDS],
    "properties": {name: {"type": kind} for name, kind in _FAILURE_FIELDS.items()},
}
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "page": {"type": "apiKey", "in": "header", "name": PAGE_HEADER},
}


@dataclass(frozen=True, slots=True)
class PageHosts:
    """Where the desk's page lives."""

    own: str | None = None
    """The host of pages on this machine, if it differs from the one that a browser asks for."""
    public: str | None = None
    """Where other devices reach it, always by https; None: no other device does."""
    is_tunnel: bool = False
    """Whether a tunnel in front of this server ends TLS."""


class DeskContext:
    """What the routes of one server share; each finds it in `request.app.state.context`."""

    def __init__(
        self, runtime: Runtime, desk: Desk, auth: HttpAuth, flows: Sequence[Path], pages: PageHosts
    ) -> None:
        self.runtime = runtime
        self.desk = desk
        self.auth = auth
        self.pages = pages
        self.phones = Phones(runtime)
        self.flows = FlowRuns(runtime, flows)
        self.approvals = DeskApprovals(runtime, desk, self.phones.name)
        self.subscriptions = Subscriptions(runtime.store, runtime.clock)
        auth.logins.is_permanent = self.subscriptions.has_login
        self.notifier = Notifier(
            self.subscriptions, runtime.clock, self.pages.public, NotifyUrl.read(runtime.config.notify_url)
        )
        self.approvals.on_asked.append(self.notifier.notify)
        self.on_log_out: list[Callable[[str], object]] = []
        """Called with the hash of a login that has ended, so that its connections are closed."""
        self.added_phones = AddedPhones(runtime)
        self.agent_line = "claude mcp add handrail -- handrail mcp"
        """What people paste to give an agent the phones; the command line sets the program's real path."""
        self.agent_clients: list[dict[str, str]] = []
        """The same for each client that is known: its name, and a command, or an entry and its file."""
        self.rendered = RenderedTexts()
        self.console = ConsoleMessages(runtime.clock)
        self.conversations = Conversations()
        desk.on_publish.append(self.console.on_publish)
        self.leaving = asyncio.Event()
        """Set when the server is about to end, so that requests that wait are answered."""
        self.on_interrupt: list[Callable[[], object]] = []
        """Called first when a person stops everything, so that no agent begins a next action."""

    def origin(self, request: Request) -> str:
        """The origin of the page that asks; a tunnel's host counts as https."""
        host = request.headers["host"]
        is_secure = request.url.scheme == "https" or host == self.pages.public
        return f"{'https' if is_secure else 'http'}://{host}"

    async def interrupt(self, visitor: Visitor) -> int:
        """Ends every action, of whatever process, and holds all phones; returns how many there were."""
        for stop in self.on_interrupt:
            stop()
        return await self.runtime.stop(by=visitor.caller())

    def log_out(self, login: str) -> None:
        """A device was revoked: its login, its tickets and its open connections end."""
        self.auth.logins.end(login)
        self.auth.tickets.forget(login)
        for hang_up in [*self.on_log_out]:
            hang_up(login)

    async def seal(self, kind: str, visitor: Visitor, **fields: Any) -> None:
        """Writes what a person decided at the desk into the journal."""
        actor = {"kind": "person", "id": visitor.name}
        event = {"kind": kind, "device": None, "actor": actor, "door": "desk"}
        await self.runtime.journal.seal(event | fields)

    async def leave(self) -> None:
        """Answers every request that waits, before the server closes."""
        await self.runtime.end_actions()
        self.leaving.set()

    async def close(self) -> None:
        await self.notifier.close()
        await self.added_phones.close()
        await self.phones.close()
        await self.flows.close()


def build_desk_app(
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
    """`token` is a program's and `key` the owner's; random ones are made where they are left out.

    `allowed_hosts` are the Host headers that are served, such as `127.0.0.1:8420`; None serves any name,
    for an address that others can reach. `pages` are the hosts at which pages live and log in.
    """
    auth = HttpAuth(runtime.clock, token, key)
    pages = pages or PageHosts()
    auth.tunnel = pages.public if pages.is_tunnel else None
    own = {host for host in (pages.own, pages.public) if host}
    rules = HostRules(None if allowed_hosts is None else frozenset(allowed_hosts) | own)
    desk.own_hosts = rules.hosts or frozenset()
    desk.apps = partial(app_ids, runtime.config.apps)
    app = Starlette(
        routes=[
            Route("/api/openapi.json", openapi),
            *(route for module in _ROUTE_MODULES for route in module.ROUTES),
            *routes,
        ],
        middleware=[Middleware(HttpGuard, auth=auth, rules=rules)],
        exception_handlers={HandrailError: on_failure, HTTPException: on_http, Exception: on_unknown},
        lifespan=_lifespan,
    )
    app.state.context = DeskContext(runtime, desk, auth, flow_folders, pages)
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    context: DeskContext = app.state.context
    await context.subscriptions.load_subscriptions()
    try:
        async with Background() as tasks:  # whatever fails, the desk goes on without it
            tasks.start(context.approvals.run(), "approvals on the desk")
            tasks.start(ActionFeed(context).run(), "actions on the desk")
            yield
    finally:
        await context.close()


@asynccontextmanager
async def serving(
    app: ASGIApp, *bound: socket.socket, certificate: tuple[Path, Path] | None = None
) -> AsyncIterator[None]:
    """Serves while the block runs, then closes the sockets. `certificate`: it and its key, for TLS."""
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
        for listener in bound:
            closing.enter_context(listener)
        async with beside(server.serve(sockets=list(bound)), "http server") as running:
            try:
                while not server.started:
                    if running.done():
                        hint = "The log above says why."
                        raise HandrailError("The server ended before it began", hint=hint)
                    await asyncio.sleep(0.005)
                yield
            finally:
                server.stop()
                await asyncio.wait({running})


async def openapi(request: Request) -> JSONResponse:
    """This document."""
    return JSONResponse(openapi_document(request.app.routes))


def openapi_document(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """OpenAPI 3.1 of every route under /api, and of /healthz, from their docstrings and the vocabulary."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if isinstance(route, Route) and route.path.startswith(("/api/", "/healthz")):
            path = re.sub(r":\w+}", "}", route.path)
            for method in sorted((route.methods or set()) - {"HEAD"}):
                paths.setdefault(path, {})[method.lower()] = _operation(route, method, path)
    # Each with its own definitions lifted out, so that every reference points into this document.
    schemas: dict[str, Any] = {"Failure": _FAILURE}
    described: dict[str, TypeAdapter[Any]] = {"Action": ACTION, "Envelope": TypeAdapter(Envelope)}
    for name, adapter in (described | {"Answer": TypeAdapter(AnswerBody)}).items():
        schema = schema_of(adapter, name)
        schema.pop("$schema")
        parts = schema.pop("$defs", {}) | {name: schema}
        schemas |= {key: _lift_references(part) for key, part in parts.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Handrail", "version": __version__},
        "security": [{"bearer": []}, {"page": []}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": _SECURITY},
    }


def _operation(route: Route, method: str, path: str) -> dict[str, Any]:
    answer, body = _ANSWERS.get((method, path)), _BODIES.get((method, path))
    failure = {"description": "Refused or failed.", "content": _json_content({"$ref": f"{_REF}Failure"})}
    operation: dict[str, Any] = {
        "summary": (inspect.getdoc(route.endpoint) or route.name).partition("\n")[0],
        "responses": {
            "200": {"description": "Done.", **({"content": _json_content(answer)} if answer else {})},
            "default": failure,
        },
    }
    if path in ("/healthz", "/api/login"):
        operation["security"] = []
    if names := re.findall(r"{(\w+)}", path):
        operation["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    if body:
        operation["requestBody"] = {"required": True, "content": _json_content(body)}
    return operation


def _json_content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _lift_references(schema: Any) -> Any:
    """References into `$defs`, also the plain strings of a discriminator's mapping, point to `_REF`."""
    if isinstance(schema, dict):
        return {key: _lift_references(part) for key, part in schema.items()}
    if isinstance(schema, list):
        return [_lift_references(part) for part in schema]
    is_reference = isinstance(schema, str) and schema.startswith("#/$defs/")
    return schema.replace("#/$defs/", _REF) if is_reference else schema
