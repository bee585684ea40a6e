"""What holds for every test: which ones are slow, and how long Hypothesis may take over its examples.

Slow tests are whole matrices and long runs. `make test` leaves them out, `make test-slow` and CI run them.
"""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

# How quickly examples are made says how busy the machine is, not whether the code is right. A test that hangs
# ends by `timeout` in pyproject.toml.
settings.register_profile(
    "handrail-sim",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    print_blob=True,
)
settings.load_profile("handrail-sim")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: programs that a test interrupts would inherit the deafness.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow") or config.getoption("-m"):
        return
    kept: list[pytest.Item] = []
    slow: list[pytest.Item] = []
    for item in items:
        (slow if item.get_closest_marker("slow") else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=slow)
