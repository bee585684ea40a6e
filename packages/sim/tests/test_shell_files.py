"""Files by shell: what toybox prints, whom it lets in, what it says when it can't."""

from __future__ import annotations

import hashlib

import pytest

from tests.shell_person import new_phone, out, shell

TMP = "cd /data/local/tmp; "


def test_ls_lists_names_one_per_line_and_hides_dot_files() -> None:
    assert out(TMP + "touch b a .h; mkdir d; ls; ls -a") == "a\nb\nd\n.\n..\n.h\na\nb\nd\n"


def test_ls_l_shows_mode_owner_size_time_and_name() -> None:
    lines = out(TMP + "echo hello > f; chmod 640 f; ln -s f link; ls -l").splitlines()
    assert lines[0].startswith("total ")
    assert lines[1].split() == ["-rw-r-----", "1", "shell", "shell", "6", "2024-03-09", "16:00", "f"]
    assert lines[2].endswith("link -> f")


def test_ls_shows_a_folder_itself_or_all_that_is_below() -> None:
    made = TMP + "mkdir -p a/b; touch a/b/c; "
    assert out(made + "ls -d a") == "a\n"
    assert out(made + "ls -R a") == "a:\nb\n\na/b:\nc\n"


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("cat /nosuch", "cat: /nosuch: No such file or directory\n"),
        ("ls /nosuch", "ls: /nosuch: No such file or directory\n"),
        ("rm /nosuch", "rm: /nosuch: No such file or directory\n"),
        ("cp /nosuch /sdcard/x", "cp: bad '/nosuch': No such file or directory\n"),
        ("mv /nosuch /sdcard/x", "mv: bad '/nosuch': No such file or directory\n"),
        ("mkdir /sdcard", "mkdir: '/sdcard': File exists\n"),
        ("stat /nosuch", "stat: '/nosuch': No such file or directory\n"),
        ("md5sum /nosuch", "md5sum: /nosuch: No such file or directory\n"),
        ("ls -Q", "ls: Unknown option 'Q' (see \"ls --help\")\n"),
        ("toybox nosuch", "toybox: Unknown command nosuch\n"),
    ],
)
def test_a_failure_is_told_in_the_words_of_toybox(command: str, complaint: str) -> None:
    answer = shell(command)
    assert answer.errors == complaint
    assert answer.status != 0


def test_an_apps_folder_is_closed_to_the_shell_and_open_to_run_as() -> None:
    phone = new_phone(["notes", "bank"])
    closed = shell("ls /data/data/com.handrail.notes", phone=phone)
    assert closed.errors == "ls: /data/data/com.handrail.notes: Permission denied\n"
    assert out("run-as com.handrail.notes pwd", phone=phone) == "/data/user/0/com.handrail.notes\n"
    assert "databases\n" in out("run-as com.handrail.notes ls", phone=phone)
    assert (
        out("run-as com.handrail.notes id -u", phone=phone).strip()
        == out("run-as com.handrail.notes stat -c %u .", phone=phone).strip()
    )


def test_run_as_refuses_what_is_not_debuggable_or_not_there() -> None:
    phone = new_phone(["settings"])
    assert shell("run-as com.android.settings id", phone=phone).errors == (
        "run-as: package not debuggable: com.android.settings\n"
    )
    assert shell("run-as nosuch id", phone=phone).errors == "run-as: unknown package: nosuch\n"


def test_files_are_copied_moved_and_removed() -> None:
    made = TMP + "mkdir -p a/b; echo 1 > a/b/f; "
    assert out(made + "cp -r a c; mv c/b/f c/g; ls c c/b; rm -r a c; ls") == "c:\nb\ng\n\nc/b:\n"
    assert out(TMP + "rm -f nosuch; echo $?") == "0\n"


def test_stat_fills_a_format() -> None:
    assert out(TMP + "printf abc > f; chmod 751 f; stat -c '%a %s %F %U %n %Y' f") == (
        "751 3 regular file shell f 1710000000\n"
    )


def test_hashes_are_those_of_the_content() -> None:
    data = b"some bytes"
    expected = hashlib.md5(data, usedforsecurity=False).hexdigest()
    made = "cat > /data/local/tmp/u2.jar; "
    assert (
        out(made + "toybox md5sum /data/local/tmp/u2.jar", stdin=data)
        == f"{expected}  /data/local/tmp/u2.jar\n"
    )
    assert out("sha256sum -b", stdin=data).strip() == hashlib.sha256(data).hexdigest()


def test_find_walks_and_filters() -> None:
    made = TMP + "mkdir -p a/b; touch a/x.txt a/b/y.txt a/b/z.png; "
    assert out(made + "find a -name '*.txt'") == "a/b/y.txt\na/x.txt\n"
    assert out(made + "find a -maxdepth 1 -type f; find a -type f ! -name '*.txt' -exec echo got {} \\;") == (
        "a/x.txt\ngot a/b/z.png\n"
    )
    assert out("find /sdcard") == "/sdcard\n"
    assert "/sdcard/Download\n" in out("find /sdcard/ -maxdepth 1")


def test_text_tools_work_in_a_pipe() -> None:
    text = b"pear 3\napple 10\nfig 2\napple 10\n"
    assert out("sort | uniq -c | sed 's/^ *//'", stdin=text) == "2 apple 10\n1 fig 2\n1 pear 3\n"
    assert out("cut -d' ' -f2 | sort -n | head -n 1", stdin=text) == "2\n"
    assert out("tr a-z A-Z | tail -n 1", stdin=text) == "APPLE 10\n"
    assert out("grep -c apple", stdin=text) == "2\n"
    assert out("grep -n -A1 pear", stdin=text) == "1:pear 3\n2-apple 10\n"
    assert out("grep -oE '[0-9]+' | xargs echo", stdin=text) == "3 10 2 10\n"
    assert out("awk '/apple/ {print $2, $1}' | head -1", stdin=text) == "10 apple\n"
    assert out("wc -l; wc -w", stdin=text).split() == ["4", "0"]
    assert shell("grep -q plum", stdin=text).status == 1
    assert out("xargs -n 2 echo row", stdin=b"a b c") == "row a b\nrow c\n"
    assert out("base64 | base64 -d", stdin=b"\x00\xffbytes") == "\x00\ufffdbytes"


def test_printf_echo_seq_and_date_print_what_they_are_told() -> None:
    assert out("printf '%s=%03d\\n' a 7 b 8") == "a=007\nb=008\n"
    assert out("echo -n x; echo -e 'a\\tb'") == "xa\tb\n"
    assert out("seq 2 4 | tr '\\n' ' '") == "2 3 4 "
    assert out("date; date +%s; date '+%Y-%m-%d %H:%M'") == (
        "Sat Mar  9 16:00:00 UTC 2024\n1710000000\n2024-03-09 16:00\n"
    )


def test_the_shell_knows_who_and_where_it_is() -> None:
    assert out("id").startswith("uid=2000(shell) gid=2000(shell) groups=2000(shell),")
    assert out("whoami; which input; command -v getprop; type cd") == (
        "shell\n/system/bin/input\n/system/bin/getprop\ncd is a shell builtin\n"
    )
    assert out("uname -m") == "aarch64\n"
    assert out("/system/bin/toybox echo hi") == "hi\n"


def test_every_command_has_its_file() -> None:
    assert out("ls -l /system/bin/md5sum").endswith("/system/bin/md5sum -> toybox\n")
    assert out("ls /system/bin/screencap; test -x /system/bin/app_process && echo runs") == (
        "/system/bin/screencap\nruns\n"
    )


def test_test_asks_about_files_strings_and_numbers() -> None:
    for question in (
        "-d /sdcard",
        "-f /nosuch -o 1 -eq 1",
        "! -e /nosuch",
        "a = a -a -n x",
        "3 -gt 2",
        "-L /sdcard",
    ):
        assert shell(f"[ {question} ]").status == 0, question
    assert shell("[ 1 -eq 2 ]").status == 1
    assert shell("[ a -eq 2 ]").errors == "/system/bin/sh: [: a: bad number\n"


def test_the_cores_are_where_programs_count_them() -> None:
    folder = "/sys/devices/system/cpu"
    assert out(f"cat {folder}/present {folder}/online") == "0-7\n0-7\n"
    assert out(f"ls -d {folder}/cpu[0-9]* | wc -l").strip() == out("nproc").strip() == "8"
    assert "denied" in shell(f"echo 0 > {folder}/online").errors.lower()
