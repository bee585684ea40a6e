"""Handrail in pytest: phones, browsers, a desk and flows as fixtures; a failing test brings its evidence.

pytest loads this file in every run of an environment that has Handrail: it imports nothing of it before a
fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from handrail.engine.session import Session
    from handrail.flow.run_record import FlowRecord
    from handrail.pytest_plugin.opening import FixtureDevice
    from handrail.sync import BlockingDesk, BlockingPhone


MARKER = (
    "handrail(app=None, faults=(), seed=1, helper=None, hosts=()): the phone of this test: the app that is "
    "started, the simulated phone's faults and seed, its helper, and hosts that a browser may open"
)
SIM, BROWSER = "sim", "browser"


@pytest.hookimpl
def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("handrail", "Handrail: phones and browsers")
    group.addoption(
        "--handrail-device",
        action="append",
        metavar="SERIAL|sim|browser",
        help="what the `phone` fixture is: a new simulated phone for every test (sim, the default), a new "
        "browser, or a real phone. Several serials are shared out among the workers of xdist",
    )
    group.addoption(
        "--handrail-out",
        metavar="DIR",
        type=Path,
        help="where failing tests leave pictures and reports; a folder of pytest's own when absent",
    )


@pytest.hookimpl
def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker, and refuses more workers than there are phones."""
    config.addinivalue_line("markers", MARKER)
    workers = len(config.getoption("tx", None) or ())
    real = [device for device in _devices(config) if device not in (SIM, BROWSER)]
    if real and workers > len(real):
        raise pytest.UsageError(
            f"{workers} workers can't share {len(real)} phone{'' if len(real) == 1 else 's'} "
            f"({', '.join(real)}): one acts at a time. Use -n {len(real)}, name a phone for each worker by "
            "--handrail-device, or leave the option out: every test then has a simulated phone of its own."
        )


def _devices(config: pytest.Config) -> list[str]:
    return config.getoption("--handrail-device") or [SIM]


def device_of(config: pytest.Config) -> str:
    """The device of this worker; without xdist the first."""
    devices = _devices(config)
    worker = getattr(config, "workerinput", {}).get("workerid", "gw0")
    return devices[int(worker.removeprefix("gw")) % len(devices)]


@pytest.hookimpl
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A marker that says what nobody understands fails its test, also where no fixture reads it."""
    if any(item.iter_markers("handrail")):
        from handrail.pytest_plugin.opening import marker_options  # noqa: PLC0415

        marker_options(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A test that failed shows its device, which is still open."""
    outcome: Any = yield
    opened = item.stash.get(OPENED, [])
    report: pytest.TestReport = outcome.get_result()
    if opened and report.when in ("setup", "call"):
        from handrail.pytest_plugin.evidence import attach_evidence  # noqa: PLC0415

        attach_evidence(item, report, call.excinfo, opened)


OPENED: pytest.StashKey[list[FixtureDevice]] = pytest.StashKey()
"""What the fixtures of a test have opened."""


@pytest.fixture
def phone(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BlockingPhone]:
    """A phone for this test alone; its methods return when they are done and raise when they fail."""
    from handrail.pytest_plugin.opening import FixtureDevice  # noqa: PLC0415

    with FixtureDevice(request.node, device_of(request.config), tmp_path_factory).phone() as opened:
        yield opened


@pytest.fixture
def async_phone(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], AbstractAsyncContextManager[Session]]:
    """For tests that are awaited: `async with async_phone() as phone:`, whatever runs their loop."""
    from handrail.pytest_plugin.opening import FixtureDevice  # noqa: PLC0415

    return FixtureDevice(request.node, device_of(request.config), tmp_path_factory).open_async


@pytest.fixture
def browser_page(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BlockingPhone]:
    """A new browser for this test alone, without any window that a person sees."""
    from handrail.pytest_plugin.opening import FixtureDevice  # noqa: PLC0415

    with FixtureDevice(request.node, BROWSER, tmp_path_factory).phone() as opened:
        yield opened


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingDesk]:
    """An empty desk for this test alone."""
    from handrail.sync import desk as opened_desk  # noqa: PLC0415

    with opened_desk(tmp_path_factory.mktemp("handrail-desk")) as opened:
        yield opened


@pytest.fixture
def flow(request: pytest.FixtureRequest, phone: BlockingPhone) -> Callable[..., FlowRecord]:
    """`flow("path.yaml", env={...})` runs a flow's file on `phone`. Paths begin at the test's own file."""

    def run(path: str | Path, *, env: Mapping[str, str] | None = None) -> FlowRecord:
        __tracebackhide__ = True
        beside = request.path.parent / path
        return phone.flow(beside if beside.exists() else path, env=env)

    return run
