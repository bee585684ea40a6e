"""Tools that read file formats: tar, gzip, base64, sqlite3."""

from __future__ import annotations

import gzip as packing
import io
import json
import posixpath
import sqlite3
import tarfile
import zlib
from dataclasses import dataclass, field
from stat import filemode

from handrail_sim.disk.lookup import Stat
from handrail_sim.shell.call import Call, by_name
from handrail_sim.shell.options import BadUsage, Options
from handrail_sim.shell.tools.names import user_name
from handrail_sim.shell.tools.read_files import content, open_all

GZIP = b"\x1f\x8b"


def _unpacked(data: bytes) -> bytes:
    try:
        return packing.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise BadUsage("not gzip") from None


async def gzip(call: Call) -> int:
    """`gzip`, `gunzip`, `zcat`: a file becomes FILE.gz or the other way; -c and stdin write to stdout."""
    name, options = call.argv[0].rpartition("/")[2], call.options
    opening, shown = name != "gzip" or "d" in options, name == "zcat" or "c" in options
    failed: list[str] = []
    async for word, source in open_all(call, options.rest, failed):
        data = await content(source)
        level = next((int(letter) for letter in "123456789" if letter in options), 6)
        if opening and not data.startswith(GZIP):
            failed.append(word)
            await call.fail(f"{word}: not gzip")
            continue
        output = _unpacked(data) if opening else packing.compress(data, level, mtime=0)
        if shown or word == "-":
            await call.out(output)
        else:
            failed += await _beside(call, word, output, opening=opening)
    return int(bool(failed))


async def _beside(call: Call, name: str, data: bytes, *, opening: bool) -> list[str]:
    """The new file takes the old one's place, unless -k."""
    files = call.session.files
    if opening and not name.endswith(".gz"):
        await call.fail(f"{name}: no .gz")
        return [name]
    target = call.path(name.removesuffix(".gz") if opening else f"{name}.gz")
    if files.exists(target) and "f" not in call.options:
        await call.fail(f"{posixpath.basename(target)}: File exists")
        return [name]
    files.write(target, data)
    if "k" not in call.options:
        files.remove(call.path(name))
    return []


async def tar(call: Call) -> int:
    """`tar -c|-t|-x [-vzOk] [-f FILE] [-C DIR] [FILE…]`; `tar xzf` without a dash works too."""
    options = call.options
    chosen = [letter for letter in "ctx" if letter in options]
    if len(chosen) != 1:
        raise BadUsage("Needs -ctx")
    base = call.path(options.values.get("C", "."))
    if chosen == ["c"]:
        return await _create(call, options, base)
    name = options.values.get("f", "-")
    data = await call.read() if name == "-" else call.session.files.read(call.path(name))
    data = _unpacked(data) if data.startswith(GZIP) else data
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                if not options.rest or any(f"{member.name}/".startswith(f"{word}/") for word in options.rest):
                    await _member(call, archive, member, base)
    except tarfile.TarError:
        raise BadUsage("Not tar") from None
    return 0


async def _create(call: Call, options: Options, base: str) -> int:
    if not options.rest:
        raise BadUsage("empty archive")
    held, status = io.BytesIO(), 0
    files = call.session.files
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in options.rest:
            path = posixpath.normpath(posixpath.join(base, name))
            if not files.exists(path):
                status = await call.fail(f"{name}: No such file or directory")
                continue
            for below, fact in files.walk(path):
                data = files.read(below) if fact.is_file else b""
                member = _entry((name.rstrip("/") + below[len(path) :]).lstrip("/"), fact, len(data))
                archive.addfile(member, io.BytesIO(data))
                if "v" in options:
                    await call.err(member.name)
    data = packing.compress(held.getvalue(), mtime=0) if "z" in options else held.getvalue()
    target = options.values.get("f", "-")
    if target == "-":
        await call.out(data)
    else:
        files.write(call.path(target), data)
    return status


def _entry(name: str, fact: Stat, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.mode, member.mtime, member.size = fact.mode & 0o7777, fact.mtime, size
    member.uid, member.gid = fact.uid, fact.gid
    member.uname, member.gname = user_name(fact.uid), user_name(fact.gid)
    if fact.is_dir or fact.is_link:
        member.type = tarfile.DIRTYPE if fact.is_dir else tarfile.SYMTYPE
    member.linkname = fact.target
    return member


async def _member(call: Call, archive: tarfile.TarFile, member: tarfile.TarInfo, base: str) -> None:
    """One entry: named for -t, written for -x, to stdout with -O. Nothing leaves the folder."""
    options, files = call.options, call.session.files
    shown = member.name + ("/" if member.isdir() else "")
    if "t" in options or "v" in options:
        long = f"{filemode(member.mode)} " if {"t", "v"} <= options.flags else ""
        await call.line(f"{long}{shown}")
    if "t" in options:
        return
    held = archive.extractfile(member) if member.isfile() else None
    data = held.read() if held else b""
    if "O" in options:
        await call.out(data)
        return
    path = posixpath.normpath(posixpath.join(base, member.name.lstrip("/")))
    if not f"{path}/".startswith(f"{base.rstrip('/')}/"):
        raise BadUsage(f"'{member.name}' not under '{base}'")
    folder = path if member.isdir() else posixpath.dirname(path)
    if not files.is_dir(folder):
        files.mkdir(folder, 0o755, parents=True)
    if member.issym():
        files.symlink(member.linkname, path)
    elif member.isfile() and not ("k" in options and files.exists(path)):
        files.write(path, data, mode=member.mode & 0o777, mtime=int(member.mtime))


_OD = {"b": ("o", 1), "c": ("c", 1), "d": ("u", 2), "o": ("o", 2), "x": ("x", 2)}
_WIDTHS = {("o", 1): 3, ("o", 2): 6, ("o", 4): 11, ("u", 1): 3, ("u", 2): 5, ("u", 4): 10, ("x", 1): 2}
_WIDTHS |= {("x", 2): 4, ("x", 4): 8, ("d", 1): 4, ("d", 2): 6, ("d", 4): 11, ("c", 1): 3}
_NAMED = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


def _od_kind(options: Options) -> tuple[str, int]:
    """`-t x1`, or a letter that means one."""
    text = options.values.get("t", "")
    if not text:
        return next((kind for letter, kind in _OD.items() if letter in options), ("o", 2))
    size = text[1:] or ("1" if text == "c" else "4")
    if not size.isdigit() or (text[0], int(size)) not in _WIDTHS:
        raise BadUsage(f"bad -t {text}")
    return text[0], int(size)


def _od_cell(kind: str, part: bytes) -> str:
    if kind == "c":
        byte = part[0]
        return _NAMED.get(byte) or (chr(byte) if 32 <= byte < 127 else f"{byte:03o}")
    value = int.from_bytes(part, "little", signed=kind == "d")
    return f"{value:0{_WIDTHS[kind, len(part)]}{kind}}" if kind in "ox" else str(value)


async def od(call: Call) -> int:
    options, failed, data = call.options, list[str](), b""
    async for _, source in open_all(call, options.rest, failed):
        data += await content(source)
    skip, radix = options.number("j", 0), options.values.get("A", "o")
    data = data[skip : skip + options.number("N", len(data))]
    if radix not in {"o", "d", "x", "n"}:
        raise BadUsage(f"bad -A '{radix}'")
    kind, width = _od_kind(options), max(1, options.number("w", 16))
    last, starred = b"", False
    for at in range(0, len(data), width):
        row = data[at : at + width]
        if row == last and len(row) == width and "v" not in options:
            await call.out("" if starred else "*\n")
            starred = True
            continue
        last, starred = row, False
        await call.line(_address(at + skip, radix) + _od_row(row, *kind))
    await call.out("" if radix == "n" else _address(len(data) + skip, radix) + "\n")
    return int(bool(failed))


def _od_row(row: bytes, kind: str, size: int) -> str:
    cell = _WIDTHS[kind, size] + 1
    parts = [row[at : at + size].ljust(size, bytes(1)) for at in range(0, len(row), size)]
    return "".join(f"{_od_cell(kind, part):>{cell}}" for part in parts)


def _address(at: int, radix: str) -> str:
    return {"o": f"{at:07o}", "d": f"{at:07d}", "x": f"{at:06x}", "n": ""}[radix]


async def cmp(call: Call) -> int:
    """`cmp [-ls] FILE1 FILE2`: 0 the same, 1 different, 2 not readable."""
    options, failed, contents = call.options, list[str](), list[bytes]()
    async for _, source in open_all(call, options.rest, failed):
        contents.append(await content(source))
    if failed:
        return 2
    (chunk, other), (first, second) = contents, options.rest
    differing = [at for at, (a, b) in enumerate(zip(chunk, other, strict=False)) if a != b]
    if "l" in options:
        for at in differing:
            await call.line(f"{at + 1} {chunk[at]:o} {other[at]:o}")
    elif differing and "s" not in options:
        line = chunk[: differing[0]].count(b"\n") + 1
        await call.line(f"{first} {second} differ: char {differing[0] + 1}, line {line}")
    if not differing and len(chunk) != len(other) and "s" not in options:
        await call.fail(f"EOF on {first if len(chunk) < len(other) else second}")
    return int(chunk != other)


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
    match, todo = _Settings(), list(args)
    while todo:
        arg = todo.pop(0)
        arg = arg[1:] if arg.startswith("--") else arg
        if arg in _MODES:
            match.mode = _MODES[arg]
        elif arg in {"-header", "-noheader"}:
            match.header = arg == "-header"
        elif arg in {"-separator", "-nullvalue", "-cmd"} and todo:
            value = todo.pop(0)
            match.separator = value if arg == "-separator" else match.separator
            match.null = value if arg == "-nullvalue" else match.null
        elif not arg.startswith("-"):
            match.words.append(arg)
        elif arg not in {"-version", "--version", "-batch", "-bail", "-readonly"}:
            raise BadUsage(f"Error: unknown option: {arg}\nUse -help for a list of options.", toybox=False)
    return match


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
        return await call.line("3.39.2 2022-07-21 15:24:47")
    files, path = call.session.files, call.path(settings.words[0]) if settings.words else ""
    before = b""
    if path and path != call.path(":memory:"):
        try:
            before = files.read(path) if files.exists(path) else b""
            files.list(path.rpartition("/")[0] or "/")
        except OSError:
            return await call.err(
                f'Error: unable to open database "{settings.words[0]}": unable to open database file'
            )
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
        return await call.err(f"Error: in prepare, {problem}")
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
        matches = [
            {
                name: _text(cell, "") if isinstance(cell, bytes) else cell
                for name, cell in zip(names, row, strict=True)
            }
            for row in rows
        ]
        return (
            "["
            + ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in matches)
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
        return "".join(
            ",".join(
                ('"' + cell.replace('"', '""') + '"' if any(char in cell for char in ',"\n') else cell)
                for cell in row
            )
            + "\r\n"
            for row in table
        )
    separator = "\t" if settings.mode == "tabs" else settings.separator
    return "".join(separator.join(row) + "\n" for row in table)


def _columns(table: list[list[str]]) -> str:
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    lines = [table[0], ["-" * width for width in widths], *table[1:]]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in lines
    )


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
            return await call.err(
                f'Error: unknown command or invalid arguments:  "{words[0][1:]}". Enter ".help" for help'
            )
    return 0


FAMILY = by_name(tar, gzip, od, cmp) | {"gunzip": gzip, "zcat": gzip, "sqlite3": run}
