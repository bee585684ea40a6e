"""What every response has in common: security headers, JSON, and failures with the status of their family."""

from __future__ import annotations

import logging
from typing import Any, cast

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Send

from handrail.errors import ERRORS, FAMILIES, HandrailError, InvalidAction
from handrail.hosts import OWN_HEADER
from handrail.http.origin import HttpRefusal
from handrail.protocol.read import read_json
from handrail.store import disk_failure

_log = logging.getLogger(__name__)
CSP = "content-security-policy"
NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""For data: nothing in it may run, load or be framed."""
PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src http: https:; manifest-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'"
)
"""The desk's page. Agents' iframes may show any site; what they may do is said by their sandbox."""
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
"""For every response that does not say otherwise itself."""


def refused(refusal: HttpRefusal) -> JSONResponse:
    """Turned away at the door."""
    told = {"code": refusal.code, "message": refusal.message, "hint": refusal.hint, "retryable": False}
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "60"}}.get(refusal.status)
    return JSONResponse(told, refusal.status, headers)


def status_of(failure_code: str | None) -> int:
    """Of an envelope: that of its failure's family, 200 for none."""
    if failure_code is None:
        return 200
    return FAMILIES[ERRORS.get(failure_code, HandrailError).family].http_status


async def on_failure(_: Request, error: Exception) -> JSONResponse:
    """A failure with a name."""
    told = cast("HandrailError", error)  # as app.py registers it
    return JSONResponse(told.to_dict(), told.exits.http_status)


async def on_http(_: Request, error: Exception) -> JSONResponse:
    """What the router says: not found, wrong method."""
    known = cast("HTTPException", error)
    told = {
        "code": f"HTTP_{known.status_code}",
        "message": known.detail,
        "hint": "/api/openapi.json lists what there is.",
        "retryable": False,
    }
    return JSONResponse(told, known.status_code, known.headers)


async def on_unknown(request: Request, error: Exception) -> JSONResponse:
    """A failure without a name: its words stay in the log. Sent from outside the guard, hence the headers."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    nameless = HandrailError("Something failed that has no name; the server's log says more.")
    told = disk_failure(error) or nameless
    return JSONResponse(told.to_dict(), told.exits.http_status, DEFAULTS)


async def json_object(request: Request) -> dict[str, Any]:
    """The body, which has to be one object."""
    value = read_json(await request.body())
    if not isinstance(value, dict):
        raise InvalidAction("The body is no JSON object", path="", hint="Send one JSON object.")
    return value


def number(request: Request, name: str, default: int, most: int) -> int:
    """A whole number from the query."""
    given = request.query_params.get(name)
    if given is None:
        return default
    if not given.isascii() or not given.isdecimal() or len(given) > 18 or int(given) > most:
        raise InvalidAction(f"{name}: {given!r:.40} is no whole number from 0 to {most}", path=name)
    return int(given)


def secured(send: Send) -> Send:
    """`send`, with the defaults added to whatever is answered."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, value in DEFAULTS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
