"""Many faults, one after the other, each in a copy of its own; and a second look at the tests that noticed.

A test that also fails without a fault, because the machine is busy or because it is unsteady, proves nothing:
what only it noticed is tried again without it.
"""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutants.changes import Change
from tests.mutants.children import End, Work, run

SURVIVED, KILLED, NEEDS_IMPORT, NOT_RUN = 0, 1, 2, 3
"""Exit statuses of a copy; any other is a fault that shows itself."""
PATIENCE_S, TIMES = 5.0, 6.0
"""A test that takes longer than this and so many times its usual time hangs."""


@dataclass(slots=True)
class Known:
    """What running the tests without a fault told, and what running them with faults adds."""

    tests: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failing: set[int] = field(default_factory=set)
    """They fail without any fault."""
    covering: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))
    imported: set[tuple[str, str]] = field(default_factory=set)
    """Functions that importing runs: their faults need an import."""
    loaded: list[str] = field(default_factory=list)
    kills: Counter[int] = field(default_factory=Counter)

    def patience(self, told: int | None) -> float:
        return PATIENCE_S + TIMES * (self.seconds[told] if told is not None else 1.0)

    def all_tests(self) -> list[int]:
        return self._best_first(set(range(len(self.tests))))

    def tests_for(self, change: Change) -> list[int]:
        """Those that run its lines."""
        return self._best_first(
            set().union(*(self.covering[str(change.path), line] for line in change.lines))
        )

    def _best_first(self, tests: set[int]) -> list[int]:
        """Those that noticed most so far, then the quick ones."""
        return sorted(tests - self.failing, key=lambda one: (-self.kills[one], self.seconds[one], one))


@dataclass(frozen=True, slots=True)
class Result:
    """`outcome` is killed, survived or timed out; `test` is the one that noticed, None while importing."""

    outcome: str
    test: int | None = None
    why: str = ""


class Trials:
    """`trial` tries one fault, `clean` runs some tests without any and leaves those that fail in a file."""

    def __init__(
        self,
        known: Known,
        trial: Callable[[Change], Work],
        clean: Callable[[list[int], Path], Work],
        jobs: int,
        scratch: Path,
    ) -> None:
        self._known, self._trial, self._clean = known, trial, clean
        self._jobs, self._scratch = jobs, scratch
        self._trusted: set[int] = set()
        self.results: dict[int, Result] = {}
        self.left: list[int] = []
        """Those that need an import."""

    def run(self, changes: dict[int, Change]) -> None:
        due = changes
        while due:
            for at, end in run(self._tasks(due), self._jobs, self._known.patience):
                self._note(at, end)
            doubtful = self._failing_clean()
            due = {at: changes[at] for at, result in self.results.items() if result.test in doubtful}

    def _tasks(self, due: dict[int, Change]) -> Iterator[tuple[int, Work]]:
        for at, change in due.items():
            yield at, self._trial(change)

    def _note(self, at: int, end: End) -> None:
        if end.status == NEEDS_IMPORT:
            self.left.append(at)
        elif end.status == NOT_RUN:
            self.results[at] = Result("survived", why="no test runs it")
        elif end.status == SURVIVED:
            self.results[at] = Result("survived")
        else:
            self.results[at] = Result("timed out" if end.status is None else "killed", end.told)
            if end.told is not None:
                self._known.kills[end.told] += 1

    def _failing_clean(self) -> set[int]:
        """Which of the tests that noticed fail without a fault, too."""
        killers = {result.test for result in self.results.values() if result.test is not None} - self._trusted
        if not killers:
            return set()
        answer = self._scratch / "clean"
        ((_, end),) = run([(None, self._clean(sorted(killers), answer))], 1, self._known.patience)
        if end.told is None:
            raise RuntimeError("the tests can't be collected without a fault")
        failing = {end.told} if end.status != 0 else set(pickle.loads(answer.read_bytes()))
        self._known.failing |= failing
        self._trusted |= killers - failing if end.status == 0 else set()
        return failing
