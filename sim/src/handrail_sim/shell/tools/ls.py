"""`ls`, with the columns of toybox."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import Options
from handrail_sim.shell.tools.names import user_name

if TYPE_CHECKING:
    from handrail_sim.disk.files import Files
    from handrail_sim.disk.nodes import Stat

BLOCK = 512
Entry = tuple[str, "Stat"]


def shown_time(seconds: int, zone: tzinfo, *, whole: bool = False) -> str:
    """As ls -l shows a time, and ls -ll with all its digits."""
    form = "%Y-%m-%d %H:%M:%S.000000000 %z" if whole else "%Y-%m-%d %H:%M"
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
            found = call.session.files.stat(path, follow=follow or name.endswith("/"))
        except OSError as problem:
            status = await call.fail(f"{name}: {problem.strerror}")
            continue
        if found.is_dir and "d" not in options:
            folders.append((name, path))
        else:
            files.append((name, found))
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
        entries = [(entry, found) for entry, found in entries if not entry.startswith(".")]
    elif options.flags & {"a", "f"}:
        entries = [(dots, files.stat(path)) for dots in (".", "..")] + entries
    await call.out(title)
    await _show(call, _ordered(entries, options), options, total=True)
    status = 0
    if "R" in options:
        for entry, found in entries:
            if found.is_dir and entry not in {".", ".."}:
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
        await call.line(f"total {sum(blocks(found.size) for _, found in entries) // 2}")
    zone = call.phone.zone
    rows = [_row(name, found, options, zone) if long else [name] for name, found in entries]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    for row, (name, found) in zip(rows, entries, strict=True):
        row[-1] = _label(name, found, options, long=long)
        cells = [cell.rjust(width) if at in {1, 4} else cell.ljust(width) for at, (cell, width) in
                 enumerate(zip(row, widths, strict=False))]  # fmt: skip
        number = f"{found.inode} " if "i" in options else ""
        number += f"{blocks(found.size) // 2:>3} " if "s" in options else ""
        number += "u:object_r:system_file:s0 " if "Z" in options else ""
        await call.line(number + " ".join([*cells, row[-1]]))


def _row(name: str, found: Stat, options: Options, zone: tzinfo) -> list[str]:
    user, group = (
        (str(found.uid), str(found.gid)) if "n" in options else (user_name(found.uid), user_name(found.gid))
    )
    size = human(found.size) if "h" in options else str(found.size)
    when = shown_time(found.mtime, zone, whole=options.times.get("l", 0) > 1)
    return [found.permissions, str(found.links), user, group, size, when, name]


def _label(name: str, found: Stat, options: Options, *, long: bool) -> str:
    if found.is_link and long:
        return f"{name} -> {found.target}"
    if found.is_dir and options.flags & {"F", "p"}:
        return f"{name}/"
    if "F" in options:
        return name + ("@" if found.is_link else "*" if found.mode & 0o111 else "")
    return name


def human(size: int) -> str:
    """1.2K, 34M: at most four characters."""
    value, unit = float(size), ""
    for unit in ("", "K", "M", "G", "T"):
        if value < 1000 or unit == "T":
            break
        value /= 1024
    return f"{value:.1f}{unit}" if unit and value < 10 else f"{int(value)}{unit}"


FAMILY: dict[str, Command] = {"ls": ls}
