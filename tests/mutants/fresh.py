"""Faults that matter while importing: constants, tables, defaults, and functions that importing calls.

A process imports all that does not depend on the module. Its copies import the rest, with the fault in it.
"""

from __future__ import annotations

import importlib
import pickle
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TypeVar

import pytest

from tests.mutants.changes import Change
from tests.mutants.children import BROKEN, Tell, Work
from tests.mutants.running import Runner, be_silent, collect
from tests.mutants.table import Module
from tests.mutants.trials import KILLED, SURVIVED, Known, Trials

T = TypeVar("T")


class Fresh:
    """The faults of one module that need an import."""

    def __init__(
        self, module: Module, changes: dict[int, Change], known: Known, jobs: int, scratch: Path
    ) -> None:
        self._module, self._changes, self._known = module, changes, known
        self._jobs, self._scratch = jobs, scratch

    def run(self, _: Tell) -> int:
        """Leaves what it found out in a file, for the process that it is a copy of."""
        be_silent(self._scratch / "log")
        _preload(self._known.loaded, {self._module.module_of(path) for path in self._module.sources()})
        trials = Trials(self._known, self._trial, self._clean, self._jobs, self._scratch)
        trials.run(self._changes)
        (self._scratch / "answer").write_bytes(pickle.dumps((self._known, trials.results)))
        return 0

    def _trial(self, change: Change) -> Work:
        tests = self._known.all_tests()

        def work(tell: Tell) -> int:
            sys.meta_path.insert(0, _Planted(self._module.module_of(change.path), change))

            def passes(runner: Runner, items: dict[int, pytest.Item]) -> bool:
                if not items.keys() >= set(tests):
                    return False  # which tests there are depends on the module
                return runner.all_pass([items[test] for test in tests], lambda at: tell(tests[at]))

            return SURVIVED if self._collected(passes) else KILLED

        return work

    def _clean(self, tests: list[int], answer: Path) -> Work:
        def work(tell: Tell) -> int:
            status = self._collected(lambda runner, items: runner.leave_failing(items, tests, answer, tell))
            return BROKEN if status is None else status

        return work

    def _collected(self, use: Callable[[Runner, dict[int, pytest.Item]], T]) -> T | None:
        """What `use` makes of the tests, by their numbers; None where they can't be collected."""
        found: list[T] = []

        def loop(runner: Runner, items: list[pytest.Item]) -> None:
            by_name = {item.nodeid: item for item in items}
            numbered = {
                number: by_name[name] for number, name in enumerate(self._known.tests) if name in by_name
            }
            found.append(use(runner, numbered))

        collect(self._module, Runner(loop))
        return found[0] if found else None


def _preload(names: list[str], changed: set[str]) -> None:
    """What refuses to be imported without the changed modules is what depends on them."""
    without = _Without(changed)
    sys.meta_path.insert(0, without)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            if not name.startswith(("tests.", "__main__", "conftest")):
                try:
                    importlib.import_module(name)
                except Exception:  # some modules are made by hand and have no file
                    continue
    sys.meta_path.remove(without)


class _Without(MetaPathFinder):
    def __init__(self, names: set[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name in self._names:
            raise ImportError(name)


class _Planted(MetaPathFinder):
    """Finds one module, with its fault."""

    def __init__(self, name: str, change: Change) -> None:
        self._name, self._change = name, change

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None:
            spec.loader = _Loader(name, str(self._change.path), self._change)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, change: Change) -> None:
        super().__init__(name, path)
        self._change = change

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._change.plant(), self.path, "exec", dont_inherit=True)
