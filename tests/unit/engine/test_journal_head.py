"""The head file: it appears whole, only ever goes forwards, and is found again when it was replaced."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from handrail.engine.journal.head import EMPTY, Head, HeadFile, create_head, read_head

ONE, TWO = Head(1, "1" * 64), Head(2, "2" * 64)


def head_of(path: Path) -> str:
    return path.read_text()


def is_free(path: Path) -> bool:
    """Whether nobody has it locked."""
    file = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True


def test_a_head_is_written_in_one_line_of_fixed_length(tmp_path: Path) -> None:
    path = tmp_path / "head"
    HeadFile(path).advance(ONE)
    assert head_of(path) == f"{'1':0>20} {'1' * 64}\n"
    assert path.stat().st_mode & 0o7777 == 0o600
    assert read_head(path) == ONE


def test_the_head_of_an_empty_journal_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "head"
    create_head(path)
    assert read_head(path) == EMPTY
    assert path.stat().st_mode & 0o7777 == 0o600
    HeadFile(path).advance(ONE)
    create_head(path)
    assert read_head(path) == ONE
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("late", "force", "then"), [(ONE, False, TWO), (Head(2, "3" * 64), False, TWO), (ONE, True, ONE)]
)
def test_a_head_goes_forwards_unless_it_is_told_to_go_back(
    tmp_path: Path, late: Head, force: bool, then: Head
) -> None:
    file = HeadFile(tmp_path / "head")
    file.advance(TWO)
    file.advance(late, force=force)
    assert file.read() == then


def test_a_damaged_head_that_is_longer_becomes_a_good_one(tmp_path: Path) -> None:
    path = tmp_path / "head"
    path.write_text("x" * 200)
    file = HeadFile(path)
    assert file.read() is None
    file.advance(ONE)
    assert file.read() == ONE


def test_looking_for_a_head_makes_none(tmp_path: Path) -> None:
    assert read_head(tmp_path / "head") is None
    assert list(tmp_path.iterdir()) == []


def test_nobody_is_locked_out_after_a_look_or_a_move(tmp_path: Path) -> None:
    path = tmp_path / "head"
    file = HeadFile(path)
    file.advance(ONE)
    assert is_free(path)
    file.read()
    assert is_free(path)


def test_a_file_that_took_its_place_is_the_head(tmp_path: Path) -> None:
    path = tmp_path / "head"
    file = HeadFile(path)
    file.advance(ONE)
    HeadFile(tmp_path / "other").advance(TWO)
    (tmp_path / "other").replace(path)
    assert file.read() == TWO
    path.unlink()
    assert file.read() is None
    file.advance(ONE)
    assert read_head(path) == ONE


def test_a_look_leaves_no_file_open(tmp_path: Path) -> None:
    create_head(tmp_path / "head")
    before = os.listdir("/proc/self/fd")
    read_head(tmp_path / "head")
    file = HeadFile(tmp_path / "head")
    for _ in range(3):
        file.read()
    assert len(os.listdir("/proc/self/fd")) == len(before) + 1, "it stays open between looks"
    file.close()
    file.close()
    assert len(os.listdir("/proc/self/fd")) == len(before)


@pytest.mark.parametrize(
    "text",
    ["", "12", f"x:{'a' * 64}", f"12:{'a' * 63}", f"12:{'A' * 64}", f"12:{'a' * 64}x", f"12 {'a' * 64}"],
)
def test_what_nobody_wrote_down_is_no_head(text: str) -> None:
    assert Head.parse(text) is None


def test_a_head_that_was_written_down_can_be_read() -> None:
    assert Head.parse(f" {TWO}\n") == TWO
    assert str(TWO) == f"2:{'2' * 64}"
