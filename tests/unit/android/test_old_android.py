"""Android 4.4: no `cmd`, no `exec:`, one dex file, an old logcat and ps; in the simulator and as recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.shell import Command, Output, Script, failed
from handrail.android import logs
from handrail.android.app_labels import LabelMemory, installed_apps, read_launchers
from handrail.android.apps import start, uninstall
from handrail.android.driver import Driver, connect
from handrail.android.dumpsys import home_apps
from handrail.android.packages import is_installed, pid_of, read_packages, read_processes
from handrail.android.surface import AndroidSurface
from handrail.clock import SystemClock
from handrail.config import Helper
from handrail.errors import AdbCommandError
from handrail.surface.capabilities import AppHealth, Apps
from handrail_sim.adbd.server import serve
from handrail_sim.channels.attach import OWN_MAIN
from handrail_sim.phone import Phone
from handrail_sim.system.profiles import take_on
from tests import fingers
from tests.unit.android.sim_phone import put_apk

NOTES = "com.handrail.notes"
RECORDED = Path(__file__).parents[4] / "shared" / "corpus" / "real44"
recorded = pytest.mark.skipif(not RECORDED.is_dir(), reason=f"no outputs of a real Android 4.4 in {RECORDED}")


def on_android_4_4(
    story: Callable[[Phone, AdbDevice, Driver], Awaitable[None]], helper: Helper = "auto", without: str = ""
) -> None:
    async def run() -> None:
        phone = Phone(clock=SystemClock())
        take_on(phone, "android-4")
        phone.helper_mains.pop(without, None)
        async with serve([phone], port=0) as [served]:
            device = AdbDevice(Direct("127.0.0.1", served.port))
            driver = await connect(device, clock=SystemClock(), helper=helper, env={})
            try:
                await story(phone, device, driver)
            finally:
                await driver.close()

    asyncio.run(run())


def test_our_helper_starts_behind_a_terminal_and_reads_touches_and_types() -> None:
    async def story(phone: Phone, device: AdbDevice, driver: Driver) -> None:
        assert "shell_v2" not in await device.link.features()
        with pytest.raises(AdbCommandError):
            await device.open("exec:echo")
        assert driver.channels()["look"] == "helper", driver.diagnostics()
        screen = await driver.look()
        notes = next(node for node in screen.nodes if node.text == "Notes")
        await driver.perform(fingers.tap(*notes.center))
        top = phone.tasks.top
        assert top is not None
        assert top.app.package == NOTES

    on_android_4_4(story)


def test_the_helper_lets_go_and_plain_adb_looks_and_takes_pictures() -> None:
    async def story(phone: Phone, device: AdbDevice, driver: Driver) -> None:
        for door in driver.doors:
            await door.close()
        assert not phone.ui_automation
        assert (await driver.look()).package
        assert (await driver.screenshot()).startswith(b"\x89PNG")
        assert driver.channels()["look"] == "adb"

    on_android_4_4(story)


def test_u2_is_not_tried_where_a_runtime_reads_one_dex_file() -> None:
    async def story(phone: Phone, device: AdbDevice, driver: Driver) -> None:
        assert "Android 4.4.4 reads one dex file of a jar" in driver.channels()["helper"]
        assert not phone.files.exists("/data/local/tmp/u2.jar")

    on_android_4_4(story, without=OWN_MAIN)


def test_what_came_later_has_its_older_form() -> None:
    async def story(phone: Phone, device: AdbDevice, driver: Driver) -> None:
        shell, surface = device.shell, AndroidSurface(device, driver, SystemClock())
        assert await is_installed(shell, NOTES)
        assert not await is_installed(shell, "com.example.nothing")
        labels = {app.package for app in await installed_apps(shell, LabelMemory(None))}
        assert {NOTES, "com.android.settings"} <= labels
        await start(shell, NOTES)
        assert await pid_of(shell, NOTES)
        phone.logcat("I", "Marker", "written on an old phone")
        assert any("written on an old phone" in str(line) for line in await logs.read(shell))
        assert await logs.read(shell, since="1s") is not None
        assert await logs.crash_lines(shell, NOTES) is None
        health = surface.need(AppHealth)
        assert not await health.is_home(await driver.look())
        await driver.key("home")
        assert await health.is_home(await driver.look())

    on_android_4_4(story, "none")


def test_an_apk_is_installed_from_a_file_and_removed(tmp_path: Path) -> None:
    async def story(phone: Phone, device: AdbDevice, driver: Driver) -> None:
        surface = AndroidSurface(device, driver, SystemClock())
        await surface.need(Apps).install(put_apk(tmp_path, "com.example.old"))
        assert "com.example.old" in phone.packages.installed
        assert not phone.files.exists("/data/local/tmp/handrail-install.apk")
        await uninstall(device.shell, "com.example.old")
        assert "com.example.old" not in phone.packages.installed

    on_android_4_4(story, "none")


def test_output_behind_a_terminal_is_what_the_command_wrote() -> None:
    async def story(phone: Phone, device: AdbDevice, driver: Driver) -> None:
        data = bytes(range(256)) * 40 + b"\r\n\n\r"
        phone.files.write("/data/local/tmp/bytes", data)
        assert (await device.shell.run(["cat", "/data/local/tmp/bytes"])).stdout == data

    on_android_4_4(story, "none")


def test_a_command_that_is_missing_is_named_with_the_android_that_brought_it() -> None:
    error = failed("cmd uimode night", Output(b"", b"/system/bin/sh: cmd: not found", 127))
    assert error.hint == "This phone's Android is too old: `cmd` came with Android 7."
    assert "profile" not in failed("input tap 1 2", Output(b"", b"Killed", 137)).hint


class Recorded:
    """A shell that answers as the phone did."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers

    async def run(self, command: Command, **_: object) -> Output:
        words = command.split() if isinstance(command, Script) else list(command)
        if words[0] == "cmd":
            return Output(b"", b"/system/bin/sh: cmd: not found\n", 127)
        if words[0] == "logcat" and "epoch" in words:
            raise AdbCommandError("`logcat` ended with 255: Invalid parameter to -v Usage: logcat [options]")
        if words[0] == "date":
            return Output(b"1763439000.N +0000\n", b"", 0)
        return Output((RECORDED / self.answers[words[0]]).read_bytes(), b"", 0)

    def start(self, command: Command) -> None:
        raise NotImplementedError


@recorded
async def test_the_packages_and_the_log_of_a_real_android_4_4_are_read() -> None:
    shell = Recorded(pm="pm-list.txt", am="settings.txt", logcat="logcat-threadtime.txt")
    assert await is_installed(shell, "com.android.calculator2")  # type: ignore[arg-type]
    assert not await is_installed(shell, "com.example.nothing")  # type: ignore[arg-type]
    packages = read_packages((RECORDED / "pm-list.txt").read_text())
    assert len(packages) == 28
    assert {package.uid for package in packages} == {None}
    lines = await logs.read(shell, max_lines=5_000)  # type: ignore[arg-type]
    assert len(lines) > 2_000
    assert lines[0].tag == "Vold"
    assert str(lines[0]).startswith("2025-11-18T03:47:19.969Z 125 125 I Vold: ")


@recorded
def test_the_home_screen_of_a_real_android_4_4_is_known_by_its_task() -> None:
    assert home_apps((RECORDED / "dumpsys-activity-activities.txt").read_text()) == {
        "com.cyanogenmod.trebuchet"
    }


def test_an_old_ps_is_read_by_its_columns() -> None:
    text = (
        "USER     PID   PPID  VSIZE  RSS     WCHAN    PC         NAME\r\n"
        "root      1     0     424    248   ffffffff 00000000 S /init\r\n"
        "u0_a21    1402  129   195560 29560 ffffffff 00000000 S com.android.calculator2\r\n"
    )
    assert read_processes(text, "com.android.calculator2") == {1402: "com.android.calculator2"}


def test_launchers_are_the_main_activities_with_the_category() -> None:
    dump = (
        "Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n"
        '        425d6a28 a.b/.Main filter 4213\n          Action: "android.intent.action.MAIN"\n'
        '          Category: "android.intent.category.LAUNCHER"\n'
        '        425d6a29 a.c/.Hidden filter 4214\n          Category: "android.intent.category.DEFAULT"\n'
        "      android.intent.action.VIEW:\n        425d6a2a a.d/.View filter 4215\n"
        '          Category: "android.intent.category.LAUNCHER"\n\nReceiver Resolver Table:\n'
    )
    assert read_launchers(dump) == [("a.b", ".Main")]
