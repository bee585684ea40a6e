"""Tools that list, describe and change files: ls, stat, du, df, cp, mv, rm, mkdir, chmod."""

from __future__ import annotations

import posixpath
import re
import stat as modes
from datetime import datetime, tzinfo

from handrail_sim.disk.files import Files
from handrail_sim.disk.lookup import CAPACITY, Stat
from handrail_sim.shell.call import Call, by_name
from handrail_sim.shell.io import CHUNK, Bytes, Source, Streams
from handrail_sim.shell.options import BadUsage, Options
from handrail_sim.shell.redirect import FileSink, RedirectFailed, open_sink, open_source
from handrail_sim.shell.tools.dates import parse_time
from handrail_sim.shell.tools.names import user_name
from handrail_sim.shell.tools.read_files import content

_UNITS = {"": 1, "c": 1, "w": 2, "b": 512, "k": 1024, "K": 1024, "m": 1 << 20, "M": 1 << 20, "g": 1 << 30}
_UNITS |= {"G": 1 << 30}
MAX_DD = 1 << 28
_DD = frozenset({"if", "of", "bs", "ibs", "obs", "count", "skip", "status"})


async def rm(call: Call) -> int:
    options, files, status = call.options, call.session.files, 0
    if not options.rest and "f" not in options:
        raise BadUsage("Needs 1 argument")
    for name in options.rest:
        path = call.path(name)
        try:
            if files.stat(path, follow=False).is_dir:
                if not options.flags & {"r", "R"}:
                    status = await call.fail(f"{name}: is a directory")
                    continue
                files.remove_tree(path)
            else:
                files.remove(path)
            if "v" in options:
                await call.line(f"rm '{name}'")
        except FileNotFoundError as problem:
            if "f" not in options:
                status = await call.fail(f"{name}: {problem.strerror}")
        except OSError as problem:
            status = await call.fail(f"{name}: {problem.strerror}")
    return status


async def mkdir(call: Call) -> int:
    options, status = call.options, 0
    mode = new_mode(options.values.get("m", "755"), 0o755)
    for name in options.rest:
        try:
            call.session.files.mkdir(call.path(name), mode, parents="p" in options)
            if "v" in options:
                await call.line(f"mkdir: created directory '{name}'")
        except OSError as problem:
            status = await call.fail(f"'{name}': {problem.strerror}")
    return status


async def rmdir(call: Call) -> int:
    status = 0
    for name in call.options.rest:
        try:
            call.session.files.rmdir(call.path(name))
            for parent in _parents(name) if "p" in call.options else []:
                call.session.files.rmdir(call.path(parent))
        except OSError as problem:
            status = await call.fail(f"{name}: {problem.strerror}")
    return status


def _parents(name: str) -> list[str]:
    """`a/b` and `a` of `a/b/c`."""
    parts = name.strip("/").split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _targets(call: Call, options: Options) -> list[tuple[str, str, str]]:
    """(name, from, to) for cp, mv and ln: into a folder, or onto a name."""
    names = options.rest
    if "t" in options.values:
        names = [*names, options.values["t"]]
    if len(names) < 2:
        raise BadUsage("Needs 2 arguments" if not names else "Needs 1 more argument")
    *sources, last = names
    target = call.path(last)
    if call.session.files.is_dir(target) and "T" not in options:
        return [
            (name, call.path(name), posixpath.join(target, posixpath.basename(name.rstrip("/"))))
            for name in sources
        ]
    if len(sources) > 1:
        raise BadUsage(f"'{last}' not a directory")
    return [(sources[0], call.path(sources[0]), target)]


async def cp(call: Call) -> int:
    options, status = call.options, 0
    for name, source, target in _targets(call, options):
        try:
            status |= await _copy(call, name, source, target, options)
        except OSError as problem:
            status = await call.fail(f"bad '{name}': {problem.strerror}")
    return status


async def _copy(call: Call, name: str, source: str, target: str, options: Options) -> int:
    files = call.session.files
    stat = files.stat(source)
    if "n" in options and files.exists(target) and not stat.is_dir:
        return 0
    if "v" in options:
        await call.line(f"cp '{name}' -> '{target}'")
    if not stat.is_dir:
        keep = stat.mtime if options.flags & {"p", "a"} else None
        files.write(target, files.read(source), mode=stat.mode & 0o777, mtime=keep)
        return 0
    if not options.flags & {"r", "R", "a"}:
        return await call.fail(f"Skipped dir '{name}'")
    if not files.is_dir(target):
        files.mkdir(target, stat.mode & 0o777)
    status = 0
    for entry in files.list(source):
        status |= await _copy(call, f"{name}/{entry}", f"{source}/{entry}", f"{target}/{entry}", options)
    return status


async def mv(call: Call) -> int:
    options, status = call.options, 0
    for name, source, target in _targets(call, options):
        try:
            if "n" not in options or not call.session.files.exists(target):
                call.session.files.rename(source, target)
                if "v" in options:
                    await call.line(f"'{name}' -> '{target}'")
        except OSError as problem:
            status = await call.fail(f"bad '{name}': {problem.strerror}")
    return status


async def ln(call: Call) -> int:
    options, files = call.options, call.session.files
    for name, source, target in _targets(call, options):
        if "f" in options and files.exists(target):
            files.remove(target)
        try:
            if "s" in options:
                files.symlink(name, target)
            else:
                files.write(target, files.read(source))
            if "v" in options:
                await call.line(f"'{target}' -> '{name}'")
        except OSError as problem:
            return await call.fail(f"cannot create link from '{name}' to '{target}': {problem.strerror}")
    return 0


async def touch(call: Call) -> int:
    options, status, mtime = call.options, 0, None
    if "r" in options:
        mtime = call.session.files.stat(call.path(options.values["r"])).mtime
    elif options.flags & {"d", "t"}:
        mtime = int(parse_time(options.values.get("d") or options.values["t"], call.phone.wall_ms()))
    for name in options.rest:
        try:
            there = call.session.files.exists(call.path(name))
            if there and "a" in options and "m" not in options:
                continue  # the time of the last reading is not kept
            if "c" not in options or there:
                call.session.files.touch(call.path(name), mtime)
        except OSError as problem:
            status = await call.fail(f"'{name}': {problem.strerror}")
    return status


def new_mode(text: str, mode: int) -> int:
    """`755`, `+x`, `u=rw,go-w` applied to a mode."""
    if re.fullmatch(r"[0-7]{1,5}", text):
        return int(text, 8) & 0o7777
    for clause in text.split(","):
        match = re.fullmatch(r"([ugoa]*)([-+=])([rwxXst]*)", clause)
        if not match:
            raise BadUsage(f"bad mode '{text}'")
        who, operator, letters = match.groups()
        bits = sum({"r": 4, "w": 2, "x": 1, "X": 1}.get(letter, 0) for letter in set(letters))
        shifts = [{"u": 6, "g": 3, "o": 0}[name] for name in (who or "a").replace("a", "ugo")]
        for shift in shifts:
            cleared = mode & ~((7 if operator == "=" else bits) << shift)
            mode = cleared if operator == "-" else cleared | bits << shift
    return mode


async def chmod(call: Call) -> int:
    """`chmod [-Rfv] MODE FILE…`; a mode such as `-x` is not an option."""
    options, files, status = call.options, call.session.files, 0
    mode, *names = options.rest
    for name in names:
        try:
            base = call.path(name)
            for path in [path for path, _ in files.walk(base)] if "R" in options else [base]:
                files.chmod(path, new_mode(mode, files.stat(path).mode & 0o7777))
            if "v" in options:
                await call.line(f"chmod '{name}' to {mode}")
        except OSError as problem:
            status = 1
            if "f" not in options:
                await call.fail(f"chmod '{name}' to {mode}: {problem.strerror}")
    return status


async def chown(call: Call) -> int:
    options, status = call.options, 0
    for name in options.rest[1:]:
        reason = "Operation not permitted" if call.session.files.exists(call.path(name)) else None
        status = await call.fail(f"'{name}': {reason or 'No such file or directory'}")
    return status


async def tee(call: Call) -> int:
    options, sinks, status = call.options, [], 0
    streams = Streams(call.stdin, call.stdout, call.stderr)
    for name in options.rest:
        try:
            sinks.append(open_sink(call.session, call.path(name), streams, append="a" in options))
        except RedirectFailed as problem:
            status = await call.fail(f"{name}: {str(problem).rpartition(': ')[2]}")
    while part := await call.stdin.read(CHUNK):
        for sink in [*sinks, call.stdout]:
            await sink.write(part)
    for sink in sinks:
        if isinstance(sink, FileSink):
            sink.store()
    return status


def size_of(text: str) -> int:
    """`4k`, `2M`: bytes."""
    match = re.fullmatch(r"(\d{1,15})([cwbkKmMgG]?)", text)
    if not match:
        raise BadUsage(f"not integer: {text}")
    return int(match[1]) * _UNITS[match[2]]


async def dd(call: Call) -> int:
    wrong = [arg for arg in call.args if arg.partition("=")[0] not in _DD or "=" not in arg]
    if wrong:
        raise BadUsage(f"bad arg '{wrong[0]}'")
    words = dict(arg.split("=", 1) for arg in call.args)
    block = size_of(words.get("bs", words.get("ibs", "512")))
    streams = Streams(call.stdin, call.stdout, call.stderr)
    source: Source = call.stdin
    if "if" in words:
        try:
            source = open_source(call.session, call.path(words["if"]), streams)
        except RedirectFailed as problem:
            return await call.fail(f"{words['if']}: {str(problem).rpartition(': ')[2]}")
    limit = size_of(words["count"]) * block if "count" in words else MAX_DD
    data = await _take(source, size_of(words.get("skip", "0")) * block, min(limit, MAX_DD))
    if "of" in words:
        call.session.files.write(call.path(words["of"]), data)
    else:
        await call.out(data)
    total, part = divmod(len(data), block or 1)
    if words.get("status") != "none":
        records = f"{total}+{int(bool(part))} records"
        await call.err(f"{records} in\n{records} out\n{len(data)} bytes copied")
    return 0


async def _take(source: Source, skip: int, limit: int) -> bytes:
    if isinstance(source, Bytes):
        return (await content(source))[skip : skip + limit]
    parts, size = list[bytes](), 0
    while size < skip + limit and (part := await source.read(min(CHUNK, skip + limit - size))):
        parts.append(part)
        size += len(part)
    return b"".join(parts)[skip:]


async def truncate(call: Call) -> int:
    options, files = call.options, call.session.files
    if "s" not in options:
        raise BadUsage("Needs -s")
    for name in options.rest:
        path = call.path(name)
        if "c" in options and not files.exists(path):
            continue
        old = files.read(path) if files.exists(path) else b""
        size = min(size_of(options.values["s"]), MAX_DD)
        files.write(path, old[:size].ljust(size, b"\0"))
    return 0


async def sync(call: Call) -> int:
    """Nothing is ever pending here; a file that is not there is told."""
    status = 0
    for name in call.options.rest:
        if not call.session.files.exists(call.path(name)):
            status = await call.fail(f"{name}: No such file or directory")
    return status


BLOCK = 512
Entry = tuple[str, "Stat"]


def shown_time(seconds: int, zone: tzinfo, *, complete: bool = False) -> str:
    form = "%Y-%m-%d %H:%M:%S.000000000 %z" if complete else "%Y-%m-%d %H:%M"
    return datetime.fromtimestamp(seconds, zone).strftime(form)


def blocks(size: int) -> int:
    """512-byte blocks of a file on 4 KiB pages."""
    return -(-size // 4096) * (4096 // BLOCK)


async def ls(call: Call) -> int:
    """`ls [-ladR1AFhitSr] [FILE…]`, one name per line as when no terminal listens."""
    options = call.options
    files, folders, status = list[Entry](), list[tuple[str, str]](), 0
    follow = "l" not in options or bool(options.flags & {"H", "L"})
    for name in options.rest or ["."]:
        path = call.path(name)
        try:
            # A trailing slash, or no -l, goes through a link on the command line.
            stat = call.session.files.stat(path, follow=follow or name.endswith("/"))
        except OSError as problem:
            status = await call.fail(f"{name}: {problem.strerror}")
            continue
        if stat.is_dir and "d" not in options:
            folders.append((name, path))
        else:
            files.append((name, stat))
    await _show(call, files, options, total=False)
    titled = len(folders) + len(files) > 1 or "R" in options or bool(status)
    for at, (name, path) in enumerate(folders):
        blank = "\n" if at or files else ""
        status |= await _folder(call, name, path, options, f"{blank}{name}:\n" if titled else "")
    return status


async def _folder(call: Call, name: str, path: str, options: Options, title: str) -> int:
    files = call.session.files
    try:
        names = files.list(path)
    except OSError as problem:
        return await call.fail(f"{name}: {problem.strerror}")
    entries = [(entry, _fact(files, f"{path}/{entry}", follow="L" in options)) for entry in names]
    if not options.flags & {"a", "A", "f"}:
        entries = [(entry, stat) for entry, stat in entries if not entry.startswith(".")]
    elif options.flags & {"a", "f"}:
        entries = [(dots, files.stat(path)) for dots in (".", "..")] + entries
    await call.out(title)
    await _show(call, _ordered(entries, options), options, total=True)
    status = 0
    if "R" in options:
        for entry, stat in entries:
            if stat.is_dir and entry not in {".", ".."}:
                below = f"{name.rstrip('/')}/{entry}"
                status |= await _folder(call, below, f"{path}/{entry}", options, f"\n{below}:\n")
    return status


def _fact(files: Files, path: str, *, follow: bool) -> Stat:
    """Of the target with -L, unless the link hangs."""
    return files.stat(path, follow=follow and files.exists(path))


def _ordered(entries: list[Entry], options: Options) -> list[Entry]:
    if "f" in options:
        return entries
    if options.flags & {"t", "c", "u"}:
        entries = sorted(entries, key=lambda entry: -entry[1].mtime)
    if "S" in options:
        entries = sorted(entries, key=lambda entry: -entry[1].size)
    return entries[::-1] if "r" in options else entries


async def _show(call: Call, entries: list[Entry], options: Options, *, total: bool) -> None:
    long = bool(options.flags & {"l", "n", "g", "o"})
    if long and total:
        await call.line(f"total {sum(blocks(stat.size) for _, stat in entries) // 2}")
    zone = call.phone.zone
    rows = [_row(name, stat, options, zone) if long else [name] for name, stat in entries]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    for row, (name, stat) in zip(rows, entries, strict=True):
        row[-1] = _label(name, stat, options, long=long)
        cells = [cell.rjust(width) if at in {1, 4} else cell.ljust(width) for at, (cell, width) in
                 enumerate(zip(row, widths, strict=False))]  # fmt: skip
        number = f"{stat.inode} " if "i" in options else ""
        number += f"{blocks(stat.size) // 2:>3} " if "s" in options else ""
        number += "u:object_r:system_file:s0 " if "Z" in options else ""
        await call.line(number + " ".join([*cells, row[-1]]))


def _row(name: str, stat: Stat, options: Options, zone: tzinfo) -> list[str]:
    user, group = (
        (str(stat.uid), str(stat.gid)) if "n" in options else (user_name(stat.uid), user_name(stat.gid))
    )
    size = human(stat.size) if "h" in options else str(stat.size)
    when = shown_time(stat.mtime, zone, complete=options.times.get("l", 0) > 1)
    return [stat.permissions, str(stat.links), user, group, size, when, name]


def _label(name: str, stat: Stat, options: Options, *, long: bool) -> str:
    if stat.is_link and long:
        return f"{name} -> {stat.target}"
    if stat.is_dir and options.flags & {"F", "p"}:
        return f"{name}/"
    if "F" in options:
        return name + ("@" if stat.is_link else "*" if stat.mode & 0o111 else "")
    return name


def human(size: int) -> str:
    """1.2K, 34M: at most four characters."""
    value, unit = float(size), ""
    for unit in ("", "K", "M", "G", "T"):
        if value < 1000 or unit == "T":
            break
        value /= 1024
    return f"{value:.1f}{unit}" if unit and value < 10 else f"{int(value)}{unit}"


_KINDS = {modes.S_IFDIR: "directory", modes.S_IFLNK: "symbolic link", modes.S_IFCHR: "character device"}


def _kind(stat: Stat) -> str:
    if stat.is_file:
        return "regular file" if stat.size else "regular empty file"
    return _KINDS.get(modes.S_IFMT(stat.mode), "file")


def _stat_fields(name: str, stat: Stat, zone: tzinfo) -> dict[str, str]:
    mode, moment = (
        stat.mode & 0o7777,
        datetime.fromtimestamp(stat.mtime, zone).strftime("%Y-%m-%d %H:%M:%S.000000000 %z"),
    )
    fields = {"a": f"{mode:o}", "A": stat.permissions, "b": str(blocks(stat.size)), "B": "512", "d": "64769"}
    fields |= {"f": f"{stat.mode:x}", "F": _kind(stat), "g": str(stat.gid), "G": user_name(stat.gid)}
    fields |= {
        "h": str(stat.links),
        "i": str(stat.inode),
        "m": "/",
        "n": name,
        "o": "4096",
        "s": str(stat.size),
    }
    fields |= {"u": str(stat.uid), "U": user_name(stat.uid), "D": "fd01", "%": "%"}
    fields |= {"N": f"{name} -> {stat.target}" if stat.is_link else name}
    for upper, lower in (("X", "x"), ("Y", "y"), ("Z", "z")):
        fields |= {upper: str(stat.mtime), lower: moment}
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
    options, status = call.options, 0
    for name in options.rest:
        try:
            match = call.session.files.stat(call.path(name), follow="L" in options)
        except OSError as problem:
            status = await call.fail(f"'{name}': {problem.strerror}")
            continue
        await call.line(_filled(options.values.get("c", _STAT), _stat_fields(name, match, call.phone.zone)))
    return status


async def du(call: Call) -> int:
    options, status, total = call.options, 0, 0
    deep = 0 if "s" in options else options.number("d", 1 << 30)
    for name in options.rest or ["."]:
        base = call.path(name)
        try:
            entries = list(call.session.files.walk(base))
        except OSError as problem:
            status = await call.fail(f"{name}: {problem.strerror}")
            continue
        for path, stat in reversed(entries):
            depth = path.count("/") - base.count("/")
            if path != base and (depth > deep or not (stat.is_dir or "a" in options)):
                continue
            size = sum(
                blocks(entry.size) * 512 for below, entry in entries if f"{below}/".startswith(f"{path}/")
            )
            total += size if path == base else 0
            await call.line(f"{_amount(size, options)}\t{name + path[len(base) :]}")
    if "c" in options:
        await call.line(f"{_amount(total, options)}\ttotal")
    return status


def _amount(size: int, options: Options) -> str:
    return human(size) if "h" in options else str(size >> (20 if "m" in options else 10))


async def df(call: Call) -> int:
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
    for device, total, taken, mount in rows:
        if not wanted or mount in wanted:
            free = total - taken
            row = (
                f"{device:<16} {size(total):>10} {size(taken):>9} {size(free):>10} "
                f"{taken * 100 // total:>3}% {mount}"
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
            complete = bool(options.flags & {"f", "e", "m"}) or call.argv[0].endswith("realpath")
            if "e" in options:
                files.stat(path)
            await call.out(files.canonical(path) if complete else files.readlink(path))
            await call.out("" if "n" in options else "\n")
        except OSError as problem:
            status = 1
            if call.argv[0].endswith("realpath"):
                await call.fail(f"{name}: {problem.strerror}")
    return status


async def basename(call: Call) -> int:
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
    return await call.line(
        posixpath.dirname(call.args[0].rstrip("/")) or ("/" if call.args[0][:1] == "/" else ".")
    )


FAMILY = by_name(
    rm,
    mkdir,
    rmdir,
    mv,
    cp,
    ln,
    touch,
    chmod,
    chown,
    tee,
    dd,
    truncate,
    sync,
    ls,
    stat,
    du,
    df,
    readlink,
    basename,
    dirname,
) | {"realpath": readlink}
