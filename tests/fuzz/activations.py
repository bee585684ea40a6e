"""Generated pages in a real Chromium: no input activates what policy has not judged.

`python tests/fuzz/activations.py [pages] [seed]`
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.browser.activations import POLICY, run
from tests.browser.stage import has_browser, served, staged


def tell(words: str) -> None:
    print(words, flush=True)  # noqa: T201


async def main(pages: int, seed: int) -> int:
    if not has_browser():
        tell("no Chromium here: nothing was tried")
        return 0
    with served() as site, tempfile.TemporaryDirectory() as folder:
        async with staged(site, Path(folder) / "home", POLICY) as stage:
            tally = await run(stage, seed, pages)
    tell(
        "\n".join(
            ["THROUGH", *tally.through[:40], "QUESTIONS", *tally.questions[:40], "ODD", *tally.odd[:20]]
        )
    )
    tell(str(tally))
    return 1 if tally.through or not tally.is_usable else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*map(int, (sys.argv[1:] + ["5000", "1"][len(sys.argv) - 1 :])[:2]))))
