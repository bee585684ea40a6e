"""The uiautomator2 server inside the phone: HTTP on port 9008, JSON-RPC behind it, run by app_process.

`main` is the jar's main class; the port is served before the command says its first word.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from handrail_sim.channels.http import Request, Response, json_response, listening
from handrail_sim.channels.mortality import Mortal
from handrail_sim.channels.u2 import device, gestures, hierarchy, objects, scrolling, watching  # noqa: F401 - they register
from handrail_sim.channels.u2.rpc import METHODS, respond
from handrail_sim.channels.u2.server import Server

if TYPE_CHECKING:
    from handrail_sim.shell.call import Call

__all__ = ["MAIN", "METHODS", "Server", "main"]

MAIN = "com.wetest.uia2.Main"
PORT = 9008
HELP = "usage: uiautomator2-server\n -h,--help         Print this help message\n -p,--port <arg>   "
HELP += "Port to listen on (1-65535, default: 9008)"


async def main(call: Call) -> int:
    """Serve until the command is ended, `/stop` is asked for, or a fault kills it."""
    if "-h" in call.args or "--help" in call.args:
        await call.line(HELP)
        return 0
    port = _port(call.args)
    if port is None:
        await call.err(f"Invalid port: {call.args[-1]}. Must be an integer between 1 and 65535.")
        return 1
    phone, name = call.phone, f"tcp:{port}"
    if name in phone.ports:
        await call.err("java.net.BindException: Address already in use")
        return 1
    http = Http(Server(phone), Mortal(phone.faults))
    phone.request_accessibility()
    phone.on_event(http.server.heard)
    try:
        async with listening(phone.ports, name, http.answer):
            await call.line("[server] INFO: [UiAutomator2Server] Starting Server")
            await call.line(f"[server] INFO: http server listening on *:{port}")
            await http.ended.wait()
    finally:
        phone.off_event(http.server.heard)
    return 137 if http.life.is_dead else 0


def _port(args: list[str]) -> int | None:
    for place, word in enumerate(args):
        if word in ("-p", "--port") and place + 1 < len(args):
            text = args[place + 1]
            return int(text) if text.isdigit() and 1 <= int(text) <= 65535 else None
    return PORT


class Http:
    """The server's paths."""

    def __init__(self, server: Server, life: Mortal) -> None:
        self.server = server
        self.life = life
        self.ended = life.ended

    async def answer(self, request: Request) -> Response:
        self.life.breathe()
        if request.path == "/ping":
            return Response(b"pong", content_type="text/html")
        if request.path == "/stop":
            asyncio.get_running_loop().call_soon(self.ended.set)
            return Response(b"Server stopped!!!", content_type="text/html")
        if request.path == "/screenshot/0":
            await self.server.phone.faults.delay("u2", "takeScreenshot")
            return Response(await self.server.phone.screenshot(), content_type="image/png")
        if request.path != "/jsonrpc/0":
            return Response(b"Not Found!!!", 404)
        if not request.body:
            return Response(b"Invalid http post data!", 500)
        return json_response(await respond(self.server, request.body))
