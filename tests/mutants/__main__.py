"""`make mutants`: MODULE=name for one of them, SEED=n for another draw, ALL=1 for every mutant.

Ends with 1 where a module's tests notice less than nine of ten.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from tests.mutants.examine import OUTCOMES, Report, examine
from tests.mutants.table import MODULES, ROOT

COUNT = 64
"""Mutants of one module; a draw takes one of each kind at a time and may go a little beyond."""
GOAL = 0.9


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--module", choices=[one.name for one in MODULES])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--all", action="store_true", help="every mutant instead of a draw")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "src"))
    reports: list[Report] = []
    for line in told(options, reports):
        print(line, flush=True)  # noqa: T201
    return int(any(report.caught < GOAL for report in reports))


def told(options: argparse.Namespace, reports: list[Report]) -> Iterator[str]:
    """Line by line, as modules are done."""
    yield f"{f'seed {options.seed}':12} {'mutants':>12}{''.join(f'{outcome:>12}' for outcome in OUTCOMES)}"
    for module in MODULES:
        if options.module in (None, module.name):
            count = None if options.all else COUNT
            report = examine(module, seed=options.seed, count=count, jobs=options.jobs)
            reports.append(report)
            yield report.row()
            yield from report.survivors()
    weak = [f"{report.module.name} ({report.caught:.0%})" for report in reports if report.caught < GOAL]
    yield f"Under {GOAL:.0%}: {', '.join(weak)}" if weak else f"Every module is at {GOAL:.0%} or above."


if __name__ == "__main__":
    sys.exit(main())
