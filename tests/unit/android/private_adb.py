"""A stock adb server of the test's own: port, keys and logs are nobody else's."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from handrail.adb.server import find_adb


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def private_env(folder: Path) -> dict[str, str]:
    """An environment in which nothing of the person's own is seen or touched."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "HANDRAIL_ADB") if name in os.environ}
    home = {"HOME": str(folder), "ANDROID_USER_HOME": str(folder), "TMPDIR": str(folder)}
    return {
        **kept,
        **home,
        "HANDRAIL_HOME": str(folder / "handrail"),
        "HANDRAIL_NO_DAEMON": "1",  # one would take a command over and end this very process with it
        "ANDROID_ADB_SERVER_PORT": str(free_port()),
    }


def adb(env: Mapping[str, str], *words: str) -> str:
    """The stock adb program."""
    binary = find_adb(env)
    assert binary is not None
    done = subprocess.run([str(binary), *words], env=dict(env), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def adb_env(tmp_path: Path) -> Iterator[dict[str, str]]:
    """No server runs at first; one that was started is ended."""
    env = private_env(tmp_path)
    if find_adb(env) is None:
        pytest.skip("no adb binary: `pip install adbutils`, or Debian's adb package")
    yield env
    with socket.socket() as probe:
        running = probe.connect_ex(("127.0.0.1", int(env["ANDROID_ADB_SERVER_PORT"]))) == 0
    if running:
        adb(env, "kill-server")
