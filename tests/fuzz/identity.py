"""A long run of the identity test: `python tests/fuzz/identity.py [sequences]`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.unit.screen.witness import Witness


def main(sequences: int) -> None:
    survivors = kept = 0
    lost: Counter[str] = Counter()
    for seed in range(10_000, 10_000 + sequences):
        witness = Witness(seed).live(12)
        survivors += witness.survivors
        kept += witness.kept
        lost += witness.lost
    share = f"{kept} of {survivors} survivors kept their ref ({kept / survivors:.2%})"
    print(f"{sequences} sequences of 12 looks: {share}, no ref moved")  # noqa: T201
    print("lost most after:", ", ".join(f"{edits} ({count})" for edits, count in lost.most_common(5)))  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3_000)
