"""Allowed scripts run within limits, are bounded while they run, and leave no process behind."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from handrail.engine.script_executor import (
    MIB,
    MOST_CHARACTERS,
    OUTPUT_LIMIT,
    BoundedOutput,
    ProcessFamily,
    ScriptExecutor,
    ScriptLimits,
    ScriptResult,
)
from handrail.safety.secrets import Secrets
from handrail_sim.clock import ManualClock
from tests.cases import each

PYTHON = str(Path(sys.executable).resolve())
WITH_PYTHON = lambda: (PYTHON,)  # noqa: E731


def run(
    folder: Path, script: str, *, shell: bool = False, timeout_sec: float = 30, **options: object
) -> ScriptResult:
    executor = ScriptExecutor(folder / "runs", **options)  # type: ignore[arg-type]
    return asyncio.run(executor.run(script, timeout_sec=timeout_sec, shell=shell))


def program(folder: Path, text: str) -> str:
    """A Python program as one command."""
    path = folder / "program.py"
    path.write_text(text)
    return f"{PYTHON} {path}"


def run_program(folder: Path, text: str, *, timeout_sec: float = 30, **options: object) -> ScriptResult:
    script = program(folder, text)
    return run(folder, script, timeout_sec=timeout_sec, programs=WITH_PYTHON, folders=[folder], **options)


def run_past_deadline(folder: Path, script: str, *, shell: bool = False) -> ScriptResult:
    """Until the script has written the file `begun`, and then a minute on the clock."""

    async def story() -> ScriptResult:
        clock = ManualClock()
        executor = ScriptExecutor(folder / "runs", clock=clock, programs=WITH_PYTHON, folders=[folder])
        running = asyncio.create_task(executor.run(script, timeout_sec=60, shell=shell))
        while not list(folder.glob("runs/*/files/begun")):
            await asyncio.sleep(0.001)
        while not running.done():
            await clock.advance(1000)
            await asyncio.sleep(0.001)
        return await running

    return asyncio.run(story())


def nobody_is_left(result: ScriptResult) -> bool:
    """The mark of a run is in the environment of everything that it started."""
    return not ProcessFamily(result.run_id, {-1}).members()


def test_commands_are_piped_joined_and_redirected(tmp_path: Path) -> None:
    result = run(
        tmp_path, "printf 'b\\na\\n' | sort > sorted && cat sorted | tr a-z A-Z || echo never; cat < sorted"
    )
    assert (result.ok, result.exit_code, result.stdout) == (True, 0, "A\nB\na\nb\n")
    assert (result.run_dir / "files" / "sorted").read_text() == "a\nb\n"


def test_the_last_exit_code_counts_and_errors_are_kept_apart(tmp_path: Path) -> None:
    result = run(tmp_path, "echo out; ls nowhere")
    assert (result.ok, result.exit_code, result.stdout) == (False, 2, "out\n")
    assert "nowhere" in result.stderr
    assert run(tmp_path, "ls nowhere 2>&1 | cat").stdout == result.stderr


def test_appending_and_throwing_away(tmp_path: Path) -> None:
    result = run(tmp_path, "echo a > f; echo b >> f; cat f; ls nowhere 2> /dev/null")
    assert (result.stdout, result.stderr) == ("a\nb\n", "")


def test_a_missing_file_to_read_from_fails_its_command_and_the_rest_goes_on(tmp_path: Path) -> None:
    result = run(tmp_path, "cat < nothing || echo failed")
    assert (result.stdout, result.exit_code) == ("failed\n", 0)
    assert "No such file" in result.stderr


def test_a_reader_that_leaves_early_ends_the_writer(tmp_path: Path) -> None:
    assert run(tmp_path, "seq 1 100000000 | head -2").stdout == "1\n2\n"


def test_every_run_leaves_its_evidence(tmp_path: Path) -> None:
    result = run(tmp_path, "echo out; ls nowhere")
    read = lambda name: (result.run_dir / name).read_text()  # noqa: E731
    assert read("script") == "echo out; ls nowhere"
    assert (read("stdout"), read("stderr")) == (result.stdout, result.stderr)
    assert json.loads(read("result.json")) == result.to_dict()
    assert all(not path.stat().st_mode & 0o077 for path in [result.run_dir, *result.run_dir.rglob("*")])


def test_the_environment_is_minimal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-opensesame")
    result = run_program(tmp_path, "import os, json; print(json.dumps(dict(os.environ))); print(os.getcwd())")
    names, folder = result.stdout.splitlines()
    assert set(json.loads(names)) - {"LC_CTYPE", "PWD", "SHLVL", "_", "OLDPWD"} == {
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "HANDRAIL_RUN",
    }
    assert json.loads(names)["HOME"] == folder == str(result.run_dir / "files")
    assert "opensesame" not in result.stdout


# bounds


def test_long_output_is_bounded_while_it_comes(tmp_path: Path) -> None:
    result = run(tmp_path, "seq 1 3000000")
    assert result.ok
    assert len(result.stdout) < OUTPUT_LIMIT + 100
    assert result.stdout.startswith("1\n2\n")
    assert result.stdout.endswith("\n3000000\n")
    assert "bytes are left out" in result.stdout


def test_what_is_kept_does_not_grow_with_what_comes() -> None:
    kept = BoundedOutput(limit=1000)
    for number in range(10_000):
        kept.feed(f"{number:07d}\n".encode())
    assert sum(map(len, kept._tail)) < 1000
    text = kept.text(str)
    assert text.startswith("0000000\n")
    assert text.endswith("0009999\n")
    assert f"{80_000 - 1000:,} bytes are left out" in text


@each("size", [0, 1, 499, 500, 501, 999, 1000])
def test_nothing_is_left_out_of_what_fits(size: int) -> None:
    data = bytes(97 + n % 26 for n in range(size))
    whole, pieces = BoundedOutput(limit=1000), BoundedOutput(limit=1000)
    whole.feed(data)
    for letter in data:
        pieces.feed(bytes([letter]))
    assert whole.text(str) == pieces.text(str) == data.decode()


def test_a_written_file_is_bounded(tmp_path: Path) -> None:
    result = run(tmp_path, "seq 1 3000000 > big", limits=ScriptLimits(file_bytes=MIB))
    assert not result.ok
    assert (result.run_dir / "files" / "big").stat().st_size == MIB


def test_memory_is_bounded(tmp_path: Path) -> None:
    result = run_program(
        tmp_path, "x = bytearray(600_000_000); print('got it')", limits=ScriptLimits(memory_bytes=300 * MIB)
    )
    assert not result.ok
    assert "MemoryError" in result.stderr


def test_processor_time_is_bounded(tmp_path: Path) -> None:
    result = run_program(tmp_path, "while True: pass", limits=ScriptLimits(cpu_sec=1))
    assert (result.ok, result.timed_out) == (False, False)
    assert result.exit_code in {128 + 9, 128 + 24}


def test_at_the_deadline_everything_ends(tmp_path: Path) -> None:
    result = run_past_deadline(tmp_path, "echo out; echo x > begun; sleep 1000 | cat; echo never")
    assert (result.ok, result.timed_out, result.stdout) == (False, True, "out\n")
    assert nobody_is_left(result)


def test_a_process_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    text = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nopen('begun', 'w')\ntime.sleep(1000)"
    result = run_past_deadline(tmp_path, f"exec {program(tmp_path, text)}")
    assert (result.timed_out, result.exit_code) == (True, 128 + 9)
    assert nobody_is_left(result)


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
        {close}
        time.sleep(1000)
    os._exit(0)
print("parent is done", flush=True)
open("begun", "w")
{wait}
"""


@pytest.mark.parametrize("close", ["pass", "os.closerange(0, 3)"], ids=["holding the output", "quiet"])
def test_a_forked_child_that_left_its_group_and_session_ends_with_its_command(
    tmp_path: Path, close: str
) -> None:
    result = run_program(tmp_path, DAEMON.format(wait="", close=close))
    assert (result.ok, result.stdout) == (True, "parent is done\n")
    assert nobody_is_left(result)


@pytest.mark.parametrize("close", ["pass", "os.closerange(0, 3)"], ids=["holding the output", "quiet"])
def test_a_forked_child_that_left_its_group_and_session_ends_at_the_deadline(
    tmp_path: Path, close: str
) -> None:
    result = run_past_deadline(
        tmp_path, program(tmp_path, DAEMON.format(wait="time.sleep(1000)", close=close))
    )
    assert (result.timed_out, result.stdout) == (True, "parent is done\n")
    assert nobody_is_left(result)


def test_a_fork_bomb_is_ended_when_it_has_grown_too_large(tmp_path: Path) -> None:
    text = "import os, time\nfor _ in range(6):\n    os.fork()\ntime.sleep(1000)"  # 64 at most, by design
    result = run_program(tmp_path, text, limits=ScriptLimits(processes=20))
    assert (result.ok, result.timed_out) == (False, False)
    assert result.refused == "ended: more than 20 processes"
    assert nobody_is_left(result)


def test_a_fork_bomb_whose_children_leave_its_group_is_ended_as_well(tmp_path: Path) -> None:
    text = "import os, time\nfor _ in range(6):\n    os.fork() or os.setsid()\ntime.sleep(1000)"
    result = run_program(tmp_path, text, limits=ScriptLimits(processes=20))
    assert result.refused == "ended: more than 20 processes"
    assert nobody_is_left(result)


@pytest.mark.slow
def test_many_commands_one_after_the_other_are_no_crowd(tmp_path: Path) -> None:
    assert run(tmp_path, "true;" * 40, limits=ScriptLimits(processes=3)).ok


async def test_a_cancelled_run_is_ended_and_recorded(tmp_path: Path) -> None:
    executor = ScriptExecutor(tmp_path / "runs")
    running = asyncio.create_task(executor.run("echo begun > f; sleep 1000"))
    while not list((tmp_path / "runs").glob("*/files/f")):
        await asyncio.sleep(0.001)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    [record] = (tmp_path / "runs").glob("*/result.json")
    result = json.loads(record.read_text())
    assert (result["ok"], result["cancelled"], result["exit_code"]) == (False, True, None)
    assert not ProcessFamily(result["run_id"], {-1}).members()


# secrets


def test_a_secret_is_used_and_is_in_no_file_of_the_run(tmp_path: Path) -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": "open sesame"})
    executor = ScriptExecutor(tmp_path / "runs")
    script = "echo ${secret:PIN} > f; cat f; printf '%s' \"${secret:PIN}\" | wc -c"
    result = asyncio.run(executor.run(script, secrets=secrets))
    assert result.stdout == "${secret:PIN}\n11\n"
    assert (result.run_dir / "files" / "f").read_text() == "${secret:PIN}\n"
    assert (result.run_dir / "script").read_text() == script
    assert all(b"sesame" not in path.read_bytes() for path in result.run_dir.rglob("*") if path.is_file())


def test_half_a_secret_at_the_cut_of_a_long_output_is_not_shown(tmp_path: Path) -> None:
    value = "0123456789abcdef" * 40
    secrets = Secrets({"HANDRAIL_SECRET_PIN": value})
    kept = BoundedOutput()
    kept.feed(
        b"." * (OUTPUT_LIMIT // 2 - 100)
        + value.encode()
        + b"-" * 500_000
        + value.encode()
        + b"." * (OUTPUT_LIMIT // 2 - 100)
    )
    shown = kept.text(secrets.redact, secrets.longest)
    assert "0123456789" not in shown


def test_a_missing_secret_refuses_the_run(tmp_path: Path) -> None:
    result = run(tmp_path, "echo ${secret:NOBODY}")
    assert "'NOBODY' is not known" in str(result.refused)
    assert (result.run_dir / "result.json").exists()


# outside of Landlock


def test_a_real_shell_runs_with_the_same_limits_and_record(tmp_path: Path) -> None:
    result = run(tmp_path, "for i in 1 2; do echo $i; done; exit 3", shell=True)
    assert (result.ok, result.exit_code, result.stdout) == (False, 3, "1\n2\n")
    assert (result.run_dir / "script").read_text().startswith("for i")


def test_a_real_shell_says_whether_it_was_cut_off_from_the_network(tmp_path: Path) -> None:
    result = run(tmp_path, "cat /proc/net/dev", shell=True)
    devices = [line.partition(":")[0].strip() for line in result.stdout.splitlines() if ":" in line]
    assert devices == ["lo"] if result.network_cut else "lo" in devices


def test_a_real_shell_takes_its_children_with_it(tmp_path: Path) -> None:
    script = (
        "(env -i setsid sleep 1000 > /dev/null 2>&1 &) ; setsid sleep 1000 & echo x > begun; exec sleep 1000"
    )
    result = run_past_deadline(tmp_path, script, shell=True)
    assert result.timed_out
    assert nobody_is_left(result)


def test_a_fork_bomb_in_a_real_shell_is_bounded(tmp_path: Path) -> None:
    bomb = "bomb() { [ $1 -gt 5 ] && exec sleep 1000; bomb $(($1 + 1)) & bomb $(($1 + 1)); }; bomb 1"
    result = run(tmp_path, bomb, shell=True, limits=ScriptLimits(processes=15))
    assert result.refused == "ended: more than 15 processes"
    assert nobody_is_left(result)


def test_a_secret_comes_to_a_real_shell_as_a_value_and_not_as_code(tmp_path: Path) -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": "$(touch made); `id`"})
    executor = ScriptExecutor(tmp_path / "runs")
    result = asyncio.run(executor.run('printf "%s|" "${secret:PIN}"', shell=True, secrets=secrets))
    assert result.stdout == "${secret:PIN}|"
    assert not (result.run_dir / "files" / "made").exists()


# what is refused before anything runs


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("", "the script is empty"), (" \n\t", "the script is empty"),
        ("echo x" + " " * MOST_CHARACTERS, "12,006 characters"), ("echo a\x00b", "U+0000"),
        ("echo a\r\n", "U+000D"), ("echo \x1b]0;hidden\x07", "U+001B"), ("echo \u202etxt", "U+202E"),
        ("echo a\u200bb", "U+200B"), ("echo a\u00a0b", "U+00A0"), ("echo \ud800", "U+D800"),
    ],
)  # fmt: skip
def test_a_script_that_does_not_look_like_what_it_is_does_not_run(
    tmp_path: Path, script: str, why: str
) -> None:
    for shell in (False, True):
        result = run(tmp_path, script, shell=shell)
        assert result.refused
        assert why in result.refused
        assert result.hint
        assert (result.ok, result.exit_code, result.stdout) == (False, None, "")
        assert json.loads((result.run_dir / "result.json").read_text()) == result.to_dict()
        assert not list((result.run_dir / "files").iterdir())


def test_a_script_is_a_shells(tmp_path: Path) -> None:
    result = run(tmp_path, "for i in 1 2; do echo $i; done > made\ncat < made # end\nexit 3")
    assert (result.ok, result.exit_code, result.stdout) == (False, 3, "1\n2\n")
