"""`kill -9` at any moment, and several processes at once: nothing that was answered is lost. The long run is
`python tests/fuzz/journal.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.journal import check, run, together


@pytest.mark.slow
def test_fifty_killed_writers_leave_a_proved_journal_with_every_answered_action(tmp_path: Path) -> None:
    tally = run(tmp_path, deaths=50, seed=6)
    assert tally.deaths == 50
    assert tally.answered > 200


def test_two_processes_write_one_chain(tmp_path: Path) -> None:
    answered = together(tmp_path, processes=2, actions=150)
    assert check(tmp_path, answered) == 2 * 150 * 4
