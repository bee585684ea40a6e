"""2,000 random changes of a page in a real Chromium: no ref may name another record. Prints what was kept."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.browser.records import PAGE, mutate
from tests.browser.stage import has_browser, served, staged

STEPS = 2_000
SEEDS = (11, 12)


def tell(words: str) -> None:
    print(words)  # noqa: T201


async def main() -> int:
    if not has_browser():
        tell("no Chromium here: nothing was tried")
        return 0
    wrong = []
    with served() as site, tempfile.TemporaryDirectory() as folder:
        async with staged(site, Path(folder) / "home") as stage:
            for seed in SEEDS:
                await stage.show(PAGE)
                tally = await mutate(stage, STEPS // len(SEEDS), seed)
                bad = len(tally.wrong)
                tell(f"seed {seed}: {tally.steps} changes, {bad} wrong refs, kept {tally.share:.1%}")
                wrong += tally.wrong
    tell("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
