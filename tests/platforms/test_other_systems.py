"""What Handrail says on systems that are not here: codes and words, never a traceback.

The systems are played by tests/platforms/elsewhere.py, which takes away what they have not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.cli.action_commands import ACTION_COMMANDS
from handrail.cli.program import COMMANDS
from handrail.system import ANYWHERE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WORKS = {
    "--help": "Usage", "--version": "handrail 0.", "actions": "tap",
    "check examples/actions.jsonl": "start_app", "completion bash": "_handrail_completion",
    "devices": "No devices",
    "diff examples/dumps/contact_empty.xml examples/dumps/contact_typed.xml": "First name",
    "doctor": "python", "flow check examples/flows": "no problems",
    "tree examples/dumps/contact_empty.xml": "First name",
}  # fmt: skip
REFUSED = sorted({*COMMANDS, *ACTION_COMMANDS} - ANYWHERE)


def run(system: str, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HANDRAIL_HOME": str(home / "home")}
    env |= {"HANDRAIL_NO_DAEMON": "1", "HANDRAIL_ADB": str(home / "no-adb"), "ANDROID_ADB_SERVER_PORT": "1"}
    command = [sys.executable, "-m", "tests.platforms.elsewhere", system, *words]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )


@pytest.mark.parametrize("system", ["win32", "darwin"])
@pytest.mark.parametrize("words", WORKS)
def test_what_needs_no_phone_works(tmp_path: Path, system: str, words: str) -> None:
    done = run(system, tmp_path, *words.split())
    assert WORKS[words] in done.stdout, done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == (3 if (system, words) == ("win32", "doctor") else 0)


def test_every_command_that_is_said_to_work_anywhere_is_tried() -> None:
    assert {words.split()[0] for words in WORKS if not words.startswith("-")} == ANYWHERE


@pytest.mark.parametrize("name", ["demo", "sim", "mcp", "serve", "connect", "tap", "run", "journal"])
def test_windows_is_told_what_it_lacks_by_the_command_that_needs_it(tmp_path: Path, name: str) -> None:
    done = run("win32", tmp_path, name)
    assert done.returncode == 3
    assert done.stderr.startswith(f"UNSUPPORTED: `handrail {name}` needs")
    assert "WSL 2" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "home").exists()


def test_no_command_answers_windows_with_a_traceback(tmp_path: Path) -> None:
    for name in REFUSED:
        done = run("win32", tmp_path, name, "--json")
        assert (done.returncode, json.loads(done.stdout)["code"]) == (3, "UNSUPPORTED"), name
        assert "Traceback" not in done.stderr, name


def test_a_program_on_windows_is_told_so(tmp_path: Path) -> None:
    program = "from tests.platforms.elsewhere import become; become('win32')\nfrom handrail import Runtime"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert "handrail.errors.Unsupported: handrail.Runtime needs" in done.stderr


@pytest.mark.parametrize(("system", "state"), [("win32", "error"), ("darwin", "note")])
def test_doctor_says_what_is_known_not_to_work(tmp_path: Path, system: str, state: str) -> None:
    said = json.loads(run(system, tmp_path, "doctor", "--json").stdout)["checks"]
    found = [check for check in said if check["name"] == "system"]
    assert found
    assert {check["state"] for check in found} == {state}


def test_doctor_has_nothing_to_say_of_linux(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ANDROID_ADB_SERVER_PORT": "1"}
    command = [sys.executable, "-m", "handrail.cli.main", "doctor", "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert "system" not in [check["name"] for check in json.loads(done.stdout)["checks"]]


def test_a_flow_runs_without_what_only_linux_has(tmp_path: Path) -> None:
    done = run("darwin", tmp_path, "run", "examples/flows/contact.yaml", "--sim")
    assert (done.returncode, "8 of 8 steps" in done.stdout) == (0, True), done.stderr
    assert run("darwin", tmp_path, "journal", "verify").stdout.startswith("ok:")
