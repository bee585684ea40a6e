"""The databases of Android's content providers: contacts, calls, messages, calendar, media. Knows no URI.

They lie where Android has them, so a shell with `sqlite3`, `content` and the apps see the same rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from handrail_sim.disk.blobs import Blob, LazyBlob
from handrail_sim.disk.files import Files
from handrail_sim.disk.storage import Database, is_stale, open_database
from handrail_sim.system.first_data import BASE_MS, FIRST

_SCHEMAS = Path(__file__).parent / "schemas"
_PAGE = 1024  # Android's pages are 4096 bytes; a thousand phones that each hold five databases are not


@dataclass(frozen=True, slots=True)
class Owner:
    """The package whose data a database is."""

    uid: int
    databases: tuple[str, ...]


OWNERS: Mapping[str, Owner] = {
    "com.android.providers.contacts": Owner(10093, ("contacts2.db", "calllog.db")),
    "com.android.providers.telephony": Owner(1001, ("mmssms.db",)),
    "com.android.providers.calendar": Owner(10089, ("calendar.db",)),
    "com.android.providers.media.module": Owner(10180, ("external.db",)),
}
_OWNER = {name: package for package, owner in OWNERS.items() for name in owner.databases}


class Providers:
    """A phone's databases; they hold the first people and messages until somebody clears them."""

    def __init__(self, files: Files, born_ms: int) -> None:
        self._files = files
        self._open: dict[str, Database] = {}
        files.fill_once("providers", lambda _: self._lay_out_all(born_ms))

    def _lay_out_all(self, born_ms: int) -> None:
        for package in OWNERS:
            self._lay_out(package, born_ms)

    def _lay_out(self, package: str, born_ms: int | None) -> None:
        owner = OWNERS[package]
        for folder in (f"/data/data/{package}", f"/data/data/{package}/databases"):
            if not self._files.exists(folder):
                self._files.mkdir(folder, 0o771)
                self._files.chown(folder, owner.uid, owner.uid)
        disk = self._files.as_user(owner.uid)
        for name in owner.databases:
            disk.place(path_of(name), _content(name, born_ms), mode=0o660)

    def database(self, name: str) -> Database:
        """The provider's connection; opened anew when a shell wrote the file."""
        existing = self._open.get(name)
        if existing is not None and is_stale(existing):
            existing.close()
            existing = None
        if existing is None:
            path = path_of(name)
            if not self._files.exists(path):
                self._lay_out(_OWNER[name], None)
            disk = self._files.as_user(OWNERS[_OWNER[name]].uid)
            existing = self._open[name] = open_database(disk, path)
        return existing

    def clear(self, package: str) -> None:
        """`pm clear`: the tables are empty afterwards, the first people do not come back."""
        for name in OWNERS[package].databases:
            database = self._open.pop(name, None)
            if database is not None:
                database.close()
        self._files.remove_tree(f"/data/data/{package}")
        self._lay_out(package, None)

    def close(self) -> None:
        """The processes end; what was committed is on disk."""
        for database in self._open.values():
            database.close()
        self._open.clear()


def path_of(name: str) -> str:
    """Where Android keeps this database."""
    return f"/data/data/{_OWNER[name]}/databases/{name}"


def _content(name: str, born_ms: int | None) -> Blob:
    if born_ms is None:
        return _blob(name, full=False)
    first = _blob(name, full=True)
    return LazyBlob(len(first), partial(_moved, first, born_ms)) if name == "mmssms.db" else first


@cache
def _blob(name: str, *, full: bool) -> Blob:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"PRAGMA page_size = {_PAGE}")
    connection.executescript((_SCHEMAS / f"{name.removesuffix('.db')}.sql").read_text(encoding="utf-8"))
    if full and name in FIRST:
        FIRST[name](connection)
    connection.commit()
    data = connection.serialize()
    connection.close()
    return Blob(data)


def _moved(first: Blob, born_ms: int) -> bytes:
    """The first messages, as old as they were when this phone was born."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(first.data)
    for table in ("sms", "threads"):
        connection.execute(f"UPDATE {table} SET date = date + ?", (born_ms - BASE_MS,))  # noqa: S608
    connection.commit()
    data = connection.serialize()
    connection.close()
    return data
