"""An MCP server with a phone, open while the test runs."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.mcp_conformance.door import Door, door


@pytest.fixture
def d(tmp_path: Path) -> AbstractAsyncContextManager[Door]:
    return door(tmp_path)
