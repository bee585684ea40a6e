"""Pairs of real screens: recorded steps, neighbours in one app's folder, and those that once went wrong."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path


def _rows(corpus: Path, table: str) -> list[dict[str, str]]:
    with (corpus / table).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def recorded(corpus: Path) -> Iterator[tuple[Path, Path]]:
    """Steps that somebody took."""
    for row in _rows(corpus, "PAIRS.tsv"):
        if row["kind"] == "droidbot-event":
            yield corpus / row["before"], corpus / row["after"]


def adjacent(corpus: Path) -> Iterator[tuple[Path, Path]]:
    """Every pair of the table, steps or not."""
    for row in _rows(corpus, "PAIRS.tsv"):
        yield corpus / row["before"], corpus / row["after"]


def neighbours(corpus: Path) -> Iterator[tuple[Path, Path]]:
    """Dumps of one repository, each with the next by name, both ways."""
    folders: dict[str, list[Path]] = defaultdict(list)
    for table in ("INDEX.tsv", "SECOND.tsv"):
        for row in _rows(corpus, table):
            folders[row["source_repo"]].append(corpus / row["file"])
    for paths in folders.values():
        for one, other in pairwise(sorted(paths, key=lambda path: path.name)):
            yield one, other
            yield other, one


def wanted(corpus: Path) -> Iterator[dict[str, str]]:
    """The lines of REFS.tsv."""
    yield from _rows(corpus, "REFS.tsv")
