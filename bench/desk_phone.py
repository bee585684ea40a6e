"""The live view of a phone: frames a second, how late they are, what they cost, and what an agent loses.

    python bench/desk_phone.py [seconds]

The simulated phone is a process of its own with a screen that changes thirty times a second. The desk serves
it to a real Chromium, once by video and once by pictures. *Late* is what the Phone app shows: from the server
to the page. *Phone to glass* is measured: the phone turns light or dark and says when, the page says when it
is drawn. An agent's taps are timed with nobody watching, with pictures and with video.
Goals: 15 frames a second by video, 5 by pictures, taps at most 1.2 times as slow.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.unit.web_server.door import door
from tests.web.apps_stage import Stage

from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.runtime import Runtime
from handrail_sim.adbd.server import serve
from handrail_sim.apps import trouble
from handrail_sim.phone import Phone

GOALS = {"video": 15.0, "pictures": 5.0}
SLOWER = 1.2
FRAME_MS = 33
FLIPS, FLIP_SEC = 12, 0.7
TAPS = 10
RESTLESS, SETTINGS = "com.handrail.trouble/.RestlessActivity", "com.android.settings"
SEE = """() => {
  const canvas = document.querySelector(".phone-canvas");
  const small = new OffscreenCanvas(8, 8).getContext("2d", { willReadFrequently: true });
  let before = null;
  window.flips = [];
  const look = () => {
    small.drawImage(canvas, 0, 0, 8, 8);
    const data = small.getImageData(0, 0, 8, 8).data;
    const light = data.reduce((sum, one) => sum + one, 0) / data.length;
    if (before !== null && Math.abs(light - before) > 40) window.flips.push(Date.now());
    before = light;
    requestAnimationFrame(look);
  };
  look();
}"""


# the phone


async def be_a_phone() -> None:
    """Until stdin ends; a line on it makes the screen turn light and dark, and the times are told."""
    trouble.FRAME_MS = FRAME_MS
    phone = Phone(clock=SystemClock())
    async with serve([phone], port=0) as [served]:
        print(served.address, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            times = []
            for _ in range(FLIPS):
                await asyncio.sleep(FLIP_SEC)
                phone.display.dark = not phone.display.dark
                times.append(time.time() * 1000)
            print(json.dumps(times), flush=True)


@dataclass
class PhoneProcess:
    """A phone that others can measure."""

    process: subprocess.Popen[str]
    address: str

    def flips(self) -> Future[list[float]]:
        """When the screen changed, in milliseconds of the machine's clock."""
        assert self.process.stdin is not None and self.process.stdout is not None  # noqa: PT018
        self.process.stdin.write("flip\n")
        self.process.stdin.flush()
        told: Future[list[float]] = Future()
        line = self.process.stdout.readline
        threading.Thread(target=lambda: told.set_result(json.loads(line())), daemon=True).start()
        return told

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100


@contextmanager
def phone_process() -> Iterator[PhoneProcess]:
    command = [sys.executable, __file__, "--phone"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        try:
            yield PhoneProcess(process, process.stdout.readline().strip())
        finally:
            process.terminate()


# the desk


@dataclass
class Desk:
    """The server, and the agent that works on its phone."""

    stage: Stage
    session: Session

    def show(self, *words: str) -> None:
        shell: Any = self.session.surface.inner.device.shell  # type: ignore[attr-defined]
        self.stage.do(shell.run(["am", "start", *words]))

    def taps(self) -> float:
        """The middle one of an agent's taps, each of which opens a page of the settings."""

        async def work() -> float:
            times = []
            for _ in range(TAPS):
                began = time.perf_counter()
                envelope = await self.session.tap("Display")
                times.append((time.perf_counter() - began) * 1000)
                assert envelope.success, envelope.to_json()
                await self.session.press_key("back")
            return statistics.median(times)

        self.stage.do(self.session.start_app(SETTINGS))
        return self.stage.do(work())


@contextmanager
def desk(address: str) -> Iterator[Desk]:
    ready: Future[Desk] = Future()
    end = threading.Event()

    async def play() -> None:
        with tempfile.TemporaryDirectory() as home:
            given = {"HANDRAIL_HOME": home, "HOME": home, "HANDRAIL_ADB": f"{home}/none"}
            given |= {"HANDRAIL_DEVICES": address, "ANDROID_ADB_SERVER_PORT": "15797"}
            async with (
                Runtime.open(Config.from_env(given), env=given) as runtime,
                door(Path(home), runtime=runtime) as served,
            ):
                session = await runtime.session(address, helper="none")
                stage = Stage(asyncio.get_running_loop(), None, served)  # type: ignore[arg-type]
                ready.set_result(Desk(stage, session))
                await asyncio.to_thread(end.wait)

    thread = threading.Thread(target=lambda: asyncio.run(play()), daemon=True)
    thread.start()
    try:
        yield ready.result(40)
    finally:
        end.set()
        thread.join(40)


# what is measured


def opened(here: Desk, browser: Browser, how: str) -> Page:
    page = here.stage.log_in(browser)
    if how == "pictures":
        page.locator(".desk-icon").first.wait_for()
        page.add_init_script("delete window.VideoDecoder;")
        page.reload()
    here.stage.open(page, "phone").locator(f".phone-canvas[data-how={how}]").wait_for()
    return page


def drawn(page: Page) -> int:
    return int(page.locator(".phone-canvas").get_attribute("data-frames") or 0)


def live(here: Desk, phone: PhoneProcess, page: Page, seconds: float) -> dict[str, float]:
    here.show("-n", RESTLESS)
    page.wait_for_timeout(1_500)
    first, began, ours, its = drawn(page), time.monotonic(), time.process_time(), phone.cpu()
    page.wait_for_timeout(seconds * 1000)
    took = time.monotonic() - began
    facts = {
        "frames/s": (drawn(page) - first) / took,
        "server": (time.process_time() - ours) / took,
        "phone": (phone.cpu() - its) / took,
        "late": float(page.locator(".phone-canvas").get_attribute("data-late") or "nan"),
    }
    page.evaluate(SEE)
    told = phone.flips()
    while not told.done():
        page.wait_for_timeout(200)
    page.wait_for_timeout(1_000)
    seen = page.evaluate("window.flips")
    within = FLIP_SEC * 1000
    found = [next((one - at for one in seen if 0 <= one - at < within), None) for at in told.result()]
    delays = [one for one in found if one is not None]
    return facts | {"glass": statistics.median(delays), "worst": max(delays), "missed": FLIPS - len(delays)}


def main() -> None:
    if sys.argv[1:] == ["--phone"]:
        asyncio.run(be_a_phone())
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("no Chromium found")
    args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright, phone_process() as phone, desk(phone.address) as here:
        browser = playwright.chromium.launch(executable_path=path, args=args)
        here.taps()  # warm
        print(f"{'':10}{'frames/s':>9}{'goal':>6}{'late ms':>9}{'phone to glass ms':>25}", end="")
        print(f"{'server':>8}{'phone':>7}{'tap ms':>8}{'× alone':>9}   (CPU: shares of one core)")
        for how, goal in GOALS.items():
            alone = here.taps()
            page = opened(here, browser, how)
            found = live(here, phone, page, seconds)
            tap = here.taps()
            missed = f", {found['missed']} missed" if found["missed"] else ""
            glass = f"{found['glass']:.0f} (≤ {found['worst']:.0f}{missed})"
            print(f"{how:10}{found['frames/s']:>9.1f}{goal:>6.0f}{found['late']:>9.0f}{glass:>25}", end="")
            print(f"{found['server']:>8.0%}{found['phone']:>7.0%}{tap:>8.0f}{tap / alone:>9.2f}", end="")
            print(f"   alone {alone:.0f} ms", flush=True)
            here.stage.close("phone")
            page.context.close()
        print(f"goal: taps at most {SLOWER} times as slow as with nobody watching")
        browser.close()


if __name__ == "__main__":
    main()
