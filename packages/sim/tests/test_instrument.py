"""`am instrument`: what is declared and served, declared and not served, and not there."""

from __future__ import annotations

import asyncio

from handrail_sim import shell
from handrail_sim.phone import Phone
from tests.apks import instrumented_apk, launcher_apk, text_apk
from tests.host import settle
from tests.shell_person import new_phone, out
from tests.shell_person import shell as run

APPIUM, APPIUM_TEST = "io.appium.uiautomator2.server", "io.appium.uiautomator2.server.test"
RUNNER = "androidx.test.runner.AndroidJUnitRunner"


def install(phone: Phone, *apks: bytes) -> None:
    for data in apks:
        assert out(f"cmd package install -S {len(data)}", phone=phone, stdin=data) == "Success\n"


def test_an_instrumentation_that_no_package_declares_is_not_found() -> None:
    phone = new_phone()
    answer = run("am instrument -w org.example.test/.Runner", phone=phone)
    assert answer.status == 1
    assert "Unable to find instrumentation info for: ComponentInfo{org.example.test/.Runner}" in answer.text
    assert "INSTRUMENTATION_FAILED: org.example.test/.Runner" in answer.errors


def test_an_instrumentation_needs_the_package_that_it_tests() -> None:
    phone = new_phone()
    install(phone, instrumented_apk("org.example.test", "org.example.lamp"))
    answer = run(f"am instrument -w org.example.test/{RUNNER}", phone=phone)
    assert "Unable to find instrumentation target package" in answer.text
    assert answer.status == 1


def test_a_declared_runner_whose_code_can_not_run_here_crashes_as_one_whose_class_is_missing() -> None:
    phone = new_phone()
    install(phone, launcher_apk("org.example.lamp", "Lamp"))
    install(phone, instrumented_apk("org.example.test", "org.example.lamp"))
    listed = out("pm list instrumentation", phone=phone)
    assert f"instrumentation:org.example.test/{RUNNER} (target=org.example.lamp)\n" in listed
    answer = run(f"am instrument -w org.example.test/{RUNNER}", phone=phone)
    assert answer.text == "INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n"
    log = out("logcat -d -b crash", phone=phone)
    assert f'ClassNotFoundException: Didn\'t find class "{RUNNER}"' in log
    assert phone.packages.pid_of("org.example.lamp") is None


def test_a_served_instrumentation_runs_in_the_tested_process_and_ends_with_it() -> None:
    async def story() -> None:
        phone = new_phone()
        for data in (text_apk(APPIUM), instrumented_apk(APPIUM_TEST, APPIUM)):
            assert (await shell.capture(phone, f"cmd package install -S {len(data)}", data)).status == 0
        command = f"am instrument -w {APPIUM_TEST}/{RUNNER}"
        serving = asyncio.ensure_future(shell.capture(phone, command))
        await settle()
        assert "tcp:6790" in phone.ports
        assert phone.packages.pid_of(APPIUM)
        assert (await shell.capture(phone, f"am force-stop {APPIUM}")).status == 0
        answer = await serving
        assert "Process crashed." in answer.text
        assert "tcp:6790" not in phone.ports

    asyncio.run(story())


def test_without_w_it_goes_on_by_itself_until_the_phone_reboots() -> None:
    async def story() -> None:
        phone = new_phone()
        for data in (text_apk(APPIUM), instrumented_apk(APPIUM_TEST, APPIUM)):
            await shell.capture(phone, f"cmd package install -S {len(data)}", data)
        assert (await shell.capture(phone, f"am instrument {APPIUM_TEST}/{RUNNER}")).status == 0
        await settle()
        assert "tcp:6790" in phone.ports
        phone.reboot()
        await settle()
        assert "tcp:6790" not in phone.ports

    asyncio.run(story())
