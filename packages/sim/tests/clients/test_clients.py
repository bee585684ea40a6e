"""Public tools against a phone of this package, each with a phone, an adb server and a home of its own.

adb, adbutils and uiautomator2 come with the extra `dev`. The others are tried when SIM_CLIENTS names the
folder that install.sh filled; docs/clients.md says what each was seen to do, with its version.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.bench import SCRIPTS, Bench, appium_server, bench, free_port

pytestmark = pytest.mark.slow
CONTACTS = "apps.com.google.android.contacts"


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Bench]:
    adbutils = pytest.importorskip("adbutils")
    with bench(tmp_path, adbutils.adb_path()) as made:
        yield made


def installed(name: str) -> Path:
    """The folder of a client that was asked for."""
    root = os.environ.get("SIM_CLIENTS")
    if not root or not (Path(root) / name).is_dir():
        pytest.skip(f"SIM_CLIENTS has no {name}: run install.sh")
    return Path(root) / name


def node_of(folder: Path) -> Path:
    """The client's own Node if it brings one."""
    own = folder / "node_modules/node/bin/node"
    found = shutil.which("node")
    if not own.exists() and found is None:
        pytest.skip("there is no node")
    return own if own.exists() else Path(found or "")


def node_script(phone: Bench, client: str, name: str, **more: str) -> str:
    """Modules are looked for beside the script, so it is copied there."""
    folder = installed(client)
    copy = folder / name
    shutil.copy(SCRIPTS / name, copy)
    try:
        return phone.run(node_of(folder), copy, **more)
    finally:
        copy.unlink()


def test_stock_adb_installs_starts_lists_and_tracks(phone: Bench) -> None:
    assert "did: root is refused" in phone.run("sh", SCRIPTS / "stock_adb.sh")
    assert phone.adb("shell", "cat", "/data/local/tmp/a.txt") == "hello\n"


def test_adbutils(phone: Bench) -> None:
    phone.run(sys.executable, SCRIPTS / "python_adbutils.py")
    assert "org.example.lamp" not in phone.adb("shell", "pm", "list", "packages")


def test_uiautomator2_creates_a_contact(phone: Bench) -> None:
    pytest.importorskip("uiautomator2")
    phone.run(sys.executable, SCRIPTS / "python_uiautomator2.py")
    assert "Uma Tester" in str(phone.state(CONTACTS))


@pytest.mark.parametrize(
    ("client", "script"),
    [
        ("ppadb", "python_ppadb.py"),
        ("adb-shell", "python_adb_shell.py"),
        ("airtest", "python_airtest.py"),
        ("android-env", "python_android_env.py"),
    ],
)
def test_a_python_client(phone: Bench, client: str, script: str) -> None:
    assert "client: " in phone.run(installed(client) / "bin/python", SCRIPTS / script)


@pytest.mark.parametrize(
    ("client", "script"), [("adbkit", "node_adbkit.mjs"), ("appium-adb", "node_appium_adb.mjs")]
)
def test_a_node_client(phone: Bench, client: str, script: str) -> None:
    assert "client: " in node_script(phone, client, script)


def test_appium_opens_a_session_and_creates_a_contact(phone: Bench) -> None:
    with appium_server(phone.env, phone.folder, installed("appium")) as port:
        node_script(phone, "appium", "node_appium.mjs", APPIUM_PORT=str(port), SYSTEM_PORT=str(free_port()))
    assert "Appia Driver" in str(phone.state(CONTACTS))


def test_agent_device_snapshots_presses_fills_scrolls_and_replays(phone: Bench) -> None:
    folder = installed("agent-device")
    path = f"{node_of(folder).parent}:{phone.env['PATH']}"
    tool = folder / "node_modules/agent-device/bin/agent-device.mjs"
    said = phone.run("sh", SCRIPTS / "agent_device.sh", PATH=path, AGENT_DEVICE=str(tool))
    assert "did: replay" in said
    assert "Agnes Device" in str(phone.state(CONTACTS))
    assert "Display" in phone.state("front")["activity"]


def test_mobile_mcp_lists_taps_and_types(phone: Bench) -> None:
    tool = installed("mobile-mcp") / "node_modules/@mobilenext/mobile-mcp_server/lib/index.js"
    node_script(phone, "mobile-mcp", "mobile_mcp.mjs", MOBILE_MCP=str(tool))
    assert "com.google.android.contacts" in str(phone.state("tasks"))
