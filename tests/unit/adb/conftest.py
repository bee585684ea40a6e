"""A private adb server for all tests of the client, and connections and streams without one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from handrail.adb.direct import DirectStream
from handrail.adb.server import find_adb
from tests.driver.conftest import free_port
from tests.unit.adb.lone_connection import Lone, connected
from tests.unit.adb.lone_stream import Recorder, stream_on


@pytest.fixture(scope="session")
def server_env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a server that is not running yet; it is ended after the tests."""
    adb = find_adb()
    if adb is None:
        pytest.skip("no adb binary: `pip install adbutils`, or Debian's adb package")
    home = str(tmp_path_factory.mktemp("adb"))
    env = {**os.environ, "HOME": home, "ANDROID_USER_HOME": home, "TMPDIR": home}
    env |= {"ANDROID_ADB_SERVER_PORT": str(free_port()), "HANDRAIL_ADB": str(adb)}
    env.pop("ADB_SERVER_SOCKET", None)
    yield env
    subprocess.run([adb, "kill-server"], env=env, capture_output=True)


@pytest.fixture
def lone(options: dict[str, Any]) -> AbstractAsyncContextManager[Lone]:
    return connected(**options)


@pytest.fixture
def line(options: dict[str, Any]) -> Recorder:
    return Recorder(options.pop("max_payload", 1 << 20))


@pytest.fixture
def stream(line: Recorder, options: dict[str, Any]) -> AbstractAsyncContextManager[DirectStream]:
    return stream_on(line, **options)
