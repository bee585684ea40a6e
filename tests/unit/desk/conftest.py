"""A desk on a store of its own, open while the test runs."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.unit.desk.office import Office, office


@pytest.fixture
def here(tmp_path: Path) -> AbstractAsyncContextManager[Office]:
    return office(tmp_path)
