"""`handrail sim` as a program: what it prints, refuses and how it stops."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.driver.conftest import Adb, SimProcess
from tests.driver.test_emulator_doors import free_pair


def refused(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "handrail.cli.main", "sim", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_every_phone_has_a_line_and_a_signal_stops_them_all(number: signal.Signals) -> None:
    program = SimProcess("--phones", "3", "--apps", "launcher")
    lines = [program.line() for _ in range(3)]
    assert len({line["port"] for line in lines}) == 3
    assert len({line["serial"] for line in lines}) == 3
    assert {line["host"] for line in lines} == {"127.0.0.1"}
    assert program.stop(number) == 0


def test_a_port_that_adb_servers_scan_is_refused_with_a_hint() -> None:
    done = refused("--port", "5555")
    assert done.returncode == 2
    assert "listed twice" in done.stderr
    assert "--emulator" in done.stderr


def test_an_iphone_has_a_line_with_its_doors() -> None:
    program = SimProcess("--iphone", "--port", "0", "--apps", "notes")
    line = program.line()
    assert line.keys() == {"udid", "wda", "mjpeg", "usbmux"}
    with urlopen(f"{line['wda']}/status", timeout=30) as answer:
        assert json.loads(answer.read())["value"]["ready"]
    assert program.stop(signal.SIGTERM) == 0


def test_an_unknown_app_is_refused() -> None:
    done = refused("--port", "0", "--apps", "no_such_app")
    assert done.returncode in {2, 3}
    assert "no_such_app" in done.stderr


def test_faults_come_from_a_file(adb_server: Adb, tmp_path: Path) -> None:
    (tmp_path / "faults.toml").write_text('[[fault]]\nname = "truncated_output"\nbytes = 3\n')
    program = SimProcess("--apps", "launcher", "--faults", str(tmp_path / "faults.toml"))
    try:
        address = program.line()["connect"]
        adb_server.text("connect", address)
        assert adb_server.text("-s", address, "shell", "echo hello") == "hel"
    finally:
        adb_server.run("disconnect")
        program.stop()


def test_a_host_is_unauthorised_until_its_key_is_accepted(adb_server: Adb) -> None:
    program = SimProcess("--auth", "--apps", "launcher")
    try:
        address = program.line()["connect"]
        assert "failed to authenticate" in adb_server.run("connect", address).stdout.decode()
        assert program.line()["fingerprint"].count(":") == 15
        assert "unauthorized" in adb_server.run("-s", address, "get-state").stderr.decode()
        program.process.send_signal(signal.SIGUSR1)
        adb_server.text("-s", address, "wait-for-device", timeout=60)
        assert adb_server.text("-s", address, "shell", "echo in") == "in\n"
        adb_server.text("disconnect", address)
        assert "connected to" in adb_server.text("connect", address)
        assert adb_server.text("-s", address, "shell", "echo known") == "known\n"
    finally:
        adb_server.run("disconnect")
        program.stop()


def test_an_emulator_is_named_after_its_console(adb_server: Adb) -> None:
    port = free_pair()
    program = SimProcess("--emulator", "--port", str(port), "--apps", "launcher")
    try:
        line = program.line()
        assert line["serial"] == f"emulator-{port - 1}"
        assert line["console_port"] == port - 1
        with socket.create_connection(("127.0.0.1", port - 1), timeout=60) as console:
            assert console.recv(100)
        adb_server.text("connect", line["connect"])
        assert adb_server.text("-s", line["connect"], "shell", "getprop ro.serialno").strip()
    finally:
        adb_server.run("disconnect")
        program.stop()
