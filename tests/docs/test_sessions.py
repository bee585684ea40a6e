"""What the pages show of a terminal is what a terminal shows."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests.docs.blocks import BLOCKS, ROOT, Block
from tests.docs.test_blocks import put_files, runs_here

SHOWN = [block for block in BLOCKS if block.language == "console" and runs_here(block)]
MOST_LINES = 30
"""Of the session in the README."""

_spec = importlib.util.spec_from_file_location("sessions", ROOT / "docs" / "sessions.py")
assert _spec
assert _spec.loader
sessions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sessions)


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.name)
def test_a_session_is_answered_as_the_page_shows_it(block: Block) -> None:
    """A line with `…` alone stands for any number of lines."""
    with sessions.reader() as (folder, env):
        put_files(block.page, folder)
        now = sessions.played(block.text, folder, env)
    told = re.escape(sessions.steady(block.text)).replace("…\\\n", "(?:.*\\n)*")
    told = re.sub(r"(\\#\w{6}\\ )r\d+", r"\1r\\d+", told)  # a busy machine reads a screen once more
    assert re.fullmatch(told, now), f"{now}\nIf that is right: `python docs/sessions.py` for the README"


def test_the_readme_has_one_session_of_thirty_lines() -> None:
    [session] = [block for block in SHOWN if block.page == ROOT / "README.md"]
    assert len(session.text.splitlines()) <= MOST_LINES


def test_the_readme_is_short_and_has_one_picture() -> None:
    page = Path(ROOT / "README.md").read_text()
    assert len(page.splitlines()) <= 150
    assert len(re.findall(r"<img|!\[", page)) == 1
