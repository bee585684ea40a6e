"""The same phone through adbutils: shell, sync, forward, apps, pixels."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import pytest

from tests.adb_tools.conftest import Adb

adbutils = pytest.importorskip("adbutils", reason="adbutils is not installed")
pytestmark = (
    pytest.mark.filterwarnings(  # adbutils leaves sockets of `framebuffer` and streams to the collector
        "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
    )
)


@pytest.fixture
def device(adb: Adb) -> Any:
    return adbutils.AdbClient(host="127.0.0.1", port=adb.server_port).device(adb.serial)


def test_the_device_is_listed_and_says_who_it_is(adb: Adb, device: Any) -> None:
    client = adbutils.AdbClient(host="127.0.0.1", port=adb.server_port)
    assert adb.serial in [found.serial for found in client.device_list()]
    assert device.get_state() == "device"
    assert device.prop.model
    assert "shell_v2" in device.get_features()


def test_shells_of_both_versions(device: Any) -> None:
    assert device.shell("echo hello") == "hello"
    assert device.shell(["echo", "two words"]) == "two words"
    old = device.shell2("echo out; sh -c 'exit 3'")
    assert (old.returncode, old.output) == (3, "out\n")
    new = device.shell2("echo out; echo err >&2; exit 3", v2=True)
    assert (new.returncode, new.stdout, new.stderr) == (3, "out\n", "err\n")


def test_a_streaming_shell_can_be_left(device: Any) -> None:
    stream = device.shell("logcat", stream=True)
    stream.close()
    assert device.shell("echo alive") == "alive"


def test_files_go_both_ways(device: Any, tmp_path: Path) -> None:
    content = os.urandom(3_700_000)
    device.sync.push(io.BytesIO(content), "/data/local/tmp/jar", 0o755, check=True)
    assert device.sync.stat("/data/local/tmp/jar").size == len(content)
    assert device.sync.read_bytes("/data/local/tmp/jar") == content
    device.sync.pull("/data/local/tmp/jar", tmp_path / "jar")
    assert (tmp_path / "jar").read_bytes() == content
    assert hashlib.md5(content).hexdigest() in device.shell("toybox md5sum /data/local/tmp/jar")
    assert "jar" in [entry.path for entry in device.sync.list("/data/local/tmp")]
    assert not device.sync.exists("/data/local/tmp/none")
    with pytest.raises(adbutils.AdbError):
        device.sync.push(b"x", "/system/x")


def test_the_screen_has_a_size_a_picture_and_a_tree(device: Any) -> None:
    size = device.window_size()
    assert device.screenshot().size == (size.width, size.height)
    assert device.framebuffer().size == (size.width, size.height)
    assert device.dump_hierarchy().startswith("<?xml")
    assert device.is_screen_on()
    assert device.rotation() == 0


def test_input_and_apps(device: Any) -> None:
    device.app_start("com.android.settings")
    assert device.app_current().package == "com.android.settings"
    device.click(540, 1200)
    device.swipe(540, 1600, 540, 800, 0.2)
    device.keyevent("HOME")
    device.app_stop("com.android.settings")
    assert "com.android.settings" in device.list_packages()
    info = device.app_info("com.android.settings")
    assert info is not None
    assert info.version_name


def test_forwards_and_reverses_are_kept_and_listed(device: Any) -> None:
    port = device.forward_port(9008)
    assert any(item.local == f"tcp:{port}" for item in device.forward_list())
    device.reverse("tcp:7100", "tcp:7200")
    assert [(item.remote, item.local) for item in device.reverse_list()] == [("tcp:7100", "tcp:7200")]
    with pytest.raises(adbutils.AdbError):
        device.create_connection(adbutils.Network.TCP, 1)


def test_root_is_refused(device: Any) -> None:
    assert "cannot run as root" in device.root()
