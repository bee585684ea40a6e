"""A browser: looks at small and large pages, and clicks that a proof or only rest ends. Goals beside them.

Chromium is needed; without it this says so and ends.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.browser.stage import Stage, has_browser, served, staged

PAGES: dict[str, tuple[str, float]] = {
    "300 elements": (
        "".join(
            f"<span>{at} <a href=#{at}>Open {at}</a></span> <button>Do {at}</button>" for at in range(100)
        ),
        15,
    ),
    "5,000 elements": (
        "".join(
            f"<div><span>Record {at}</span> <button>Edit {at}</button><input aria-label='Note {at}'>"
            f"<a href=#{at}>More</a></div>"
            for at in range(1000)
        ),
        250,
    ),
    "a table of 2,000 rows": (
        "<table>"
        + "".join(
            "<tr>" + "".join(f"<td>{row}.{column}</td>" for column in range(6)) + "</tr>"
            for row in range(2000)
        )
        + "</table>",
        700,
    ),
}
TIMES = 15
CLICKS = (
    "<label><input type=checkbox>Proof</label>"
    "<button onclick='n.textContent = 1 + +n.textContent'>Rest</button><p id=n>0</p>"
)


async def _median(work: Callable[[], Awaitable[object]], times: int = TIMES) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        await work()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def _tell(what: str, took: float, goal: float) -> None:
    print(f"{what:<44}{took:8.1f} ms   goal {goal:g} ms{'' if took <= goal else '   MISSED'}")


async def _fresh(stage: Stage) -> None:
    """A look at a page that is not the same as at the last one."""
    await stage.surface.tabs.front.evaluate("document.title = String(performance.now())")
    await stage.surface.screen_reader.look()


async def _measure(stage: Stage) -> None:
    for name, (body, goal) in PAGES.items():
        await stage.show(body)
        _tell(f"a look at {name}", await _median(lambda: _fresh(stage)), goal)
        _tell("  and taken by the session", await _median(lambda: stage.act("get_ui_tree")), goal)
    await stage.show(CLICKS)
    _tell("a click that its proof ends", await _median(lambda: stage.tap("Proof")), 60)
    _tell("a click that rest ends", await _median(lambda: stage.tap("Rest")), 300)


async def main() -> None:
    if not has_browser():
        print("no Chromium here: nothing was measured")
        return
    with served() as site, tempfile.TemporaryDirectory() as folder:
        async with staged(site, Path(folder) / "home") as stage:
            await _measure(stage)


if __name__ == "__main__":
    asyncio.run(main())
