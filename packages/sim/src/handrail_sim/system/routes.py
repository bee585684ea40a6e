"""What a content URI means in the providers' databases: which rows it names and how they are changed.

The clauses come from whoever types them, so they run with bounded time and memory, on the phone's rows only.
"""

# ruff: noqa: S608 - the statements are made of clauses that a shell gives, as Android's are

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from handrail_sim.resources import table
from handrail_sim.system import media
from handrail_sim.system.device import Device
from handrail_sim.system.first_data import add_mimetype

Value = str | int | float | None
MAX_STEPS = 1_500
"""Calls of the progress handler, each 10,000 instructions of SQLite's machine."""
MAX_LENGTH = 16 << 20
"""Bytes of one value that a clause may make."""
_ITEM = "vnd.android.cursor.item/"


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of URI. `#` in a path is an id, `*` any one part; both fill the places of `where`."""

    path: str
    database: str
    source: str  # the view or table that is read
    table: str = ""  # the table that is written, where it is another
    where: str = ""
    fixed: Mapping[str, Value] = field(default_factory=dict)  # what an inserted row is besides
    sort: str = ""
    deletes: tuple[str, str] = ("", "_id")  # the table whose rows go, and its column with the source's ids
    mime: str = ""

    @property
    def written(self) -> str:
        return self.table or self.source


_CONTACTS, _MEDIA = "contacts2.db", "external.db"
ROUTES = tuple(Route(**fields) for fields in table("system/routes.toml")["routes"])
AUTHORITIES = frozenset(route.path.partition("/")[0] for route in ROUTES)


@dataclass(slots=True)
class Rows:
    """The rows that one URI names on one phone."""

    phone: Device
    route: Route
    parts: tuple[str, ...]
    number: int | None  # the id at the end of the URI

    @property
    def database(self) -> sqlite3.Connection:
        match = self.phone.providers.database(self.route.database)
        if self.route.database == _MEDIA:
            media.refresh(self.phone, match)
        return match

    def query(self, columns: list[str], where: str, sort: str) -> list[dict[str, Any]]:
        clause, values = self._clause(where)
        order = sort or self.route.sort
        text = f"SELECT {', '.join(columns) or '*'} FROM {self.route.source}{clause}"
        text += f" ORDER BY {order}" if order else ""
        database = self.database
        with bounded(database):
            return [dict(row) for row in database.execute(text, values)]

    def insert(self, values: dict[str, Value]) -> int:
        database = self.database
        arguments = {**self.route.fixed, **values}
        if self.route.database == _CONTACTS:
            arguments = _contact_columns(database, self.route.written, arguments)
        if self.route.database == _MEDIA:
            return media.insert(self.phone, database, arguments)
        if self.route.path.startswith("sms"):
            arguments.setdefault("date", self.phone.wall_ms())
        names, places = ", ".join(arguments), ", ".join("?" * len(arguments))
        written = self.route.written
        text = (
            f"INSERT INTO {written} ({names}) VALUES ({places})"
            if arguments
            else f"INSERT INTO {written} DEFAULT VALUES"
        )
        with bounded(database), database:
            return int(database.execute(text, tuple(arguments.values())).lastrowid or 0)

    def update(self, values: dict[str, Value], where: str) -> int:
        clause, named = self._clause(where)
        database = self.database
        if self.route.database == _CONTACTS:
            values = _contact_columns(database, self.route.written, values, complete=False)
        places = ", ".join(f"{name} = ?" for name in values)
        chosen = f"(SELECT _id FROM {self.route.source}{clause})"
        with bounded(database), database:
            ids = [row[0] for row in database.execute(chosen[1:-1], named)]
            for entry in ids:
                text = f"UPDATE {self.route.written} SET {places} WHERE _id = ?"
                database.execute(text, (*values.values(), entry))
        return len(ids)

    def delete(self, where: str) -> int:
        """How many rows went; a file of media goes with its row."""
        clause, named = self._clause(where)
        table, column = self.route.deletes
        database = self.database
        with bounded(database), database:
            ids = [row[0] for row in database.execute(f"SELECT _id FROM {self.route.source}{clause}", named)]
            if self.route.database == _MEDIA:
                media.delete(self.phone, database, ids)
            for entry in ids:
                database.execute(f"DELETE FROM {table or self.route.written} WHERE {column} = ?", (entry,))
        return len(ids)

    def _clause(self, where: str) -> tuple[str, tuple[Value, ...]]:
        """The conditions of the URI and of the caller; the caller's stand in brackets."""
        names = [self.route.where] if self.route.where else []
        values: list[Value] = list(self.parts)
        if self.number is not None:
            names.append("_id = ?")
            values.append(self.number)
        if where:
            names.append(f"({where}\n)")
        return (" WHERE " + " AND ".join(names) if names else ""), tuple(values)


class bounded:  # noqa: N801 - reads as a word of the `with` line
    """While the block runs, statements end in error before they cost the host time or memory."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._left = MAX_STEPS

    def __enter__(self) -> None:
        self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LENGTH)
        self._database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._database.set_progress_handler(self._watch, 10_000)

    def __exit__(self, *_: object) -> None:
        self._database.set_progress_handler(None, 0)

    def _watch(self) -> int:
        self._left -= 1
        return int(self._left < 0)


def find(phone: Device, address: str) -> Rows | None:
    """The rows behind `authority/path`, None if no provider of the phone has such a path."""
    words = [unquote(word) for word in address.partition("?")[0].strip("/").split("/")]
    for at, number in ((len(words), None), (len(words) - 1, words[-1])):
        if number is not None and not re.fullmatch(r"\d{1,18}", number):
            break
        for route in ROUTES:
            parts = _match(route.path.split("/"), words[:at])
            if parts is not None:
                keeps = "?" in route.where
                return Rows(phone, route, parts if keeps else (), None if number is None else int(number))
    return None


def _match(pattern: list[str], words: list[str]) -> tuple[str, ...] | None:
    if len(pattern) != len(words):
        return None
    parts = []
    for want, word in zip(pattern, words, strict=True):
        if want in "#*" and want:
            if want == "#" and not re.fullmatch(r"-?\d{1,18}", word):
                return None
            parts.append(word)
        elif want != word:
            return None
    return tuple(parts)


def _contact_columns(
    database: sqlite3.Connection, table: str, arguments: Mapping[str, Value], *, complete: bool = True
) -> dict[str, Value]:
    """What clients name stands as a number in the tables; a whole name is split, as Android does."""
    values = dict(arguments)
    if table == "data" and "mimetype" in values:
        kind = str(values.pop("mimetype"))
        values["mimetype_id"] = add_mimetype(database, kind)
        if kind == _ITEM + "name" and complete:
            values |= _split_name(values)
    if table == "raw_contacts" and {"account_name", "account_type"} & set(values):
        account = (values.pop("account_name", None), values.pop("account_type", None))
        values["account_id"] = _account(database, account)
    return values


def _split_name(values: Mapping[str, Value]) -> dict[str, Value]:
    first, last, name = (str(values.get(f"data{at}") or "") for at in (2, 3, 1))
    if name and not first and not last:
        first, _, last = name.rpartition(" ")
        first, last = (first, last) if first else (last, "")
    return {"data1": name or f"{first} {last}".strip(), "data2": first, "data3": last}


def _account(database: sqlite3.Connection, account: tuple[Value, Value]) -> int:
    match = database.execute(
        "SELECT _id FROM accounts WHERE account_name IS ? AND account_type IS ?", account
    ).fetchone()
    if match:
        return int(match[0])
    cursor = database.execute("INSERT INTO accounts (account_name, account_type) VALUES (?, ?)", account)
    return int(cursor.lastrowid or 0)
