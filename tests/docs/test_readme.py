"""The README is a promise: its commands run, its picture of an answer is the answer, its program works."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.errors import ERRORS

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]
PATIENCE_S = 120
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def lines_of(block: str) -> list[str]:
    return [line.split("#")[0].strip() for line in block.splitlines()]


def is_tour(block: str) -> bool:
    return "handrail sim &" in block


ALONE = [line for block in blocks("sh") if not is_tour(block) for line in lines_of(block)]


def env_of(home: Path, **more: str) -> dict[str, str]:
    paths = {"PATH": os.environ["PATH"], "HOME": str(home), "HANDRAIL_HOME": str(home / "home")}
    return {**paths, "HANDRAIL_NO_DAEMON": "1", **more}


def run(words: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(
        words, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def phone() -> Iterator[str]:
    with subprocess.Popen([*HANDRAIL, "sim", "--port", "0"], stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout
        try:
            yield json.loads(served.stdout.readline())["connect"]
        finally:
            served.terminate()


@pytest.mark.parametrize("line", [line for line in ALONE if line.startswith("handrail ")])
def test_a_command_of_the_readme_runs(line: str, tmp_path: Path) -> None:
    # No adb program, so none is started that would outlive the test.
    no_server = {"HANDRAIL_ADB": str(tmp_path / "no-adb"), "HANDRAIL_DEVICES": "127.0.0.1:1"}
    no_server["ANDROID_ADB_SERVER_PORT"] = "1"
    assert run([*HANDRAIL, *shlex.split(line)[1:]], env_of(tmp_path, **no_server))


@pytest.mark.timeout(180)
def test_the_tour_runs_line_by_line(tmp_path: Path) -> None:
    [tour] = [block for block in blocks("sh") if is_tour(block)]
    lines = lines_of(tour)
    assert lines[:2] == ["handrail sim &", "export HANDRAIL_DEVICE=127.0.0.1:6555"]
    assert lines[-1] == "kill %1"
    with phone() as address:
        env = env_of(tmp_path, HANDRAIL_DEVICE=address)
        for line in lines[2:-1]:
            words = shlex.split(line)
            assert words[0] == "handrail"
            assert run([*HANDRAIL, *words[1:]], env), line


def test_make_targets_of_the_readme_exist() -> None:
    targets = re.findall(r"^make (\w+)", "\n".join(ALONE), flags=re.M)
    assert targets
    makefile = (ROOT / "Makefile").read_text()
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.M), target


def test_what_the_readme_shows_is_what_is_printed(tmp_path: Path) -> None:
    [shown] = blocks("json")
    command = ["check", "examples/model_answer.txt", "--dialect", "openpocket"]
    assert run([*HANDRAIL, *command], env_of(tmp_path)) == shown


def test_the_program_of_the_readme_runs(tmp_path: Path) -> None:
    [program] = blocks("python")
    assert run([sys.executable, "-c", program], env_of(tmp_path)).startswith("verified delivered")


def test_the_configuration_for_clients_starts_a_server_that_exists(tmp_path: Path) -> None:
    [block] = blocks("jsonc")
    server = json.loads(block)["mcpServers"]["handrail"]
    assert server["command"] == "handrail"
    assert "Usage" in run([*HANDRAIL, *server["args"], "--help"], env_of(tmp_path))


def test_codes_that_the_readme_names_exist() -> None:
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", README)) - {"HANDRAIL_HOME", "HANDRAIL_DEVICE"}
    assert named
    assert named <= set(ERRORS)


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_as_it_is(program: Path, tmp_path: Path) -> None:
    said = run([sys.executable, str(program)], env_of(tmp_path))
    expected = {
        "contact.py": "on the screen: True",
        "without_await.py": "ELEMENT_NOT_FOUND",
        "read_and_react.py": "ELEMENT_NOT_FOUND",
        "ask_a_person.py": "journal: whole",
    }
    assert expected[program.name] in said


def test_every_example_stands_on_the_page() -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    assert EXAMPLES
    for program in EXAMPLES:
        assert f"(../examples/python/{program.name})" in page


MOST_MB = 130
"""Of an environment that runs the demo and the desk."""


@pytest.mark.timeout(1_000)
@pytest.mark.skipif(not os.environ.get("HANDRAIL_NEW_USER"), reason="HANDRAIL_NEW_USER=1 builds a venv")
def test_a_new_user_needs_a_clone_and_make(tmp_path: Path) -> None:
    clone = tmp_path / "handrail"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    env |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_"))}
    done = subprocess.run(
        ["make", "demo"], cwd=clone, env=env, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The journal proves it" in done.stdout
    used = subprocess.run(["du", "-sm", ".venv"], cwd=clone, capture_output=True, text=True, check=True)
    assert int(used.stdout.split()[0]) <= MOST_MB


@pytest.mark.parametrize(
    ("target", "tools"), [("demo", False), ("serve", False), ("test", True), ("check", True)]
)
def test_only_developers_install_the_tools_of_developers(target: str, tools: bool) -> None:
    """As make would do it in a new clone."""
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True, text=True, check=True
    )
    installs = [line for line in planned.stdout.splitlines() if "pip install" in line]
    assert "--editable ./sim --editable ." in installs[0]
    assert any("[dev" in line for line in installs) is tools
