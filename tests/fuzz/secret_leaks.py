"""Long rows of moves after a secret was typed: `python tests/fuzz/secret_leaks.py --count 40 --seed 1`.

Each row is one phone, three lives of Handrail and thirty moves in each, drawn from the seed. Nothing that
leaves the engine may tell four characters of the secret; who judges that shares no code with redaction.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # run as a script, the repository is not on the path
    sys.path.insert(0, str(ROOT))

from tests.attacks.leak_moves import FIELDS  # noqa: E402
from tests.attacks.test_secret_leaks import attack  # noqa: E402


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=24)
    arguments.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    given = arguments.parse_args()
    wrong = 0
    for number in range(given.count):
        package, helper = sorted(FIELDS)[number % len(FIELDS)], ("none", "u2")[number // len(FIELDS) % 2]
        with tempfile.TemporaryDirectory() as home:
            try:
                attack(Path(home), package, given.seed + number, lives=3, moves=30, helper=helper)
            except AssertionError as error:
                wrong += 1
                print(error)  # noqa: T201
    print(f"{given.count} rows from seed {given.seed}, {given.count * 90} moves: {wrong} told something")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
