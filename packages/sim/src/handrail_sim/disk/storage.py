"""What apps keep on disk: shared preferences as XML and SQLite databases, both real files of the phone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, MutableMapping
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from handrail_sim.disk.files import Files

Value = str | int | float | bool


class Prefs(MutableMapping[str, Value]):
    """shared_prefs/NAME.xml as a dict; every change is written at once."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path

    def _load(self) -> dict[str, Value]:
        if not self._files.exists(self._path):
            return {}
        root = ElementTree.fromstring(self._files.read(self._path))  # noqa: S314 - the phone's own file
        return {str(entry.get("name")): _value(entry) for entry in root}

    def _save(self, values: dict[str, Value]) -> None:
        lines = "".join(_entry(name, values[name]) for name in sorted(values))
        text = f"<?xml version='1.0' encoding='utf-8' standalone='yes' ?>\n<map>\n{lines}</map>\n"
        self._files.write(self._path, text.encode(), mode=0o660)

    def __getitem__(self, name: str) -> Value:
        return self._load()[name]

    def __setitem__(self, name: str, value: Value) -> None:
        self._save({**self._load(), name: value})

    def __delitem__(self, name: str) -> None:
        values = self._load()
        del values[name]
        self._save(values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())


def _entry(name: str, value: Value) -> str:
    label = quoteattr(name)
    if isinstance(value, bool):
        return f'    <boolean name={label} value="{str(value).lower()}" />\n'
    if isinstance(value, int):
        return f'    <long name={label} value="{value}" />\n'
    if isinstance(value, float):
        return f'    <float name={label} value="{value}" />\n'
    return f"    <string name={label}>{escape(value)}</string>\n"


def _value(entry: ElementTree.Element) -> Value:
    raw = entry.get("value", "")
    match entry.tag:
        case "boolean":
            return raw == "true"
        case "int" | "long":
            return int(raw)
        case "float":
            return float(raw)
    return entry.text or ""


class Database(sqlite3.Connection):
    """An SQLite database in memory whose file is written at every commit."""

    files: Files
    path: str
    saved: bytes = b""

    def commit(self) -> None:
        super().commit()
        self._save()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        result = super().__exit__(kind, error, trace)
        self._save()
        return result

    def _save(self) -> None:
        data = self.serialize()
        if data != self.saved:
            self.saved = data
            self.files.write(self.path, data, mode=0o660)


def open_database(files: Files, path: str) -> Database:
    connection = sqlite3.connect(":memory:", factory=Database, check_same_thread=False)
    connection.files, connection.path = files, path
    connection.row_factory = sqlite3.Row
    if files.exists(path):
        connection.saved = files.read(path)
        if connection.saved:
            connection.deserialize(connection.saved)
    return connection


def is_stale(connection: Database) -> bool:
    """Somebody else wrote the file, as `sqlite3` in a shell does."""
    return (
        connection.files.exists(connection.path)
        and connection.files.read(connection.path) != connection.saved
    )
