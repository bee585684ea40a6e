"""`handrail --version` names the commit where one is known, and works where none is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from handrail.cli.program import commit_of_build, commit_of_clone


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes longer for git than a person is left waiting."""
    monkeypatch.setattr("handrail.cli.program.AT_MOST_S", 60)


def package(root: Path) -> Path:
    place = root / "src" / "handrail"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("")
    return place


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
    done = subprocess.run(["git", *who, *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def clone(root: Path) -> Path:
    place = package(root)
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "First")
    return place


def test_a_clone_asks_git(tmp_path: Path) -> None:
    place = clone(tmp_path)
    assert commit_of_clone(place) == git(tmp_path, "rev-parse", "--short=12", "HEAD")


def test_a_clone_with_changes_says_so(tmp_path: Path) -> None:
    place = clone(tmp_path)
    (place / "__init__.py").write_text("changed = True\n")
    assert commit_of_clone(place).endswith(", changed")


def test_a_tag_does_not_take_the_place_of_the_commit(tmp_path: Path) -> None:
    place = clone(tmp_path)
    git(tmp_path, "tag", "v9")
    assert commit_of_clone(place) == git(tmp_path, "rev-parse", "--short=12", "HEAD")


def test_a_package_inside_somebody_elses_clone_does_not_take_their_commit(tmp_path: Path) -> None:
    clone(tmp_path / "theirs")
    assert commit_of_clone(package(tmp_path / "theirs" / "venv" / "lib")) == ""


def test_a_build_knows_its_commit_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    place = package(tmp_path)
    (place / "commit.txt").write_text("0123456789ab\n")
    assert commit_of_build(place) == "0123456789ab"


@pytest.mark.parametrize("broken", ["no git", "an empty .git", "bytes that are no text"])
def test_what_is_not_known_is_left_out(tmp_path: Path, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = package(tmp_path)
    (tmp_path / ".git").mkdir()
    if broken == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    if broken == "bytes that are no text":
        (place / "commit.txt").write_bytes(b"\xff\xfe")
    assert (commit_of_build(place), commit_of_clone(place)) == ("", "")
