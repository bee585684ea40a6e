"""What every route has in common: its table, its request, security headers, and failures as JSON."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Send

from handrail.errors import ERRORS, FAMILIES, HandrailError, InvalidAction
from handrail.hosts import OWN_HEADER
from handrail.protocol.model import CamelModel
from handrail.protocol.read import invalid_action, read_json
from handrail.store import disk_failure

if TYPE_CHECKING:
    from handrail.runtime import Runtime
    from handrail.web_server.auth import Visitor
    from handrail.web_server.server import DeskContext

_log = logging.getLogger(__name__)
T = TypeVar("T", bound=CamelModel)
JSON = dict[str, Any]
CSP = "content-security-policy"
NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""For data: nothing in it may run, load or be framed."""
PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src http: https:; manifest-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'"
)
"""The desk's page. Agents' iframes may show any site; their sandbox says what they may do."""
DEFAULTS = {
    CSP: NOTHING,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-store",
    OWN_HEADER: "1",
}
"""For every response that does not set them itself."""


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """An answer of the guard: the request reaches no route."""

    status: int
    code: str
    message: str
    hint: str


def refusal_response(refusal: HttpRefusal, headers: Mapping[str, str] | None = None) -> JSONResponse:
    body = {"code": refusal.code, "message": refusal.message, "hint": refusal.hint, "retryable": False}
    usual = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "60"}}.get(refusal.status)
    return JSONResponse(body, refusal.status, headers or usual)


def http_status_of(failure_code: str | None) -> int:
    """The HTTP status of an envelope with this failure code; 200 for None."""
    if failure_code is None:
        return 200
    return FAMILIES[ERRORS.get(failure_code, HandrailError).family].http_status


async def on_failure(_: Request, error: Exception) -> JSONResponse:
    failure = cast("HandrailError", error)  # the class that the application registers it for
    return JSONResponse(failure.to_dict(), failure.exits.http_status)


async def on_http(_: Request, error: Exception) -> JSONResponse:
    """Answers the router's own failures: not found, wrong method."""
    failure = cast("HTTPException", error)
    code, hint = f"HTTP_{failure.status_code}", "/api/openapi.json lists what there is."
    refusal = HttpRefusal(failure.status_code, code, failure.detail, hint)
    return refusal_response(refusal, failure.headers)


async def on_unknown(request: Request, error: Exception) -> JSONResponse:
    """Answers an unforeseen exception, whose text stays in the log. The guard does not add headers here."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    unknown = HandrailError("Something failed that has no name; the server's log says more.")
    failure = disk_failure(error) or unknown
    return JSONResponse(failure.to_dict(), failure.exits.http_status, DEFAULTS)


class DeskRequest(Request):
    """A request that the guard has let in."""

    @property
    def context(self) -> DeskContext:
        context: DeskContext = self.app.state.context
        return context

    @property
    def runtime(self) -> Runtime:
        return self.context.runtime

    @property
    def visitor(self) -> Visitor:
        """Paths that need no login may have none; they look at `state.visitor`."""
        visitor: Visitor = self.state.visitor
        return visitor


Handler = TypeVar("Handler", bound=Callable[[DeskRequest], Awaitable[Any]])


class RouteTable(list[BaseRoute]):
    """The routes of one module. What a handler returns is sent as JSON, unless it is a response already."""

    def __call__(
        self, path: str, *methods: str, person: str = "", status: int = 200
    ) -> Callable[[Handler], Handler]:
        """`person` is what only a person may do here, as the refusal of a program calls it."""

        def add(handler: Handler) -> Handler:
            @wraps(handler)
            async def endpoint(request: Request) -> Response:
                desk_request = DeskRequest(request.scope, request.receive)
                if person:
                    desk_request.visitor.must_be_person(person)
                answer = await handler(desk_request)
                return answer if isinstance(answer, Response) else JSONResponse(answer, status)

            self.append(Route(path, endpoint, methods=methods or None))
            return handler

        return add


async def json_object(request: Request) -> dict[str, Any]:
    """The body. Raises `InvalidAction` if it is not a JSON object."""
    body = read_json(await request.body())
    if not isinstance(body, dict):
        raise InvalidAction("The body is not a JSON object", path="", hint="Send one JSON object.")
    return body


async def json_body(request: Request, model: type[T]) -> T:
    return validate_model(model, await json_object(request))


def validate_model(model: type[T], fields: Any) -> T:
    """`InvalidAction` names the bad field."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise invalid_action(error, fields) from None


def read_number(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 18 or int(text) > most:
        raise InvalidAction.at(name, f"{text!r:.40} is not a whole number from 0 to {most}")
    return int(text)


def add_security_headers(send: Send) -> Send:
    """`send`, with `DEFAULTS` added to every response."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, text in DEFAULTS.items():
                headers.setdefault(name, text)
        await send(message)

    return send_with_headers
