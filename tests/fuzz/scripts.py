"""A long run of scripts that try to outlive their deadline: `python tests/fuzz/scripts.py [trees] [seed]`.

Each is a generated tree of processes under an allowed interpreter; /proc and a clock judge.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.unit.engine.test_script_trees import examine

TREES = 300


def main(trees: int, seed: int) -> None:
    print(f"seed {seed}")  # noqa: T201
    processes = 0
    for number in range(trees):
        with tempfile.TemporaryDirectory() as folder:
            processes += examine(Path(folder), f"{seed} {number}", timeout_sec=0.7)
    print(f"{trees} trees with {processes} processes: nobody was left, no answer was late")  # noqa: T201


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    main(*(given + [TREES, int(time.time())][len(given) :]))
