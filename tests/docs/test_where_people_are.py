"""The action for GitHub and the Dockerfile name what is there, and the action's command runs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.docs.test_readme import env_of

ROOT = Path(__file__).resolve().parents[2]


def action() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return read


def test_the_action_runs_flows_and_leaves_report_and_results(tmp_path: Path) -> None:
    [step] = [step for step in action()["runs"]["steps"] if step.get("name") == "Run flows"]
    inputs = {name: each.get("default", "") for name, each in action()["inputs"].items()}
    inputs["flows"] = str(ROOT / "examples" / "flows" / "contact.yaml")
    env = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in step["env"].items()
    }
    path = {"PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", step["run"]],
        cwd=tmp_path,
        env=env_of(tmp_path, **env) | path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "handrail-report" / "index.html").is_file()
    assert "<testcase" in (tmp_path / "handrail-junit.xml").read_text()


def test_every_folder_that_they_install_is_a_distribution() -> None:
    for name in ("action.yml", "Dockerfile"):
        folders = re.findall(r"packages/[a-z]+", (ROOT / name).read_text())
        assert folders
        assert all((ROOT / folder / "pyproject.toml").is_file() for folder in folders), name


def test_every_expression_of_the_action_is_an_input() -> None:
    named = set(re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text()))
    assert named == set(action()["inputs"])
