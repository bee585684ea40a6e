"""`handrail doctor`: every line that is not well names the command that fixes it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest

from handrail.adb.server import find_adb
from handrail.cli import doctor
from handrail.cli.doctor import UDEV, DoctorCheck, UsbPhone, usb_phones
from handrail.config import Config
from handrail.sync.openers import OpenBlock
from tests.unit.android.private_adb import adb_env, free_port
from tests.unit.cli.command import Handrail
from tests.unit.cli.conftest import wear

__all__ = ["adb_env"]


@pytest.fixture
def bare(env: dict[str, str], tmp_path: Path) -> Path:
    return tmp_path


def lines_of(handrail: Handrail) -> dict[str, dict[str, str]]:
    return {line["name"]: line for line in json.loads(handrail("doctor", "--json").out)["checks"]}


def test_a_machine_without_adb_and_phones_is_ready_with_a_warning(handrail: Handrail, bare: Path) -> None:
    done = handrail("doctor")
    assert done.code == 0
    assert f"! adb           HANDRAIL_ADB={bare}/no-adb can't be run  → unset HANDRAIL_ADB" in done.out
    assert "· devices       none connected  → handrail connect" in done.out
    assert done.out.splitlines()[-1].startswith("Ready, with ")
    assert list(bare.iterdir()) == []


def test_every_line_that_is_not_well_ends_with_its_remedy(
    handrail: Handrail, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_DEVICES", f"127.0.0.1:{free_port()}")
    monkeypatch.setenv("HANDRAIL_HOEM", "/x")
    (bare / "handrail").mkdir(mode=0o755)
    checks = json.loads(handrail("doctor", "--json").out)["checks"]
    troubled = [check for check in checks if check["state"] != "ok"]
    assert len(troubled) >= 4
    assert all(check["fix"] for check in troubled)
    assert not any("fix" in check for check in checks if check["state"] == "ok")


def test_the_adb_program_and_its_server_are_found(
    handrail: Handrail, adb_env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wear(monkeypatch, adb_env)
    place = f"127.0.0.1:{adb_env['ANDROID_ADB_SERVER_PORT']}"
    first = lines_of(handrail)
    assert first["adb"]["found"].startswith(f"{find_adb(adb_env)}, version ")
    assert first["adb server"]["found"] == f"none at {place} yet; started when it is needed"
    assert lines_of(handrail)["adb server"]["found"] == f"{place}, protocol 41"


@contextmanager
def something_else(port: int) -> Iterator[None]:
    """A program that is no adb server, on the adb server's port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read()
        writer.close()

    @asynccontextmanager
    async def listening() -> AsyncIterator[None]:
        async with await asyncio.start_server(answer, "127.0.0.1", port):
            yield

    with closing(OpenBlock(listening())):
        yield


@pytest.mark.usefixtures("bare")
def test_a_port_that_something_else_has_is_told(handrail: Handrail) -> None:
    port = int(os.environ["ANDROID_ADB_SERVER_PORT"])
    with something_else(port):
        line = lines_of(handrail)["adb server"]
    assert line["state"] == "warning"
    assert f"127.0.0.1:{port} is not an adb server" in line["found"]
    assert line["fix"] == f"export ANDROID_ADB_SERVER_PORT={port + 1}"


def test_a_home_that_is_no_folder_is_essential(handrail: Handrail, bare: Path) -> None:
    (bare / "handrail").write_text("")
    done = handrail("doctor")
    assert done.code == 3
    assert "→ export HANDRAIL_HOME=~/handrail" in done.out
    assert done.out.endswith("1 essential thing is missing.\n")
    assert json.loads(handrail("doctor", "--json").out)["ok"] is False


def test_a_home_that_others_can_read_is_a_warning(handrail: Handrail, bare: Path) -> None:
    home = bare / "handrail"
    home.mkdir()
    home.chmod(0o755)
    line = lines_of(handrail)["home"]
    assert (line["state"], line["fix"]) == ("warning", f"chmod 700 {home}")
    assert "mode 0755" in line["found"]


@pytest.mark.usefixtures("bare")
def test_a_misspelt_variable_is_told_with_the_nearest_name(
    handrail: Handrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_HOEM", "/x")
    line = lines_of(handrail)["environment"]
    assert line["found"] == "HANDRAIL_HOEM means nothing to Handrail; did you mean HANDRAIL_HOME?"
    assert line["fix"] == "unset HANDRAIL_HOEM"


@pytest.mark.usefixtures("bare")
def test_a_bad_variable_is_essential_and_stops_no_other_check(
    handrail: Handrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_HELPER", "jar")
    done = handrail("doctor")
    assert done.code == 3
    assert "HANDRAIL_HELPER is 'jar'" in done.out
    assert "→ unset HANDRAIL_HELPER" in done.out
    assert "✓ python" in done.out


def test_old_versions_are_refused_by_name() -> None:
    for current, state in (((3, 36, 0), "error"), ((3, 37, 0), "ok"), ((4, 0), "ok")):
        assert (
            doctor.check_version("sqlite", current, (3, 37), "sudo apt install libsqlite3-0").state == state
        )
    python, sqlite = doctor.VERSIONS
    assert (python[2], sqlite[2]) == ((3, 11), (3, 37))


def test_a_missing_extra_is_a_note_and_says_what_it_is_for() -> None:
    found = {
        check.name: check for check in doctor.check_extras({"PATH": "", "CHROME_BIN": "/nowhere/chrome"})
    }
    assert found["node"] == DoctorCheck(
        "node", "note", "not found; only for tests of the web page", "sudo apt install nodejs"
    )
    assert found["chromium"].state == "note"


def test_a_full_disk_is_told_before_the_journal_finds_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(home=tmp_path)
    assert doctor.check_disk(config).state == "ok"
    monkeypatch.setattr(doctor, "LOW_DISK", 1 << 70)
    assert doctor.check_disk(config).state == "warning"
    monkeypatch.setattr(doctor, "NO_DISK", 1 << 70)
    assert doctor.check_disk(config).state == "error"


# phones on a cable


def plug(root: Path, name: str, *, protocol: str = "01", product: str = "Pixel 8") -> Path:
    """A device as the kernel describes it; the file to open it by."""
    device, interface = root / "sys" / name, root / "sys" / f"{name}:1.1"
    device.mkdir(parents=True)
    interface.mkdir()
    for file, text in (("busnum", "1"), ("devnum", "7"), ("product", product)):
        (device / file).write_text(f"{text}\n")
    words = (("bInterfaceClass", "ff"), ("bInterfaceSubClass", "42"), ("bInterfaceProtocol", protocol))
    for file, text in words:
        (interface / file).write_text(f"{text}\n")
    return root / "bus" / "001" / "007"


def test_a_phone_on_a_cable_is_seen_by_its_debugging_interface(tmp_path: Path) -> None:
    node = plug(tmp_path, "1-2")
    plug(tmp_path, "1-3", protocol="03", product="a boot loader")
    node.parent.mkdir(parents=True)
    node.write_text("")
    assert usb_phones(tmp_path / "sys", tmp_path / "bus") == [UsbPhone("Pixel 8", node, permitted=True)]


def test_a_phone_that_this_user_may_not_open_leads_to_the_udev_rules(tmp_path: Path) -> None:
    plug(tmp_path, "1-2")
    [line] = doctor.check_usb(usb_phones(tmp_path / "sys", tmp_path / "bus"))
    assert (line.state, line.fix) == ("warning", UDEV)
    assert "Pixel 8" in line.text


def test_a_system_without_such_a_list_says_nothing_about_cables(tmp_path: Path) -> None:
    assert usb_phones(tmp_path / "sys") is None
    assert list(doctor.check_usb(None)) == []


def test_no_phone_on_a_cable_is_only_a_note() -> None:
    [line] = doctor.check_usb([])
    assert line.state == "note"
