"""Commands that tell about files: stat, du, df, readlink, realpath, basename, dirname, file."""

from __future__ import annotations

import posixpath
import stat as modes
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from handrail_sim.disk.lookup import CAPACITY
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, Options
from handrail_sim.shell.tools.ls import blocks, human
from handrail_sim.shell.tools.names import user_name

if TYPE_CHECKING:
    from handrail_sim.disk.nodes import Stat

_KINDS = {modes.S_IFDIR: "directory", modes.S_IFLNK: "symbolic link", modes.S_IFCHR: "character device"}


def _moment(seconds: int, zone: tzinfo) -> str:
    return datetime.fromtimestamp(seconds, zone).strftime("%Y-%m-%d %H:%M:%S.000000000 %z")


def _kind(found: Stat) -> str:
    if found.is_file:
        return "regular file" if found.size else "regular empty file"
    return _KINDS.get(modes.S_IFMT(found.mode), "file")


def _stat_fields(name: str, found: Stat, zone: tzinfo) -> dict[str, str]:
    mode, moment = found.mode & 0o7777, _moment(found.mtime, zone)
    fields = {
        "a": f"{mode:o}",
        "A": found.permissions,
        "b": str(blocks(found.size)),
        "B": "512",
        "d": "64769",
    }
    fields |= {"f": f"{found.mode:x}", "F": _kind(found), "g": str(found.gid), "G": user_name(found.gid)}
    fields |= {
        "h": str(found.links),
        "i": str(found.inode),
        "m": "/",
        "n": name,
        "o": "4096",
        "s": str(found.size),
    }
    fields |= {"u": str(found.uid), "U": user_name(found.uid), "D": "fd01", "%": "%"}
    fields |= {"N": f"{name} -> {found.target}" if found.is_link else name}
    for upper, lower in (("X", "x"), ("Y", "y"), ("Z", "z")):
        fields |= {upper: str(found.mtime), lower: moment}
    return fields


def _filled(form: str, fields: dict[str, str]) -> str:
    out, at = "", 0
    while at < len(form):
        if form[at] == "%" and form[at + 1 : at + 2] in fields:
            out += fields[form[at + 1]]
            at += 2
        else:
            out += form[at]
            at += 1
    return out


_STAT = """  File: %N
  Size: %s\t Blocks: %b\t IO Blocks: %B\t%F
Device: fd01h/64769d\t Inode: %i\t Links: %h\t Device type: 0,0
Access: (0%a/%A)\tUid: (%u/%U)\tGid: (%g/%G)
Access: %x
Modify: %y
Change: %z"""


async def stat(call: Call) -> int:
    """`stat [-L] [-c FORMAT] FILE…`."""
    options, status = call.options, 0
    for name in options.rest:
        try:
            found = call.session.files.stat(call.path(name), follow="L" in options)
        except OSError as problem:
            status = await call.fail(f"'{name}': {problem.strerror}")
            continue
        await call.line(_filled(options.values.get("c", _STAT), _stat_fields(name, found, call.phone.zone)))
    return status


async def du(call: Call) -> int:
    """`du [-acshkm] [-d DEPTH] [FILE…]`."""
    options, status, whole = call.options, 0, 0
    deep = 0 if "s" in options else options.number("d", 1 << 30)
    for name in options.rest or ["."]:
        base = call.path(name)
        try:
            entries = list(call.session.files.walk(base))
        except OSError as problem:
            status = await call.fail(f"{name}: {problem.strerror}")
            continue
        for path, found in reversed(entries):
            depth = path.count("/") - base.count("/")
            if path != base and (depth > deep or not (found.is_dir or "a" in options)):
                continue
            size = sum(blocks(one.size) * 512 for below, one in entries if f"{below}/".startswith(f"{path}/"))
            whole += size if path == base else 0
            await call.line(f"{_amount(size, options)}\t{name + path[len(base) :]}")
    if "c" in options:
        await call.line(f"{_amount(whole, options)}\ttotal")
    return status


def _amount(size: int, options: Options) -> str:
    return human(size) if "h" in options else str(size >> (20 if "m" in options else 10))


async def df(call: Call) -> int:
    """`df [-h] [FILE…]`."""
    options = call.options
    total, used = CAPACITY * 128 // 1024, call.session.files.used // 1024 + 8_200_000
    rows = [("/dev/block/dm-5", 906440, 903856, "/"), ("tmpfs", 1012448, 1200, "/dev")]
    rows += [("/dev/block/dm-39", total, used, "/data"), ("/dev/fuse", total, used, "/storage/emulated")]
    wanted = {
        "/data" if call.path(name).startswith("/data") else "/storage/emulated" for name in options.rest
    }
    size = (lambda kib: human(kib * 1024)) if "h" in options else str
    title = "Size" if "h" in options else "1K-blocks"
    await call.line(f"{'Filesystem':<16} {title:>10} {'Used':>9} {'Available':>10} Use% Mounted on")
    for device, whole, taken, mount in rows:
        if not wanted or mount in wanted:
            free = whole - taken
            row = (
                f"{device:<16} {size(whole):>10} {size(taken):>9} {size(free):>10} "
                f"{taken * 100 // whole:>3}% {mount}"
            )
            await call.line(row)
    return 0


async def readlink(call: Call) -> int:
    """`readlink [-f] FILE…` and `realpath FILE…`."""
    options = call.options
    files, status = call.session.files, 0
    for name in options.rest:
        path = call.path(name)
        try:
            whole = bool(options.flags & {"f", "e", "m"}) or call.argv[0].endswith("realpath")
            if "e" in options:
                files.stat(path)
            await call.out(files.canonical(path) if whole else files.readlink(path))
            await call.out("" if "n" in options else "\n")
        except OSError as problem:
            status = 1
            if call.argv[0].endswith("realpath"):
                await call.fail(f"{name}: {problem.strerror}")
    return status


async def basename(call: Call) -> int:
    """`basename [-a] [-s SUFFIX] PATH [SUFFIX]`."""
    options = call.options
    many, suffix, paths = bool(options.flags & {"a", "s"}), options.values.get("s", ""), options.rest
    if not many:
        if len(paths) > 2:
            raise BadUsage("Max 2 arguments")
        paths, suffix = paths[:1], "".join(paths[1:])
    for path in paths:
        name = posixpath.basename(path.rstrip("/")) or "/"
        await call.line(name.removesuffix(suffix) if name != suffix else name)
    return 0


async def dirname(call: Call) -> int:
    """`dirname PATH`."""
    await call.line(posixpath.dirname(call.args[0].rstrip("/")) or ("/" if call.args[0][:1] == "/" else "."))
    return 0


FAMILY: dict[str, Command] = {
    "stat": stat,
    "du": du,
    "df": df,
    "readlink": readlink,
    "realpath": readlink,
    "basename": basename,
    "dirname": dirname,
}
