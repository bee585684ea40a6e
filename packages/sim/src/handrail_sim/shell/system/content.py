"""`content query|insert|update|delete|call|read|write|gettype`: Android's providers, and those of apps."""

# ruff: noqa: S608 - the statements are made of clauses that a shell gives, as Android's are

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, field
from typing import Any

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system.props import TABLES
from handrail_sim.system import media, routes
from handrail_sim.system.routes import Value

Row = dict[str, Any]
VERBS = ("query", "insert", "update", "delete", "call", "read", "write", "gettype")
_MOST_FIELDS = {"i": int, "l": int, "f": float, "d": float}


@dataclass(slots=True)
class _Args:
    """`--uri U --projection a:b --where W --sort S --bind name:type:value`."""

    values: dict[str, str] = field(default_factory=dict)
    binds: dict[str, Value] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return self.values.get("--uri", "").removeprefix("content://").rstrip("/")


class _Bad(Exception):
    """What `content` says before it asks any provider."""


def _read(args: list[str]) -> _Args:
    match, todo = _Args(), list(args)
    while todo:
        name = todo.pop(0)
        if not name.startswith("--"):
            raise _Bad(f"Unsupported argument: {name}")
        if not todo:
            raise _Bad(f"No value for argument: {name}")
        value = todo.pop(0)
        if name == "--bind":
            column, bound = _bind(value)
            match.binds[column] = bound
        elif name in {"--uri", "--projection", "--where", "--sort", "--user", "--method", "--arg", "--extra"}:
            match.values[name] = value
        else:
            raise _Bad(f"Unsupported argument: {name}")
    if not match.address:
        raise _Bad("Content provider URI not specified. Did you specify --uri argument?")
    return match


def _bind(text: str) -> tuple[str, Value]:
    """`name:type:value`; only the value may hold further colons."""
    if not re.match(r"[^:]+:[^:]*:", text) and not text.endswith(":n:"):
        raise _Bad(f"Binding not well formed: {text}. Fields are separated by a single colon")
    name, kind, value = text.split(":", 2)
    if not re.fullmatch(r"\w+", name):
        raise _Bad(f"Binding not well formed: {text}. Fields are separated by a single colon")
    if kind == "n":
        return name, None
    if kind == "b":
        return name, int(value.lower() == "true")
    if kind not in {"s", *_MOST_FIELDS}:
        raise _Bad(f"Unsupported type: {kind}")
    try:
        return name, _MOST_FIELDS[kind](value) if kind in _MOST_FIELDS else value
    except ValueError:
        raise _Bad(f'For input string: "{value}"') from None


async def run(call: Call) -> int:
    verb = call.args[0] if call.args else ""
    if verb not in VERBS:
        return await call.err(
            f"[ERROR] Unsupported operation: {verb}"
            if verb
            else "usage: adb shell content [subcommand] [options]"
        )
    try:
        args = _read(call.args[1:])
    except _Bad as error:
        return await call.err(f"[ERROR] {error}")
    folder, _, table = args.address.partition("/")
    if verb == "call":
        return await _method(call, args, folder, table)
    if folder == "settings" and table.partition("/")[0] in TABLES:
        return await _settings(call, verb, args, table)
    rows = routes.find(call.phone, args.address)
    if rows is not None:
        return await _provided(call, verb, args, rows)
    return await _of_app(call, verb, args)


async def _provided(call: Call, verb: str, args: _Args, rows: routes.Rows) -> int:
    """A provider of Android itself."""
    where = args.values.get("--where", "")
    try:
        if verb == "query":
            columns = (
                args.values.get("--projection", "").split(":") if args.values.get("--projection") else []
            )
            await _show(call, rows.query(columns, where, args.values.get("--sort", "")))
        elif verb == "insert":
            rows.insert(args.binds)
        elif verb == "update" and args.binds:
            rows.update(args.binds, where)
        elif verb == "delete":
            rows.delete(where)
        elif verb == "gettype":
            kind = "item" if rows.number is not None else "dir"
            await call.line(f"Result: {_mime(rows, kind)}")
        elif verb in {"read", "write"}:
            return await _stream(call, verb, args, rows)
    except (sqlite3.Error, OverflowError, OSError) as error:
        kind = (
            "constraint.SQLiteConstraintException"
            if isinstance(error, sqlite3.IntegrityError)
            else "SQLiteException"
        )
        return await _refuse(call, args, f"android.database.sqlite.{kind}", f"{error} (code 1 SQLITE_ERROR)")
    call.phone.touched_app()
    return 0


def _mime(rows: routes.Rows, kind: str) -> str:
    if rows.route.database == "external.db" and rows.number is not None:
        matches = rows.query(["mime_type"], "", "")
        return str(matches[0]["mime_type"]) if matches else "null"
    name = rows.route.path.partition("/")[2].partition("/")[0] or rows.route.path
    return f"vnd.android.cursor.{kind}/{_MIME_NAMES.get(name, name.rstrip('s'))}"


_MIME_NAMES = {"calls": "calls", "raw_contacts": "raw_contact", "sms": "sms"}


async def _stream(call: Call, verb: str, args: _Args, rows: routes.Rows) -> int:
    matches = rows.query(["_data"], "", "") if rows.route.database == "external.db" and rows.number else []
    if not matches:
        text = f"No such file or directory: {args.values['--uri']}"
        return await _refuse(call, args, "java.io.FileNotFoundException", text)
    path = matches[0]["_data"]
    if verb == "read":
        await call.out(call.phone.files.read(path))
    else:
        call.phone.files.write(path, await call.read())
    return 0


async def _method(call: Call, args: _Args, folder: str, table: str) -> int:
    """`content call --method NAME --arg VALUE`: scanning a file, reading a setting; other names give null."""
    method, argument = args.values.get("--method", ""), args.values.get("--arg", "")
    if not method:
        return await call.err("[ERROR] Method not specified. Did you specify --method argument?")
    if folder not in {*routes.AUTHORITIES, "settings"} and _app_provider(call, args.address) is None:
        return await _missing(call, args)
    result = "null"
    if folder == "media" and method == "scan_file":
        uri = media.scan(call.phone, argument)
        result = f"Bundle[{{uri={uri}}}]"
    elif folder == "settings" and method == f"GET_{table}" and table in TABLES:
        result = f"Bundle[{{value={call.phone.settings[table].get(argument, 'null')}}}]"
    return await call.line(f"Result: {result}")


async def _settings(call: Call, verb: str, args: _Args, table: str) -> int:
    """The settings provider: its values are the phone's own, not a database."""
    table, _, name = table.partition("/")
    values = call.phone.settings[table]
    rows = [{"_id": at, "name": key, "value": values[key]} for at, key in enumerate(sorted(values), 1)]
    where = args.values.get("--where", "") or (f"name = '{name}'" if name else "")
    try:
        if verb == "query":
            columns = args.values.get("--projection", "").split(":") if "--projection" in args.values else []
            await _show(call, _chosen(rows, columns, where, args.values.get("--sort", "")))
            return 0
        named = [str(row["name"]) for row in _chosen(rows, [], where, "")] if where else []
    except sqlite3.Error as error:
        return await _refuse(
            call, args, "android.database.sqlite.SQLiteException", f"{error} (code 1 SQLITE_ERROR)"
        )
    if verb == "delete":
        for key in named:
            values.pop(key)
    elif verb in {"insert", "update"} and "value" in args.binds:
        for key in [str(args.binds["name"])] if "name" in args.binds else named:
            call.phone.put_setting(table, key, str(args.binds["value"]))
    return 0


def _app_provider(call: Call, address: str) -> tuple[str, str] | None:
    plain = re.sub(r"/\d+$", "", address)
    owner = next((app for app in call.phone.apps if plain in app.providers), None)
    return None if owner is None else (owner.package, owner.providers[plain])


async def _of_app(call: Call, verb: str, args: _Args) -> int:
    """A provider that an app declares can be read; asking it starts the app's process."""
    matches = _app_provider(call, args.address)
    if matches is None:
        return await _missing(call, args)
    if verb != "query":
        text = (
            f"Permission Denial: writing {args.values['--uri']} requires a permission that the shell has not"
        )
        return await _refuse(call, args, "java.lang.SecurityException", text)
    call.phone.catch_up()
    rows: list[Row] = getattr(call.phone.app(matches[0]), matches[1])()
    single = re.search(r"/(\d+)$", args.address)
    where = args.values.get("--where", "") or (f"_id = {single[1]}" if single else "")
    columns = args.values.get("--projection", "").split(":") if "--projection" in args.values else []
    try:
        await _show(call, _chosen(rows, columns, where, args.values.get("--sort", "")))
    except sqlite3.Error as error:
        return await _refuse(
            call, args, "android.database.sqlite.SQLiteException", f"{error} (code 1 SQLITE_ERROR)"
        )
    return 0


async def _missing(call: Call, args: _Args) -> int:
    """Nobody has this authority, or its owner does not know the path."""
    provider = args.address.partition("/")[0]
    if provider in routes.AUTHORITIES:
        return await _refuse(
            call, args, "java.lang.IllegalArgumentException", f"Unknown URL {args.values['--uri']}"
        )
    text = f"Could not find provider: {provider}"
    return await _refuse(call, args, "java.lang.IllegalStateException", text)


def _chosen(rows: list[Row], columns: list[str], where: str, sort: str) -> list[Row]:
    """Rows that are no database, asked as if they were one."""
    if not rows:
        return []
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    names = ", ".join(f'"{name}"' for name in rows[0])
    database.execute(f"CREATE TABLE rows ({names})")
    database.executemany(
        f"INSERT INTO rows VALUES ({', '.join('?' * len(rows[0]))})",
        [tuple(row.get(name) for name in rows[0]) for row in rows],
    )
    text = f"SELECT {', '.join(columns) or '*'} FROM rows"
    text += f" WHERE ({where}\n)" if where else ""
    text += f" ORDER BY {sort}" if sort else ""
    with routes.bounded(database):
        matches = [dict(row) for row in database.execute(text)]
    database.close()
    return matches


async def _refuse(call: Call, args: _Args, kind: str, text: str) -> int:
    provider = args.address.partition("/")[0]
    return await call.err(f"Error while accessing provider:{provider}\n{kind}: {text}")


async def _show(call: Call, rows: list[Row]) -> None:
    if not rows:
        await call.line("No result found.")
        return
    lines = []
    for number, row in enumerate(rows):
        shown = ", ".join(f"{name}={_shown(row[name])}" for name in row)
        lines.append(f"Row: {number} {shown}")
    await call.line("\n".join(lines))


def _shown(value: Any) -> str:
    if value is None:
        return "NULL"
    return "BLOB" if isinstance(value, bytes) else str(value)


FAMILY: dict[str, Command] = {"content": run}
