"""docs/reading.md shows what the program says of the small screens beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handrail.screen.parse import parse
from tests.unit.screen.drawn import body

DOCS = Path(__file__).resolve().parents[2] / "docs"
SHOWN = dict(
    re.findall(
        r"^Now \(`([\w-]+)`\):\n\n```\n(.*?)\n```$",
        (DOCS / "reading.md").read_text(),
        re.DOTALL | re.MULTILINE,
    )
)
DUMPS = sorted((DOCS / "reading").iterdir())


def test_every_screen_is_on_the_page() -> None:
    assert sorted(SHOWN) == [dump.stem for dump in DUMPS]
    assert len(SHOWN) == 14


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_the_page_shows_what_is_read(dump: Path) -> None:
    assert body(parse(dump.read_bytes())) == SHOWN[dump.stem].split("\n")


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
def test_it_was_read_otherwise_before(dump: Path) -> None:
    page = (DOCS / "reading.md").read_text()
    before = page.partition(f"Now (`{dump.stem}`)")[0].rpartition("Before:\n\n```\n")[2].partition("\n```")[0]
    assert before
    assert before != SHOWN[dump.stem]
