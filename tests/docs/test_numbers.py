"""The page of figures names programs and tests that exist."""

import re

from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "numbers.md").read_text()


def test_every_command_names_a_file_that_is_there() -> None:
    paths = re.findall(r"\b(?:bench|tests|src)/[\w./-]+", PAGE)
    assert len(paths) > 10
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_every_figure_has_a_command() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| what")]
    assert len(rows) > 15
    assert not [row for row in rows if not re.search(r"`[^`]+` \|$|same( run)? \|$|`smem` \|$", row)]
