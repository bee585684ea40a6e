"""Faults that matter while importing: constants, tables, defaults, and functions that importing calls.

A process imports all that does not depend on the module. Its copies import the rest, with the fault in it.
"""

from __future__ import annotations

import importlib
import pickle
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.mutants.changes import Change
from tests.mutants.children import Tell, Work, run
from tests.mutants.running import Runner, be_silent, collect
from tests.mutants.table import Module
from tests.mutants.warm import KILLED, SURVIVED, Known, Result, told


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
        results: dict[int, Result] = {}
        for at, end in run(self._tasks(), self._jobs, self._known.patience):
            if at is not None:
                results[at] = told(self._known, end.status, end.told, end.seconds)
            elif end.status != SURVIVED:
                raise RuntimeError("the tests fail without any fault")
        (self._scratch / "answer").write_bytes(pickle.dumps(results))
        return 0

    def _tasks(self) -> Iterator[tuple[int | None, Work]]:
        """First of all none: what is killed then would have been killed by this process itself."""
        yield None, self._trial(None)
        for at, change in self._changes.items():
            yield at, self._trial(change)

    def _trial(self, change: Change | None) -> Work:
        tests = self._known.best_first(set(range(len(self._known.tests))))

        def work(tell: Tell) -> int:
            passed = []

            def loop(runner: Runner, items: list[pytest.Item]) -> None:
                found = {item.nodeid: item for item in items}
                wanted = [test for test in tests if self._known.tests[test] in found]
                chosen = [found[self._known.tests[test]] for test in wanted]
                passed.append(bool(chosen) and runner.all_pass(chosen, lambda number: tell(wanted[number])))

            if change is not None:
                sys.meta_path.insert(0, _Planted(self._module.module_of(change.path), change))
            collect(self._module, Runner(loop))
            return SURVIVED if passed == [True] else KILLED

        return work


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
