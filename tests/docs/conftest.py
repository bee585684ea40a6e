"""What the tests of the pages share: both distributions, built once, and figures for the end of a run."""

from __future__ import annotations

import fcntl
import os

import pytest

from tests.docs.installed import Built, build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """By whichever worker comes first; the others wait for it."""
    if not os.environ.get("HANDRAIL_NEW_USER"):
        pytest.skip("HANDRAIL_NEW_USER=1 builds and installs both distributions")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Built(folder) if (folder / "ready").exists() else build(folder)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests recorded as `figure`, wherever they ran."""
    reports = [one for state in ("passed", "failed") for one in terminalreporter.stats.get(state, ())]
    figures = sorted(value for one in reports for name, value in one.user_properties if name == "figure")
    if figures:
        terminalreporter.section("figures")
        terminalreporter.write("".join(f"{figure}\n" for figure in figures))
