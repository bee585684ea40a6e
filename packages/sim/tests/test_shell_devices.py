"""The kernel's side and the machine's tools: /proc, /dev/input, archives, reports, the bare terminal."""

from __future__ import annotations

import asyncio
import io
import zipfile

import pytest

from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from handrail_sim.shell import capture
from tests.shell_person import new_phone, out, shell

TMP = "cd /data/local/tmp; "
TOUCH = "/dev/input/event1"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("cat /proc/1/comm", "init\n"),
        ("grep -c ^cpu /proc/stat", "9\n"),
        ("tr '\\0' ' ' < /proc/1/cmdline", "/system/bin/init second_stage "),
        ("[ -d /proc/1 ] && [ ! -e /proc/99999 ] && echo both", "both\n"),
        ("grep Uid: /proc/543/status", "Uid:\t1000\t1000\t1000\t1000\n"),
        ("cat /proc/self/comm", "cat\n"),
        ("cut -d' ' -f2 /proc/mounts | grep data", "/data\n"),
        ("cut -d' ' -f2,3 /proc/1/stat", "(init) S\n"),
        ("ls /proc/1 | head -2", "cgroup\ncmdline\n"),
    ],
)
def test_proc_tells_what_runs(line: str, said: str) -> None:
    assert out(line) == said


def test_an_archive_comes_back_as_it_was() -> None:
    phone = new_phone()
    made = (
        TMP + "mkdir -p a/b; echo one > a/x; echo two > a/b/y; tar czf a.tgz a; mkdir c; tar xzf a.tgz -C c; "
    )
    assert out(made + "cat c/a/b/y; tar tf a.tgz; cmp a/x c/a/x && echo same", phone=phone) == (
        "two\na/\na/b/\na/b/y\na/x\nsame\n"
    )
    assert out(TMP + "gzip a/x; ls a; gunzip -c a/x.gz; zcat a/x.gz", phone=phone) == "b\nx.gz\none\none\n"


def test_od_and_cmp_show_bytes() -> None:
    assert out("printf 'A\\n' | od -c") == "0000000   A  \\n\n0000002\n"
    assert out("printf 'AB' | od -An -tx1") == " 41 42\n"
    answer = shell(TMP + "printf abc > x; printf abd > y; cmp x y")
    assert (answer.status, answer.text) == (1, "x y differ: char 3, line 1\n")


def test_a_bugreport_holds_properties_log_and_dumps() -> None:
    phone = new_phone()
    path = out("bugreportz", phone=phone).strip().removeprefix("OK:")
    with zipfile.ZipFile(io.BytesIO(phone.files.read(path))) as report:
        main = report.read("main_entry.txt").decode()
        text = report.read(main).decode()
    assert "[ro.product.model]" in text
    assert "DUMP OF SERVICE window:" in text


def test_input_devices_are_listed_and_watched() -> None:
    phone = new_phone(["notes"])
    listed = out("getevent -pl", phone=phone)
    assert f"add device 2: {TOUCH}" in listed
    assert "ABS_MT_POSITION_X" in listed

    async def story() -> str:
        watching = asyncio.ensure_future(capture(phone, f"getevent -l -c 2 {TOUCH}"))
        await _turn(phone)
        await capture(phone, f"sendevent {TOUCH} 3 57 7; sendevent {TOUCH} 1 330 1")
        await _turn(phone)
        return (await watching).text

    assert asyncio.run(story()).split() == [
        "EV_ABS",
        "ABS_MT_TRACKING_ID",
        "00000007",
        "EV_KEY",
        "BTN_TOUCH",
        "DOWN",
    ]


async def _turn(phone: Phone) -> None:
    assert isinstance(phone.clock, ManualClock)
    await phone.clock.advance(50.0)


def test_written_events_touch_the_screen_and_press_keys() -> None:
    phone = new_phone(["notes"])
    phone.start_activity(phone.packages.component("com.handrail.notes"))
    phone.input_log.clear()
    events = ["3 47 0", "3 57 1", "3 53 300", "3 54 400", "0 0 0", "3 54 500", "0 0 0", "3 57 -1", "0 0 0"]
    out("; ".join(f"sendevent {TOUCH} {event}" for event in events), phone=phone)
    assert [(one["action"], one["y"]) for one in phone.input_log] == [
        ("down", 400),
        ("move", 500),
        ("up", 500),
    ]
    out("sendevent /dev/input/event2 1 102 1; sendevent /dev/input/event2 1 102 0", phone=phone)
    assert phone.tasks.top is not None
    assert phone.tasks.top.app.package == "com.android.launcher3"


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("tty", 1, "not a tty\n"),
        ("stty size", 1, "stty: stdin: Not a typewriter\n"),
        ("mount /dev/x /mnt", 1, "Operation not permitted"),
        ("atrace -t 1 gfx", 255, "No trace folder found\n"),
        ("perfetto -t 1s sched", 1, "Disconnected from the Perfetto traced service\n"),
        ("bmgr run", 1, "Error: Backup Manager is not activated for user 0\n"),
        ("dpm set-device-owner a/.B", 255, "Unknown admin: ComponentInfo{a/.B}"),
        ("sm list-volumes all", 0, "private mounted null\nemulated;0 mounted null\n"),
        ("nc 127.0.0.1 4", 1, "nc: connect: Connection refused\n"),
        ("sendevent /dev/input/event9 0 0 0", 1, "No such file or directory\n"),
    ],
)
def test_what_needs_hardware_or_root_says_so(line: str, status: int, words: str) -> None:
    answer = shell(line)
    assert answer.status == status
    assert words in answer.text + answer.errors


def test_root_of_a_debuggable_build_sets_the_date() -> None:
    phone = new_phone()
    phone.props |= {"ro.debuggable": "1", "service.adb.root": "1"}
    assert (
        out("id -u; date 010203042030; date +%F", phone=phone)
        == "0\nWed Jan  2 03:04:00 UTC 2030\n2030-01-02\n"
    )
    assert phone.wall_ms() // 1000 == 1893553440


def test_stack_list_names_the_top_activity() -> None:
    phone = new_phone(["notes"])
    phone.start_activity(phone.packages.component("com.handrail.notes"))
    first = out("am stack list", phone=phone).split("\n\n")[0]
    assert first.startswith("RootTask id=")
    assert (
        "visible=true topActivity=ComponentInfo{com.handrail.notes/com.handrail.notes.MainActivity}" in first
    )
