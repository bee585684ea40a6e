"""A desk behind a real port, served while the test runs."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.unit.web_server.door import Door, door


@pytest.fixture
def served(tmp_path: Path) -> AbstractAsyncContextManager[Door]:
    return door(tmp_path)
