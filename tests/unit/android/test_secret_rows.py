"""A statement on a database that holds a secret: whatever it computes, it computes without it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from handrail.android.app_data import Rows, query_copy
from handrail.errors import InvalidAction, Unsupported
from tests.cases import each

SECRET, PIN = "Qz7#Kp2!vX9+m", 4708150926


def hidden(text: str) -> str:
    return text.replace(SECRET, "${secret:WORD}").replace(str(PIN), "${secret:PIN}")


def ask(folder: Path, sql: str, schema: str = "") -> Rows:
    path = folder / f"{len(list(folder.iterdir()))}.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE said (id INTEGER PRIMARY KEY, word TEXT, pin INTEGER, raw BLOB);"
            'CREATE TABLE "odd ""name" ("a column" TEXT);'
            "CREATE VIEW shouted AS SELECT upper(word) AS word FROM said;" + schema
        )
        database.execute("INSERT INTO said VALUES (1, ?, ?, ?)", (SECRET, PIN, SECRET.encode()))
        database.execute("INSERT INTO said VALUES (2, 'plain', 7, x'00ff')")
        database.execute('INSERT INTO "odd ""name" VALUES (?)', (SECRET,))
    database.close()
    work = query_copy(path, sql, write=False, max_rows=50, max_bytes=10_000, redact=hidden)
    return asyncio.run(work)


@each(
    "sql",
    [
        "SELECT word FROM said",
        "SELECT hex(word), hex(raw), hex(pin) FROM said",
        "SELECT CAST(word AS BLOB) FROM said",
        "SELECT raw FROM said",
        "SELECT pin + 0, pin * 10, -pin FROM said",
        "SELECT word FROM shouted",
        "SELECT group_concat(unicode(substr(word, 1, 1))) FROM said",
        'SELECT "a column" FROM "odd ""name"',
        "SELECT quote(word) FROM said ORDER BY word",
    ],
)
def test_no_form_of_a_secret_is_answered(tmp_path: Path, sql: str) -> None:
    rows = ask(tmp_path, sql)
    answer = str(rows.rows) + str(
        [cell.hex() for row in rows.rows for cell in row if isinstance(cell, bytes)]
    )
    forms: list[Any] = [SECRET, SECRET.upper(), SECRET.encode().hex(), SECRET.encode().hex().upper()]
    forms += [PIN, PIN * 10, str(PIN).encode().hex(), "81,"]
    assert not [form for form in forms if str(form) in answer], answer


@each(
    "sql",
    [
        f"SELECT count(*) FROM said WHERE word LIKE '{SECRET[:4]}%'",
        f"SELECT count(*) FROM said WHERE word = '{SECRET}'",
        f"SELECT count(*) FROM said WHERE pin = {PIN}",
        f"SELECT count(*) FROM said WHERE pin > {PIN - 1} AND typeof(pin) = 'integer'",
        f"SELECT count(*) FROM said WHERE instr(raw, CAST('{SECRET}' AS BLOB))",
        f"SELECT count(*) FROM said WHERE length(word) = {len(SECRET)}",
    ],
)
def test_no_count_answers_a_guess(tmp_path: Path, sql: str) -> None:
    assert ask(tmp_path, sql).rows == ((0,),)


def test_what_holds_no_secret_is_as_it_was(tmp_path: Path) -> None:
    assert ask(tmp_path, "SELECT * FROM said WHERE id = 2").rows == ((2, "plain", 7, b"\x00\xff"),)


def test_a_text_that_is_no_utf_8_does_not_open_its_table(tmp_path: Path) -> None:
    schema = f"INSERT INTO said (id, word) VALUES (3, CAST(x'ff{SECRET.encode().hex()}fe' AS TEXT));"
    for query in ("SELECT hex(word) FROM said", f"SELECT count(*) FROM said WHERE instr(word, '{SECRET}')"):
        rows = ask(tmp_path, query, schema).rows
        assert SECRET.encode().hex().upper() not in str(rows)
        assert rows[0] != (1,), query


def test_a_database_in_utf_16_hides_as_much(tmp_path: Path) -> None:
    path = tmp_path / "wide.db"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA encoding = 'UTF-16le'")
        database.execute("CREATE TABLE said (word TEXT, pin INTEGER)")
        database.execute("INSERT INTO said VALUES (?, ?)", (SECRET, PIN))
    database.close()
    sql = "SELECT word, pin FROM said"
    work = query_copy(path, sql, write=False, max_rows=5, max_bytes=1_000, redact=hidden)
    assert asyncio.run(work).rows == (("${secret:WORD}", "${secret:PIN}"),)


def test_the_function_that_hides_answers_no_statement(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match="FUNCTION handrail_shown"):
        ask(tmp_path, f"SELECT handrail_shown('text', '{SECRET}')")


def test_a_secret_that_can_not_be_replaced_is_not_read(tmp_path: Path) -> None:
    schema = f"CREATE TABLE strict_pins (pin INTEGER) STRICT; INSERT INTO strict_pins VALUES ({PIN});"
    with pytest.raises(Unsupported, match="strict_pins"):
        ask(tmp_path, "SELECT 1", schema)
