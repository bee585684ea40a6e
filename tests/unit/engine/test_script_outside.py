"""The kernel keeps a script inside its run folder, whatever the script is. Judged by what comes out."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from handrail.engine.script_executor import Confinement, ScriptExecutor, ScriptResult

PYTHON = str(Path(sys.executable).resolve())
CANARY = "tweet-of-the-canary"


@pytest.fixture(autouse=True)
def landlock(tmp_path: Path) -> None:
    if (probe := Confinement.allowing([], tmp_path, [])) is None:
        pytest.skip("this kernel has no Landlock")
    probe.close()


def run(folder: Path, script: str, *programs: str, folders: tuple[Path, ...] = ()) -> ScriptResult:
    executor = ScriptExecutor(folder / "runs", programs=lambda: programs, folders=folders)
    return asyncio.run(executor.run(script, timeout_sec=60))


REACHES = {
    "read": "open({there!r}).read()",
    "list": "__import__('os').listdir({folder!r})",
    "write": "open({folder!r} + '/new', 'w').write('x')",
    "truncate": "__import__('os').truncate({there!r}, 0)",
    "remove": "__import__('os').remove({there!r})",
    "link": "__import__('os').link({there!r}, 'mine')",
    "signal": "__import__('os').kill({pid}, 0)",
}


@pytest.mark.parametrize("name", REACHES)
def test_the_kernel_keeps_an_interpreter_inside(tmp_path: Path, name: str) -> None:
    there = tmp_path / "secret-there"
    there.write_text(CANARY)
    reach = REACHES[name].format(there=str(there), folder=str(tmp_path), pid=os.getpid())
    result = run(tmp_path, f'{PYTHON} -I -c "print({reach})"', PYTHON)
    assert result.confined
    assert (result.exit_code, CANARY in result.stdout) == (1, False), result
    assert "Error: [Errno" in result.stderr
    assert there.read_text() == CANARY
    assert run(tmp_path, f"{PYTHON} -I -c \"open('mine', 'w').write('x')\"; cat mine", PYTHON).stdout == "x"


OUTWARD = {
    "reading": "cat {there}",
    "reading upwards": "cat ../../../secret-there",
    "a redirection from outside": "cat < {there}",
    "a link that it made itself": "ln -s {there} link; cat link",
    "a redirection to the outside": "echo x > {there}",
    "a redirection onto its own evidence": "echo x > ../result.json",
    "appending": "echo x >> {there}",
    "listing": "ls {folder}",
    "find": "find {folder} -type f -exec cat {{}} +",
    "a shell in a shell": "sh -c 'sh -c \"cat {there}\"'",
    "in the background": "(cat {there} > mine &) ; sleep 0.2; cat mine",
    "substitution": "echo $(cat {there})",
    "moving it in": "mv {there} mine && cat mine",
    "a hard link": "ln {there} mine && cat mine",
    "files of the system": "cat /etc/passwd /etc/shadow",
}


@pytest.mark.parametrize("name", OUTWARD)
def test_a_script_reaches_no_file_outside(tmp_path: Path, name: str) -> None:
    there = tmp_path / "secret-there"
    there.write_text(CANARY)
    result = run(tmp_path, OUTWARD[name].format(there=there, folder=tmp_path))
    assert result.confined
    assert CANARY not in result.stdout + result.stderr
    assert "secret-there" not in result.stdout
    assert "root:" not in result.stdout
    assert there.read_text() == CANARY
    refusals = ("Permission denied", "Operation not permitted", "cross-device")
    assert any(refusal in result.stderr for refusal in refusals), result


def test_more_folders_may_be_opened_for_reading(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "list").write_text("one\n")
    assert run(tmp_path, f"cat {data}/list", folders=(data,)).stdout == "one\n"
    assert not run(tmp_path, f"echo x > {data}/list", folders=(data,)).ok
    assert not run(tmp_path, f"ls {data}/../runs", folders=(data,)).ok


def test_a_program_that_is_installed_elsewhere_runs_only_where_policy_names_it(tmp_path: Path) -> None:
    tool = tmp_path / "opt" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho it runs\n")
    tool.chmod(0o755)
    assert run(tmp_path, str(tool), str(tool)).stdout == "it runs\n"
    assert not run(tmp_path, str(tool)).ok
