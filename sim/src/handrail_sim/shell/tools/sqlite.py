"""`sqlite3` on the phone's own files. The host's are out of reach: no attaching, bounded time."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage

MAX_STEPS = 1_500
"""Calls of the progress handler, each 10,000 instructions of SQLite's machine."""
_MODES = {
    "-csv": "csv",
    "-json": "json",
    "-line": "line",
    "-column": "column",
    "-list": "list",
    "-tabs": "tabs",
}


@dataclass(slots=True)
class _Settings:
    """How results are shown."""

    mode: str = "list"
    header: bool = False
    separator: str = "|"
    null: str = ""
    words: list[str] = field(default_factory=list)


def _read(args: list[str]) -> _Settings:
    found, todo = _Settings(), list(args)
    while todo:
        arg = todo.pop(0)
        arg = arg[1:] if arg.startswith("--") else arg
        if arg in _MODES:
            found.mode = _MODES[arg]
        elif arg in {"-header", "-noheader"}:
            found.header = arg == "-header"
        elif arg in {"-separator", "-nullvalue", "-cmd"} and todo:
            value = todo.pop(0)
            found.separator = value if arg == "-separator" else found.separator
            found.null = value if arg == "-nullvalue" else found.null
        elif not arg.startswith("-"):
            found.words.append(arg)
        elif arg not in {"-version", "--version", "-batch", "-bail", "-readonly"}:
            raise BadUsage(f"Error: unknown option: {arg}\nUse -help for a list of options.", toybox=False)
    return found


def open_file(data: bytes) -> sqlite3.Connection:
    """The database in memory, without a way out of it."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    if data:
        connection.deserialize(data)
    left = [MAX_STEPS]

    def watch() -> int:
        left[0] -= 1
        return int(left[0] < 0)

    connection.set_progress_handler(watch, 10_000)
    return connection


def _serialized(connection: sqlite3.Connection) -> bytes:
    try:
        return connection.serialize()
    except sqlite3.OperationalError:  # nothing was ever written: there is no page to give
        return b""


async def run(call: Call) -> int:
    """`sqlite3 [OPTIONS] FILE [SQL…]`; without SQL a script on stdin."""
    settings = _read(call.args)
    if "-version" in call.args or "--version" in call.args:
        await call.line("3.39.2 2022-07-21 15:24:47")
        return 0
    files, path = call.session.files, call.path(settings.words[0]) if settings.words else ""
    before = b""
    if path and path != call.path(":memory:"):
        try:
            before = files.read(path) if files.exists(path) else b""
            files.list(path.rpartition("/")[0] or "/")
        except OSError:
            await call.err(
                f'Error: unable to open database "{settings.words[0]}": unable to open database file'
            )
            return 1
    words = "\n".join(settings.words[1:]).encode("utf-8", "surrogateescape")
    script = (words or await call.read()).decode("utf-8", "replace")
    try:
        connection = open_file(before)
        status = await _script(call, connection, script, settings)
    except sqlite3.DatabaseError as problem:
        await call.err(f"Error: {problem}")
        return 26 if "not a database" in str(problem) else 1
    after = _serialized(connection)
    connection.close()
    if path and after not in {before, b""}:
        files.write(path, after, mode=0o660)
    return status


async def _script(call: Call, connection: sqlite3.Connection, script: str, settings: _Settings) -> int:
    pending, status = "", 0
    for line in script.splitlines():
        if not pending and line.lstrip().startswith("."):
            status |= await _dot(call, connection, line.split(), settings)
            continue
        for piece in line.split(";"):
            pending = f"{pending}{piece}" if not pending or pending.endswith(";") else pending + piece
            pending += ";"
            if sqlite3.complete_statement(pending):
                status |= await _statement(call, connection, pending, settings)
                pending = ""
        pending = pending[:-1] + "\n" if pending else ""
    if pending.strip():
        status |= await _statement(call, connection, pending, settings)
    return status


async def _statement(call: Call, connection: sqlite3.Connection, sql: str, settings: _Settings) -> int:
    if not sql.strip(" ;\n\t"):
        return 0
    try:
        cursor = connection.execute(sql)
        names = [column[0] for column in cursor.description or ()]
        await call.out(_shown(names, cursor.fetchall(), settings))
    except (sqlite3.Error, sqlite3.Warning) as problem:
        await call.err(f"Error: in prepare, {problem}")
        return 1
    return 0


def _text(value: object, null: str) -> str:
    if value is None:
        return null
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _shown(names: list[str], rows: list[tuple[object, ...]], settings: _Settings) -> str:
    if not rows:
        return ""
    if settings.mode == "json":
        found = [
            {
                name: _text(cell, "") if isinstance(cell, bytes) else cell
                for name, cell in zip(names, row, strict=True)
            }
            for row in rows
        ]
        return (
            "["
            + ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in found)
            + "]\n"
        )
    table = [[_text(cell, settings.null) for cell in row] for row in rows]
    if settings.mode == "line":
        width = max(map(len, names))
        return "\n".join(
            "".join(f"{name:>{width}} = {cell}\n" for name, cell in zip(names, row, strict=True))
            for row in table
        )
    if settings.header or settings.mode == "column":
        table.insert(0, names)
    if settings.mode == "column":
        return _columns(table)
    if settings.mode == "csv":
        return "".join(",".join(_quoted(cell) for cell in row) + "\r\n" for row in table)
    separator = "\t" if settings.mode == "tabs" else settings.separator
    return "".join(separator.join(row) + "\n" for row in table)


def _columns(table: list[list[str]]) -> str:
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    lines = [table[0], ["-" * width for width in widths], *table[1:]]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in lines
    )


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(char in cell for char in ',"\n') else cell


async def _dot(call: Call, connection: sqlite3.Connection, words: list[str], settings: _Settings) -> int:
    tables = (
        "SELECT name FROM sqlite_master WHERE type IN ('table','view') AND name NOT LIKE 'sqlite_%' "
        "ORDER BY 1"
    )
    match words[0]:
        case ".tables":
            names = [str(row[0]) for row in connection.execute(tables)]
            await call.out("  ".join(names) + "\n" if names else "")
        case ".schema":
            for (sql,) in connection.execute(
                "SELECT sql FROM sqlite_master WHERE sql NOTNULL AND name NOT LIKE 'sqlite_%'"
            ):
                if not words[1:] or f" {words[1]} " in sql.replace("(", " ( "):
                    await call.line(f"{sql};")
        case ".dump":
            await call.out(
                "PRAGMA foreign_keys=OFF;\n" + "".join(f"{line}\n" for line in connection.iterdump())
            )
        case ".headers" | ".header":
            settings.header = words[1:] == ["on"]
        case ".mode" if words[1:]:
            settings.mode = words[1]
        case ".separator" if words[1:]:
            settings.separator = words[1]
        case ".quit" | ".exit" | ".timeout":
            return 0
        case _:
            await call.err(
                f'Error: unknown command or invalid arguments:  "{words[0][1:]}". Enter ".help" for help'
            )
            return 1
    return 0


FAMILY: dict[str, Command] = {"sqlite3": run}
