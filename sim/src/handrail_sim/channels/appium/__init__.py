"""Appium's server on the phone: HTTP on port 6790, the WebDriver protocol behind it, run by `am instrument`.

The test package's instrumentation serves until its session is deleted, as the real one does.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from handrail_sim.channels.appium import actions, device, elements, gestures  # noqa: F401 - they register
from handrail_sim.channels.appium.routes import answer
from handrail_sim.channels.appium.server import Server
from handrail_sim.channels.http import Request, Response, listening
from handrail_sim.channels.mortality import Mortal

if TYPE_CHECKING:
    from handrail_sim.shell.call import Call

PORT = 6790
TEST = "io.appium.uiautomator2.server.test.AppiumUiAutomator2Server"


async def main(call: Call) -> int:
    """One test method that serves until it is stopped."""
    phone = call.phone
    server, life = Server(phone), Mortal(phone.faults)
    phone.request_accessibility()
    phone.on_event(server.automator.heard)
    try:
        async with listening(phone.ports, f"tcp:{PORT}", Http(server, life).answer):
            if "-r" in call.argv:
                await call.line(f"INSTRUMENTATION_STATUS: class={TEST}\nINSTRUMENTATION_STATUS_CODE: 1")
            phone.logcat("I", "appium", f"[AppiumUiAutomator2Server] listening on {PORT}")
            await life.ended.wait()
    finally:
        phone.off_event(server.automator.heard)
    if life.is_dead:
        await call.line("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0")
    else:
        await call.line("\nTime: 1.0\n\nOK (1 test)\n\n")
    return 0


class Http:
    """Requests, until the one that ends the session."""

    def __init__(self, server: Server, life: Mortal) -> None:
        self._server = server
        self._life = life

    async def answer(self, request: Request) -> Response:
        self._life.breathe()
        await self._server.phone.refresh_web()
        served = bool(self._server.session)
        response = await answer(self._server, request)
        if served and not self._server.session:  # the session was deleted: the test is over
            asyncio.get_running_loop().call_later(0.05, self._life.ended.set)
        return response
