"""What every response says about itself, so that a browser does only what the desk needs."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

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
}
"""For every response that does not say otherwise itself."""


def secured(send: Send) -> Send:
    """`send`, with the defaults added to whatever is answered."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, value in DEFAULTS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
