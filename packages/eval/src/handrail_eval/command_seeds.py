"""Seeds as the commands of an evaluation take them."""

from __future__ import annotations

from typing import Any

import click

MOST_JOBS = 64
MOST_SEED = 1_000_000
MOST_SEEDS = 100_000


class SeedRange(click.ParamType[Any]):
    """`3`, `1..20` or `1,5,9`."""

    name = "seeds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        found: dict[int, None] = {}
        for part in str(value).split(","):
            low, dots, high = part.strip().partition("..")
            if not low.isdecimal() or (dots and not high.isdecimal()):
                self.fail(f"{value!r} is not a seed, A..B or A,B", param, ctx)
            first, last = int(low), int(high or low)
            if not 1 <= first <= last <= MOST_SEED:
                self.fail(f"{value!r}: seeds are from 1 to {MOST_SEED:,}, the lower one first", param, ctx)
            found |= dict.fromkeys(range(first, last + 1))
            if len(found) > MOST_SEEDS:
                self.fail(f"{value!r}: more than {MOST_SEEDS:,} seeds", param, ctx)
        return tuple(found)


SEEDS = SeedRange()
