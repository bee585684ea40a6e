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

from tests.browser.react_records import STEPS as REACT_STEPS
from tests.browser.react_records import react_page
from tests.browser.records import AWAY, PAGE, STEPS, Tally, mutate
from tests.browser.stage import Stage, has_browser, served, staged

CHANGES = 1_000
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
            tallies.append(await run(stage, "by hand", PAGE, (*STEPS, AWAY)))
            try:
                tallies.append(await run(stage, "by React", react_page(site), REACT_STEPS))
            except pytest.skip.Exception as error:
                tell(f"by React: {error}")
    tell("\n".join([wrong for one in tallies for wrong in one.wrong][:20]))
    return 1 if any(one.wrong or one.share < LEAST for one in tallies) else 0


async def run(stage: Stage, name: str, body: str, steps: Sequence[str]) -> Tally:
    await stage.show(body)
    tally = await mutate(stage, CHANGES, seed=11, steps=steps)
    tell(f"{name}: {tally}")
    return tally


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
