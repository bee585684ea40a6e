"""What a look costs on a phone that shows a web page: by accessibility, and with what the page itself says.

The phone is simulated, its page is drawn by a real Chromium. Prints medians; ends at once without Chromium.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import threading
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.android.driver import connect
from handrail.clock import SystemClock
from handrail_sim.adbd.server import serve
from handrail_sim.channels.web import web_by_chromium
from handrail_sim.clock import SystemClock as PhoneClock
from handrail_sim.errors import BadSetting
from handrail_sim.phone import Phone

LAB = "com.handrail.webviewlab/.MainActivity"
LOOKS = 30
ROWS = 100
PAGE = "<!doctype html><meta name=viewport content='width=device-width'><title>Bench</title>" + "".join(
    f"<p><b>Row {number}</b> <button>Open {number}</button> <input aria-label='Field {number}'></p>"
    for number in range(ROWS)
)


class Site(BaseHTTPRequestHandler):
    """One page of 300 elements and more."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, *_: object) -> None:
        """Quiet."""


async def median_ms(work: Callable[[], Awaitable[object]]) -> float:
    taken = []
    for _ in range(LOOKS):
        began = time.perf_counter()
        await work()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


async def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    phone, clock = Phone(clock=PhoneClock(), apps=["webview_lab"]), SystemClock()
    async with web_by_chromium([phone], os.environ), serve([phone], port=0) as [served]:
        phone.start_activity(component=LAB, data=f"http://127.0.0.1:{server.server_port}/")
        await phone.refresh_web()
        device = AdbDevice(Direct(served.host, served.port), clock)
        driver = await connect(device, clock=clock, helper="u2", env={})
        webs = driver.webs
        assert webs is not None
        webs.look_ms = 5_000.0  # the machine may be busy; the figure is what counts
        began = time.perf_counter()
        screen = await driver.look()
        first = (time.perf_counter() - began) * 1000
        while not any(node.native_id for node in screen.nodes):
            screen = await driver.look()
        raw = await driver.in_use()[0].look()  # type: ignore[attr-defined]
        alone = await median_ms(driver.in_use()[0].look)  # type: ignore[attr-defined]
        asked = await median_ms(lambda: webs.fill(raw))
        print(f"{len(screen.nodes)} nodes, {sum(bool(node.native_id) for node in screen.nodes)} of the page")
        print(f"first look with its connection   {first:7.1f} ms")
        print(f"accessibility alone, by u2       {alone:7.1f} ms")
        print(f"what the page adds to a look     {asked:7.1f} ms")
        await driver.close()
    server.shutdown()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except BadSetting as missing:
        print(f"not measured: {missing.message}")
