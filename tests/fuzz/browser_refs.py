"""2,000 random changes of pages in a real Chromium: no ref may name another record. Prints what was kept.

Half of them on a page that React draws, if npm can bring it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import pytest

from tests.browser.react_records import SHAPES, react_page
from tests.browser.react_records import STEPS as REACT_STEPS
from tests.browser.records import AWAY, PAGE, STEPS, Tally, mutate
from tests.browser.stage import Stage, has_browser, served, staged

CHANGES = 1_000
BY_REACT = dict.fromkeys(SHAPES, 150) | {"buttons": 250}
LEAST = 0.95
"""Of the refs whose record is still shown by the same element."""


def tell(words: str) -> None:
    print(words)  # noqa: T201


async def main() -> int:
    if not has_browser():
        tell("no Chromium here: nothing was tried")
        return 0
    tallies = []
    with served() as site, tempfile.TemporaryDirectory() as folder:
        async with staged(site, Path(folder) / "home") as stage:
            tallies.append(await run(stage, "by hand", site.put(PAGE), (*STEPS, AWAY), CHANGES))
            try:
                for shape, count in BY_REACT.items():
                    page = react_page(site, shape)
                    tallies.append(await run(stage, f"by React, {shape}", page, REACT_STEPS, count))
            except pytest.skip.Exception as error:
                tell(f"by React: {error}")
    tell("\n".join([wrong for one in tallies for wrong in one.wrong][:20]))
    share = sum(one.kept for one in tallies) / sum(one.shown for one in tallies)
    tell(f"{sum(one.steps for one in tallies)} changes in all, {share:.1%} kept")
    return 1 if share < LEAST or any(one.wrong for one in tallies) else 0


async def run(stage: Stage, name: str, url: str, steps: Sequence[str], count: int) -> Tally:
    await stage.goto(url)
    tally = await mutate(stage, count, seed=11, steps=steps)
    tell(f"{name}: {tally}")
    return tally


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
