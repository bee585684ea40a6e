"""Every statement of the five documents, and the test that shows it or the page where it differs on purpose.

The table is `seed_statements.tsv`: document, line, the statement in our words, and a test or a page.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("seed_statements.tsv").read_text().splitlines()
STATEMENTS = [tuple(line.split("\t")) for line in TABLE if not line.startswith("#")]
LAST_LINES = {"000": 90, "001": 48, "002": 543, "003": 478, "004": 505}
PAGE = re.compile(r"(docs/[a-z0-9/-]+\.md)#([a-z0-9-]+)")


@cache
def names_in(path: str) -> frozenset[str]:
    source = ast.parse((ROOT / path).read_text())
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return frozenset(one.name for one in source.body if isinstance(one, functions))


@cache
def anchors_of(path: str) -> frozenset[str]:
    titles = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(), re.M)
    return frozenset(re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles)


def test_every_statement_has_a_place_and_words_of_its_own() -> None:
    assert not [row for row in STATEMENTS if len(row) != 4]
    places = [(document, int(line)) for document, line, *_ in STATEMENTS]
    assert places == sorted(places)
    assert not [(document, line) for document, line in places if not 0 < line <= LAST_LINES[document]]
    words = Counter((document, line, statement) for document, line, statement, _ in STATEMENTS)
    assert not [row for row, times in words.items() if times > 1]


def test_every_test_and_every_page_that_is_named_exists() -> None:
    missing = []
    for *_, shown_by in STATEMENTS:
        if page := PAGE.fullmatch(shown_by):
            exists = (ROOT / page[1]).exists() and page[2] in anchors_of(page[1])
        else:
            path, _, name = shown_by.partition("::")
            exists = (ROOT / path).exists() and name.startswith("test_") and name in names_in(path)
        if not exists:
            missing.append(shown_by)
    assert not missing


def test_the_table_counts_its_rows() -> None:
    counted = Counter(document for document, *_ in STATEMENTS)
    told = dict(re.findall(r"(\d{3}): (\d+)", TABLE[1]))
    assert {document: str(rows) for document, rows in counted.items()} == told
    assert sum(counted.values()) >= 230
    assert set(counted) == set(LAST_LINES)


def test_few_statements_differ_and_each_page_says_so() -> None:
    differing = [row for row in STATEMENTS if PAGE.fullmatch(row[3])]
    assert len(differing) < len(STATEMENTS) / 20
