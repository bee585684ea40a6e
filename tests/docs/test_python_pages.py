"""The programs on the pages for people who write Python run as they stand; the pages leave nothing out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from handrail import sync
from handrail.pytest_plugin.opening import MarkerOptions
from tests.people.projects import project, ran

ROOT = Path(__file__).parent.parent.parent
PYTHON, PYTEST = ((ROOT / "docs" / name).read_text() for name in ("python.md", "pytest.md"))


def programs(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, flags=re.S)


@pytest.mark.parametrize(
    ("number", "said"), [(0, "@b"), (1, "verif"), (2, "ELEMENT_NOT_FOUND")], ids=["sync", "async", "errors"]
)
def test_a_program_of_the_page_runs(tmp_path: Path, number: int, said: str) -> None:
    assert len(programs(PYTHON)) == 3
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HANDRAIL_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-W", "error", "-c", programs(PYTHON)[number]]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout


def test_the_test_of_the_page_passes(tmp_path: Path) -> None:
    [program] = programs(PYTEST)
    done = ran(tmp_path, str(project(tmp_path, test_page=program)))
    assert done.code == 0, done.text
    assert "1 passed" in done.text


def test_pytest_itself_lists_what_the_page_lists(tmp_path: Path) -> None:
    folder = project(tmp_path)
    fixtures = ran(tmp_path, "--fixtures", str(folder)).text
    ours = re.findall(r"^(\w+) -- .*handrail/pytest_plugin", fixtures, flags=re.M)
    assert sorted(ours) == sorted(
        re.findall(r"^\| `(\w+)` \|", PYTEST.partition("## Options")[0], flags=re.M)
    )
    options = set(re.findall(r"(--handrail-\w+)", ran(tmp_path, "--help", str(folder)).text))
    assert options == set(re.findall(r"^\| `(--handrail-\w+)", PYTEST, flags=re.M))
    assert "@pytest.mark.handrail(" in ran(tmp_path, "--markers", str(folder)).text


def test_every_word_of_the_marker_stands_on_the_page() -> None:
    table = PYTEST.partition("## The marker")[2].partition("## A test that fails")[0]
    listed = re.findall(r"^\| `(\w+)` \|", table, flags=re.M)
    assert listed == [one.name for one in fields(MarkerOptions)]


def test_everything_that_opens_stands_on_the_page() -> None:
    for name in sync.__all__:
        if name.islower():
            assert f"`{name}(" in PYTHON, name
