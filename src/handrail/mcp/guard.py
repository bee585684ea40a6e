"""Who may come in by HTTP: known hosts and origins only (no DNS rebinding), and whoever has the token."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from handrail.bind import hosts_at, is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Guard:
    """Stands before every request."""

    def __init__(self, app: ASGIApp, host: str, port: int, token: str | None = None) -> None:
        self._app = app
        self._token = token
        self._hosts = hosts_at(host, port)
        self._origins = {f"http://{one}" for one in self._hosts}
        self._is_local = is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        """A page of another site has an Origin that is not ours; a rebound name is a Host that is not ours.

        On an address that others can reach, names are many: there the token alone keeps strangers out.
        """
        if self._is_local and headers.get("host") not in self._hosts:
            return PlainTextResponse("This host is not served here.", 421)
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return PlainTextResponse("Pages of other sites may not come in.", 403)
        if self._token is not None and not self._knows(headers.get("authorization", "")):
            return PlainTextResponse("A bearer token is needed.", 401, {"WWW-Authenticate": "Bearer"})
        return None

    def _knows(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        same = hmac.compare_digest(given.strip().encode(), (self._token or "").encode())
        return scheme.lower() == "bearer" and same
