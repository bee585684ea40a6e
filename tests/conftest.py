"""What holds for every test: which ones are slow, and how long Hypothesis may take over its examples.

Slow tests are whole matrices and long runs. `make test` leaves them out, `make test-slow` and CI run them.
"""

from __future__ import annotations

import gc
import os
import signal
from contextlib import suppress
from importlib import import_module

import pytest
from hypothesis import HealthCheck, settings

# How quickly examples are made says how busy the machine is, not whether the code is right. A test that hangs
# ends by `timeout` in pyproject.toml.
settings.register_profile(
    "handrail",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    print_blob=True,
)
settings.load_profile("handrail")

# A process that stays behind would outlive its test and its home. Tests of it ask for it by themselves.
os.environ["HANDRAIL_NO_DAEMON"] = "1"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: programs that a test interrupts would inherit the deafness.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Nothing that collecting makes is garbage: 13,000 tests would be looked through for it again and again.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each worker begin at another module.

    On a new clone every test module is compiled once, with asserts that explain themselves. Workers that
    begin at the same module would all compile it, and then the next.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    root = session.config.rootpath
    folders = [path for path in (root / name for name in session.config.args) if path.is_dir()]
    files = sorted(file for folder in folders for file in folder.rglob("test_*.py"))
    start = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in files[start:] + files[:start]:
        with suppress(Exception, pytest.skip.Exception):  # collecting says what is wrong with a module
            import_module(".".join(file.relative_to(root).with_suffix("").parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow") or config.getoption("-m"):
        return
    kept: list[pytest.Item] = []
    slow: list[pytest.Item] = []
    for item in items:
        (slow if item.get_closest_marker("slow") else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=slow)
