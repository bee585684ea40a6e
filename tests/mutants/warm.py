"""Faults inside functions: everything is imported and collected once, then a copy gets the fault.

The function keeps its identity and gets other code, so that everybody who holds it runs the fault.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.mutants.changes import Change
from tests.mutants.children import Tell, Work, run
from tests.mutants.covering import Trace
from tests.mutants.running import Runner, be_silent, collect
from tests.mutants.table import Module
from tests.mutants.trials import KILLED, NEEDS_IMPORT, NOT_RUN, SURVIVED, Known, Trials

Functions = dict[tuple[str, str, int], list[FunctionType]]
"""By file, qualified name and first line."""


class Warm:
    """One module's tests in one process."""

    def __init__(self, module: Module, changes: list[Change], jobs: int, scratch: Path) -> None:
        self._module, self._changes, self._jobs, self._scratch = module, changes, jobs, scratch
        self._sources = module.sources()
        self._importing = Trace(self._sources)
        self._known = Known()
        self._items: list[pytest.Item] = []

    def run(self, _: Tell) -> int:
        """Leaves what it found out in a file, for the process that it is a copy of."""
        be_silent(self._scratch / "log")
        self._importing.start()
        return collect(self._module, Runner(self._loop))

    def _loop(self, runner: Runner, items: list[pytest.Item]) -> None:
        self._importing.stop()
        self._items = items
        self._known.imported = self._importing.functions
        self._known.loaded = list(sys.modules)
        self._known.tests = [item.nodeid for item in items]
        self._cover(runner)
        functions = _functions_of(self._sources)
        trials = Trials(
            self._known,
            lambda change: self._trial(runner, change, functions[_key(change)]),
            lambda tests, answer: lambda tell: runner.leave_failing(items, tests, answer, tell),
            self._jobs,
            self._scratch,
        )
        inside = {at: one for at, one in enumerate(self._changes) if self._is_inside(one, functions)}
        trials.run(inside)
        left = [*trials.left, *(at for at in range(len(self._changes)) if at not in inside)]
        (self._scratch / "answer").write_bytes(pickle.dumps((self._known, trials.results, left)))

    def _is_inside(self, change: Change, functions: Functions) -> bool:
        """It is in a function that lives and that importing has not run."""
        path, name, _ = key = _key(change)
        return key in functions and (path, name) not in self._known.imported

    def _cover(self, runner: Runner) -> None:
        """Every test once, without a fault, traced."""
        known, jobs = self._known, self._jobs
        known.seconds = [60.0] * len(self._items)
        answers = [self._scratch / f"cover{number}" for number in range(jobs)]

        def work(number: int) -> Work:
            mine = range(number, len(self._items), jobs)
            return lambda tell: self._traced(runner, mine, answers[number], tell)

        for number, _ in run([(number, work(number)) for number in range(jobs)], jobs, known.patience):
            for test, has_passed, seconds, lines in pickle.loads(answers[number].read_bytes()):
                known.seconds[test] = seconds
                known.failing |= set() if has_passed else {test}
                for line in lines:
                    known.covering[line].add(test)

    def _traced(self, runner: Runner, mine: range, answer: Path, tell: Tell) -> int:
        found = []
        for test in mine:
            tell(test)
            trace, began = Trace(self._sources), time.monotonic()
            trace.start()
            after = test + mine.step
            has_passed = runner.passes(self._items[test], self._items[after] if after in mine else None)
            trace.stop()
            found.append((test, has_passed, time.monotonic() - began, trace.lines))
        answer.write_bytes(pickle.dumps(found))
        return 0

    def _trial(self, runner: Runner, change: Change, live: list[FunctionType]) -> Work:
        tests = self._known.tests_for(change)

        def work(tell: Tell) -> int:
            if not tests:
                return NOT_RUN
            if not _swap(change, live):
                return NEEDS_IMPORT
            passed = runner.all_pass([self._items[test] for test in tests], lambda at: tell(tests[at]))
            return SURVIVED if passed else KILLED

        return work


def _key(change: Change) -> tuple[str, str, int]:
    return (str(change.path), *(change.function or ("", 0)))


def _functions_of(sources: list[Path]) -> Functions:
    """Every function of these files that is alive; `conftest.py` froze them, which hides them from `gc`."""
    gc.unfreeze()
    files, found = set(map(str, sources)), defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            code = one.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(one)
    return dict(found)


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
