"""Random stacks of a page in a real Chromium: every tap reaches its button or is refused.

`python tests/fuzz/stacks.py [pages] [seed]`
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.browser.stacks import Verdicts, tap_all
from tests.browser.stage import has_browser, served, staged


def tell(words: str) -> None:
    print(words)  # noqa: T201


async def main(pages: int, seed: int) -> int:
    if not has_browser():
        tell("no Chromium here: nothing was tried")
        return 0
    verdicts = Verdicts()
    with served() as site, tempfile.TemporaryDirectory() as folder:
        async with staged(site, Path(folder) / "home") as stage:
            for each in range(seed, seed + pages):
                await tap_all(stage, each, verdicts)
    tell(f"{pages} pages, {sum(verdicts.counts.values())} taps: {dict(verdicts.counts)}")
    tell("\n".join([f"{len(verdicts.wrong)} wrong", *verdicts.wrong[:20]]))
    return 1 if verdicts.wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*map(int, (sys.argv[1:] + ["100", "1000"][len(sys.argv) - 1 :])[:2]))))
