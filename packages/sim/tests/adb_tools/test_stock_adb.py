"""The stock adb binary drives the phone, as the first thing that must believe it is Android."""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import urllib.request
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.adb_tools.conftest import Adb


def png_size(data: bytes) -> tuple[int, int]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert data[-8:-4] == b"IEND"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def apk(folder: Path, package: str) -> Path:
    """A file of an APK's shape that says which package it is."""
    path = folder / f"{package}.apk"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("AndroidManifest.xml", f'<manifest package="{package}"/>')
        archive.writestr("classes.dex", os.urandom(100_000))
    return path


def fetch(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        data: bytes = answer.read()
        return data


def test_the_device_is_listed_with_its_product_and_model(adb: Adb) -> None:
    listed = next(line for line in adb.text("devices", "-l").splitlines() if adb.serial in line)
    assert " device " in listed
    for word in ("product:", "model:", "device:"):
        assert word in listed
    assert adb.text("get-state") == "device\n"


def test_a_shell_has_output_errors_and_exit_code_apart(adb: Adb) -> None:
    done = adb.run("shell", "echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 7)
    missing = adb.run("shell", "no_such_command")
    assert missing.returncode == 127
    assert missing.stderr == b"/system/bin/sh: no_such_command: inaccessible or not found\n"


def test_the_old_shell_merges_errors_and_loses_the_exit_code(adb: Adb) -> None:
    done = adb.run("shell", "-x", "echo out; echo err >&2; exit 7")
    assert done.stdout == b"out\nerr\n"
    assert done.returncode == 0


def test_a_shell_reads_commands_and_data_from_standard_input(adb: Adb) -> None:
    assert adb.run("shell", "cat", stdin=b"some\0bytes").stdout == b"some\0bytes"
    assert adb.run("shell", stdin=b"echo one\necho two\nexit 3\n").stdout == b"one\ntwo\n"


def test_an_interactive_shell_prompts_and_echoes(adb: Adb) -> None:
    done = adb.run("shell", "-tt", stdin=b"echo hello\rexit\r")
    assert b"$ echo hello\r\nhello\r\n" in done.stdout


def test_a_screenshot_is_a_png_of_the_screens_size(adb: Adb) -> None:
    size = adb.text("shell", "wm", "size").split()[-1]
    data = adb.run("exec-out", "screencap", "-p").stdout
    assert "x".join(map(str, png_size(data))) == size


def test_the_screen_is_dumped_to_a_file_and_to_the_terminal(adb: Adb, tmp_path: Path) -> None:
    said = adb.text("shell", "uiautomator", "dump", "/sdcard/dump.xml")
    assert said.strip() == "UI hierchary dumped to: /sdcard/dump.xml"
    adb.text("pull", "/sdcard/dump.xml", str(tmp_path / "dump.xml"))
    pulled = ET.parse(tmp_path / "dump.xml").getroot()
    assert pulled.tag == "hierarchy"
    assert len(list(pulled.iter("node"))) > 3
    shown = adb.text("exec-out", "uiautomator", "dump", "/dev/tty")
    xml, _, rest = shown.rpartition("</hierarchy>")
    assert "UI hierchary dumped to: /dev/tty" in rest
    assert ET.fromstring(xml + "</hierarchy>").tag == "hierarchy"


def test_twenty_megabytes_come_back_unchanged(adb: Adb, tmp_path: Path) -> None:
    content = os.urandom(20_000_000)
    (tmp_path / "out").write_bytes(content)
    adb.text("push", str(tmp_path / "out"), "/data/local/tmp/big")
    told = adb.text("shell", "sha256sum", "/data/local/tmp/big").split()[0]
    adb.text("pull", "/data/local/tmp/big", str(tmp_path / "back"))
    back = hashlib.sha256((tmp_path / "back").read_bytes()).hexdigest()
    assert told == back == hashlib.sha256(content).hexdigest()
    adb.text("shell", "rm", "/data/local/tmp/big")


def test_a_folder_is_pushed_and_pulled(adb: Adb, tmp_path: Path) -> None:
    (tmp_path / "tree" / "deep").mkdir(parents=True)
    for number in range(30):
        (tmp_path / "tree" / "deep" / f"{number}.txt").write_text(str(number))
    adb.text("push", str(tmp_path / "tree"), "/sdcard/Download/")
    adb.text("pull", "-a", "/sdcard/Download/tree", str(tmp_path / "back"))
    assert (tmp_path / "back" / "deep" / "29.txt").read_text() == "29"
    assert "deep" in adb.text("ls", "/sdcard/Download/tree")


def test_refused_transfers_say_why(adb: Adb, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    refused = adb.run("push", str(tmp_path / "file"), "/system/file")
    assert refused.returncode == 1
    assert b"Read-only file system" in refused.stderr + refused.stdout
    missing = adb.run(
        "pull", "/sdcard/none", str(tmp_path)
    )  # adb 29 complains on stdout, newer ones on stderr
    assert b"No such file or directory" in missing.stderr + missing.stdout


@pytest.mark.parametrize(("port", "path", "part"), [(9008, "/ping", b"pong"), (8765, "/status", b"{")])
def test_a_forwarded_port_reaches_the_helper(
    adb: Adb, tmp_path: Path, port: int, path: str, part: bytes
) -> None:
    start = {
        9008: "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008",
        8765: "am instrument -w -r com.agentest.helper.test/androidx.test.runner.AndroidJUnitRunner",
    }[port]
    adb.text("push", str(apk(tmp_path, "u2")), "/data/local/tmp/u2.jar")
    for package in ("com.agentest.helper", "com.agentest.helper.test"):
        adb.text("install", "-r", "-t", str(apk(tmp_path, package)))
    helper = adb.start("shell", start)
    try:
        local = int(adb.text("forward", "tcp:0", f"tcp:{port}"))
        assert part in eventually(local, path)
    finally:
        helper.kill()
        helper.communicate()
        adb.run("forward", "--remove-all")


def eventually(port: int, path: str) -> bytes:
    """The first answer; the helper may still be starting, and each try costs a round through adb."""
    for _ in range(3000):
        try:
            return fetch(port, path)
        except OSError:
            continue
    raise AssertionError(f"nothing answers {path}")


def test_a_forward_to_a_port_nobody_serves_is_closed(adb: Adb) -> None:
    local = int(adb.text("forward", "tcp:0", "tcp:1"))
    with socket.create_connection(("127.0.0.1", local), timeout=60) as client:
        assert client.recv(1) == b""
    adb.text("forward", "--remove", f"tcp:{local}")


def test_bytes_go_in_by_exec_in(adb: Adb) -> None:
    content = os.urandom(300_000)
    adb.run("exec-in", "cat > /sdcard/in.bin", stdin=content)
    for _ in range(500):  # exec-in does not wait for the command on the phone
        found = adb.text("shell", "sha256sum", "/sdcard/in.bin").split()[0]
        if found == hashlib.sha256(content).hexdigest():
            return
    raise AssertionError(found)


def test_a_reverse_forward_leads_from_the_phone_to_the_host(adb: Adb) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        adb.text("reverse", "tcp:7001", f"tcp:{server.getsockname()[1]}")
        local = int(adb.text("forward", "tcp:0", "tcp:7001"))
        with socket.create_connection(("127.0.0.1", local), timeout=60) as client:
            client.sendall(b"round the phone")
            inside, _ = server.accept()
            with inside:
                assert inside.recv(100) == b"round the phone"
                inside.sendall(b"and back")
                assert client.recv(100) == b"and back"
            assert client.recv(1) == b""
    adb.text("reverse", "--remove-all")
    adb.text("forward", "--remove-all")


def test_reverse_forwards_are_listed_and_the_adb_server_survives(adb: Adb) -> None:
    adb.text("reverse", "tcp:7000", "tcp:8000")
    assert "tcp:7000 tcp:8000" in adb.text("reverse", "--list")
    adb.text("reverse", "--remove", "tcp:7000")
    assert "7000" not in adb.text("reverse", "--list")
    assert adb.run("reverse", "--remove", "tcp:7000").returncode != 0
    port = int(adb.text("reverse", "tcp:0", "tcp:8001"))
    assert f"tcp:{port} tcp:8001" in adb.text("reverse", "--list")
    adb.text("reverse", "--remove-all")
    assert adb.text("get-state") == "device\n"


def test_logcat_prints_the_log_and_ends(adb: Adb) -> None:
    adb.text("shell", "log", "-t", "DriverTest", "a line of mine")
    assert "a line of mine" in adb.text("logcat", "-d")
    assert "DriverTest" in adb.text("logcat", "-d", "-v", "threadtime", "-s", "DriverTest:*")


def test_an_apk_shaped_file_is_installed_and_removed(adb: Adb, tmp_path: Path) -> None:
    assert "Success" in adb.text("install", "-r", str(apk(tmp_path, "com.example.driver")))
    listed = adb.text("shell", "pm", "list", "packages", "-3")
    assert "package:com.example.driver" in listed.split()
    assert "Success" in adb.text("uninstall", "com.example.driver")
    assert "com.example.driver" not in adb.text("shell", "pm", "list", "packages")


def test_a_file_that_is_no_apk_is_refused(adb: Adb, tmp_path: Path) -> None:
    (tmp_path / "bad.apk").write_bytes(b"nothing of the kind")
    refused = adb.run("install", str(tmp_path / "bad.apk"))
    assert refused.returncode == 1
    assert b"Failure [INSTALL_" in refused.stdout + refused.stderr


def test_fifty_shells_at_once(adb: Adb) -> None:
    running = [adb.start("shell", f"echo {number}; exit {number}") for number in range(50)]
    answers = [(process.communicate(timeout=30)[0], process.returncode) for process in running]
    assert answers == [(b"%d\n" % number, number) for number in range(50)]


def test_root_is_refused(adb: Adb) -> None:
    assert "adbd cannot run as root in production builds" in adb.text("root")
    assert adb.text("shell", "id", "-u") == "2000\n"


def test_the_phone_comes_back_after_a_reboot(adb: Adb) -> None:
    adb.run("reboot")
    assert adb.run("wait-for-device", "shell", "echo back", timeout=60).stdout == b"back\n"
