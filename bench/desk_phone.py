"""Frames per second of the Phone app: the stream alone, and as they are drawn in a real browser.

    python bench/desk_phone.py [seconds]

The simulated phone shows a screen that is never still (ten changes a second).
Goal: at least 5 frames a second on the page.
"""

from __future__ import annotations

import asyncio
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.scenario.world import World, world
from tests.web.apps_stage import stage

from handrail.http.phone import Phones
from handrail.http.phone_pictures import unpack

GOAL = 5.0
RESTLESS = "com.handrail.trouble/.RestlessActivity"


class Eye:
    """Counts what a browser would get."""

    def __init__(self) -> None:
        self.frames = 0
        self.bytes = 0

    def offer_binary(self, data: bytes) -> None:
        self.frames += "problem" not in unpack(data)[0]
        self.bytes += len(data)


async def streams(seconds: float, watchers: int) -> tuple[float, float, float]:
    """Frames a second for each watcher, kB a frame, and this process's share of one core."""
    with tempfile.TemporaryDirectory() as home:
        async with world(Path(home)) as w:
            phones, eyes = Phones(w.runtime), [Eye() for _ in range(watchers)]
            w.phone.start_activity(RESTLESS)
            for eye in eyes:
                phones.watch(w.serial, eye)
            began, used = time.monotonic(), _cpu()
            await asyncio.sleep(seconds)
            took, cpu = time.monotonic() - began, _cpu() - used
            await phones.close()
            frames = min((eye.frames for eye in eyes), default=0)
            size = eyes[0].bytes / max(1, eyes[0].frames) / 1000 if eyes else 0.0
            return frames / took, size, cpu / took


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def drawn(seconds: float) -> float | None:
    """Frames a second on the canvas of a real page; None where there is no browser."""
    path = shutil.which("chromium")
    if path is None:
        return None
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, stage(Path(home)) as desk:
        args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=path, args=args)
        page = desk.log_in(browser)
        canvas = desk.open(page, "phone").locator(".phone-canvas[data-frames]")
        canvas.wait_for()
        desk.do(_restless(desk.world))
        page.wait_for_timeout(1_000)
        first, began = int(canvas.get_attribute("data-frames") or 0), time.monotonic()
        page.wait_for_timeout(seconds * 1000)
        rate = (int(canvas.get_attribute("data-frames") or 0) - first) / (time.monotonic() - began)
        browser.close()
        return rate


async def _restless(w: World) -> None:
    w.phone.start_activity(RESTLESS)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    print(f"{'':34}{'frames/s':>10}{'kB/frame':>10}{'of a core':>11}{'goal':>8}")
    for watchers in (1, 10):
        rate, size, cpu = asyncio.run(streams(seconds, watchers))
        print(f"{f'the stream, {watchers} watching':<34}{rate:>10.1f}{size:>10.0f}{cpu:>10.0%}{GOAL:>9.0f}")
    rate_on_page = drawn(seconds)
    told = "no browser" if rate_on_page is None else f"{rate_on_page:.1f}"
    print(f"{'drawn on the page (Chromium)':<34}{told:>10}{'':>21}{GOAL:>8.0f}")


if __name__ == "__main__":
    main()
