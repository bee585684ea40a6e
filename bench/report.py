"""How large and how quick the HTML report of a long flow is: 200 steps, 400 different pictures.

Run from the repository: `python bench/report.py [--steps N]`. The browser's part needs a Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from handrail.flow import report  # noqa: E402
from handrail.flow.run_record import FlowRecord, Picture, StepRecord  # noqa: E402
from handrail.screen.node import Bounds  # noqa: E402
from handrail_sim.clock import ManualClock  # noqa: E402
from handrail_sim.phone import Phone  # noqa: E402

APPS = ("com.google.android.contacts", "com.handrail.shop", "com.android.settings", "com.handrail.gallery")
DIFF = "Elements added:\n" + "\n".join(f'TextView "Row {row}" [0,0][540,90]' for row in range(15))
AFTER_TWO_FRAMES = (
    "(async () => { const began = performance.now(); %s;"
    "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));"
    "return performance.now() - began })()"
)


async def screens() -> list[Image.Image]:
    clock = ManualClock()
    phone = Phone(clock=clock)
    found = []
    for package in APPS:
        phone.start_activity(package=package)
        for _ in range(40):
            await clock.advance(50)
            phone.catch_up()
        found.append(phone.frame().image().resize((540, 1200)))
    return found


def picture(base: Image.Image, seed: int) -> Picture:
    """A screen as evidence keeps it, made unlike all others."""
    image, random = base.convert("RGB"), Random(seed)
    draw = ImageDraw.Draw(image)
    for _ in range(12):
        draw.text((random.randrange(500), random.randrange(1100)), f"{random.random()}", fill="crimson")
    out = io.BytesIO()
    image.save(out, "JPEG", quality=82)
    return Picture(out.getvalue(), 1080, 2400)


def flow(count: int) -> FlowRecord:
    bases = asyncio.run(screens())
    pictures = [picture(bases[seed % len(bases)], seed) for seed in range(2 * count)]
    steps = [
        StepRecord(
            (index,),
            f"tap Row {index}",
            {"tap": f"Row {index}"},
            "phone",
            index * 500,
            duration_ms=480,
            diff=DIFF,
            touched=Bounds(40, 300, 1040, 420),
            before=pictures[2 * index],
            after=pictures[2 * index + 1],
        )
        for index in range(count)
    ]
    last = steps[-1]
    last.outcome, last.code, last.error = "failed", "TIMEOUT", "it did not come"
    last.log = ["03-14 15:09:31.640  2212  2230 E Service: no answer"] * 80
    return FlowRecord("Long", "long.yaml", (), "phone", 0, count * 500.0, "failed", steps)


def in_browser(page: Path, chromium: str) -> list[tuple[str, float]]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        shown = browser.new_page(viewport={"width": 1280, "height": 900})
        shown.goto(page.as_uri())
        figures = [
            ("first paint, ms", shown.evaluate("performance.getEntriesByType('paint').at(-1).startTime")),
            ("loaded, ms", shown.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")),
        ]
        for name, selector in (
            ("expand all", "[data-open=true]"),
            ("filter", "[data-show=failed]"),
            ("all again", "[data-show=all]"),
        ):
            click = f"document.querySelector('.toolbar {selector}').click()"
            figures.append((f"{name}, ms", shown.evaluate(AFTER_TWO_FRAMES % click)))
        scroll = "scrollBy({top: 900, behavior: 'instant'})"
        worst = max(shown.evaluate(AFTER_TWO_FRAMES % scroll) for _ in range(60))
        browser.close()
        return [*figures, ("slowest of 60 scrolls, ms", worst)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    count = parser.parse_args().steps
    record = flow(count)
    chromium = os.environ.get("CHROME_BIN") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        page = report.write([record], Path(folder))
        figures = [("written, ms", (time.perf_counter() - began) * 1000)]
        print(f"{count} steps, {2 * count} different pictures")
        print(f"{'size, MB':<28}{page.stat().st_size / 1e6:>9.1f}   (goal: under 15)")
        figures += in_browser(page, chromium) if chromium else []
    for name, figure in figures:
        print(f"{name:<28}{figure:>9.0f}")
    if not chromium:
        print("no Chromium found: nothing measured in a browser")


if __name__ == "__main__":
    main()
