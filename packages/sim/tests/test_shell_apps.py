"""Apps by shell: am, pm, cmd package, monkey, app_process."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from handrail_sim.phone import Phone
from tests.apks import launcher_apk
from tests.shell_person import new_phone, out, shell

NOTES = "com.handrail.notes"


@pytest.fixture
def phone() -> Phone:
    return new_phone(["notes", "gallery", "settings", "contacts", "messages"])


def front(phone: Phone) -> str:
    top = phone.tasks.top
    assert top is not None
    return top.app.package


def apk(package: str, code: int = 1, *, manifest: bytes | None = None) -> bytes:
    """A file of an APK's shape."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        text = f'<manifest package="{package}" android:versionCode="{code}" android:versionName="{code}.5"/>'
        archive.writestr("AndroidManifest.xml", manifest or text.encode())
    return made.getvalue()


def compiled_manifest(package: str, code: int) -> bytes:
    """Android's binary XML with one `manifest` tag, built by hand."""
    words = ["versionCode", "package", "manifest", package]
    data, offsets = b"", []
    for word in words:
        offsets.append(len(data))
        data += struct.pack("<H", len(word)) + word.encode("utf-16-le") + b"\0\0"
    data += b"\0" * (-len(data) % 4)
    start = 28 + 4 * len(words)
    pool = struct.pack("<5I", len(words), 0, 0, start, 0) + struct.pack(f"<{len(words)}I", *offsets) + data
    pool = struct.pack("<HHI", 1, 28, 8 + len(pool)) + pool
    ids = struct.pack("<HHII", 0x0180, 8, 12, 0x0101021B)
    none = 0xFFFFFFFF
    attributes = struct.pack("<5I", none, 0, none, 0x10000008, code) + struct.pack(
        "<5I", none, 1, 3, 0x03000008, 3
    )
    body = struct.pack("<4I", 1, none, none, 2) + struct.pack("<6H", 20, 20, 2, 0, 0, 0) + attributes
    tag = struct.pack("<HHI", 0x0102, 16, 8 + len(body)) + body
    return struct.pack("<HHI", 3, 8, 8 + len(pool + ids + tag)) + pool + ids + tag


def test_am_start_opens_an_activity_and_says_so(phone: Phone) -> None:
    assert out(f"am start -n {NOTES}/.MainActivity", phone=phone) == (
        f"Starting: Intent {{ cmp={NOTES}/.MainActivity }}\n"
    )
    assert front(phone) == NOTES


def test_am_start_w_reports_the_launch(phone: Phone) -> None:
    lines = out(f"am start -W -n {NOTES}/.MainActivity", phone=phone).splitlines()
    assert lines[1:4] == ["Status: ok", "LaunchState: COLD", f"Activity: {NOTES}/.MainActivity"]
    assert lines[-1] == "Complete"


def test_an_app_in_front_is_not_started_again(phone: Phone) -> None:
    shell(f"am start -n {NOTES}/.MainActivity", phone=phone)
    again = shell(f"am start -n {NOTES}/.MainActivity", phone=phone)
    assert again.status == 0
    assert "intent has been delivered to currently running top-most instance" in again.errors


def test_am_start_of_nothing_fails(phone: Phone) -> None:
    missing = shell("am start -n a.b/.C", phone=phone)
    assert missing.status == 1
    assert missing.errors == "Error type 3\nError: Activity class {a.b/a.b.C} does not exist.\n"
    nobody = shell("am start -a some.ACTION", phone=phone)
    assert nobody.errors.startswith("Error: Activity not started, unable to resolve Intent { act=some.ACTION")


def test_force_stop_ends_the_process(phone: Phone) -> None:
    shell(f"am start -n {NOTES}/.MainActivity", phone=phone)
    assert out(f"pidof {NOTES}", phone=phone).strip().isdigit()
    assert out(f"am force-stop {NOTES}", phone=phone) == ""
    assert shell(f"pidof {NOTES}", phone=phone).status == 1
    assert front(phone) == "com.android.launcher3"


def test_am_crash_leaves_the_crash_dialog_and_a_stack_trace(phone: Phone) -> None:
    shell(f"am start -n {NOTES}/.MainActivity; am crash {NOTES}", phone=phone)
    assert "keeps stopping" in phone.dump() or "has stopped" in phone.dump()
    assert "FATAL EXCEPTION" in out("logcat -d -s AndroidRuntime:E", phone=phone)


def test_monkey_launches_an_app_and_aborts_without_one(phone: Phone) -> None:
    answer = shell(f"monkey -p {NOTES} -c android.intent.category.LAUNCHER 1", phone=phone)
    assert "Events injected: 1\n" in answer.text
    assert front(phone) == NOTES
    aborted = shell("monkey -p no.such.app 1", phone=phone)
    assert "** No activities found to run, monkey aborted." in aborted.text
    assert aborted.status == 252


def test_pm_lists_packages_by_kind(phone: Phone) -> None:
    assert (
        out("pm list packages -3", phone=phone)
        == "package:com.handrail.gallery\npackage:com.handrail.notes\n"
    )
    assert "package:android\n" in out("pm list packages -s", phone=phone)
    assert out(f"pm list packages -f {NOTES}", phone=phone) == f"package:/data/app/{NOTES}/base.apk={NOTES}\n"
    assert out("cmd package list packages --user 0 gallery", phone=phone) == "package:com.handrail.gallery\n"


def test_pm_path_is_silent_about_the_unknown(phone: Phone) -> None:
    assert out(f"pm path {NOTES}", phone=phone) == f"package:/data/app/{NOTES}/base.apk\n"
    unknown = shell("pm path nosuch", phone=phone)
    assert (unknown.status, unknown.text) == (1, "")


def test_permissions_are_granted_and_taken(phone: Phone) -> None:
    package, permission = "com.handrail.gallery", "android.permission.READ_MEDIA_IMAGES"
    assert out(f"pm grant {package} {permission}", phone=phone) == ""
    assert f"{permission}: granted=true" in out(f"dumpsys package {package}", phone=phone)
    assert out(f"pm revoke {package} {permission}", phone=phone) == ""
    assert not phone.packages.is_granted(package, permission)
    refused = shell(f"pm grant {package} android.permission.CAMERA", phone=phone)
    assert refused.status == 255
    assert "has not requested permission android.permission.CAMERA" in refused.errors


def test_pm_clear_forgets_an_apps_data(phone: Phone) -> None:
    out(f"run-as {NOTES} touch files/mine", phone=phone)
    assert out(f"pm clear {NOTES}", phone=phone) == "Success\n"
    assert out(f"run-as {NOTES} ls files", phone=phone) == ""
    assert shell("pm clear nosuch", phone=phone).text == "Failed\n"


def test_an_apk_on_the_phone_is_installed(phone: Phone) -> None:
    made = "cat > /data/local/tmp/a.apk; pm install -r -t /data/local/tmp/a.apk"
    assert out(made, phone=phone, stdin=apk("org.example.app", 7)) == "Success\n"
    facts = out("dumpsys package org.example.app", phone=phone)
    assert "versionCode=7 " in facts
    assert "versionName=7.5\n" in facts


def test_an_apk_is_installed_from_a_stream_of_announced_size(phone: Phone) -> None:
    data = apk("org.example.stream")
    command = f"cmd package 'install' '-r' -S {len(data)}"
    assert out(command, phone=phone, stdin=data + b"not read") == "Success\n"
    assert "org.example.stream" in phone.packages.installed


def test_a_compiled_manifest_is_read(phone: Phone) -> None:
    data = apk("", manifest=compiled_manifest("org.example.binary", 42))
    assert out(f"cmd package install -S {len(data)}", phone=phone, stdin=data) == "Success\n"
    assert phone.packages.installed["org.example.binary"].version_code == 42


def test_an_apk_is_installed_in_a_session(phone: Phone) -> None:
    created = out("cmd package install-create -r -S 100", phone=phone)
    assert created.startswith("Success: created install session [")
    number = created.split("[")[1].split("]")[0]
    data = apk("org.example.session")
    written = out(f"cmd package install-write -S {len(data)} {number} base.apk -", phone=phone, stdin=data)
    assert written == f"Success: streamed {len(data)} bytes\n"
    assert out(f"cmd package install-commit {number}", phone=phone) == "Success\n"
    assert "org.example.session" in phone.packages.installed
    assert shell(f"cmd package install-commit {number}", phone=phone).status == 255


def test_what_is_no_apk_or_older_is_refused(phone: Phone) -> None:
    bad = shell("cmd package install -S 5", phone=phone, stdin=b"hello")
    assert bad.status == 1
    assert bad.text.startswith("Failure [INSTALL_PARSE_FAILED_NOT_APK")
    for code, expected in ((5, "Success\n"), (4, "Failure [INSTALL_FAILED_VERSION_DOWNGRADE")):
        data = apk("org.example.v", code)
        assert shell(f"pm install -S {len(data)}", phone=phone, stdin=data).text.startswith(expected)


def test_a_package_is_uninstalled_and_a_system_one_is_not(phone: Phone) -> None:
    assert out(f"pm uninstall {NOTES}", phone=phone) == "Success\n"
    assert NOTES not in out("pm list packages", phone=phone)
    assert shell(f"am start -n {NOTES}/.MainActivity", phone=phone).status == 1
    refused = shell("pm uninstall com.android.settings", phone=phone)
    assert (refused.status, refused.text) == (1, "Failure [DELETE_FAILED_INTERNAL_ERROR]\n")


def test_the_launcher_activity_can_be_asked_for(phone: Phone) -> None:
    asked = f"cmd package resolve-activity --brief -c android.intent.category.LAUNCHER {NOTES} | tail -n 1"
    assert out(asked, phone=phone) == f"{NOTES}/.MainActivity\n"
    query = "cmd package query-activities -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
    assert f"      packageName={NOTES}\n" in out(query, phone=phone)
    assert out("cmd package resolve-activity --brief no.such", phone=phone) == "No activity found\n"


def test_the_home_screen_can_be_asked_for_and_started(phone: Phone) -> None:
    home = "-a android.intent.action.MAIN -c android.intent.category.HOME"
    launcher = "com.android.launcher3/.uioverrides.QuickstepLauncher"
    assert out(f"cmd package resolve-activity --brief {home} | tail -n 1", phone=phone) == f"{launcher}\n"
    shell(f"am start -n {NOTES}/.MainActivity", phone=phone)
    assert shell(f"am start {home}", phone=phone).status == 0
    assert launcher in out("dumpsys activity activities | grep topResumedActivity", phone=phone)


def test_features_are_known(phone: Phone) -> None:
    assert out("pm has-feature android.hardware.touchscreen", phone=phone) == "true\n"
    assert shell("pm has-feature android.hardware.type.watch", phone=phone).status == 1
    assert "feature:android.hardware.wifi\n" in out("pm list features", phone=phone)


def test_a_program_that_is_not_served_is_refused_at_once(phone: Phone) -> None:
    answer = shell("CLASSPATH=/data/local/tmp/s.jar app_process / com.example.Server 1.0", phone=phone)
    assert answer.status == 1
    assert 'ClassNotFoundException: Didn\'t find class "com.example.Server" on path' in answer.errors


def test_a_served_program_needs_its_jar(phone: Phone) -> None:
    async def main(call: object) -> int:
        return 17

    phone.helper_mains["com.example.Main"] = main
    start = "CLASSPATH=/data/local/tmp/s.jar app_process / com.example.Main -p 1"
    assert shell(start, phone=phone).status == 1
    assert shell(f"touch /data/local/tmp/s.jar; {start}", phone=phone).status == 17


def test_an_unknown_instrumentation_is_refused(phone: Phone) -> None:
    answer = shell("am instrument -w -r -e debug false a.b.test/c.Runner", phone=phone)
    assert answer.status == 1
    assert "INSTRUMENTATION_STATUS_CODE: -1" in answer.text
    assert "INSTRUMENTATION_FAILED: a.b.test/c.Runner" in answer.errors


def test_clipper_gives_a_shell_the_clipboard_only_while_it_is_in_front() -> None:
    phone = new_phone(["launcher", "notes"])
    phone.clipboard = "first words"
    assert 'data="' not in out("am broadcast -a clipper.get", phone=phone)
    phone.files.write("/data/local/tmp/c.apk", launcher_apk("ca.zgrs.clipper", "Clipper"))
    assert out("pm install /data/local/tmp/c.apk", phone=phone) == "Success\n"
    assert 'data="' not in out("am broadcast -a clipper.get", phone=phone)
    out("am start -W -n ca.zgrs.clipper/ca.zgrs.clipper.Main", phone=phone)
    assert 'result=-1, data="first words"' in out("am broadcast -a clipper.get", phone=phone)
    out("am broadcast -a clipper.set -e text 'other words'", phone=phone)
    assert phone.clipboard == "other words"
