"""For one client: a phone in a process of its own, an adb server of its own, a home folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.apks import launcher_apk, packed

SCRIPTS = Path(__file__).parent / "scripts"
SECONDS = 150


def free_port() -> int:
    """One that adb servers do not scan."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Bench:
    """Runs scripts against the phone and asks it afterwards what happened."""

    def __init__(self, folder: Path, adb: str, serial: str, server: int) -> None:
        self.folder = folder
        self.serial = serial
        (folder / "lamp.apk").write_bytes(launcher_apk("org.example.lamp", "Lamp"))
        split = b'<manifest package="org.example.lamp" split="config.en"/>'
        (folder / "split.apk").write_bytes(packed(split))
        tools = folder / "sdk" / "platform-tools"
        tools.mkdir(parents=True)
        shutil.copy(adb, tools / "adb")
        self.env = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "HOME": str(folder),
            "ANDROID_HOME": str(folder / "sdk"),
            "ANDROID_ADB_SERVER_PORT": str(server),
            "ADB": str(tools / "adb"),
            "SERIAL": serial,
            "WORK": str(folder),
            "APK": str(folder / "lamp.apk"),
            "SPLIT": str(folder / "split.apk"),
            "MOBILEMCP_DISABLE_TELEMETRY": "1",
        }

    def adb(self, *words: str) -> str:
        command = [self.env["ADB"], "-s", self.serial, *words]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=30).stdout

    def run(self, *command: str | Path, **more: str) -> str:
        """A client's script; what it prints. It fails with what it said."""
        done = subprocess.run(
            [str(word) for word in command],
            env=self.env | more,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def state(self, path: str) -> Any:
        """What the phone itself says."""
        return json.loads(self.adb("shell", "sim", "state", path))


@contextmanager
def bench(folder: Path, adb: str) -> Iterator[Bench]:
    server = free_port()
    command = [sys.executable, "-m", "handrail_sim", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as phone:
        assert phone.stdout is not None
        serial = json.loads(phone.stdout.readline())["connect"]
        made = Bench(folder, adb, serial, server)
        try:
            subprocess.run(
                [made.env["ADB"], "connect", serial],
                env=made.env,
                check=True,
                capture_output=True,
                timeout=30,
            )
            yield made
        finally:
            _end_daemons(folder)
            subprocess.run([made.env["ADB"], "kill-server"], env=made.env, capture_output=True, timeout=30)
            phone.terminate()


def _end_daemons(home: Path) -> None:
    """Some tools leave one behind; each writes its pid into the home folder."""
    for name in (".mobilecli/daemon.pid", ".agent-device/daemon.json", "replay/daemon.json"):
        with suppress(OSError, ValueError, KeyError):
            os.kill(json.loads((home / name).read_text())["pid"], signal.SIGTERM)


@contextmanager
def appium_server(env: dict[str, str], logs: Path, folder: Path) -> Iterator[int]:
    """Stock Appium with the driver that stands beside it."""
    port = free_port()
    own = folder / "node_modules/node/bin/node"
    node = own if own.exists() else shutil.which("node")
    command = [node, folder / "node_modules/appium/index.js", "server", "--address", "127.0.0.1"]
    words = [str(word) for word in (*command, "--port", port, "--log-no-colors")]
    env = env | {"APPIUM_HOME": str(folder)}
    with (
        (logs / "appium.log").open("w") as log,
        subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        assert server.stdout is not None
        try:
            for line in server.stdout:
                if "listener started" in line:
                    break
            yield port
        finally:
            server.terminate()
