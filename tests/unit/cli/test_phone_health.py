"""What `doctor` and `devices` say of a phone's helper, of a Handrail that runs, and of HANDRAIL_DEVICE."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.android import uiautomator2 as u2_server
from handrail.cli.local_server import serve_local
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.runtime import Runtime
from handrail.safety.leases import Holder, Leases
from handrail.store import Store
from handrail.sync.openers import OpenBlock
from handrail_sim.adbd.server import Served
from handrail_sim.channels.attach import OWN_MAIN
from tests.unit.cli.command import Handrail

pytestmark = pytest.mark.usefixtures("env")


def has_helper(one: Served) -> bool:
    return "tcp:9008" in one.phone.ports


def looks(handrail: Handrail) -> dict[str, str]:
    checks = json.loads(handrail("doctor", "--json").out)["checks"]
    [line] = [check for check in checks if check["name"] == "looks"]
    found: dict[str, str] = line
    return found


@pytest.mark.parametrize(("chosen", "served"), [("auto", "helper"), ("u2", "u2")])
def test_the_way_of_looks_is_tried_and_what_was_started_for_it_is_ended(
    handrail: Handrail, phone: Served, monkeypatch: pytest.MonkeyPatch, chosen: str, served: str
) -> None:
    monkeypatch.setenv("HANDRAIL_HELPER", chosen)
    line = looks(handrail)
    assert line["state"] == "ok"
    assert f"{phone.address}: looks go by {served}" in line["found"]
    assert not has_helper(phone)
    assert not phone.phone.ui_automation


def test_doctor_tries_again_what_is_remembered_as_failed(handrail: Handrail, phone: Served) -> None:
    phone.phone.faults.add("helper_refused", why="Error: too little memory")
    for _ in range(2):
        assert "too little memory" in looks(handrail)["found"]
    phone.phone.faults.clear()
    assert "looks go by helper" in looks(handrail)["found"]


def test_a_u2_server_that_ran_before_still_runs_after_doctor(
    handrail: Handrail, phone: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_HELPER", "u2")
    assert handrail("ui").code == 0
    assert has_helper(phone)
    assert "looks go by u2" in looks(handrail)["found"]
    assert has_helper(phone)


def no_wheel(monkeypatch: pytest.MonkeyPatch, _: Path, __: Served) -> str:
    monkeypatch.setenv("HANDRAIL_HELPER", "u2")
    monkeypatch.setattr(u2_server, "find_spec", lambda name: None)
    return "comes with the Python package uiautomator2"


def unknown_jar(monkeypatch: pytest.MonkeyPatch, folder: Path, _: Served) -> str:
    monkeypatch.setenv("HANDRAIL_HELPER", "u2")
    own = u2_server.find_jar()
    assert own is not None
    forged = folder / "u2.jar"
    forged.write_bytes(own.read_bytes() + b"\0")
    monkeypatch.setattr("handrail.android.uiautomator2.find_jar", lambda: forged)
    return "unknown to Handrail"


def selinux(_: pytest.MonkeyPatch, __: Path, phone: Served) -> str:
    phone.phone.faults.add("helper_refused", why="java.lang.SecurityException: avc: denied { execmem }")
    return "avc: denied"


def old_android(_: pytest.MonkeyPatch, __: Path, phone: Served) -> str:
    phone.phone.faults.add("helper_refused", why="java.lang.NoClassDefFoundError: android/app/UiAutomation")
    return "NoClassDefFoundError"


def closed_folder(_: pytest.MonkeyPatch, __: Path, phone: Served) -> str:
    phone.phone.faults.add("temp_read_only")
    return "Permission denied"


@pytest.mark.parametrize("trouble", [no_wheel, unknown_jar, selinux, old_android, closed_folder])
def test_without_the_helper_plain_adb_works_and_doctor_says_why(
    handrail: Handrail, phone: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trouble: Any
) -> None:
    said = trouble(monkeypatch, tmp_path, phone)
    line = looks(handrail)
    assert "plain adb works" in line["found"]
    assert said in line["found"]
    assert (line["state"], bool(line["fix"])) == ("warning", True)
    assert handrail("tap", "Notes").code == 0
    top = phone.phone.tasks.top
    assert top.app.package == "com.handrail.notes"
    assert not has_helper(phone)


def test_a_helper_that_is_switched_off_is_told_as_that(
    handrail: Handrail, phone: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_HELPER", "none")
    line = looks(handrail)
    assert "plain adb works" in line["found"]
    assert "HANDRAIL_HELPER=none" in line["found"]
    assert line["fix"].startswith("unset HANDRAIL_HELPER")


def test_a_phone_that_somebody_works_on_is_not_tried(
    handrail: Handrail, phone: Served, tmp_path: Path
) -> None:
    hold(tmp_path / "handrail", phone.address)
    line = looks(handrail)
    assert "not tried, agent shopper" in line["found"]
    assert not has_helper(phone)


def hold(home: Path, serial: str) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    store = Store(home / "handrail.db")
    try:
        holder = Holder("a1", "agent", "shopper", "mcp")
        asyncio.run(Leases(store, SystemClock()).acquire(serial, holder))
    finally:
        store.close()


# release


def test_release_ends_the_helper_that_commands_left(
    handrail: Handrail, phone: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_HELPER", "u2")
    handrail("ui")
    assert has_helper(phone)
    done = handrail("devices", "--release")
    assert (done.code, done.out) == (0, f"{phone.address}: the helper was ended\n")
    assert not has_helper(phone)
    again = json.loads(handrail("devices", "--release", "--device", phone.address, "--json").out)
    assert again == {"released": [{"serial": phone.address, "ended": False}]}
    assert handrail("ui").code == 0


def test_release_leaves_a_phone_alone_that_somebody_works_on(
    handrail: Handrail, phone: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_HELPER", "u2")
    handrail("ui")
    hold(tmp_path / "handrail", phone.address)
    done = handrail("devices", "--release", "--json")
    assert json.loads(done.out)["code"] == "DEVICE_BUSY"
    assert has_helper(phone)


def test_a_device_is_named_for_release_only(handrail: Handrail) -> None:
    done = handrail("devices", "--device", "x")
    assert (done.code, done.err[:14]) == (2, "INVALID_ACTION")


# HANDRAIL_DEVICE, and a Handrail that runs


def test_an_address_in_handrail_device_is_listed(
    handrail: Handrail, phone: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HANDRAIL_DEVICES")
    assert handrail("devices").out.startswith("No devices.")
    monkeypatch.setenv("HANDRAIL_DEVICE", phone.address)
    assert handrail("devices").out.startswith(f"{phone.address}\tdevice\t")
    assert phone.address in looks(handrail)["found"]


def test_a_name_in_handrail_device_that_fits_nothing_is_told(
    handrail: Handrail, phone: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_DEVICE", "Pixel 9")
    assert "note: HANDRAIL_DEVICE=Pixel 9 matches none of these" in handrail("devices").err
    assert "→ unset HANDRAIL_DEVICE" in handrail("doctor").out


@contextmanager
def running_handrail(home: Path, serial: str) -> Iterator[None]:
    """A server of this home with the phone open, in a loop of its own."""

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with Runtime.open(Config(home=home), env={}) as runtime:
            await runtime.session(serial)
            async with serve_local(runtime):
                yield

    with closing(OpenBlock(running())):
        yield


def test_what_a_running_handrail_has_open_is_listed_and_doctor_does_not_disturb_it(
    handrail: Handrail, phone: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HANDRAIL_DEVICES")
    with running_handrail(tmp_path / "handrail", phone.address):
        done = handrail("devices")
        assert done.out == (
            f"{phone.address}\tdevice\tSimulated Phone\t14\t1080x2400\tno one; open in a running Handrail\n"
        )
        [listed] = json.loads(handrail("devices", "--json").out)["devices"]
        assert (listed["open"], listed["channels"]["look"]) == (True, "helper")
        assert "looks go by helper in the Handrail that has it open" in looks(handrail)["found"]
        assert phone.phone.ui_automation == OWN_MAIN


# progress


def in_terminal(words: list[str], env: dict[str, str]) -> tuple[str, str]:
    """What a command writes to its output, which is a pipe, and to the terminal that is its error stream."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "handrail.cli.main", *words]
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, **env}, text=True, timeout=60
        )
        os.set_blocking(ours, False)
        try:
            told = os.read(ours, 65536).decode()
        except BlockingIOError:
            told = ""
    finally:
        os.close(ours)
        os.close(theirs)
    return done.stdout, told


def test_the_first_start_of_the_helper_is_told_in_a_terminal_and_in_no_pipe(
    env: dict[str, str], phone: Served, handrail: Handrail
) -> None:
    env["HANDRAIL_HELPER"] = "u2"
    out, told = in_terminal(["ui", "--json"], env)
    assert json.loads(out)["success"] is True
    assert told == f"… starting the u2 helper on {phone.address}; later sessions find it running\r\n"
    out, told = in_terminal(["ui", "--json"], env)
    assert (json.loads(out)["success"], told) == (True, "")
    handrail("devices", "--release")
    assert handrail("ui").err == ""
