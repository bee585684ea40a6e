"""Attacks on guarded buttons, drawn from the vocabulary: `python tests/fuzz/attacks.py --count 20000`.

Nothing that is asked about or denied may reach the guarded thing, by the phone's own account; under `allow`
the same attempts mostly do. `--again LINE` repeats one attempt that a run has printed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # run as a script, the repository is not on the path
    sys.path.insert(0, str(ROOT))

from handrail.errors import DeviceError, Timeout  # noqa: E402
from tests.attacks.campaign import Tally, again, campaign, chosen_seed  # noqa: E402
from tests.attacks.ordinary import ordinary  # noqa: E402
from tests.attacks.stage import CHANNELS  # noqa: E402

LEAST_LANDED = 0.6
MOST_NEEDLESS = 0.01
TRIES = 2
PIECE = 500
"""Attempts with one set of phones: their journals grow with every one."""


def piece(count: int, seed: int) -> Tally:
    """Its phones' time is rushed: on a busy machine they may not even open. Then the same is tried again."""
    for _ in range(TRIES):
        with suppress(DeviceError, Timeout):
            return asyncio.run(campaign(count, seed, list(CHANNELS)))
    return asyncio.run(campaign(count, seed, list(CHANNELS)))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=20_000)
    arguments.add_argument("--ordinary", type=int, default=1_000)
    arguments.add_argument("--seed", type=int, default=None)
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--again", metavar="LINE", help="one attempt as it was printed")
    given = arguments.parse_args()
    if given.again:
        print(asyncio.run(again(given.again)))  # noqa: T201
        return 0
    seed = given.seed if given.seed is not None else chosen_seed()
    print(f"seed {seed}", flush=True)  # noqa: T201
    seeds = range(seed, seed + -(-given.count // PIECE))
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        tallies = list(pool.map(piece, [PIECE] * len(seeds), seeds))
    total = sum(tallies[1:], tallies[0])
    print(total.table())  # noqa: T201
    asked = asyncio.run(ordinary(given.ordinary, seed, ["adb", "u2"]))
    print(asked)  # noqa: T201
    is_good = not total.through and not total.never_landed() and total.share >= LEAST_LANDED
    return 0 if is_good and len(asked.needless) <= MOST_NEEDLESS * asked.ordinary else 1


if __name__ == "__main__":
    sys.exit(main())
