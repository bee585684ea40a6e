"""Navigations of real screens, all refs judged: `python tests/fuzz/navigations.py [pairs]`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.corpus import CORPUS
from tests.judge.voyage import Voyage


def main(pairs: int) -> int:
    if CORPUS is None:
        print("no corpus of dumps: set HANDRAIL_CORPUS to its folder")  # noqa: T201
        return 0
    voyage = Voyage(CORPUS)
    wrong: Counter[str] = Counter()
    seed = 0
    while voyage.pairs < pairs:
        for error in voyage.go(seed):
            wrong[error.split(":")[0]] += 1
            if wrong[error.split(":")[0]] <= 25:
                print(error)  # noqa: T201
        seed += 1
    for name, (made, survivors, kept) in sorted(voyage.counts.items()):
        share = f"{kept / survivors:.1%}" if survivors else "-"
        print(f"{name:26}{made:>7} pairs {survivors:>7} survivors, kept {share}")  # noqa: T201
    print(f"{voyage.pairs} pairs of screens, {voyage.refs} refs kept, {wrong.total()} wrong: {dict(wrong)}")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
