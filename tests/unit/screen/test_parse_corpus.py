"""Real dumps: all are read, and none loses a node."""

from __future__ import annotations

import csv

import pytest

from handrail.screen.parse import parse
from tests.corpus import CORPUS, needs_corpus


@needs_corpus
@pytest.mark.parametrize("folder", ["uiautomator", "appium", "json", "pairs"])
def test_every_real_dump_is_read_whole(folder: str) -> None:
    rows = [row for row in _index() if row["file"].startswith(folder) and _is_tree(row)]
    assert rows
    for row in rows:
        one = parse(_bytes(row))
        count = len(one.nodes) - (len(one.windows) > 1)  # the virtual root is nobody's node
        assert count == int(row["nodes"]), row["file"]


@needs_corpus
def test_the_mangled_real_dump_says_what_was_mended() -> None:
    (row,) = [row for row in _index() if "PARSE-ERROR" in row["notes"]]
    assert parse(_bytes(row)).warnings == ["attribute values without a closing quote: 2"]


def _index() -> list[dict[str, str]]:
    assert CORPUS is not None
    with (CORPUS / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _is_tree(row: dict[str, str]) -> bool:
    """Event files have no nodes; Maestro Studio's element list has no tree."""
    return int(row["nodes"]) > 0 and "maestro" not in row["notes"]


def _bytes(row: dict[str, str]) -> bytes:
    assert CORPUS is not None
    return (CORPUS / row["file"]).read_bytes()
