"""What fuzz runs have in common: they count what came of their inputs and keep the slowest one."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Report = Callable[[str], None]


@dataclass
class Tally:
    """What a run saw; times are CPU times."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest_ms: float = 0.0
    slowest: bytes | str = b""

    @classmethod
    def of(cls, inputs: Iterable[Any], use: Callable[[Any, int], str], report: Report = str) -> Tally:
        """`use` names what came of an input. One that fails is shown with its number."""
        tally = cls()
        for number, given in enumerate(inputs, start=1):
            began = time.process_time()
            try:
                tally.outcomes[use(given, number)] += 1
            except Exception:
                report(f"failed at input {number}: {given[:2000]!r}")
                raise
            took_ms = (time.process_time() - began) * 1000
            if took_ms > tally.slowest_ms:
                tally.slowest_ms, tally.slowest = took_ms, given
            if number % 10_000 == 0:
                report(f"{number} inputs, {tally}")
        return tally

    def __str__(self) -> str:
        return f"{dict(self.outcomes)}, slowest {self.slowest_ms:.1f} ms"


def main(
    run: Callable[[int, int, Report], Tally], description: str | None, count: int, goal_ms: float
) -> int:
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--count", type=int, default=count)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--save-slowest", type=Path, help="write the slowest input to this file")
    given = arguments.parse_args()
    tally = run(given.count, given.seed, lambda line: print(line, flush=True))  # noqa: T201
    verdict = "within" if tally.slowest_ms < goal_ms else "ABOVE"
    print(f"seed {given.seed}: {tally}, {verdict} {goal_ms:.0f} ms")  # noqa: T201
    if given.save_slowest:
        slowest = tally.slowest
        given.save_slowest.write_bytes(slowest if isinstance(slowest, bytes) else slowest.encode())
    return 0
