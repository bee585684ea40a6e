"""`handrail devices`, `--device` and `--sim`: what a person sees, and what a program reads."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click
import pytest

from handrail.cli.options import DeviceOptions, device_options, open_device_for_command
from handrail.clock import SystemClock
from handrail.errors import AdbConnectionError, InvalidAction
from handrail.safety.leases import Holder, Leases
from handrail.store import Store
from handrail.sync.openers import OpenBlock
from handrail_sim.adbd.server import Served, serve
from handrail_sim.phone import Phone
from tests.unit.android.private_adb import free_port
from tests.unit.cli.command import Handrail

pytestmark = pytest.mark.usefixtures("env")


@contextmanager
def served_phones(count: int = 1, apps: Sequence[str] | None = ("notes",)) -> Iterator[list[Served]]:
    """Phones in a loop of their own, because the command runs one itself."""
    phones = [Phone(clock=SystemClock(), apps=apps) for _ in range(count)]
    with closing(OpenBlock(serve(phones, port=0))) as served:
        yield list(served.value)


def test_no_devices_is_no_failure_and_says_how_to_get_one(handrail: Handrail) -> None:
    done = handrail("devices")
    assert done.code == 0
    for way in ("No devices.", "handrail connect", "handrail sim", "--sim"):
        assert way in done.out
    assert "note: no adb server answers" in done.err


def test_a_phone_is_listed_with_what_it_says_of_itself(
    handrail: Handrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_phones() as [phone]:
        monkeypatch.setenv("HANDRAIL_DEVICES", phone.address)
        done = handrail("devices")
        assert done.out == f"{phone.address}\tdevice\tSimulated Phone\t14\t1080x2400\t–\n"
        [listed] = json.loads(handrail("devices", "--json").out)["devices"]
        assert listed["usable"] is True
        assert "name" not in listed
        named = handrail("devices", "--name", f"{phone.address}=Mum's phone")
        assert named.out == f"{phone.address} is called Mum's phone.\n"
        assert handrail("devices").out.endswith("\t–\tMum's phone\n")
        [listed] = json.loads(handrail("devices", "--json").out)["devices"]
        assert listed["name"] == "Mum's phone"
        assert handrail("devices", "--name", f"R58M={phone.address}").code == 2
        assert handrail("devices", "--name", "R58M").code == 2
        handrail("devices", "--name", f"{phone.address}=")
        assert handrail("devices").out == done.out
        assert (listed["serial"], listed["android"], listed["held"]) == (phone.address, "14", None)


def test_the_holder_of_a_phone_is_named(
    handrail: Handrail, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with served_phones() as [phone]:
        monkeypatch.setenv("HANDRAIL_DEVICES", phone.address)
        home = tmp_path / "handrail"
        home.mkdir()
        store = Store(home / "handrail.db")
        try:
            holder = Holder("a1", "agent", "shopper", "mcp")
            asyncio.run(Leases(store, SystemClock()).acquire(phone.address, holder))
        finally:
            store.close()
        assert handrail("devices").out.endswith("\tagent shopper, just now\n")
        [listed] = json.loads(handrail("devices", "--json").out)["devices"]
        assert listed["held"]["holder"]["label"] == "shopper"


def test_looking_at_devices_writes_nothing(handrail: Handrail, tmp_path: Path) -> None:
    handrail("devices")
    assert list(tmp_path.iterdir()) == []


def test_a_phone_that_can_not_be_used_is_explained_below_the_table(
    handrail: Handrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("HANDRAIL_DEVICES", f"127.0.0.1:{port}")
    done = handrail("devices")
    assert done.code == 0
    assert done.out == f"127.0.0.1:{port}\toffline\t–\t–\t–\t–\n"
    assert f"nothing answers at 127.0.0.1:{port}" in done.err
    assert f"Run `handrail sim --port {port}`" in done.err


def test_a_bad_variable_is_invalid_input(handrail: Handrail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_DEVICES", "here")
    done = handrail("devices")
    assert done.code == 2
    assert done.err.startswith("INVALID_ACTION: HANDRAIL_DEVICES is 'here'")


def start(*words: str, env: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "handrail.cli.main", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **env})


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_watch_tells_of_changes_until_it_is_interrupted(env: dict[str, str], form: str) -> None:
    with served_phones() as [phone]:
        flags = ["--json"] if form == "json" else []
        watching = start("devices", "--watch", *flags, env={**env, "HANDRAIL_DEVICES": phone.address})
        with watching:
            line = watching.stdout.readline()
            watching.send_signal(signal.SIGINT)
            rest, errors = watching.communicate(timeout=30)
    if form == "json":
        assert json.loads(line)["devices"][0]["serial"] == phone.address
    else:
        assert line == f"+ {phone.address} (Simulated Phone)\n"
    assert (watching.returncode, rest) == (130, "")
    assert "Traceback" not in errors


def test_a_watch_without_devices_says_that_it_waits(env: dict[str, str]) -> None:
    with start("devices", "--watch", env=env) as watching:
        assert watching.stdout.readline() == "No devices yet; watching.\n"
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=30)


# the options that later commands share


def test_sim_is_a_phone_for_the_length_of_the_block_reached_by_adb(env: dict[str, str]) -> None:
    async def story() -> None:
        async with open_device_for_command(
            DeviceOptions(sim=True), env={**env, "HANDRAIL_SIM_APPS": "notes"}
        ) as opened:
            assert opened.phone is not None
            assert (await opened.device.shell.run(["echo", "hello"])).text == "hello\n"
            address = opened.device.serial
        async with open_device_for_command(DeviceOptions(address), env=env):
            pass

    with pytest.raises(AdbConnectionError):
        asyncio.run(story())


def test_a_named_device_is_opened_and_closed(env: dict[str, str]) -> None:
    async def story() -> None:
        async with open_device_for_command(DeviceOptions(phone.address), env=env) as opened:
            assert opened.phone is None
            assert (await opened.device.shell.run(["echo", "hello"])).text == "hello\n"
        with pytest.raises(AdbConnectionError):
            await opened.device.shell.run(["echo", "hello"])

    with served_phones() as [phone]:
        asyncio.run(story())


def asked(*words: str) -> DeviceOptions:
    @click.command()
    @device_options
    def command(target: DeviceOptions) -> DeviceOptions:
        return target

    answer: Any = command.main([*words], standalone_mode=False)
    assert isinstance(answer, DeviceOptions)
    return answer


def test_a_command_gets_both_options_as_one_value() -> None:
    assert asked() == DeviceOptions(None, False)
    assert asked("--device", "R58M") == DeviceOptions("R58M", False)
    assert asked("--sim") == DeviceOptions(None, True)


def test_sim_and_device_together_are_refused() -> None:
    with pytest.raises(InvalidAction) as caught:
        asked("--sim", "--device", "R58M")
    assert caught.value.details["path"] == "device"
