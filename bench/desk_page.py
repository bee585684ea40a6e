"""How smoothly the desk's page works: a window dragged among 500, joining such a desk, 100,000 rows.

Run from the repository: `python bench/desk_page.py [--windows N]`. It needs a Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, sync_playwright  # noqa: E402
from tests.web.desk_person import Person  # noqa: E402
from tests.web.desk_server import DeskServer  # noqa: E402

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No --disable-gpu-vsync: frames are counted as a person would see them, at most 60 a second.
FRAMES = """ms => new Promise(done => {
  const times = [];
  const tick = now => { times.push(now); now - times[0] < ms ? requestAnimationFrame(tick) : done(times); };
  requestAnimationFrame(tick);
})"""
DRAG = """({ key, steps }) => new Promise(done => {
  const bar = document.querySelector(`.window[data-key="${key}"] .window-title`);
  const box = bar.getBoundingClientRect();
  const at = { x: box.left + 20, y: box.top + 8 };
  const fire = (type, x, y) => bar.dispatchEvent(new PointerEvent(type,
    { bubbles: true, button: 0, pointerId: 1, clientX: x, clientY: y, isPrimary: true }));
  bar.setPointerCapture = () => {};
  fire("pointerdown", at.x, at.y);
  const times = [];
  const tick = now => {
    times.push(now);
    const share = times.length / steps;
    fire("pointermove", at.x + 400 * share, at.y + 120 * Math.sin(6 * share));
    if (times.length < steps) requestAnimationFrame(tick);
    else { fire("pointerup", at.x + 400, at.y); done(times); }
  };
  requestAnimationFrame(tick);
})"""


def rate(times: list[float]) -> tuple[float, float]:
    """Frames a second, and the longest gap in ms."""
    gaps = [after - before for before, after in pairwise(times)]
    return 1000 * len(gaps) / sum(gaps), max(gaps)


def furnish(server: DeskServer, count: int) -> None:
    for number in range(count):
        bounds = {"x": (number * 37) % 800, "y": (number * 53) % 400, "w": 420, "h": 300}
        server.window(f"w{number}", {"renderer": "text", "data": "A line of text.\n" * 20}, bounds=bounds)


def joining(browser: Browser, server: DeskServer, count: int) -> tuple[Person, float]:
    began = time.perf_counter()
    one = Person.enter(browser, server)
    one.window(f"w{count - 1}").wait_for()
    return one, time.perf_counter() - began


def table(one: Person) -> tuple[float, float, float]:
    rows = [[f"row {number}", str(number * 7919 % 100_000)] for number in range(100_000)]
    began = time.perf_counter()
    one.show("table", {"renderer": "table", "data": {"headers": ["Name", "Number"], "rows": rows}})
    one.window("table").locator("td").first.wait_for()
    shown = time.perf_counter() - began
    header = one.window("table").locator("th button").nth(1)
    began = time.perf_counter()
    header.click()
    sorted_ = time.perf_counter() - began
    one.window("table").locator(".table-box").evaluate(
        "e => { const step = () => { e.scrollTop += 400; requestAnimationFrame(step) }; step() }"
    )
    return shown, sorted_, rate(one.page.evaluate(FRAMES, 2_000))[0]


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--windows", type=int, default=500)
    count = given.parse_args().windows
    path = os.environ.get("CHROME_BIN") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        print("no Chromium found: install it, or name it in CHROME_BIN")
        return
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = DeskServer(Path(home))
        server.start()
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        furnish(server, count)
        one, seconds = joining(browser, server, count)
        print(f"{'what':<44}{'measured':>14}{'goal':>12}")
        print(f"{f'page opened with {count} windows':<44}{seconds:>12.2f} s")
        fps, worst = rate(one.page.evaluate(FRAMES, 1_000))
        print(f"{'frames a second, nothing moves':<44}{fps:>14.1f}")
        for where, key in (("front", f"monitor-0/w{count - 1}"), ("back", "monitor-0/w0")):
            drags = sorted(rate(one.page.evaluate(DRAG, {"key": key, "steps": 120})) for _ in range(3))
            fps, worst = drags[1]
            print(f"{f'frames a second, {where} window dragged, of 3':<44}{fps:>14.1f}{'50':>12}")
            print(f"{'  longest frame':<44}{worst:>11.1f} ms")
        shown, sorted_, fps = table(one)
        print(f"{'table of 100,000 rows shown':<44}{shown:>12.2f} s")
        print(f"{'  sorted by a click':<44}{sorted_:>12.2f} s")
        print(f"{'  frames a second while it scrolls':<44}{fps:>14.1f}")
        one.leave()
        browser.close()
        server.stop()


if __name__ == "__main__":
    main()
