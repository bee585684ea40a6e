"""Metro as debuggers see it: a list of targets and a socket to each, on a port of the phone or of the host.

The real one runs on the developer's machine; `adb reverse` is what makes it a port of the phone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar, Protocol

from handrail_sim.channels.host import listening
from handrail_sim.channels.http import Request, Response, json_response, serve
from handrail_sim.channels.react.cdp import Session
from handrail_sim.channels.react.runtime import Runtime
from handrail_sim.channels.websocket import accept
from handrail_sim.stream import Stream

if TYPE_CHECKING:
    from handrail_sim.system.activities import Context

PORT = 8081


class Debugged(Protocol):
    """An app in its process."""

    package: ClassVar[str]
    phone: Context
    js: Runtime | None


async def serve_app(app: Debugged, stream: Stream, port: int = PORT) -> None:
    """One connection to the Metro that this app was loaded from."""

    async def answer(request: Request) -> Response:
        if request.path in ("/json", "/json/list"):
            return json_response(_targets(app, port))
        if request.path == "/json/version":
            return json_response({"Browser": "Mobile JavaScript", "Protocol-Version": "1.1"})
        if request.path == "/status":
            return Response(b"packager-status:running", headers={"X-React-Native-Project-Root": "/app"})
        return Response(b"Not Found", 404)

    async def debug(request: Request, stream: Stream) -> None:
        if request.path != "/inspector/debug":
            await stream.write(Response(b"", 404).encode(keep_alive=False))
            return
        socket = await accept(request, stream)
        if socket is not None:
            app.js = app.js or Runtime(app.phone, app.package)
            await Session(socket, app.js).serve()

    await serve(stream, answer, debug)


def _targets(app: Debugged, port: int) -> list[dict[str, object]]:
    """As React Native 0.74 lists them: the context, and a stand-in for it that survives reloads."""
    model = app.phone.props.get("ro.product.model", "")
    pages = {1: ("Hermes React Native", "Hermes")}
    pages[-1] = ("React Native Experimental (Improved Chrome Reloads)", "don't use")
    return [
        {
            "id": f"0-{page}",
            "title": title,
            "description": app.package,
            "appId": app.package,
            "type": "node",
            "vm": vm,
            "deviceName": model,
            "webSocketDebuggerUrl": f"ws://[::1]:{port}/inspector/debug?device=0&page={page}",
        }
        for page, (title, vm) in pages.items()
    ]


@asynccontextmanager
async def on_host(app: Debugged, port: int = 0, host: str = "127.0.0.1") -> AsyncIterator[int]:
    """The same on a port of this machine while the block runs; gives the port."""
    async with listening(lambda stream, bound: serve_app(app, stream, bound), host, port) as bound:
        yield bound
