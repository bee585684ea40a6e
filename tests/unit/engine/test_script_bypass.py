"""Every known way around a list of allowed commands is refused before anything runs, and is recorded."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from handrail.engine.script import ScriptExecutor, ScriptResult
from handrail.engine.script.allow import DEFAULT


def run(folder: Path, script: str, **options: object) -> ScriptResult:
    return asyncio.run(ScriptExecutor(folder / "runs", **options).run(script))  # type: ignore[arg-type]


BYPASSES = {
    "a pipe into a shell": "echo id | sh",
    "a pipe into anything that is not allowed": "cat f | tee /tmp/x",
    "a command in the background": "sleep 100 & echo done",
    "process substitution": "cat <(id)",
    "command substitution": "echo $(id)",
    "backquotes": "echo `id`",
    "bash -c": "bash -c 'id'",
    "sh -c": "sh -c 'id'",
    "env": "env id",
    "xargs": "echo id | xargs",
    "awk system()": "awk 'BEGIN { system(\"id\") }'",
    "sed's e command": "sed '1e id' f",
    "find -exec": "find . -exec id ';'",
    "node -e": "node -e 'process.exit()'",
    "python -c": "python3 -c 'print(1)'",
    "perl -e": "perl -e 1",
    "busybox": "busybox sh -c id",
    "nohup": "nohup id",
    "setsid": "setsid id",
    "timeout": "timeout 1 id",
    "eval": "eval id",
    "source": "source f",
    "the dot": ". ./f",
    "exec": "exec id",
    "command": "command id",
    "sudo": "sudo id",
    "a second line": "echo ok\nid",
    "behind &&": "true && id",
    "behind ||": "false || id",
    "behind ;": "true; id",
    "a quoted name": "'i''d'",
    "an escaped name": "i\\d",
    "a path to a shell": "/bin/sh -c id",
    "a path out of the folder": "../../../../bin/sh",
    "an assignment before a command": "PATH=. ls",
    "LD_PRELOAD": "LD_PRELOAD=./x.so ls",
    "a here-document": "cat << X\nX",
    "sort with a program": "sort --compress-program=sh f",
    "sort with a program, shortened": "sort --comp=sh f",
    "sort with a list of files": "sort --files0-from=list",
    "sort into a file outside": "sort f -o /tmp/handrail-x",
    "sort into a file outside, glued": "sort -uo/tmp/handrail-x f",
    "uniq into a file outside": "uniq f /tmp/handrail-does-not-exist",
    "a redirection to an absolute path": "echo x > /tmp/handrail-x",
    "a redirection upwards": "echo x > ../result.json",
    "a redirection of errors": "ls 2> ../stderr",
    "a redirection from outside": "cat < /etc/passwd",
    "reading a file outside": "cat /etc/passwd",
    "reading upwards": "cat ../../../config/secrets",
    "reading by a long option": "grep --file=/etc/passwd x",
    "reading by a glued option": "grep -f/etc/passwd x",
    "reading by a glued option, upwards": "grep -inf../script x",
    "listing outside": "ls /etc",
    "setting the clock": "date -s 12:00",
    "setting the clock, shortened": "date --se=12:00",
    "setting the clock, among other options": "date -us 12:00",
    "adb behind another command": "adb wait-for-device pull /sdcard/x x",
    "adb push": "adb push script /sdcard/x",
    "adb pull": "adb -s emulator-5554 pull /sdcard/x /tmp/x",
    "adb on another server": "adb -H example.com devices",
    "adb keygen": "adb keygen key",
    "a pattern for names": "cat *",
    "a variable": "echo $HOME",
    "braces": "{ id; }",
    "a function": "ls() { id; }",
    "a loop": "while true; do ls; done",
    "a negation": "! id",
}


@pytest.mark.parametrize("name", BYPASSES)
def test_a_bypass_is_refused_and_leaves_evidence(tmp_path: Path, name: str) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "secrets").write_text("PIN=opensesame")
    result = run(tmp_path, BYPASSES[name])
    assert result.refused
    assert result.hint
    assert (result.ok, result.exit_code, result.stdout) == (False, None, "")
    assert (result.run_dir / "script").read_text() == BYPASSES[name]
    assert (result.run_dir / "stdout").read_text() == (result.run_dir / "stderr").read_text() == ""
    assert json.loads((result.run_dir / "result.json").read_text()) == result.to_dict()
    assert not list((result.run_dir / "files").iterdir())


def test_a_program_that_is_named_like_an_allowed_one_is_refused(tmp_path: Path) -> None:
    for name in ("./cat", "/usr/local/share/cat", "cat/"):
        assert run(tmp_path, f"{name} f").refused


def test_an_allowed_program_may_be_named_by_its_path(tmp_path: Path) -> None:
    assert run(tmp_path, "/bin/echo hello").stdout == "hello\n"


def test_nothing_of_a_script_runs_when_its_last_command_is_refused(tmp_path: Path) -> None:
    result = run(tmp_path, "echo x > made; id")
    assert result.refused
    assert not list((result.run_dir / "files").iterdir())


def test_find_is_refused_with_exec_also_when_it_is_allowed(tmp_path: Path) -> None:
    allow = (*DEFAULT, "find")
    assert run(tmp_path, "find . -name x", allow=allow).ok
    for option in ("-exec", "-execdir", "-ok", "-delete", "-fprint"):
        assert run(tmp_path, f"find . {option} id", allow=allow).refused


def test_sed_runs_in_its_own_sandbox_when_it_is_allowed(tmp_path: Path) -> None:
    allow = (*DEFAULT, "sed")
    assert run(tmp_path, "echo abc | sed s/b/x/", allow=allow).stdout == "axc\n"
    result = run(tmp_path, "echo id | sed '1e'", allow=allow)
    assert not result.ok
    assert "sandbox" in result.stderr


def test_more_folders_may_be_opened_for_reading(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "list").write_text("one\n")
    assert run(tmp_path, f"cat {data}/list").refused
    assert run(tmp_path, f"cat {data}/list", folders=[data]).stdout == "one\n"
    assert run(tmp_path, f"cat {data}/../runs", folders=[data]).refused


def test_a_refusal_says_what_is_allowed(tmp_path: Path) -> None:
    result = run(tmp_path, "curl http://example.com")
    assert result.refused == "refused: 'curl' is not on the list of allowed commands"
    assert result.hint
    assert "grep" in result.hint
