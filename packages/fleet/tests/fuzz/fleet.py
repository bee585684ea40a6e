"""Random kills on a fleet: every unit has one accepted result or is told as lost, and all of it proves.

    python packages/fleet/tests/fuzz/fleet.py [--rounds 20] [--units 60] [--seed N] [--plain]

Hosts are network namespaces, so it needs root; `--plain` goes without Ray.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4]))
from packages.fleet.tests.bed import bed, why_not
from packages.fleet.tests.faults import FAULTS, journals_hold, story


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--units", type=int, default=60)
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--plain", action="store_true")
    given = parser.parse_args()
    reason = why_not()
    if reason:
        say(f"skipped: {reason}")
        return 0
    chance = random.Random(given.seed)
    say(f"seed {given.seed}: {given.rounds} rounds of {given.units} units on {given.hosts} hosts")
    names = [name for name in FAULTS if not (given.plain and name == "raylet")]
    with bed(hosts=given.hosts, phones=4, limit=2, with_ray=not given.plain) as made:
        for number in range(1, given.rounds + 1):
            faults = [chance.choice(names) for _ in range(chance.randint(1, 3))]
            try:
                told = story(made, given.units, faults)
            except AssertionError:
                say(f"round {number}: {'+'.join(faults)} broke a promise")
                for name in ("head", *(f"h{one}" for one in range(1, given.hosts + 1))):
                    say(f"== {name}\n{made.log(name)[-1_500:]}")
                raise
            say(f"round {number}: {'+'.join(faults)}: {told}")
        journals_hold(made)
    say("every unit had one result, and every result is proved")
    return 0


if __name__ == "__main__":
    sys.exit(main())
