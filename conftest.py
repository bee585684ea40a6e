"""What holds for every test: which ones are slow, and how long Hypothesis may take over its examples.

Slow tests are whole matrices and long runs. `make test` leaves them out, `make test-slow` runs them.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
from contextlib import AsyncExitStack, _AsyncGeneratorContextManager
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

# How quickly examples are made says how busy the machine is, not whether the code is right. A test that hangs
# ends by `timeout` in pyproject.toml.
# The same examples every time: a new one is looked for by `make fuzz`, not by whoever runs the tests.
settings.register_profile(
    "handrail",
    deadline=None,
    derandomize=True,
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


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a coroutine function by its own or its module's `ASYNC_RUNNER`, else by `asyncio.run`."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    module_runner = getattr(pyfuncitem.module, "ASYNC_RUNNER", asyncio.run)
    run = getattr(pyfuncitem.obj, "async_runner", module_runner)
    run(_with_open_fixtures(pyfuncitem))
    return True


async def _with_open_fixtures(test: pytest.Function) -> None:
    """Fixtures that are asynchronous context managers are open while the test runs, in its loop."""
    async with AsyncExitStack() as stack:
        values = dict(test.funcargs)
        for name, value in values.items():
            if isinstance(value, _AsyncGeneratorContextManager):
                values[name] = await stack.enter_async_context(value)
        names = test._fixtureinfo.argnames  # as pytest's own call of a plain function
        await test.obj(**{name: values[name] for name in names})


@pytest.fixture
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What `@pytest.mark.options(…)` says about how a fixture of this test is made."""
    marker = request.node.get_closest_marker("options")
    return dict(marker.kwargs) if marker else {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")
    parser.addoption("--sample", action="store_true", help="run one slow test of every file that has some")


SLOW_S = 600
"""For a slow test that names no time of its own. Alone they need 40 s."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_S))
    if config.getoption("--slow") or config.getoption("-m"):
        return
    slow = [item for item in items if item.get_closest_marker("slow") or item.get_closest_marker("fleet")]
    if config.getoption("--sample"):
        first: dict[str, pytest.Item] = {}
        for item in sorted(slow, key=lambda item: crc32(item.nodeid.encode())):
            if not item.get_closest_marker("fleet"):
                first.setdefault(item.path.as_posix(), item)
        chosen = set(first.values())
    else:
        chosen = set(items) - set(slow)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]
