"""`kill -9` of a server under load: nothing that was answered is missing. `tests/fuzz/kill.py` has 200."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.kill import run


def test_a_killed_server_loses_no_answered_action_of_phone_or_desk(tmp_path: Path) -> None:
    tally = run(tmp_path, deaths=1, seed=17, most_sec=0.4)
    assert tally.lost == []
    assert tally.answered >= 4
    assert tally.windows > 0


@pytest.mark.slow
def test_twenty_killed_servers_lose_no_answered_action_of_phone_or_desk(tmp_path: Path) -> None:
    tally = run(tmp_path, deaths=20, seed=170)
    assert tally.lost == []
    assert tally.answered > 200
