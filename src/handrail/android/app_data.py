"""The private data of a debuggable app through `run-as`: files, preferences, databases."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from lxml import etree

from handrail.adb.shell import DeviceShell, Output
from handrail.android.local_sql import MAX_BYTES, MAX_ROWS, Rows, query_copy
from handrail.android.packages import check_package, require_package
from handrail.errors import AdbCommandError, InvalidAction, Unsupported

Folder = Literal["shared_prefs", "databases", "files"]
FILE_LIMIT = 128 << 20
_NAME = re.compile(r"[^/\x00-\x1f]+")
_CLOSED = ("not debuggable", "is not debuggable", "not allowed to", "Could not set capabilities")
_UNKNOWN = ("unknown package", "is unknown")


def check_name(name: str, path: str) -> str:
    """One component of a path; `path` is the field that an error names."""
    if name in {".", ".."} or len(name.encode("utf-8", "replace")) > 255 or not _NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not a file name", hint="Give the name without a folder.", path=path)
    return name


async def run_as(shell: DeviceShell, package: str, command: list[str], *, limit: int = FILE_LIMIT) -> Output:
    """A command as the app's own user, in its data folder. Whether it worked is the caller's to judge."""
    argv = ["run-as", check_package(package), *command]
    answer = await shell.run(argv, limit=limit, check=False)
    said = answer.stderr.decode("utf-8", "replace") or ("" if answer.ok else answer.text)
    if "run-as:" not in said or "exec failed" in said:
        return answer
    await _explain(shell, package, said)
    raise AdbCommandError(f"run-as {package} failed: {said.strip()}", command=argv)


async def _explain(shell: DeviceShell, package: str, said: str) -> None:
    if any(words in said for words in _UNKNOWN):
        await require_package(shell, package)
    if any(words in said for words in _CLOSED):
        raise Unsupported(
            f"the files of {package} are closed: {said.strip()}",
            hint="Only debuggable builds open their files to run-as; install the app's debug variant.",
            package=package,
        )


async def list_files(shell: DeviceShell, package: str, folder: Folder) -> list[str]:
    """Names, sorted; a folder that was never made is empty."""
    answer = await run_as(shell, package, ["ls", "-1", folder])
    if _is_missing(answer, f"{folder} of {package}"):
        return []
    return sorted(line for line in answer.text.splitlines() if line)


async def read_file(shell: DeviceShell, package: str, folder: Folder, name: str) -> bytes | None:
    """The whole file; None when there is none of this name."""
    answer = await run_as(shell, package, ["cat", f"{folder}/{check_name(name, 'file')}"])
    if _is_missing(answer, f"{folder}/{name} of {package}"):
        return None
    if answer.dropped:
        raise Unsupported(f"{folder}/{name} has {FILE_LIMIT + answer.dropped} bytes, more than {FILE_LIMIT}")
    return answer.stdout


def _is_missing(answer: Output, what: str) -> bool:
    """Whether there is no such file; any other failure is an error, not an absence."""
    if answer.ok:
        return False
    said = answer.stderr.decode("utf-8", "replace").strip()
    if "No such file" in said:
        return True
    raise AdbCommandError(f"{what} can't be read: {said}", command=["run-as"])


Kind = Literal["string", "int", "long", "float", "boolean", "set", "null"]
SUFFIX = ".xml"


class Pref(NamedTuple):
    """One value and its type."""

    kind: Kind
    value: Any


@dataclass(frozen=True, slots=True)
class Prefs:
    """A file: its values by name, and the XML as it lies on the device."""

    file: str
    values: dict[str, Pref]
    xml: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON data, types beside values; sets are sorted."""
        shown = {name: {"type": pref.kind, "value": _plain(pref.value)} for name, pref in self.values.items()}
        return {"file": self.file, "values": shown, "xml": self.xml}


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value


async def list_prefs(shell: DeviceShell, package: str) -> list[str]:
    """Names without .xml."""
    files = await list_files(shell, package, "shared_prefs")
    return [name.removesuffix(SUFFIX) for name in files if name.endswith(SUFFIX)]


async def read_prefs(shell: DeviceShell, package: str, file: str) -> Prefs:
    """The name may be given with or without .xml."""
    name = check_name(file.removesuffix(SUFFIX) + SUFFIX, "file")
    data = await read_file(shell, package, "shared_prefs", name)
    if data is None:
        known = await list_prefs(shell, package)
        raise InvalidAction(
            f"{package} has no preferences named {file}",
            hint=f"There are: {', '.join(known)}." if known else "It has saved no preferences yet.",
            path="file",
            known=known,
        )
    return Prefs(name, read_values(data, name), data.decode("utf-8", "replace"))


def read_values(data: bytes, name: str) -> dict[str, Pref]:
    """The entries of a `<map>`; a file in the middle of being written can't be read and says so."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(data, parser)
        return {entry.get("name", ""): _read(entry) for entry in root if isinstance(entry.tag, str)}
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise AdbCommandError(
            f"{name} is not a preferences file: {problem}", hint="Read it again.", command=["run-as", "cat"]
        ) from None


def _read(entry: etree._Element) -> Pref:
    text = entry.get("value", "")
    match entry.tag:
        case "string":
            return Pref("string", entry.text or "")
        case "int":
            return Pref("int", int(text))
        case "long":
            return Pref("long", int(text))
        case "float":
            return Pref("float", float(text))
        case "boolean":
            return Pref("boolean", text == "true")
        case "set":
            return Pref("set", frozenset(child.text or "" for child in entry))
        case "null":
            return Pref("null", None)
        case _:
            raise ValueError(f"unknown type {entry.tag!r}")


_BESIDE = ("-wal", "-shm", "-journal")
_WAL_HEADER = 32
"""Bytes with the salts that a new generation of the log changes."""
_ATTEMPTS = 3
_MISSING = ("not found", "No such file", "exec failed", "Permission denied")


async def list_databases(shell: DeviceShell, package: str) -> list[str]:
    """Names, without the files that SQLite keeps beside them."""
    return [one for one in await list_files(shell, package, "databases") if not one.endswith(_BESIDE)]


async def query(
    shell: DeviceShell,
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


async def _pull(shell: DeviceShell, package: str, name: str, folder: Path) -> Path:
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


async def _beside(shell: DeviceShell, package: str, name: str, end: str, there: list[str]) -> bytes:
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


async def _write(shell: DeviceShell, package: str, name: str, sql: str) -> int:
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
