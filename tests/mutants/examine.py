"""One module: its mutants are drawn, planted one by one, and counted."""

from __future__ import annotations

import pickle
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutants.changes import Change, changes_in, draw
from tests.mutants.children import Work, run
from tests.mutants.fresh import Fresh
from tests.mutants.table import Module
from tests.mutants.trials import Known, Result
from tests.mutants.warm import Warm

OUTCOMES = ("killed", "survived", "timed out")


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one module. The results stand in the order of the changes."""

    module: Module
    changes: list[Change]
    results: list[Result]
    possible: int
    known: Known
    seconds: float

    @property
    def caught(self) -> float:
        """The share that was noticed. A test that hangs counts: its timeout makes it fail."""
        return 1 - self.count("survived") / max(1, len(self.results))

    def count(self, outcome: str) -> int:
        return Counter(result.outcome for result in self.results)[outcome]

    def row(self) -> str:
        share = "".join(
            f"{self.count(one):7} {self.count(one) / max(1, len(self.results)):4.0%}" for one in OUTCOMES
        )
        drawn = f"{len(self.changes)} of {self.possible}"
        return f"{self.module.name:12} {drawn:>12}{share}  {self.seconds:6.0f} s"

    def survivors(self) -> Iterator[str]:
        for change, result in zip(self.changes, self.results, strict=True):
            if result.outcome == "survived":
                place = change.path.relative_to(self.module.src.parent)
                yield f"  {place}:{change.line}  {change.kind}{f' ({result.why})' if result.why else ''}"
                yield f"    - {change.before}"
                yield f"    + {change.after}"
        for test in sorted(self.known.failing):
            yield f"  left out, because it can fail without any mutant: {self.known.tests[test]}"


def examine(module: Module, *, seed: str, count: int | None, jobs: int) -> Report:
    """All mutants without `count`."""
    began = time.monotonic()
    possible = [change for path in module.sources() for change in changes_in(path)]
    changes = possible if count is None else draw(possible, count, f"{seed}:{module.name}")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        known, results, left = _answer(Warm(module, changes, jobs, scratch).run, scratch)
        if left:
            fresh = Fresh(module, {at: changes[at] for at in left}, known, jobs, scratch)
            known, more = _answer(fresh.run, scratch)
            results |= more
    ordered = [results[at] for at in range(len(changes))]
    return Report(module, changes, ordered, len(possible), known, time.monotonic() - began)


def _answer(work: Work, scratch: Path) -> Any:
    """What a copy of this process left in its file, or why it left nothing."""
    ((_, end),) = run([(None, work)], 1, lambda _: float("inf"))
    answer, log = scratch / "answer", scratch / "log"
    if end.status != 0 or not answer.exists():
        said = log.read_text()[-4_000:] if log.exists() else ""
        raise SystemExit(f"{said}\nThe tests could not be run (exit status {end.status}).")
    found = pickle.loads(answer.read_bytes())
    answer.unlink()
    return found
