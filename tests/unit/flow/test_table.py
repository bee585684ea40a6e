"""A table gives many runs: their names, their values, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.errors import InvalidAction, NoSuchFile
from handrail.flow.document import loads
from handrail.flow.plan import plan
from handrail.flow.table import read_table, with_row

FLOW = 'name: Greet\nenv:\n  WHO: nobody\n  TIMES: "1"\nsteps:\n  - type_text: "${WHO} ${TIMES}"\n'


def texts(table: Path) -> list[tuple[str, str]]:
    """The name and the typed text of every run."""
    flow, runs = loads(FLOW), []
    for number, row in enumerate(read_table(table), 1):
        ready = plan(with_row(flow, row, number), {})
        runs.append((ready.flow.name, ready.steps[0].step.action.text))  # type: ignore[union-attr]
    return runs


def test_a_csv_file_gives_a_run_for_each_row(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text('name,WHO\nadmin,"Ada, the first"\nguest,${WHO}\n', encoding="utf-8")
    assert texts(table) == [
        ("Greet [admin]", "Ada, the first 1"),
        ("Greet [guest]", "${WHO} 1"),  # a value of a table is a text and names no variable
    ]


def test_a_yaml_list_gives_a_run_for_each_mapping(tmp_path: Path) -> None:
    table = tmp_path / "people.yaml"
    table.write_text("- {WHO: Ada, TIMES: 2}\n- {WHO: Bob}\n", encoding="utf-8")
    assert texts(table) == [("Greet [Ada]", "Ada 2"), ("Greet [Bob]", "Bob 1")]


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("a.csv", "name,WHO\nAda\n", "a.csv:2: 1 values for 2 columns"),
        ("a.csv", "name,WHO\n", "has no row"),
        ("a.yaml", "WHO: Ada\n", "is not a list of mappings"),
        ("a.yaml", "- [Ada\n", "a.yaml:"),
    ],
)
def test_a_table_that_can_not_be_used_says_why(tmp_path: Path, file: str, text: str, wrong: str) -> None:
    table = tmp_path / file
    table.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidAction, match=wrong):
        read_table(table)


def test_a_table_that_is_not_there_has_a_code_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(NoSuchFile) as refused:
        read_table(tmp_path / "none.csv")
    assert (refused.value.code, refused.value.exits.exit_code) == ("NO_SUCH_FILE", 2)
