"""The system by shell: dumpsys, logcat, settings, properties, screen size, services, databases."""

from __future__ import annotations

import asyncio
import re

import pytest

from handrail_sim.phone import Phone
from handrail_sim.shell import ShellIO, run
from handrail_sim.shell.io import Bytes
from tests.shell_person import new_phone, out, shell

NOTES = "com.handrail.notes"


@pytest.fixture
def phone() -> Phone:
    made = new_phone(["notes", "contacts", "messages", "settings"])
    made.start_activity(f"{NOTES}/.MainActivity")
    return made


def test_the_focus_is_found_where_tools_look(phone: Phone) -> None:
    activity = rf"{NOTES}/{NOTES}\.MainActivity"
    focus = re.search(rf"mCurrentFocus=Window\{{\w+ u0 {activity}\}}", out("dumpsys window", phone=phone))
    assert focus
    assert "mFocusedApp=ActivityRecord{" in out("dumpsys window displays", phone=phone)
    activities = out("dumpsys activity activities", phone=phone)
    assert re.search(
        rf"topResumedActivity=ActivityRecord\{{\w+ u0 {NOTES}/\.MainActivity t\d+\}}", activities
    )
    tops = re.findall(r"ACTIVITY (\S+)/\S+ \w+ pid=(\d+)", out("dumpsys activity top", phone=phone))
    assert tops[-1] == (NOTES, out(f"pidof {NOTES}", phone=phone).strip())


def test_every_service_dumps_without_failing(phone: Phone) -> None:
    assert "DUMP OF SERVICE window:" in out("dumpsys", phone=phone)
    assert out("dumpsys -l", phone=phone).startswith("Currently running services:\n")
    assert shell("dumpsys nosuch", phone=phone).errors == "Can't find service: nosuch\n"


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (
            "dumpsys display",
            r"DisplayViewport\{.*valid=true,.* orientation=0,.*deviceWidth=1080, deviceHeight=2400",
        ),
        ("dumpsys power", r"mHoldingDisplaySuspendBlocker=true"),
        ("dumpsys power", r"mWakefulness=Awake"),
        ("dumpsys battery", r"\n  level: 84\n  scale: 100\n"),
        ("dumpsys input_method", r"mInputShown=false"),
        ("dumpsys input", r"SurfaceOrientation: 0"),
        ("dumpsys window policy", r"mDreamingLockscreen=false"),
        ("dumpsys SurfaceFlinger --display-id", r"^Display \d+ \(HWC display 0\): port=0"),
        ("dumpsys wifi", r"^Wi-Fi is enabled\n"),
        ("dumpsys telephony.registry", r"mCallState=0"),
        ("dumpsys audio", r"- STREAM_MUSIC:"),
        (f"dumpsys package {NOTES}", r"PackageSignatures\{.*?\[(.*)\]\}"),
        (f"dumpsys package {NOTES}", r"pkgFlags=\[\s*(.*)\s*\]"),
        (f"dumpsys package {NOTES}", r"firstInstallTime=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n"),
        (f"dumpsys meminfo {NOTES}", r"TOTAL PSS:\s+\d+"),
        (f"dumpsys gfxinfo {NOTES}", r"Total frames rendered: \d+"),
        ("ip addr show dev wlan0", r"inet 192\.168\.1\.77/24"),
        ("ifconfig wlan0", r"inet addr:192\.168\.1\.77 "),
        ("ime list -s", r"^com\.android\.inputmethod\.latin/\.LatinIME\n$"),
        ("cat /proc/meminfo", r"^MemTotal: +\d+ kB"),
    ],
)
def test_a_field_that_tools_look_for_is_there(phone: Phone, command: str, wanted: str) -> None:
    assert re.search(wanted, out(command, phone=phone)), wanted


def test_a_boot_has_an_id_of_its_own(phone: Phone) -> None:
    first = out("cat /proc/sys/kernel/random/boot_id", phone=phone)
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n", first)
    assert out("cat /proc/sys/kernel/random/boot_id", phone=phone) == first
    phone.reboot()
    assert out("cat /proc/sys/kernel/random/boot_id", phone=phone) != first


def test_the_keyboard_is_seen_when_it_is_up(phone: Phone) -> None:
    shell(
        "am start -n com.google.android.contacts/com.android.contacts.activities.ContactEditorActivity",
        phone=phone,
    )
    field = re.search(
        r'class="android.widget.EditText"[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', phone.dump()
    )
    assert field
    left, top, right, bottom = map(int, field.groups())
    out(f"input tap {(left + right) // 2} {(top + bottom) // 2}", phone=phone)
    assert "mInputShown=true" in out("dumpsys input_method", phone=phone)
    out("input keyevent BACK", phone=phone)
    assert "mInputShown=false" in out("dumpsys input_method", phone=phone)


def test_notifications_are_redacted_unless_asked_for(phone: Phone) -> None:
    phone.notify(NOTES, "Reminder", "Water the plants")
    assert "Water the plants" not in out("dumpsys notification", phone=phone)
    assert "android.text=String (Water the plants)" in out("dumpsys notification --noredact", phone=phone)


def test_the_screens_size_and_density_can_be_overridden(phone: Phone) -> None:
    assert out("wm size; wm density", phone=phone) == "Physical size: 1080x2400\nPhysical density: 420\n"
    assert out("wm size 720x1280; wm size; wm density 320; wm density", phone=phone) == (
        "Physical size: 1080x2400\nOverride size: 720x1280\nPhysical density: 420\nOverride density: 320\n"
    )
    assert out("wm size reset; wm density reset; wm size", phone=phone) == "Physical size: 1080x2400\n"


def test_settings_are_read_written_and_listed(phone: Phone) -> None:
    assert out("settings get system nosuch", phone=phone) == "null\n"
    assert out("settings put secure mine 'a b'; settings get secure mine", phone=phone) == "a b\n"
    assert "mine=a b\n" in out("settings list secure", phone=phone)
    assert (
        out("settings delete secure mine; settings get secure mine", phone=phone) == "Deleted 1 rows\nnull\n"
    )
    assert shell("settings get nowhere x", phone=phone).status == 255


def test_a_rotation_by_settings_turns_the_screen(phone: Phone) -> None:
    shell("settings put system accelerometer_rotation 0; settings put system user_rotation 1", phone=phone)
    assert (phone.display.width, phone.display.height) == (2400, 1080)
    assert "orientation=1" in out("dumpsys display", phone=phone)


def test_properties_are_listed_in_brackets_and_protected(phone: Phone) -> None:
    assert "[ro.build.version.sdk]: [34]\n" in out("getprop", phone=phone)
    assert out("getprop no.such; getprop no.such fallback", phone=phone) == "\nfallback\n"
    assert out("setprop debug.mine 1; getprop debug.mine", phone=phone) == "1\n"
    assert shell("setprop ro.secure 0", phone=phone).status == 1


def test_services_take_commands(phone: Phone) -> None:
    assert out("cmd uimode night yes", phone=phone) == "Night mode: yes\n"
    assert phone.display.dark
    out("cmd statusbar expand-notifications", phone=phone)
    assert any(window.type == "shade" for window in phone.windows())
    out("cmd statusbar collapse; svc wifi disable; cmd connectivity airplane-mode enable", phone=phone)
    assert not any(window.type == "shade" for window in phone.windows())
    assert phone.settings["global"]["wifi_on"] == "0"
    assert out("cmd connectivity airplane-mode", phone=phone) == "enabled\n"
    assert shell("cmd nosuch", phone=phone).status == 20


def test_the_clipboard_has_no_shell_side_but_in_some_builds(phone: Phone) -> None:
    phone.clipboard = "kept"
    answer = shell("cmd clipboard set hello", phone=phone)
    assert (answer.status, answer.errors) == (0, "No shell command implementation.\n")
    assert phone.clipboard == "kept"
    out("setprop debug.sim.cmd_clipboard 1", phone=phone)
    assert out("cmd clipboard set hello; cmd clipboard get", phone=phone) == "hello\n"


def test_a_keyboard_of_a_test_package_types_what_it_is_sent(phone: Phone) -> None:
    method = "com.github.uiautomator/.AdbKeyboard"
    assert shell(f"ime enable {method}", phone=phone).status == 255
    phone.packages.install("com.github.uiautomator")
    assert out(f"ime enable {method}; ime set {method}", phone=phone) == (
        f"Input method {method}: now enabled for user #0\nInput method {method} selected for user #0\n"
    )
    sent = "am broadcast -a ADB_KEYBOARD_INPUT_TEXT --es text Z3LDvMOf"
    assert out(sent, phone=phone).endswith('Broadcast completed: result=-1, data="success"\n')
    assert phone.input_log[-1]["text"] == "grüß"


def test_each_keyboard_hears_only_broadcasts_of_its_own(phone: Phone) -> None:
    phone.packages.install("com.android.adbkeyboard")
    out("ime enable com.android.adbkeyboard/.AdbIME; ime set com.android.adbkeyboard/.AdbIME", phone=phone)
    for other in ("-a ADB_KEYBOARD_INPUT_TEXT --es text", "-a ADB_INPUT_B64 -p com.other --es msg"):
        out(f"am broadcast {other} Z3LDvMOf", phone=phone)
    assert not [one for one in phone.input_log if one["action"] == "commit"]
    sent = "am broadcast -a ADB_INPUT_B64 -p com.android.adbkeyboard --es msg Z3LDvMOf"
    assert out(sent, phone=phone).endswith("Broadcast completed: result=0\n")
    assert phone.input_log[-1]["text"] == "grüß"


def test_a_protected_broadcast_is_denied(phone: Phone) -> None:
    answer = shell("am broadcast -a android.intent.action.BOOT_COMPLETED", phone=phone)
    assert answer.status == 255
    assert "java.lang.SecurityException: Permission Denial: not allowed to send broadcast" in answer.errors


def test_content_providers_answer_in_rows(phone: Phone) -> None:
    asked = (
        "content query --uri content://settings/system --projection name:value --where \"name='font_scale'\""
    )
    assert out(asked, phone=phone) == "Row: 0 name=font_scale, value=1.0\n"
    assert out("content query --uri content://com.android.contacts/contacts", phone=phone).startswith(
        "Row: 0 _id="
    )
    phone.receive_sms("Bank", "code 1234")
    assert "body=code 1234" in out("content query --uri content://sms/inbox", phone=phone)
    assert shell("content query --uri content://nosuch/x", phone=phone).status == 1


def test_the_log_is_shown_in_the_format_that_was_asked_for(phone: Phone) -> None:
    out("logcat -c; log -p w -t Mine 'one line'; log -t Other two", phone=phone)
    assert re.fullmatch(
        r"--------- beginning of main\n03-09 16:00:00\.\d{3} +\d+ +\d+ W Mine    : one line\n",
        out("logcat -d -s Mine", phone=phone),
    )
    assert re.search(r"^W/Mine    \( *\d+\): one line$", out("logcat -d -v brief", phone=phone), re.MULTILINE)
    assert "two" in out("logcat -d -t 1", phone=phone)
    assert "one" not in out("logcat -d -t 1", phone=phone)
    assert "two" not in out("logcat -d '*:W'", phone=phone)
    assert "one" in out("export ANDROID_LOG_TAGS=''; exec logcat '-d'", phone=phone)


def test_the_log_of_one_process(phone: Phone) -> None:
    pid = out(f"pidof {NOTES}", phone=phone).strip()
    phone.logcat("E", "App", "mine", NOTES)
    phone.logcat("E", "App", "not mine")
    text = out(f"logcat -d --pid={pid}", phone=phone)
    assert "mine" in text
    assert "not mine" not in text


def test_logcat_follows_until_it_is_hung_up(phone: Phone) -> None:
    async def story() -> str:
        shown = bytearray()

        async def take(data: bytes) -> None:
            shown.extend(data)

        work = asyncio.ensure_future(run(phone, "logcat -s Later", ShellIO(Bytes(b""), take, take)))
        await asyncio.sleep(0)
        phone.logcat("I", "Later", "came afterwards")
        for _ in range(5):
            await asyncio.sleep(0)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert not phone.log.listeners
        return shown.decode()

    assert "I Later   : came afterwards\n" in asyncio.run(story())


def test_a_database_of_an_app_is_a_real_one(phone: Phone) -> None:
    sql = "SELECT count(*) > 0 FROM notes"
    assert out(f"run-as {NOTES} sqlite3 databases/notes.db '{sql}'", phone=phone) == "1\n"
    refused = shell(f"sqlite3 /data/data/{NOTES}/databases/notes.db '{sql}'", phone=phone)
    assert "unable to open database file" in refused.errors


def test_a_database_is_made_changed_and_shown(phone: Phone) -> None:
    base = "cd /data/local/tmp; sqlite3 "
    assert out(
        base + "a.db \"create table t(a,b); insert into t values(1,'x;y'),(2,null); select * from t\"",
        phone=phone,
    ) == ("1|x;y\n2|\n")
    assert (
        out(base + "-json a.db 'select * from t'", phone=phone) == '[{"a":1,"b":"x;y"},\n{"a":2,"b":null}]\n'
    )
    assert out(base + "-header -csv a.db 'select a from t'", phone=phone) == "a\r\n1\r\n2\r\n"
    assert out(base + "a.db .tables", phone=phone) == "t\n"
    assert (
        shell(base + "a.db 'select * from nosuch'", phone=phone).errors
        == "Error: in prepare, no such table: nosuch\n"
    )


def test_a_database_gives_no_way_to_the_hosts_files(phone: Phone) -> None:
    for sql in ("attach '/etc/passwd' as p", "vacuum into '/tmp/handrail-escape.db'"):
        answer = shell(f'sqlite3 /data/local/tmp/a.db "{sql}"', phone=phone)
        assert answer.status == 1
    endless = "with recursive n(i) as (select 1 union all select i from n) select count(*) from n"
    assert "interrupted" in shell(f"sqlite3 /data/local/tmp/a.db '{endless}'", phone=phone).errors


def test_the_simulators_own_command_answers(phone: Phone) -> None:
    assert '"serial": "handrail-sim"' in out("sim state", phone=phone)
