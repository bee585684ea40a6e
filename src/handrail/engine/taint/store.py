"""Which fields of which device received a secret, and the names of secrets that were used there. No values.

Other processes write here too. A file beside the database grows with every change, so that whoever reads
nothing new pays for one `stat`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from handrail.engine.taint.field import Spot, TaintedField
from handrail.store import Store

TABLES = (
    """
    CREATE TABLE used_secrets (
        device TEXT NOT NULL, boot_id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (device, name)
    ) STRICT;
    CREATE TABLE tainted_fields (
        device TEXT NOT NULL, boot_id TEXT NOT NULL, package TEXT NOT NULL, field TEXT NOT NULL,
        path TEXT NOT NULL, title TEXT NOT NULL, hint TEXT NOT NULL, activity TEXT NOT NULL,
        name TEXT NOT NULL, vacant TEXT NOT NULL, is_shared INTEGER NOT NULL,
        PRIMARY KEY (device, package, field, activity, title)
    ) STRICT
    """,
)
CHANGES = "taints"
"""The file that grows."""
_HERE = "(device = :device OR (boot_id != '' AND boot_id = :boot_id))"
_UUID = 32
"""Characters of a boot id that no other phone has; a mere count of boots is not told apart by it."""


@dataclass(frozen=True, slots=True)
class DeviceKey:
    """One device: by its name, and by the boot that it is living through, whatever it is called."""

    device: str
    boot_id: str = ""

    def columns(self) -> dict[str, str]:
        return {"device": self.device, "boot_id": self.boot_id if len(self.boot_id) >= _UUID else ""}


class Taints:
    """The tables of one home."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changes = store.path.with_name(CHANGES)
        store.prepare("taints", TABLES)

    def changes(self) -> int:
        """Another number after every change, by whichever process."""
        try:
            return os.stat(self._changes).st_size
        except FileNotFoundError:
            return 0

    async def load(self, key: DeviceKey) -> tuple[set[str], list[TaintedField]]:
        """The names that were used there, and the fields that received them."""
        return await self._store.read(lambda db: _load(db, key))

    async def use(self, key: DeviceKey, names: Iterable[str]) -> None:
        """Before they are sent."""
        rows = [{**key.columns(), "name": name} for name in names]
        await self._write(
            "INSERT OR REPLACE INTO used_secrets VALUES (:device, :boot_id, :name)",
            rows,
        )

    async def taint(self, key: DeviceKey, field: TaintedField) -> None:
        spot = dict(zip(("package", "field", "path", "title", "hint"), astuple(field.spot), strict=True))
        row = {**key.columns(), **spot, "activity": field.activity, "name": field.name}
        row |= {"vacant": field.vacant, "is_shared": int(field.is_shared)}
        await self._write(
            "INSERT OR REPLACE INTO tainted_fields VALUES (:device, :boot_id, :package, :field, :path,"
            " :title, :hint, :activity, :name, :vacant, :is_shared)",
            [row],
        )

    async def end(self, key: DeviceKey, field: TaintedField) -> None:
        """It was seen empty."""
        names = dict(zip(("package", "field", "activity", "title"), field.key, strict=True))
        await self._write(
            f"DELETE FROM tainted_fields WHERE {_HERE} AND package = :package AND field = :field"  # noqa: S608
            " AND activity = :activity AND title = :title",
            [{**key.columns(), **names}],
        )

    async def end_app(self, key: DeviceKey, package: str) -> None:
        """Its data is gone."""
        await self._write(
            f"DELETE FROM tainted_fields WHERE {_HERE} AND package = :package",  # noqa: S608
            [{**key.columns(), "package": package}],
        )

    async def _write(self, statement: str, rows: list[dict[str, str | int]] | list[dict[str, str]]) -> None:
        await self._store.write(lambda db: db.executemany(statement, rows))
        with open(self._changes, "ab", opener=_private) as file:
            file.write(b".")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _load(db: sqlite3.Connection, key: DeviceKey) -> tuple[set[str], list[TaintedField]]:
    columns = key.columns()
    used = db.execute(f"SELECT name FROM used_secrets WHERE {_HERE}", columns)  # noqa: S608
    names = {row["name"] for row in used}
    rows = db.execute(f"SELECT * FROM tainted_fields WHERE {_HERE}", columns)  # noqa: S608
    return names, [_field(row) for row in rows]


def _field(row: sqlite3.Row) -> TaintedField:
    spot = Spot(row["package"], row["field"], row["path"], row["title"], row["hint"])
    return TaintedField(spot, row["activity"], row["name"], row["vacant"], bool(row["is_shared"]))
