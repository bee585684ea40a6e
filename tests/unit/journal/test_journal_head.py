"""The head file: it appears whole, only ever goes forwards, and a damaged one is no head."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from handrail.journal.head import EMPTY, Head, advance_head, create_head, locked, read_head
from tests.cases import each

ONE, TWO = Head(1, "1" * 64), Head(2, "2" * 64)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the head is, once there is one."""
    return tmp_path / "head"


def test_a_head_is_written_in_one_line_of_fixed_length(path: Path) -> None:
    advance_head(path, ONE, force=False)
    assert path.read_text() == f"{'1':0>20} {'1' * 64}\n"
    assert path.stat().st_mode & 0o7777 == 0o600
    assert read_head(path) == ONE


def test_the_head_of_an_empty_journal_is_made_once(path: Path) -> None:
    create_head(path)
    assert read_head(path) == EMPTY
    assert path.stat().st_mode & 0o7777 == 0o600
    advance_head(path, ONE, force=False)
    create_head(path)
    assert read_head(path) == ONE
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("late", "force", "then"), [(ONE, False, TWO), (Head(2, "3" * 64), False, TWO), (ONE, True, ONE)]
)
def test_a_head_goes_forwards_unless_it_is_told_to_go_back(
    path: Path, late: Head, force: bool, then: Head
) -> None:
    advance_head(path, TWO, force=False)
    advance_head(path, late, force=force)
    assert read_head(path) == then


@pytest.mark.parametrize("damage", ["", "x", "x" * 200, f"{1:020d} {'1' * 64}\n\n", f"{1:020d} {'A' * 64}\n"])
def test_a_damaged_head_is_none_until_it_is_written_again(path: Path, damage: str) -> None:
    path.write_text(damage)
    assert read_head(path) is None
    advance_head(path, ONE, force=False)
    assert read_head(path) == ONE


def test_looking_for_a_head_makes_none(path: Path) -> None:
    assert read_head(path) is None
    assert not path.exists()


def test_a_locked_file_is_one_process_s_alone_until_it_is_done(path: Path) -> None:
    def take() -> None:
        file = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(file)

    with locked(path, os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX), pytest.raises(BlockingIOError):
        take()
    take()


def test_a_head_leaves_no_file_open(path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    create_head(path)
    advance_head(path, ONE, force=False)
    read_head(path)
    assert len(os.listdir("/proc/self/fd")) == before


@each(
    "text",
    ["", "12", f"x:{'a' * 64}", f"12:{'a' * 63}", f"12:{'A' * 64}", f"12:{'a' * 64}x", f"12 {'a' * 64}"],
)
def test_what_nobody_wrote_down_is_no_head(text: str) -> None:
    assert Head.parse(text) is None


def test_a_head_that_was_written_down_can_be_read() -> None:
    assert Head.parse(f" {TWO}\n") == TWO
    assert str(TWO) == f"2:{'2' * 64}"
