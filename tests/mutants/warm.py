"""Faults inside functions: everything is imported and collected once, then a copy gets the fault.

The function keeps its identity and gets other code, so that everybody who holds it runs the fault.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.mutants.changes import Change
from tests.mutants.children import Tell, Work, run
from tests.mutants.covering import Trace
from tests.mutants.running import Runner, be_silent, collect
from tests.mutants.table import Module

Functions = dict[tuple[str, str, int], list[FunctionType]]
"""By file, qualified name and first line."""
SURVIVED, KILLED, NEEDS_IMPORT = 0, 1, 2
"""Exit statuses of a copy."""
PATIENCE_S, TIMES = 5.0, 6.0
"""A test that takes longer than this and so many times its usual time hangs."""


@dataclass(slots=True)
class Known:
    """What running the tests without a fault told, and what running them with faults adds."""

    tests: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failing: set[int] = field(default_factory=set)
    """They fail without any fault, so they can prove nothing."""
    covering: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))
    imported: set[tuple[str, str]] = field(default_factory=set)
    """Functions that importing runs: their faults need an import."""
    loaded: list[str] = field(default_factory=list)
    kills: Counter[int] = field(default_factory=Counter)

    def patience(self, told: int | None) -> float:
        return PATIENCE_S + TIMES * (self.seconds[told] if told is not None else 1.0)

    def best_first(self, tests: set[int]) -> list[int]:
        """Those that noticed most so far, then the quick ones."""
        return sorted(tests - self.failing, key=lambda one: (-self.kills[one], self.seconds[one], one))

    def tests_for(self, change: Change) -> list[int]:
        return self.best_first(set().union(*(self.covering[str(change.path), line] for line in change.lines)))


@dataclass(frozen=True, slots=True)
class Result:
    """`outcome` is killed, survived or timed out; `by` is the test that noticed."""

    outcome: str
    by: str
    seconds: float


def told(known: Known, status: int | None, test: int | None, seconds: float) -> Result:
    """Whatever ends a copy but its own verdict is a fault that shows itself."""
    by = known.tests[test] if test is not None else "importing"
    if status is None:
        return Result("timed out", by, seconds)
    if status == SURVIVED:
        return Result("survived", "", seconds)
    if test is not None:
        known.kills[test] += 1
    return Result("killed", by, seconds)


class Warm:
    """One module's tests in one process."""

    def __init__(self, module: Module, changes: list[Change], jobs: int, scratch: Path) -> None:
        self._module, self._changes, self._jobs, self._scratch = module, changes, jobs, scratch
        self._importing = Trace(module.sources())
        self.known = Known()
        self.results: dict[int, Result] = {}
        self.left: list[int] = []

    def run(self, _: Tell) -> int:
        """Leaves what it found out in a file, for the process that it is a copy of."""
        be_silent(self._scratch / "log")
        self._importing.start()
        status = collect(self._module, Runner(self._loop))
        answer = self.known, self.results, self.left
        (self._scratch / "answer").write_bytes(pickle.dumps(answer))
        return status

    def _loop(self, runner: Runner, items: list[pytest.Item]) -> None:
        self._importing.stop()
        self.known.imported = self._importing.functions
        self.known.loaded = list(sys.modules)
        self.known.tests = [item.nodeid for item in items]
        self._cover(runner, items)
        self._plant_all(runner, items)

    def _cover(self, runner: Runner, items: list[pytest.Item]) -> None:
        """Every test once, without a fault, traced."""
        sources, jobs = self._module.sources(), self._jobs
        self.known.seconds = [60.0] * len(items)

        def work(start: int) -> Work:
            mine = range(start, len(items), jobs)
            return lambda tell: _traced(runner, items, mine, sources, self._scratch / f"cover{start}", tell)

        for start, _ in run([(start, work(start)) for start in range(jobs)], jobs, self.known.patience):
            for test, has_passed, seconds, lines in pickle.loads(
                (self._scratch / f"cover{start}").read_bytes()
            ):
                self.known.seconds[test] = seconds
                if not has_passed:
                    self.known.failing.add(test)
                for line in lines:
                    self.known.covering[line].add(test)

    def _plant_all(self, runner: Runner, items: list[pytest.Item]) -> None:
        functions = _functions_of(self._module.sources())
        for at, end in run(self._tasks(runner, items, functions), self._jobs, self.known.patience):
            if end.status == NEEDS_IMPORT:
                self.left.append(at)
            else:
                self.results[at] = told(self.known, end.status, end.told, end.seconds)

    def _tasks(
        self, runner: Runner, items: list[pytest.Item], functions: Functions
    ) -> Iterator[tuple[int, Work]]:
        for at, change in enumerate(self._changes):
            name, line = change.function or ("", 0)
            live = functions.get((str(change.path), name, line))
            if not live or (str(change.path), name) in self.known.imported:
                self.left.append(at)
            elif not (tests := self.known.tests_for(change)):
                self.results[at] = Result("survived", "no test runs it", 0.0)
            else:
                yield at, _trial(runner, items, tests, change, live)


def _traced(
    runner: Runner, items: list[pytest.Item], mine: range, sources: list[Path], answer: Path, tell: Tell
) -> int:
    found = []
    for test in mine:
        tell(test)
        trace = Trace(sources)
        began = time.monotonic()
        trace.start()
        has_passed = runner.passes(
            items[test], items[test + mine.step] if test + mine.step < len(items) else None
        )
        trace.stop()
        found.append((test, has_passed, time.monotonic() - began, trace.lines))
    answer.write_bytes(pickle.dumps(found))
    return 0


def _trial(
    runner: Runner, items: list[pytest.Item], tests: list[int], change: Change, live: list[FunctionType]
) -> Work:
    def work(tell: Tell) -> int:
        if not _swap(change, live):
            return NEEDS_IMPORT
        passed = runner.all_pass([items[test] for test in tests], lambda at: tell(tests[at]))
        return SURVIVED if passed else KILLED

    return work


def _functions_of(sources: list[Path]) -> Functions:
    """Every function of these files that is alive."""
    files, found = set(map(str, sources)), defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            code = one.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(one)
    return found


def _swap(change: Change, live: list[FunctionType]) -> bool:
    """False where the fault changes what the code needs from around it."""
    code = compile(change.plant(), str(change.path), "exec", dont_inherit=True)
    new = next(one for one in _codes(code) if (one.co_qualname, one.co_firstlineno) == change.function)
    try:
        for function in live:
            function.__code__ = new
    except ValueError:
        return False
    return True


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)
