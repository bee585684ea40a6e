"""pytest inside this process: tests are collected once, and run one by one in any order."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.mutants.children import Tell
from tests.mutants.table import ROOT, Module


class Runner:
    """A plugin that leaves collecting to pytest and gives the collected tests to `loop`."""

    def __init__(self, loop: Callable[[Runner, list[pytest.Item]], None]) -> None:
        self._loop = loop
        self._has_failed = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """The same examples every time, and no search for the smallest one that fails."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.default, derandomize=True, database=None, phases=phases)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed:
            return None  # pytest tells what could not be collected
        self._loop(self, session.items)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._has_failed |= report.failed

    def passes(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """`following` says which fixtures are still needed."""
        self._has_failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return not self._has_failed

    def all_pass(self, items: Sequence[pytest.Item], tell: Tell) -> bool:
        """Up to the first that fails; `tell` hears the place of each before it runs."""
        for at, item in enumerate(items):
            tell(at)
            if not self.passes(item, items[at + 1] if at + 1 < len(items) else None):
                return False
        return True

    def leave_failing(
        self,
        items: Mapping[int, pytest.Item] | Sequence[pytest.Item],
        tests: list[int],
        answer: Path,
        tell: Tell,
    ) -> int:
        """Runs some tests, each alone, and leaves the numbers of those that fail in a file."""
        failing = []
        for test in tests:
            tell(test)
            if not self.passes(items[test], None):
                failing.append(test)
        answer.write_bytes(pickle.dumps(failing))
        return 0


def collect(module: Module, runner: Runner) -> int:
    """Runs pytest up to the runner's loop. The exit status is pytest's."""
    words = [
        "-q", "--assert=plain", "--capture=sys", "--timeout=0", "-p", "no:cacheprovider", "-p", "no:xdist",
    ]  # fmt: skip
    places = [f"--rootdir={ROOT}", f"--config-file={ROOT / 'pyproject.toml'}"]
    return int(pytest.main([*words, *places, *map(str, module.guards())], plugins=[runner]))


def be_silent(log: Path) -> None:
    """What this process and its copies print goes to a file from now on."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
