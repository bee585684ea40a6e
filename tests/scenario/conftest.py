"""One phone with one session on it, open while a story is told."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.scenario.world import World, world


@pytest.fixture
def w(tmp_path: Path) -> AbstractAsyncContextManager[World]:
    return world(tmp_path)
