"""Stands before every request and every WebSocket, as one middleware: routes need not care who may come in.

Host and Origin first, then who it is, then the size and kind of what they bring.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handrail.engine.work import inside, read_traceparent
from handrail.http.auth import NOBODY, TICKET_PATH, HttpAuth, Visitor
from handrail.http.desk_apps import is_app_file
from handrail.http.origin import SAFE, HttpRefusal, Rules, needs_origin
from handrail.http.responses import refused, secured
from handrail.protocol.read import MAX_BYTES

OPEN = frozenset({"/", "/login", "/approve", "/worker.js", "/api/login", "/healthz", "/favicon.ico"})
"""Paths for everybody; the page tells strangers how to get in."""
OPEN_UNDER = "/static/"
"""The page's own files are no secret."""


class HttpGuard:
    """One server's guard."""

    def __init__(self, app: ASGIApp, auth: HttpAuth, rules: Rules) -> None:
        self._app = app
        self._auth = auth
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        send = secured(send)
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refused(refusal)(scope, receive, send)
        else:
            with inside(read_traceparent(headers.get("traceparent"))):
                await self._app(scope, _bounded(receive), send)

    def _refusal(self, scope: Scope, headers: Headers) -> HttpRefusal | None:
        """None where the request may go on; who sends it is then in its state."""
        method, path = scope.get("method", "WEBSOCKET"), scope["path"]
        if refusal := self._rules.wrong_host(headers):
            return refusal
        if method in SAFE and is_app_file(path, self._auth.seal_key):
            return None  # the path itself is the secret; its page has no origin that could be checked
        if refusal := self._rules.wrong_origin(method, headers):
            return refusal
        if path.startswith(TICKET_PATH):
            return self._by_ticket(scope, method)
        found = self._auth.visitor(headers, address_of(scope))
        if isinstance(found, HttpRefusal):
            return found
        if found is None and not _is_open(method, path):
            return NOBODY
        if "authorization" not in headers and needs_origin(method) and "origin" not in headers:
            return _NO_ORIGIN
        _let_in(scope, found)
        return _bad_body(method, headers)

    def _by_ticket(self, scope: Scope, method: str) -> HttpRefusal | None:
        """The request becomes the one that the ticket stands for, by the one who asked for it."""
        ticket = self._auth.tickets.take(scope["path"]) if method == "GET" else None
        if ticket is None:
            return _USED_TICKET
        path, _, query = ticket.target.partition("?")
        scope["path"], scope["raw_path"] = unquote(path), path.encode()
        scope["query_string"] = query.encode()
        _let_in(scope, ticket.visitor)
        return None


def _is_open(method: str, path: str) -> bool:
    """A page's socket says who it is in its first frame: nothing is told before that."""
    return method == "WEBSOCKET" or path in OPEN or path.startswith(OPEN_UNDER)


def _let_in(scope: Scope, visitor: Visitor | None) -> None:
    scope.setdefault("state", {})["visitor"] = visitor


def address_of(scope: Scope) -> str:
    """Where a request comes from, '' where that is not known."""
    client = scope.get("client")
    return client[0] if client else ""


def _bad_body(method: str, headers: Headers) -> HttpRefusal | None:
    """A form of another site can send three content types, and JSON is none of them."""
    if method in SAFE or method == "WEBSOCKET":
        return None
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method == "POST" and kind != "application/json":
        return _NOT_JSON
    if headers.get("content-encoding", "identity") != "identity":
        return _PACKED
    length = headers.get("content-length", "0")
    return _TOO_LARGE if not length.isdecimal() or int(length) > MAX_BYTES else None


def _bounded(receive: Receive) -> Receive:
    """Also a body that does not say its size is read to the limit only."""
    taken = 0

    async def receive_bounded() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > MAX_BYTES:
                raise HTTPException(413, _TOO_LARGE.message)
        return message

    return receive_bounded


_NO_ORIGIN = HttpRefusal(
    403,
    "ORIGIN_NOT_ALLOWED",
    "A page's request has to say its Origin.",
    "Programs send a bearer token.",
)
_USED_TICKET = HttpRefusal(
    410,
    "ADDRESS_USED",
    "This address worked once, and for a minute at most.",
    "Open it from the desk again.",
)
_NOT_JSON = HttpRefusal(
    415, "NOT_JSON", "Only application/json is read.", "Set Content-Type: application/json."
)
_PACKED = HttpRefusal(415, "NOT_JSON", "Compressed bodies are not read.", "Send the JSON as it is.")
_TOO_LARGE = HttpRefusal(
    413, "TOO_LARGE", f"At most {MAX_BYTES:,} bytes are read.", "Send less, or in several requests."
)
