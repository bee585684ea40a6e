"""Data-driven flows: a table gives many runs of one flow, each with a name and the values of its row."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction, NoSuchFile
from handrail.flow.document import FlowDocument, make_document
from handrail.flow.parse import FieldEntry, Fields, Mark, Problem, Scalar, Unreadable, plain_data, read_yaml

NAME = "name"
"""The column that names a run; without it the first one does."""
_HERE = Mark(1, 1, 0)


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a head, or of a YAML list of mappings. Raises `InvalidAction`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NoSuchFile(f"{path} does not exist", path="data") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidAction(f"{path}: {error}", path="data", hint="Give a CSV or YAML file.") from None
    rows = _csv_rows(text, path) if path.suffix.lower() == ".csv" else _yaml_rows(text, path)
    if not rows:
        raise InvalidAction(f"{path} has no row", path="data", hint="Give one row for each run.")
    return rows


def _csv_rows(text: str, path: Path) -> list[dict[str, str]]:
    reader = csv.reader(io.StringIO(text))
    head = [column.strip() for column in next(reader, [])]
    rows = []
    for row in reader:
        if not any(row):
            continue
        if len(row) != len(head):
            wrong = f"{path}:{reader.line_num}: {len(row)} values for {len(head)} columns"
            raise InvalidAction(wrong, path="data", hint="Quote values that hold a comma.")
        rows.append(dict(zip(head, row, strict=True)))
    return rows


def _yaml_rows(text: str, path: Path) -> list[dict[str, str]]:
    problems: list[Problem] = []
    try:
        node = read_yaml(text, problems)
    except Unreadable as error:
        problem = error.problem
        raise InvalidAction(f"{path}:{problem.mark.line}: {problem.sentence}", path="data") from None
    rows: Any = plain_data(node) if node is not None and not problems else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        hint = "For example: - {name: Ada, FIRST: Ada}"
        raise InvalidAction(f"{path} is not a list of mappings", path="data", hint=hint)
    return [{str(key): "" if value is None else str(value) for key, value in row.items()} for row in rows]


def with_row(document: FlowDocument, row: Mapping[str, str], number: int) -> FlowDocument:
    """The flow with the values of a row as its variables, under a name of its own."""
    called = row.get(NAME) or next(iter(row.values()), "") or str(number)
    env = document.root.get("env")
    own = dict(env.entries) if isinstance(env, Fields) else {}
    values = {column: _entry(column, text) for column, text in row.items() if column != NAME or column in own}
    entries = dict(document.root.entries)
    entries["name"] = _entry("name", f"{document.name} [{called}]"[:200])
    entries["env"] = FieldEntry(_scalar("env"), Fields({**own, **values}))
    return make_document(replace(document.root, entries=entries), document.path, document.text, [])


def _entry(key: str, text: str) -> FieldEntry:
    return FieldEntry(_scalar(key), _scalar(text.replace("${", "$${") if key != "name" else text))


def _scalar(text: str) -> Scalar:
    return Scalar(text, text, _HERE, 0, plain=False)
