"""Commands that change files: rm, mkdir, rmdir, mv, cp, ln, touch, chmod, chown, dd, tee, truncate."""

from __future__ import annotations

import posixpath
import re

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.io import CHUNK, Bytes, Source, Streams
from handrail_sim.shell.options import BadUsage, Options
from handrail_sim.shell.redirect import FileSink, RedirectFailed, open_sink, open_source
from handrail_sim.shell.tools.dates import parse_time
from handrail_sim.shell.tools.read_files import content

_UNITS = {"": 1, "c": 1, "w": 2, "b": 512, "k": 1024, "K": 1024, "m": 1 << 20, "M": 1 << 20, "g": 1 << 30}
_UNITS |= {"G": 1 << 30}
MAX_DD = 1 << 28
_DD = frozenset({"if", "of", "bs", "ibs", "obs", "count", "skip", "status"})


async def rm(call: Call) -> int:
    """`rm [-rf] FILE…`."""
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
    """`mkdir [-p] [-m MODE] DIR…`."""
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
    """`rmdir DIR…`."""
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
    """`cp [-rpa] FILE… TARGET`."""
    options, status = call.options, 0
    for name, source, target in _targets(call, options):
        try:
            status |= await _copy(call, name, source, target, options)
        except OSError as problem:
            status = await call.fail(f"bad '{name}': {problem.strerror}")
    return status


async def _copy(call: Call, name: str, source: str, target: str, options: Options) -> int:
    files = call.session.files
    found = files.stat(source)
    if "n" in options and files.exists(target) and not found.is_dir:
        return 0
    if "v" in options:
        await call.line(f"cp '{name}' -> '{target}'")
    if not found.is_dir:
        keep = found.mtime if options.flags & {"p", "a"} else None
        files.write(target, files.read(source), mode=found.mode & 0o777, mtime=keep)
        return 0
    if not options.flags & {"r", "R", "a"}:
        return await call.fail(f"Skipped dir '{name}'")
    if not files.is_dir(target):
        files.mkdir(target, found.mode & 0o777)
    status = 0
    for entry in files.list(source):
        status |= await _copy(call, f"{name}/{entry}", f"{source}/{entry}", f"{target}/{entry}", options)
    return status


async def mv(call: Call) -> int:
    """`mv [-n] FILE… TARGET`."""
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
    """`ln [-sf] TARGET NAME`."""
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
    """`touch [-c] [-d|-t TIME] [-r FILE] FILE…`."""
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
        shifts = [{"u": 6, "g": 3, "o": 0}[one] for one in (who or "a").replace("a", "ugo")]
        for shift in shifts:
            cleared = mode & ~((7 if operator == "=" else bits) << shift)
            mode = cleared if operator == "-" else cleared | bits << shift
    return mode


async def chmod(call: Call) -> int:
    """`chmod [-Rfv] MODE FILE…`; a mode such as `-x` is no option."""
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
    """Only root may, and nobody here is."""
    options, status = call.options, 0
    for name in options.rest[1:]:
        reason = "Operation not permitted" if call.session.files.exists(call.path(name)) else None
        status = await call.fail(f"'{name}': {reason or 'No such file or directory'}")
    return status


async def tee(call: Call) -> int:
    """`tee [-a] FILE…`."""
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
    """`dd if= of= bs= count= skip=`."""
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
    whole, part = divmod(len(data), block or 1)
    if words.get("status") != "none":
        records = f"{whole}+{int(bool(part))} records"
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
    """`truncate -s SIZE FILE…`."""
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


FAMILY: dict[str, Command] = {
    "rm": rm,
    "mkdir": mkdir,
    "rmdir": rmdir,
    "mv": mv,
    "cp": cp,
    "ln": ln,
    "touch": touch,
    "chmod": chmod,
    "chown": chown,
    "tee": tee,
    "dd": dd,
    "truncate": truncate,
    "sync": sync,
}
