"""Reads an app's preferences and SQLite databases through `run-as`, and changes databases."""

from __future__ import annotations

import asyncio
import base64
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, cast

from lxml import etree

from handrail.adb.shell import DeviceShell, Output
from handrail.android.packages import check_package, require_package
from handrail.errors import AdbCommandError, InvalidAction, Unsupported

Cell = int | float | str | bytes | None
Redact = Callable[[str], str]
MAX_ROWS = 200
MAX_BYTES = 256 << 10
"""Limit for all cells of one answer."""
_LONGEST = 16 << 20
"""Bytes of one cell, including cells that a statement computes."""
_TURN = 10_000
"""Instructions of SQLite's virtual machine between two checks of the budget."""
MAX_TURNS = 20_000
MAX_SEC = 10.0
"""A busy machine needs long for few instructions."""

_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_OUTSIDE = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
_SHOWN = "handrail_shown"
_FUNCTIONS = {"load_extension", "fts3_tokenizer", _SHOWN}
"""Functions that load code, and the one that hides secrets."""
_TELLING = """
table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list database_list
collation_list function_list module_list pragma_list compile_options integrity_check quick_check
foreign_key_check
"""
_READ_PRAGMA_NAMES = """
user_version schema_version page_count page_size freelist_count encoding journal_mode application_id
auto_vacuum foreign_keys data_version synchronous cache_size
"""
READ_ONLY_PRAGMAS = frozenset(_TELLING.split())
"""Pragmas that only read, whatever their argument."""
READ_PRAGMAS = frozenset(_READ_PRAGMA_NAMES.split())
"""Pragmas that read without an argument and write with one."""
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
    """Query result with SQLite's own types."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    count: int
    """Number of rows before truncation."""
    changed: int | None = None
    """Rows that a writing statement changed; None after a statement that only reads."""

    @property
    def truncated(self) -> bool:
        return len(self.rows) < self.count

    def to_dict(self) -> dict[str, Any]:
        """Writes bytes as base64."""

        def plain(cell: Cell) -> Any:
            return {"base64": base64.b64encode(cell).decode()} if isinstance(cell, bytes) else cell

        rows = [[plain(cell) for cell in row] for row in self.rows]
        fields = {"columns": list(self.columns), "rows": rows, "count": self.count}
        changed = {} if self.changed is None else {"changed": self.changed}
        return fields | {"truncated": self.truncated} | changed


@dataclass(slots=True)
class StatementAuthorizer:
    """SQLite's authorizer: asked about everything that a statement would do, before it runs."""

    write: bool
    refused: list[str] = field(default_factory=list)
    changes: bool = False

    def __call__(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() not in _FUNCTIONS
        elif action == sqlite3.SQLITE_PRAGMA:
            pragma = (first or "").lower()
            allowed = pragma in READ_ONLY_PRAGMAS or (pragma in READ_PRAGMAS and second is None)
        else:
            allowed = action in _READS or (self.write and action not in _OUTSIDE)
        if allowed:
            self.changes |= action not in _READS | {sqlite3.SQLITE_PRAGMA}
            return sqlite3.SQLITE_OK
        words = [_NAMES.get(action, f"action {action}"), first, second]
        self.refused.append(" ".join(word for word in words if word))
        return sqlite3.SQLITE_DENY


class QueryBudget:
    """Progress handler of SQLite; returning 1 stops the statement."""

    def __init__(self) -> None:
        self.left = MAX_TURNS
        self._end = time.monotonic() + MAX_SEC

    def __call__(self) -> int:
        self.left -= 1
        return int(self.left < 0 or time.monotonic() > self._end)


async def query_copy(
    path: Path, sql: str, *, write: bool, max_rows: int, max_bytes: int, redact: Redact | None = None
) -> Rows:
    """Runs in a thread. Cancelling also stops the statement. The copy loses its secrets before that."""
    budget = QueryBudget()
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    database.set_progress_handler(budget, _TURN)
    work = asyncio.get_running_loop().run_in_executor(
        None, _query, database, sql, write, max_rows, max_bytes, redact
    )
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        budget.left = 0
        with suppress(InvalidAction):
            await work
        raise
    finally:
        database.close()


def _redact_cells(database: sqlite3.Connection, redact: Redact) -> None:
    """Removes secrets from every cell: no function, comparison or count of a statement can tell of them then.

    The statement itself may not call this function: it would answer guesses.
    """

    encoding = database.execute("PRAGMA encoding").fetchone()[0]

    def shown(kind: str, data: bytes) -> str | None:
        """The cell without its secrets; None if there is nothing to hide."""
        text = data.decode("utf-8" if kind == "blob" else encoding, "replace")
        clean = redact(text)
        return None if clean == text else clean

    database.create_function(_SHOWN, 2, shown)
    for (table,) in database.execute("SELECT quote(name) FROM sqlite_master WHERE type = 'table'").fetchall():
        try:
            for _, name, *_, hidden in database.execute(f"PRAGMA table_xinfo({table})").fetchall():
                cell = '"' + name.replace('"', '""') + '"'
                clean = f"{_SHOWN}(typeof({cell}), CAST({cell} AS BLOB))"
                holds = f"{cell} IS NOT NULL AND {clean} IS NOT NULL"
                rows = f"SELECT 1 FROM {table} WHERE {holds} LIMIT 1"  # noqa: S608 - names are quoted
                if not hidden and database.execute(rows).fetchone():
                    database.execute(f"UPDATE {table} SET {cell} = {clean} WHERE {holds}")  # noqa: S608
        except sqlite3.Error as problem:
            if "no such module" not in str(problem):  # of a virtual table: no statement can read it
                hint = "Read another database, or what the screen shows."
                raise Unsupported(f"A secret in {table} can't be hidden: {problem}", hint=hint) from None


def _query(
    database: sqlite3.Connection, sql: str, write: bool, max_rows: int, max_bytes: int, redact: Redact | None
) -> Rows:
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    judge = StatementAuthorizer(write)
    try:
        database.executescript("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        database.execute("PRAGMA schema_version").fetchone()
        if redact is not None:
            _redact_cells(database, redact)
        # A virtual table declares its columns when it is first named, which looks like a change of schema, so
        # the statement is compiled once, without running it, before it is judged.
        database.set_authorizer(StatementAuthorizer(write=True))
        with suppress(sqlite3.Error, sqlite3.Warning, UnicodeEncodeError):
            database.execute(f"EXPLAIN {sql}").close()
        database.set_authorizer(judge)
        cursor = database.execute(sql)
        collected: list[tuple[Cell, ...]] = []
        count, room = 0, max_bytes
        for row in cursor:
            count += 1
            room -= sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
            if len(collected) == count - 1 < max_rows and room >= 0:
                collected.append(row)
    except (sqlite3.Error, sqlite3.Warning, UnicodeEncodeError) as problem:
        raise _wrong(problem, judge) from None
    if judge.changes:
        return Rows((), (), 0, max(0, cursor.rowcount))
    if cursor.description is None:
        raise InvalidAction("the query is empty", path="query")
    return Rows(tuple(column[0] for column in cursor.description), tuple(collected), count)


def _wrong(problem: Exception, judge: StatementAuthorizer) -> InvalidAction:
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
        hint = "The file is encrypted, or not a SQLite database."
    elif "collation" in text:
        hint = "Android's own collation is not here; order by the plain column."
    return InvalidAction(f"the query was refused: {text}", hint=hint, path="query")


Folder = Literal["shared_prefs", "databases", "files"]
FILE_LIMIT = 128 << 20
_NAME = re.compile(r"[^/\x00-\x1f]+")
_CLOSED = ("not debuggable", "is not debuggable", "not allowed to", "Could not set capabilities")
_UNKNOWN = ("unknown package", "is unknown")


def check_name(name: str, path: str) -> str:
    """`name` must be one component of a path; `path` is the field that an error names."""
    if name in {".", ".."} or len(name.encode("utf-8", "replace")) > 255 or not _NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not a file name", hint="Give the name without a folder.", path=path)
    return name


async def run_as(shell: DeviceShell, package: str, command: list[str], *, limit: int = FILE_LIMIT) -> Output:
    """Runs a command as the app's own user in its data folder. The caller checks the exit code."""
    argv = ["run-as", check_package(package), *command]
    answer = await shell.run(argv, limit=limit, check=False)
    complaint = answer.complaint or ("" if answer.ok else answer.text)
    if "run-as:" not in complaint or "exec failed" in complaint:
        return answer
    if any(words in complaint for words in _UNKNOWN):
        await require_package(shell, package)
    if any(words in complaint for words in _CLOSED):
        raise Unsupported(
            f"the files of {package} are closed: {complaint.strip()}",
            hint="Only debuggable builds open their files to run-as; install the app's debug variant.",
            package=package,
        )
    raise AdbCommandError(f"run-as {package} failed: {complaint.strip()}", command=argv)


async def list_files(shell: DeviceShell, package: str, folder: Folder) -> list[str]:
    answer = await run_as(shell, package, ["ls", "-1", folder])
    if _is_missing(answer, f"{folder} of {package}"):
        return []
    return sorted(line for line in answer.text.splitlines() if line)


async def read_file(shell: DeviceShell, package: str, folder: Folder, name: str) -> bytes | None:
    """Returns None if the file does not exist."""
    answer = await run_as(shell, package, ["cat", f"{folder}/{check_name(name, 'file')}"])
    if _is_missing(answer, f"{folder}/{name} of {package}"):
        return None
    if answer.dropped:
        raise Unsupported(f"{folder}/{name} has {FILE_LIMIT + answer.dropped} bytes, more than {FILE_LIMIT}")
    return answer.stdout


def _is_missing(answer: Output, what: str) -> bool:
    """Any failure other than a missing file raises."""
    if answer.ok:
        return False
    if "No such file" in answer.complaint:
        return True
    raise AdbCommandError(f"{what} can't be read: {answer.complaint.strip()}", command=["run-as"])


Kind = Literal["string", "int", "long", "float", "boolean", "set", "null"]
SUFFIX = ".xml"


class Pref(NamedTuple):
    """A value and its type."""

    kind: Kind
    value: Any


@dataclass(frozen=True, slots=True)
class Prefs:
    """A preferences file: its values by name, and its XML."""

    file: str
    values: dict[str, Pref]
    xml: str

    def to_dict(self) -> dict[str, Any]:
        shown = {
            name: {"type": kind, "value": sorted(value) if isinstance(value, frozenset) else value}
            for name, (kind, value) in self.values.items()
        }
        return {"file": self.file, "values": shown, "xml": self.xml}


async def list_prefs(shell: DeviceShell, package: str) -> list[str]:
    files = await list_files(shell, package, "shared_prefs")
    return [name.removesuffix(SUFFIX) for name in files if name.endswith(SUFFIX)]


async def read_prefs(shell: DeviceShell, package: str, file: str) -> Prefs:
    """`file` may end in .xml or not."""
    name = check_name(file.removesuffix(SUFFIX) + SUFFIX, "file")
    data = await read_file(shell, package, "shared_prefs", name)
    if data is None:
        names = await list_prefs(shell, package)
        raise InvalidAction(
            f"{package} has no preferences named {file}",
            hint=f"There are: {', '.join(names)}." if names else "It has saved no preferences yet.",
            path="file",
            known=names,
        )
    return Prefs(name, read_values(data, name), data.decode("utf-8", "replace"))


def read_values(data: bytes, name: str) -> dict[str, Pref]:
    """The entries of a `<map>`. A file that is being written may not parse."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(data, parser)
        entries = [entry for entry in root if isinstance(entry.tag, str)]
        return {
            entry.get("name", ""): Pref(cast("Kind", entry.tag), _READERS[cast("Kind", entry.tag)](entry))
            for entry in entries
        }
    except (etree.XMLSyntaxError, ValueError, KeyError) as problem:
        raise AdbCommandError(
            f"{name} is not a preferences file: {problem}", hint="Read it again.", command=["run-as", "cat"]
        ) from None


_READERS: dict[Kind, Callable[[etree._Element], Any]] = {
    "string": lambda entry: entry.text or "",
    "int": lambda entry: int(entry.get("value", "")),
    "long": lambda entry: int(entry.get("value", "")),
    "float": lambda entry: float(entry.get("value", "")),
    "boolean": lambda entry: entry.get("value") == "true",
    "set": lambda entry: frozenset(child.text or "" for child in entry),
    "null": lambda _: None,
}


_BESIDE = ("-wal", "-shm", "-journal")
_WAL_HEADER = 32
"""Bytes that hold the salts, which change with each generation of the log."""
_ATTEMPTS = 3
_MISSING = ("not found", "No such file", "exec failed", "Permission denied")


async def query(
    shell: DeviceShell,
    package: str,
    database: str,
    sql: str,
    *,
    write: bool = False,
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_BYTES,
    redact: Redact | None = None,
) -> Rows:
    """Runs one statement. Without `write`, SQLite's authorizer refuses every change."""
    name = check_name(database, "database")
    with TemporaryDirectory(prefix="handrail-db-") as folder:
        copy = await _pull(shell, package, name, Path(folder))
        answer = await query_copy(
            copy, sql, write=write, max_rows=max_rows, max_bytes=max_bytes, redact=redact
        )
    if answer.changed is None:
        return answer
    return Rows((), (), 0, await _write(shell, package, name, sql))


async def _pull(shell: DeviceShell, package: str, name: str, folder: Path) -> Path:
    there = await list_files(shell, package, "databases")

    async def beside(end: str) -> bytes:
        if f"{name}{end}" not in there:
            return b""
        return await read_file(shell, package, "databases", f"{name}{end}") or b""

    if name not in there:
        databases = [file_name for file_name in there if not file_name.endswith(_BESIDE)]
        raise InvalidAction(
            f"{package} has no database named {name}",
            hint=f"There are: {', '.join(databases)}." if databases else "It has made no database yet.",
            path="database",
            known=databases,
        )
    for _ in range(_ATTEMPTS):
        before = await beside("-wal")
        data = await read_file(shell, package, "databases", name)
        journal, wal = await beside("-journal"), await beside("-wal")
        if data is not None and before[:_WAL_HEADER] == wal[:_WAL_HEADER]:
            copy = folder / "copy.db"
            for path, content in (
                (copy, data),
                (Path(f"{copy}-wal"), wal),
                (Path(f"{copy}-journal"), journal),
            ):
                if content or path == copy:
                    await asyncio.to_thread(path.write_bytes, content)
            return copy
    raise AdbCommandError(
        f"{name} of {package} changes faster than it can be read",
        hint="Stop the app, or ask again.",
        command=["run-as", "cat"],
    )


async def _write(shell: DeviceShell, package: str, name: str, sql: str) -> int:
    """Uses the device's own sqlite3, which respects the app's locks.

    Running on the copy has proved that it is one statement of plain SQL: no dot command, no function that
    only the program has. The leading space keeps a comment from being read as an option.
    """
    statement = f" {sql}\n;"
    answer = await run_as(shell, package, ["sqlite3", f"databases/{name}", statement, "SELECT changes();"])
    complaint = (answer.complaint or answer.text).strip()
    if not answer.ok:
        if "sqlite3" in complaint and any(words in complaint for words in _MISSING):
            raise Unsupported(
                "this device has no sqlite3 program",
                hint="Databases can be read here, not written; change the data through the app.",
            )
        hint = "The app is writing; try again, or stop the app." if "locked" in complaint else None
        raise AdbCommandError(f"{name} of {package}: {complaint}", hint=hint, command=["run-as", "sqlite3"])
    changed = re.search(r"(\d+)\s*$", answer.text)
    return int(changed[1]) if changed else 0
