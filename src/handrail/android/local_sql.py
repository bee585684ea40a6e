"""One SQL statement on a copy of a database, within limits. SQLite itself judges what a statement would do.

The copy is ours: a statement that may write changes the copy only. The file is a stranger's: its schema is
not trusted with functions that do more than compute.
"""

from __future__ import annotations

import asyncio
import base64
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction

Cell = int | float | str | bytes | None
MAX_ROWS = 200
MAX_BYTES = 256 << 10
"""What the cells of one answer may hold."""
_LONGEST = 16 << 20
"""Bytes of one cell, also of one that a statement makes up."""
_TURN = 10_000
"""Instructions of SQLite's machine between two looks at the budget."""
MAX_TURNS = 20_000
MAX_SEC = 10.0
"""A busy machine takes long over few instructions."""

_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_OUTSIDE = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
_FUNCTIONS = {"load_extension", "fts3_tokenizer"}
"""Functions that load code."""
_TELLING = """
table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list database_list
collation_list function_list module_list pragma_list compile_options integrity_check quick_check
foreign_key_check
"""
_ASKED = """
user_version schema_version page_count page_size freelist_count encoding journal_mode application_id
auto_vacuum foreign_keys data_version synchronous cache_size
"""
TELLING = frozenset(_TELLING.split())
"""Pragmas that only tell, whatever their argument."""
ASKED = frozenset(_ASKED.split())
"""Pragmas that tell without an argument and set with one."""
_ACTIONS = """
CREATE_INDEX CREATE_TABLE CREATE_TEMP_INDEX CREATE_TEMP_TABLE CREATE_TEMP_TRIGGER CREATE_TEMP_VIEW
CREATE_TRIGGER CREATE_VIEW DELETE DROP_INDEX DROP_TABLE DROP_TEMP_INDEX DROP_TEMP_TABLE DROP_TEMP_TRIGGER
DROP_TEMP_VIEW DROP_TRIGGER DROP_VIEW INSERT PRAGMA TRANSACTION UPDATE ATTACH DETACH ALTER_TABLE REINDEX
ANALYZE CREATE_VTABLE DROP_VTABLE FUNCTION SAVEPOINT
"""
_NAMES = {int(getattr(sqlite3, f"SQLITE_{name}")): name for name in _ACTIONS.split()}
"""Only of actions: SQLite's error codes have the same numbers."""


@dataclass(frozen=True, slots=True)
class Rows:
    """An answer with SQLite's own types."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    count: int
    """How many rows there are in all."""
    changed: int | None = None
    """Rows that a writing statement changed; None after one that only reads."""

    @property
    def truncated(self) -> bool:
        return len(self.rows) < self.count

    def to_dict(self) -> dict[str, Any]:
        """As JSON data; bytes as base64."""
        rows = [[_shown(cell) for cell in row] for row in self.rows]
        told = {"columns": list(self.columns), "rows": rows, "count": self.count, "truncated": self.truncated}
        return told if self.changed is None else told | {"changed": self.changed}


def _shown(cell: Cell) -> Any:
    return {"base64": base64.b64encode(cell).decode()} if isinstance(cell, bytes) else cell


@dataclass(slots=True)
class Judge:
    """SQLite asks it about everything that a statement would do, before it runs."""

    write: bool
    refused: list[str] = field(default_factory=list)
    changes: bool = False
    """Whether the statement would change something."""

    def __call__(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if self._allows(action, first or "", second):
            self.changes |= action not in _READS | {sqlite3.SQLITE_PRAGMA}
            return sqlite3.SQLITE_OK
        words = [_NAMES.get(action, f"action {action}"), first, second]
        self.refused.append(" ".join(word for word in words if word))
        return sqlite3.SQLITE_DENY

    def _allows(self, action: int, first: str, second: str | None) -> bool:
        if action == sqlite3.SQLITE_FUNCTION:
            return (second or "").lower() not in _FUNCTIONS
        if action == sqlite3.SQLITE_PRAGMA:
            return first.lower() in TELLING or (first.lower() in ASKED and second is None)
        return action in _READS or (self.write and action not in _OUTSIDE)


class QueryBudget:
    """How long SQLite's machine may run. It asks between two turns, and stops when it hears a 1."""

    def __init__(self) -> None:
        self.left = MAX_TURNS
        self._end = time.monotonic() + MAX_SEC

    def __call__(self) -> int:
        self.left -= 1
        return int(self.left < 0 or time.monotonic() > self._end)


async def query_copy(path: Path, sql: str, *, write: bool, max_rows: int, max_bytes: int) -> Rows:
    """Run it in a thread; cancelling ends the statement, not only the wait for it."""
    budget = QueryBudget()
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    database.set_progress_handler(budget, _TURN)
    try:
        return await _in_thread(budget, lambda: _query(database, sql, write, max_rows, max_bytes))
    finally:
        database.close()


async def _in_thread(budget: QueryBudget, ask: Callable[[], Rows]) -> Rows:
    work = asyncio.get_running_loop().run_in_executor(None, ask)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        budget.left = 0
        with suppress(InvalidAction):
            await work
        raise


def _query(database: sqlite3.Connection, sql: str, write: bool, max_rows: int, max_bytes: int) -> Rows:
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    judge = Judge(write)
    try:
        database.executescript("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        database.execute("PRAGMA schema_version").fetchone()
        _meet_tables(database, sql)
        database.set_authorizer(judge)
        cursor = database.execute(sql)
        rows = _collect(cursor, max_rows, max_bytes)
    except (sqlite3.Error, sqlite3.Warning, UnicodeEncodeError) as problem:
        raise _wrong(problem, judge) from None
    if judge.changes:
        return Rows((), (), 0, max(0, cursor.rowcount))
    if cursor.description is None:
        raise InvalidAction("the query says nothing", path="query")
    return rows


def _meet_tables(database: sqlite3.Connection, sql: str) -> None:
    """A virtual table declares its columns when it is first named, which looks like a change of the schema.

    So it is named once before the judgement, in a statement that is compiled and not run.
    """
    database.set_authorizer(Judge(write=True))
    with suppress(sqlite3.Error, sqlite3.Warning, UnicodeEncodeError):
        database.execute(f"EXPLAIN {sql}").close()


def _collect(cursor: sqlite3.Cursor, max_rows: int, max_bytes: int) -> Rows:
    if cursor.description is None:
        return Rows((), (), 0)
    kept: list[tuple[Cell, ...]] = []
    count, room = 0, max_bytes
    for row in cursor:
        count += 1
        room -= sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        if len(kept) == count - 1 < max_rows and room >= 0:
            kept.append(row)
    return Rows(tuple(column[0] for column in cursor.description), tuple(kept), count)


def _wrong(problem: Exception, judge: Judge) -> InvalidAction:
    text, hint = str(problem), "Correct the statement; `select * from sqlite_master` shows the tables."
    if judge.refused:
        text = f"it would {judge.refused[0]}"
        hint = "Reading takes one SELECT, EXPLAIN or telling PRAGMA."
        hint += " No statement may reach other files." if judge.write else " Use write to change data."
    elif "one statement" in text:
        hint = "Send one statement at a time."
    elif "interrupted" in text:
        text, hint = "the statement runs too long", "Ask for less: a narrower WHERE, a LIMIT, no cross join."
    elif "not a database" in text:
        hint = "The file is encrypted, or no SQLite database."
    elif "collation" in text:
        hint = "Android's own collation is not here; order by the plain column."
    return InvalidAction(f"the query was refused: {text}", hint=hint, path="query")
