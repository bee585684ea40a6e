"""Archives and what is inside bytes: tar, gzip, gunzip, zcat, od, cmp."""

from __future__ import annotations

import gzip as packing
import io
import posixpath
import tarfile
import zlib
from stat import filemode
from typing import TYPE_CHECKING

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, Options
from handrail_sim.shell.tools.names import user_name
from handrail_sim.shell.tools.read_files import content, open_all

if TYPE_CHECKING:
    from handrail_sim.disk.nodes import Stat

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
    async for one, source in open_all(call, options.rest, failed):
        data = await content(source)
        level = next((int(letter) for letter in "123456789" if letter in options), 6)
        if opening and not data.startswith(GZIP):
            failed.append(one)
            await call.fail(f"{one}: not gzip")
            continue
        made = _unpacked(data) if opening else packing.compress(data, level, mtime=0)
        if shown or one == "-":
            await call.out(made)
        else:
            failed += await _beside(call, one, made, opening=opening)
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
                if not options.rest or any(f"{member.name}/".startswith(f"{one}/") for one in options.rest):
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
    """`od [-bcdox] [-A RADIX] [-j SKIP] [-N COUNT] [-t TYPE] [-w WIDTH] [-v] [FILE…]`."""
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
    (one, other), (first, second) = contents, options.rest
    differing = [at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if "l" in options:
        for at in differing:
            await call.line(f"{at + 1} {one[at]:o} {other[at]:o}")
    elif differing and "s" not in options:
        line = one[: differing[0]].count(b"\n") + 1
        await call.line(f"{first} {second} differ: char {differing[0] + 1}, line {line}")
    if not differing and len(one) != len(other) and "s" not in options:
        await call.fail(f"EOF on {first if len(one) < len(other) else second}")
    return int(one != other)


FAMILY: dict[str, Command] = {"tar": tar, "gzip": gzip, "gunzip": gzip, "zcat": gzip, "od": od, "cmp": cmp}
