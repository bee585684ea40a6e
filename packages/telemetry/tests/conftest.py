"""What holds for tests of telemetry."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

EXPORT_S = 60.0
"""An exporter gives up after five seconds; the rest is for a busy machine."""


@pytest.fixture(autouse=True)
def exporters_end_with_their_test() -> Iterator[None]:
    """An exporter whose collector is silent retries in its own thread after `close`, at times drawn from
    `random`. Hypothesis forbids that while it draws the examples of the next test in this process.
    """
    before = set(threading.enumerate())
    yield
    for thread in threading.enumerate():
        if thread not in before and thread.daemon:
            thread.join(EXPORT_S)
            assert not thread.is_alive(), thread.name
