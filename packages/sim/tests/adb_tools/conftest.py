"""A phone in a process of its own and a private adb server: what a person with a terminal has."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest


def find_adb() -> str | None:
    """HANDRAIL_ADB, else the binary of the adbutils wheel, else one on the PATH."""
    if chosen := os.environ.get("HANDRAIL_ADB"):
        return chosen
    try:
        import adbutils  # noqa: PLC0415
    except ImportError:
        return shutil.which("adb")
    inside = Path(adbutils.__file__).parent / "binaries" / "adb"
    return str(inside) if inside.exists() else shutil.which("adb")


def free_port() -> int:
    """A port nobody has at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class SimProcess:
    """`handrail-sim` as a program."""

    def __init__(self, *options: str) -> None:
        port = () if "--port" in options else ("--port", "0")
        command = [sys.executable, "-m", "handrail_sim", *port, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self._out = self.process.stdout

    def line(self) -> dict[str, Any]:
        """The next line of JSON."""
        text = self._out.readline()
        assert text, "the simulator ended"
        found: dict[str, Any] = json.loads(text)
        return found

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(10)
        self._out.close()
        return code

    def peak_memory(self) -> int:
        """The most memory this process ever had, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found
        return int(found[1]) // 1024


@dataclass
class Adb:
    """The stock adb binary with a server of its own."""

    binary: str
    server_port: int
    home: str
    serial: str = ""

    @property
    def env(self) -> dict[str, str]:
        """Keys and logs of this server stay in a folder of the test run."""
        home = {"HOME": self.home, "ANDROID_USER_HOME": self.home, "TMPDIR": self.home}
        return {**os.environ, **home, "ANDROID_ADB_SERVER_PORT": str(self.server_port)}

    def command(self, *args: str) -> list[str]:
        return [self.binary, *(["-s", self.serial] if self.serial else []), *args]

    def run(self, *args: str, stdin: bytes = b"", timeout: float = 30) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self.command(*args), input=stdin, capture_output=True, env=self.env, timeout=timeout
        )

    def text(self, *args: str, timeout: float = 30) -> str:
        """Standard output of a command that must succeed."""
        done = self.run(*args, timeout=timeout)
        assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
        return done.stdout.decode()

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(*args),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
        )


@pytest.fixture(scope="session")
def adb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Adb]:
    """A private server."""
    binary = find_adb()
    if binary is None:
        pytest.skip("no adb binary: `pip install adbutils`, or Debian's adb package")
    adb = Adb(binary, free_port(), str(tmp_path_factory.mktemp("adb")))
    adb.text("start-server")
    yield adb
    adb.run("kill-server")


@pytest.fixture(scope="module")
def sim() -> Iterator[SimProcess]:
    process = SimProcess()
    yield process
    assert process.stop() == 0


@pytest.fixture(scope="module")
def address(sim: SimProcess) -> str:
    """`host:port` of a phone that is ready."""
    return str(sim.line()["connect"])


@pytest.fixture(scope="module")
def adb(adb_server: Adb, address: str) -> Iterator[Adb]:
    """The stock adb, connected to the phone."""
    assert "connected to" in adb_server.text("connect", address)
    yield replace(adb_server, serial=address)
    adb_server.run("disconnect", address)
