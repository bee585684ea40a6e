"""A phone in a process of its own and a private adb server: what a person with a terminal has.

`pytest tests/driver --device SERIAL` runs the driver's promises on a real phone instead; everything else here
is about the simulator and is skipped then.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.driver import promises
from tests.driver.ways import HELPERS, TRANSPORTS, Way


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", metavar="SERIAL", help="run the driver's promises on this phone")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "simulator(why): needs what only the simulator has")
    config.addinivalue_line("markers", "helpers(*names): is about these of none, u2 and handrail only")


def device_of(config: pytest.Config) -> str | None:
    """The option is unknown when pytest was started above this folder."""
    found: str | None = config.getoption("--device", default=None)
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if device_of(config) is None:
        return
    for item in items:
        mark = item.get_closest_marker("simulator")
        if "way" not in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="is about the simulator, not about a phone's driver"))
        elif mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"only on the simulator: {mark.args[0]}"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every way to a phone: two transports and three helpers; a real phone is behind the adb server.

    Two of the six are quick to run; the whole matrix is a slow test. A real phone is asked for everything.
    """
    if "way" not in metafunc.fixturenames:
        return
    transports = ("server",) if device_of(metafunc.config) else TRANSPORTS
    only = metafunc.definition.get_closest_marker("helpers")
    helpers = only.args if only else HELPERS
    pairs = [(transport, helper) for transport in transports for helper in helpers]
    quick = pairs[:1] if only else [("direct", "none"), ("direct", "u2")]
    if device_of(metafunc.config):
        quick = pairs
    ways = [
        pytest.param(pair, id="-".join(pair), marks=[] if pair in quick else [pytest.mark.slow])
        for pair in pairs
    ]
    metafunc.parametrize("way", ways, indirect=True)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """With a real phone: a table of promises, to be pasted into an issue."""
    if (serial := device_of(config)) is not None:
        port = int(os.environ.get("ANDROID_ADB_SERVER_PORT", "5037"))
        terminalreporter.section("promises")
        for line in promises.table(terminalreporter.stats, promises.about(serial, port)):
            terminalreporter.write_line(line)


@pytest.fixture
def way(request: pytest.FixtureRequest) -> Way:
    transport, helper = request.param
    serial = device_of(request.config)
    port = 0
    if serial is not None:
        port = int(os.environ.get("ANDROID_ADB_SERVER_PORT", "5037"))
    elif transport == "server":
        port = request.getfixturevalue("adb_server").server_port
    return Way(transport, helper, port, serial)


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
    """`handrail sim` as a program."""

    def __init__(self, *options: str) -> None:
        port = () if "--port" in options else ("--port", "0")
        command = [sys.executable, "-m", "handrail.cli.main", "sim", *port, *options]
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
