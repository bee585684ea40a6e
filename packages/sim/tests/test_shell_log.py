"""What a phone remembers of the commands that shells ran on it, and how its log names times and users."""

from __future__ import annotations

import pytest

from handrail_sim.shell.processes import REMEMBERED, processes_of
from tests.shell_person import new_phone, out, shell


def commands(text: str) -> list[tuple[str, ...]]:
    phone = new_phone()
    shell(text, phone=phone)
    return list(processes_of(phone).log)


@pytest.mark.parametrize(
    ("text", "ran"),
    [
        ("ls '-l x'; id", [("ls", "-l x"), ("id",)]),
        ("echo a | cat", [("echo", "a"), ("cat",)]),
        ("echo $(id -u)`true`", [("id", "-u"), ("true",), ("echo", "2000")]),
        ("nowhere --x", [("nowhere", "--x")]),
        ("/no/file a", [("/no/file", "a")]),
        ("f() { id; }; f 1", [("f", "1"), ("id",)]),
        ("exec id -u", [("exec", "id", "-u"), ("id", "-u")]),
        ("sh -c 'id -u'", [("sh", "-c", "id -u"), ("id", "-u")]),
        ("X=1", []),
        ("echo 'a; id'", [("echo", "a; id")]),
    ],
)
def test_every_command_is_remembered_as_its_arguments(text: str, ran: list[tuple[str, ...]]) -> None:
    assert sorted(commands(text)) == sorted(ran)


def test_the_oldest_commands_are_forgotten() -> None:
    assert len(commands(f"i=0; while [ $i -lt {REMEMBERED} ]; do i=$((i+1)); true $i; done")) == REMEMBERED


# the log


def test_log_times_can_be_seconds_since_1970() -> None:
    phone = new_phone()
    shell("log -t Tag hello", phone=phone)
    seconds, _, part = f"{phone.clock.now_ms() / 1000:.3f}".partition(".")
    line = out("logcat -d -v threadtime -v epoch -s Tag", phone=phone).splitlines()[-1]
    assert line.startswith(f"{seconds:>19}.{part} ")
    assert (
        out("logcat -d -v year -s Tag", phone=phone).splitlines()[-1].startswith("2024-03-09 16:00:00.000 ")
    )


def test_a_log_line_knows_its_user_also_after_the_process_is_gone() -> None:
    phone = new_phone(["trouble"])
    package = "com.handrail.trouble"
    phone.start_activity(package=package)
    uid = phone.packages.installed[package].uid
    phone.kill_process(package, "java.lang.IllegalStateException: boom")
    text = out("logcat -d -b crash -v threadtime -v uid", phone=phone)
    assert text.startswith("--------- beginning of crash\n")
    assert all(f" {uid:>5} " in line for line in text.splitlines()[1:])
    shell("log -t Tag hello", phone=phone)
    assert " shell 200" in out("logcat -d -v uid -s Tag", phone=phone)
    assert "(shell:200" in out("logcat -d -v brief -v uid -s Tag", phone=phone)


def test_the_system_has_a_buffer_of_its_own() -> None:
    phone = new_phone(["notes"])
    phone.start_activity(package="com.handrail.notes")
    assert "Start proc" in out("logcat -d -b system", phone=phone)
    assert "Start proc" not in out("logcat -d -b main", phone=phone)
