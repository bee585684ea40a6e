"""The first minute, as a new user sees it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_demo_tells_its_whole_story_and_leaves_its_proof(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "handrail.cli.main"]
    done = subprocess.run(
        [*command, "demo", "--home", str(home)],
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\x1b[" not in done.stdout  # plain without a terminal
    titles = re.findall(r"^\d  (.*)$", done.stdout, flags=re.M)
    assert titles == [
        "An agent makes a contact", "A flow fills a cart", "Paying needs a person",
        "A failure explains itself", "The journal proves it", "Your turn",
    ]  # fmt: skip
    assert "ACTION_REJECTED: you said no" in done.stdout
    assert "Approved by you." in done.stdout
    assert "ELEMENT_NOT_FOUND" in done.stdout
    assert "The desk closed with the demo; its link leads nowhere now." in done.stdout
    assert _what_the_lines_do(done.stdout, env) == [0, 0]
    assert (home / "report" / "index.html").stat().st_size > 10_000

    proof = subprocess.run(
        [*command, "journal", "verify"],
        env=env | {"HANDRAIL_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert proof.returncode == 0, proof.stderr
    doors = subprocess.run(
        [*command, "journal", "export"],
        env=env | {"HANDRAIL_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert {'"door":"mcp"', '"door":"flow"', '"door":"python"'} <= set(
        re.findall(r'"door":"\w+"', doors.stdout)
    )


def _what_the_lines_do(said: str, env: dict[str, str]) -> list[int]:
    """How the lines of the last part end, in a shell whose PATH does not have `handrail`."""
    elsewhere = env | {"PATH": "/usr/bin:/bin", "HANDRAIL_NO_DAEMON": "1"}
    lines = re.findall(r"^   (.*\bhandrail (?:journal list|ui)\b.*)$", said, flags=re.M)
    lines = [line.replace(" ui ", " ui --help ") for line in lines]
    ends = [subprocess.run(line, shell=True, env=elsewhere, capture_output=True) for line in lines]
    return [one.returncode for one in ends]
