"""Commands that tell about files: stat, find, du, df, readlink, realpath, basename, dirname, file."""

from __future__ import annotations

import posixpath
import stat as modes
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from handrail_sim.disk.lookup import CAPACITY
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.io import Streams
from handrail_sim.shell.options import BadUsage, read_options
from handrail_sim.shell.start import start
from handrail_sim.shell.tools.ls import blocks, human
from handrail_sim.shell.tools.names import user_name

if TYPE_CHECKING:
    from handrail_sim.disk.nodes import Stat

_KINDS = {modes.S_IFDIR: "directory", modes.S_IFLNK: "symbolic link", modes.S_IFCHR: "character device"}
_FIND_TYPES = {"f": modes.S_IFREG, "d": modes.S_IFDIR, "l": modes.S_IFLNK, "c": modes.S_IFCHR}


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.000000000 +0000")


def _kind(found: Stat) -> str:
    if found.is_file:
        return "regular file" if found.size else "regular empty file"
    return _KINDS.get(modes.S_IFMT(found.mode), "file")


def _stat_fields(name: str, found: Stat) -> dict[str, str]:
    mode, moment = found.mode & 0o7777, _moment(found.mtime)
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
    options, status = read_options(call.args, "Lft", "c"), 0
    if not options.rest:
        raise BadUsage("Needs 1 argument")
    for name in options.rest:
        try:
            found = call.session.files.stat(call.path(name), follow="L" in options)
        except OSError as problem:
            status = await call.fail(f"'{name}': {problem.strerror}")
            continue
        await call.line(_filled(options.values.get("c", _STAT), _stat_fields(name, found)))
    return status


async def find(call: Call) -> int:
    """`find [PLACE…] [-name|-iname|-path|-type|-size|-maxdepth|-exec|-delete …]`."""
    args = call.args
    places: list[str] = []
    while args and not args[0].startswith(("-", "!", "(")):
        places.append(args.pop(0))
    status = 0
    for place in places or ["."]:
        base = call.path(place)
        if place.endswith("/") and call.session.files.exists(base):
            base = call.session.files.canonical(base)
        try:
            for path, found in list(call.session.files.walk(base)):
                shown = place.rstrip("/") + path[len(base.rstrip("/")) :] if path != base else place
                status |= await _found(call, args, shown or "/", path.count("/") - base.count("/"), found)
        except OSError as problem:
            status = await call.fail(f"'{problem.filename}': {problem.strerror}")
    return status


async def _found(call: Call, tests: list[str], path: str, depth: int, found: Stat) -> int:
    todo, printed, negated = list(tests), False, False
    while todo:
        test = todo.pop(0)
        if test in {"!", "-not"}:
            negated = True
            continue
        if test in {"-print", "-a", "-L", "-xdev"}:
            continue
        if test == "-delete":
            (call.session.files.rmdir if found.is_dir else call.session.files.remove)(call.path(path))
            printed = True
            continue
        if test == "-exec":
            end = next((at for at, word in enumerate(todo) if word in {";", "+"}), len(todo))
            argv = [word.replace("{}", path) for word in todo[:end]]
            del todo[: end + 1]
            await start(_child(call, argv), Streams(call.stdin, call.stdout, call.stderr))
            printed = True
            continue
        if not todo:
            raise BadUsage(f"bad arg '{test}'")
        if _holds(test, todo.pop(0), path, depth, found) == negated:
            return 0
        negated = False
    if not printed:
        await call.line(path)
    return 0


def _holds(test: str, value: str, path: str, depth: int, found: Stat) -> bool:
    name = posixpath.basename(path)
    match test:
        case "-name":
            return fnmatchcase(name, value)
        case "-iname":
            return fnmatchcase(name.lower(), value.lower())
        case "-path":
            return fnmatchcase(path, value)
        case "-type":
            return modes.S_IFMT(found.mode) == _FIND_TYPES.get(value)
        case "-maxdepth":
            return depth <= int(value)
        case "-mindepth":
            return depth >= int(value)
        case "-size":
            units = {"c": 1, "k": 1024, "M": 1 << 20, "G": 1 << 30}
            wanted = int(value.strip("+-ckMG")) * units.get(value[-1], 512)
            return found.size > wanted if value[0] == "+" else found.size < wanted
    raise BadUsage(f"bad arg '{test}'")


def _child(call: Call, argv: list[str]) -> Call:
    return Call(call.phone, argv, call.session, call.stdin, call.stdout, call.stderr)


async def du(call: Call) -> int:
    """`du [-sah] [FILE…]`."""
    options, status = read_options(call.args, "shakcmHLx", "d"), 0
    for name in options.rest or ["."]:
        base = call.path(name)
        try:
            entries = list(call.session.files.walk(base))
        except OSError as problem:
            status = await call.fail(f"{name}: {problem.strerror}")
            continue
        for path, found in reversed(entries):
            if path != base and ("s" in options or not (found.is_dir or "a" in options)):
                continue
            size = sum(blocks(one.size) * 512 for below, one in entries if f"{below}/".startswith(f"{path}/"))
            await call.line(f"{human(size) if 'h' in options else size // 1024}\t{name + path[len(base) :]}")
    return status


async def df(call: Call) -> int:
    """`df [-h] [FILE…]`."""
    options = read_options(call.args, "hkaPi", "t")
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
    options = read_options(call.args, "fnemq")
    if not options.rest:
        raise BadUsage("Needs 1 argument")
    files, status = call.session.files, 0
    for name in options.rest:
        path = call.path(name)
        try:
            whole = "f" in options or call.argv[0].endswith("realpath")
            await call.line(files.canonical(path) if whole else files.readlink(path))
        except OSError as problem:
            status = 1
            if call.argv[0].endswith("realpath"):
                await call.fail(f"{name}: {problem.strerror}")
    return status


async def basename(call: Call) -> int:
    """`basename PATH [SUFFIX]`."""
    if not call.args:
        raise BadUsage("Needs 1 argument")
    name = posixpath.basename(call.args[0].rstrip("/")) or "/"
    if len(call.args) > 1 and name != call.args[1]:
        name = name.removesuffix(call.args[1])
    await call.line(name)
    return 0


async def dirname(call: Call) -> int:
    """`dirname PATH`."""
    if not call.args:
        raise BadUsage("Needs 1 argument")
    await call.line(posixpath.dirname(call.args[0].rstrip("/")) or ("/" if call.args[0][:1] == "/" else "."))
    return 0


FAMILY: dict[str, Command] = {
    "stat": stat,
    "find": find,
    "du": du,
    "df": df,
    "readlink": readlink,
    "realpath": readlink,
    "basename": basename,
    "dirname": dirname,
}
