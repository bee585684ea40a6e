"""The README is a promise: its first two commands, which docs/install.md has too, are all that it takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.errors import ERRORS
from tests.docs.test_blocks import lasting

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
PATIENCE_S = 120
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


def env_of(home: Path, **more: str) -> dict[str, str]:
    paths = {"PATH": os.environ["PATH"], "HOME": str(home), "HANDRAIL_HOME": str(home / "home")}
    return {**paths, "HANDRAIL_NO_DAEMON": "1", **more}


def run(words: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(
        words, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_make_targets_of_the_readme_exist() -> None:
    targets = re.findall(r"\bmake (demo|serve|site|test|check)\b", README)
    assert targets
    makefile = (ROOT / "Makefile").read_text()
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.M), target


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
    with lasting(
        ".venv/bin/handrail serve --sim 1 --port 0", clone, env
    ) as first:  # make serve, on a free port
        assert "http" in first


@pytest.mark.parametrize(
    ("target", "tools"), [("demo", False), ("serve", False), ("test", True), ("check", True)]
)
def test_only_developers_install_the_tools_of_developers(target: str, tools: bool) -> None:
    """As make would do it in a new clone."""
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True, text=True, check=True
    )
    installs = [line for line in planned.stdout.splitlines() if "pip install" in line]
    assert "--editable . --editable ./packages/agent" in installs[0]
    assert any("[dev" in line for line in installs) is tools
