"""The journal of a test's folder, open while the test runs."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from handrail.journal import Journal
from tests.unit.journal.journalist import opened


@pytest.fixture
def journal(tmp_path: Path) -> AbstractAsyncContextManager[Journal]:
    return opened(tmp_path)
