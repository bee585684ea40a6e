"""SQLite databases of a debuggable app. Reads run on a copy here, which has real types; writes on the device.

The copy is whole: within one generation of the write-ahead log, any state of the database together with
all frames of the log is consistent, so the generation is looked at before and after.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from handrail.adb.shell import Shell
from handrail.android.local_sql import MAX_BYTES, MAX_ROWS, Rows, query_copy
from handrail.android.storage import check_name, list_files, read_file, run_as
from handrail.errors import AdbCommandError, InvalidAction, Unsupported

_BESIDE = ("-wal", "-shm", "-journal")
_WAL_HEADER = 32
"""Bytes with the salts that a new generation of the log changes."""
_ATTEMPTS = 3
_MISSING = ("not found", "No such file", "exec failed", "Permission denied")


async def list_databases(shell: Shell, package: str) -> list[str]:
    """Names, without the files that SQLite keeps beside them."""
    return [one for one in await list_files(shell, package, "databases") if not one.endswith(_BESIDE)]


async def query(
    shell: Shell,
    package: str,
    database: str,
    sql: str,
    *,
    write: bool = False,
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_BYTES,
) -> Rows:
    """One statement. Without `write`, SQLite's authoriser refuses whatever would change something."""
    name = check_name(database, "database")
    with TemporaryDirectory(prefix="handrail-db-") as folder:
        copy = await _pull(shell, package, name, Path(folder))
        answer = await query_copy(copy, sql, write=write, max_rows=max_rows, max_bytes=max_bytes)
    if answer.changed is None:
        return answer
    return Rows((), (), 0, await _write(shell, package, name, sql))


async def _pull(shell: Shell, package: str, name: str, folder: Path) -> Path:
    there = await list_files(shell, package, "databases")
    if name not in there:
        known = [one for one in there if not one.endswith(_BESIDE)]
        raise InvalidAction(
            f"{package} has no database named {name}",
            hint=f"There are: {', '.join(known)}." if known else "It has made no database yet.",
            path="database",
            known=known,
        )
    for _ in range(_ATTEMPTS):
        before = await _beside(shell, package, name, "-wal", there)
        data = await read_file(shell, package, "databases", name)
        journal = await _beside(shell, package, name, "-journal", there)
        wal = await _beside(shell, package, name, "-wal", there)
        if data is not None and before[:_WAL_HEADER] == wal[:_WAL_HEADER]:
            return await asyncio.to_thread(_lay_out, folder, data, wal, journal)
    raise AdbCommandError(
        f"{name} of {package} changes faster than it can be read",
        hint="Stop the app, or ask again.",
        command=["run-as", "cat"],
    )


async def _beside(shell: Shell, package: str, name: str, end: str, there: list[str]) -> bytes:
    if f"{name}{end}" not in there:
        return b""
    return await read_file(shell, package, "databases", f"{name}{end}") or b""


def _lay_out(folder: Path, data: bytes, wal: bytes, journal: bytes) -> Path:
    """The name on this machine is ours: the device's would be one more thing to trust."""
    copy = folder / "copy.db"
    copy.write_bytes(data)
    for end, beside in (("-wal", wal), ("-journal", journal)):
        if beside:
            copy.with_name(copy.name + end).write_bytes(beside)
    return copy


async def _write(shell: Shell, package: str, name: str, sql: str) -> int:
    """With the device's own sqlite3, which honours the app's locks.

    The copy has shown that it is one statement of plain SQL: no dot command, no function that only the
    program has. The blank keeps a leading comment from being read as an option.
    """
    statement = f" {sql}\n;"
    answer = await run_as(shell, package, ["sqlite3", f"databases/{name}", statement, "SELECT changes();"])
    said = (answer.stderr.decode("utf-8", "replace") or answer.text).strip()
    if not answer.ok:
        raise _not_written(package, name, said)
    changed = re.search(r"(\d+)\s*$", answer.text)
    return int(changed[1]) if changed else 0


def _not_written(package: str, name: str, said: str) -> AdbCommandError | Unsupported:
    if "sqlite3" in said and any(words in said for words in _MISSING):
        return Unsupported(
            "this device has no sqlite3 program",
            hint="Databases can be read here, not written; change the data through the app.",
        )
    hint = "The app is writing at the moment; try again, or stop the app." if "locked" in said else None
    return AdbCommandError(f"{name} of {package}: {said}", hint=hint, command=["run-as", "sqlite3"])
