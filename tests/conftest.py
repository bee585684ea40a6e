"""What holds for every test: which ones are slow, and how long Hypothesis may take over its examples.

Slow tests are whole matrices and long runs. `make test` leaves them out, `make test-slow` and CI run them.
"""

from __future__ import annotations

import gc
import os
import signal

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


SLOW_S = 180
"""For a slow test that names no time of its own. Alone they need 40 s, beside others three times that."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_S))
    if config.getoption("--slow") or config.getoption("-m"):
        return
    kept: list[pytest.Item] = []
    slow: list[pytest.Item] = []
    for item in items:
        (slow if item.get_closest_marker("slow") or item.get_closest_marker("fleet") else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=slow)
