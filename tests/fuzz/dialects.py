"""Damaged words of every public dialect: `python tests/fuzz/dialects.py --count 100000 --seed 1`.

Whatever comes in, only an error of ours may come out, with a hint. What is read is answered, and what can be
written again reads as the same. Prints how much was read, and the slowest input.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # run as a script, the repository is not on the path
    sys.path.insert(0, str(ROOT))

from handrail.dialects.registry import dialect  # noqa: E402
from handrail.dialects.table import ActionOutcome  # noqa: E402
from handrail.errors import HandrailError, Unsupported  # noqa: E402
from tests.contract.dialect_words import Words, talk  # noqa: E402
from tests.unit.protocol.damage import BYTE_DAMAGE, DATA_DAMAGE, _holders, random_json  # noqa: E402

GOAL_MS = 500.0
TOLD = (ActionOutcome(True, "Done.", picture="UE5H"), ActionOutcome(False, "No.", "TIMEOUT", "Wait."))


def damaged(rng: random.Random, rows: Words, name: str) -> Any:
    """One of the dialect's own samples, hurt as data or as text; sometimes noise."""
    good, bad = rows[name]
    given = copy.deepcopy(rng.choice([*(one for one, _ in good), *bad]))
    if rng.random() < 0.03:
        return random_json(rng)
    if isinstance(given, str):
        data = given.encode()
        for _ in range(rng.randint(0, 3)):
            data = rng.choice(BYTE_DAMAGE)(rng, data)
        return data.decode("utf-8", "replace")
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        holders = _holders(given)
        if holders:
            holder = rng.choice(holders)
            at = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
            rng.choice(DATA_DAMAGE)(rng, holder, at)
    return given


def use(name: str, given: Any) -> bool:
    """True where it was read; any error but ours goes on to whoever runs this."""
    own, state = dialect(name), talk(name)
    try:
        reading = own.read(given, state)
    except HandrailError as error:
        json.dumps(error.to_dict())
        assert error.message, given
        assert error.hint, given
        return False
    for told in TOLD:
        json.dumps(own.answer(reading, told))
    for action in reading.actions:
        try:
            written = own.write(action, talk(name))
        except Unsupported:
            continue
        again = own.read(written, talk(name)).actions[0].model_copy(update={"device": None})
        assert again == action.model_copy(update={"reason": None, "device": None}), (written, action)
    return True


def run(rows: Words, count: int, seed: int) -> tuple[Counter[str], float]:
    """How many were read, by dialect, and the longest that one took, in milliseconds."""
    rng, names = random.Random(seed), (*rows,)
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    for number in range(count):
        name = names[number % len(names)]
        given = damaged(rng, rows, name)
        began = time.process_time()
        outcomes[f"{name} {'read' if use(name, given) else 'refused'}"] += 1
        slowest = max(slowest, (time.process_time() - began) * 1000)
    return outcomes, slowest


def main() -> int:
    from packages.agent.tests.dialects import computer_words, model_words, program_words  # noqa: PLC0415 - all of a clone
    from packages.eval.tests.dialects import dataset_words  # noqa: PLC0415

    from tests.contract import makers  # noqa: PLC0415

    rows = {
        **makers.ROWS,
        **computer_words.ROWS,
        **program_words.ROWS,
        **model_words.ROWS,
        **dataset_words.ROWS,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    outcomes, slowest = run(rows, given.count, given.seed)
    for name in sorted(outcomes):
        print(f"{name:28} {outcomes[name]:>8,}")  # noqa: T201
    took = f"the slowest took {slowest:.0f} ms of {GOAL_MS:.0f}"
    print(f"{given.count:,} inputs, no foreign exception; {took}")  # noqa: T201
    return int(slowest > GOAL_MS)


if __name__ == "__main__":
    sys.exit(main())
