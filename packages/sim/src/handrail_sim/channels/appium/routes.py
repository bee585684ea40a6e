"""The paths of Appium's server: a table that commands register in, and one answer for each request."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, TypeVar

from handrail_sim.channels.appium.server import Refused, Server
from handrail_sim.channels.http import Request, Response, json_response

Command = Callable[..., Awaitable[Any] | Any]
CommandT = TypeVar("CommandT", bound=Command)
ROUTES: dict[tuple[str, int], list[tuple[list[str], Command]]] = {}
"""By method and number of path parts: the parts (`{name}` matches any) and the handler."""
OLD_PREFIX = "/wd/hub"
SESSION = "/session/{session}"

log = logging.getLogger(__name__)


def route(method: str, path: str) -> Callable[[CommandT], CommandT]:
    """Register a command; paths that begin with `/…` after the session leave that part out."""

    def register(run: CommandT) -> CommandT:
        parts = path.strip("/").split("/")
        ROUTES.setdefault((method, len(parts)), []).append((parts, run))
        return run

    return register


def routes(table: Mapping[str, Command]) -> None:
    """Register the short ones: a method and the path behind the session, and what they answer."""
    for request, run in table.items():
        method, _, path = request.partition(" ")
        route(method, SESSION + path)(run)


def _match(method: str, path: str) -> tuple[Command, dict[str, str]] | None:
    parts = path.strip("/").split("/")
    for wanted, run in ROUTES.get((method, len(parts)), []):
        names = {name[1:-1]: part for name, part in zip(wanted, parts, strict=True) if name.startswith("{")}
        if all(name.startswith("{") or name == part for name, part in zip(wanted, parts, strict=True)):
            return run, names
    return None


async def answer(server: Server, request: Request) -> Response:
    """What a request gets: a value, or an error of the WebDriver protocol."""
    try:
        value = await _value(server, request)
        return json_response({"sessionId": server.session or None, "value": value})
    except Refused as refusal:
        status, error, message = refusal.status, refusal.error, str(refusal)
    except Exception as failure:
        log.exception("%s %s failed", request.method, request.path)
        status, error, message = 500, "unknown error", f"{type(failure).__name__}: {failure}"
    trace = (
        f"{error}: {message}\n\tat io.appium.uiautomator2.server.AppiumServlet.handleRequest(Unknown Source)"
    )
    problem = {"error": error, "message": message, "stacktrace": trace}
    return json_response({"sessionId": server.session or None, "value": problem}, status)


async def _value(server: Server, request: Request) -> Any:
    path = request.path.removeprefix(OLD_PREFIX)
    matches = _match(request.method, path)
    if matches is None:
        raise Refused(
            "unknown command", f"The requested resource could not be found: {request.method} {path}"
        )
    run, names = matches
    session = names.pop("session", None)
    if session is not None and session != server.session:
        raise Refused("invalid session id", f"A session '{session}' is either terminated or not started")
    value = run(server, _body(request), *names.values())
    return await value if isawaitable(value) else value


def _body(request: Request) -> dict[str, Any]:
    if not request.body.strip():
        return {}
    try:
        body = json.loads(request.body)
    except ValueError:
        raise Refused("invalid argument", "The body is not JSON") from None
    if not isinstance(body, dict):
        raise Refused("invalid argument", "The body is not a JSON object")
    return body


def number(body: dict[str, Any], name: str, default: float | None = None) -> float:
    value = body.get(name)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused("invalid argument", f"'{name}' must be a number, found {value!r}")
    return float(value)
