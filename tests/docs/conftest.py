"""What the tests of the pages share."""

from __future__ import annotations

import os

import pytest

from tests.docs.installed import Built, build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both distributions, built once."""
    if not os.environ.get("HANDRAIL_NEW_USER"):
        pytest.skip("HANDRAIL_NEW_USER=1 builds and installs both distributions")
    return build(tmp_path_factory.mktemp("built"))
