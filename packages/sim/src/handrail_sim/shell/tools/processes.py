"""Processes: ps, top, kill, pidof, and the files of /proc."""

from __future__ import annotations

import asyncio
import re
import stat as modes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from handrail_sim.disk.blobs import intern
from handrail_sim.disk.lookup import Node
from handrail_sim.handset import Handset
from handrail_sim.resources import table
from handrail_sim.shell.call import Call, by_name
from handrail_sim.shell.options import BadUsage, Options, read_options
from handrail_sim.shell.processes import SIGNALS, Process, processes_of, signal_number
from handrail_sim.shell.session import SHELL
from handrail_sim.shell.tools.machine import KERNEL, MOUNTS
from handrail_sim.shell.tools.names import user_name, user_number
from handrail_sim.shell.tools.text import compile_pattern
from handrail_sim.system.releases import sdk_of

NATIVE: list[tuple[int, int, int, str, str]] = table("shell/tools/processes.toml")["native"]
"""pid, parent, uid, name, command line of what always runs."""


@dataclass(frozen=True, slots=True)
class Row:
    """One process as ps shows it."""

    pid: int
    parent: int
    user: str
    name: str
    command: str
    process: Process | None = None
    app: bool = False


def all_rows(call: Call) -> list[Row]:
    return rows_of(call.phone)


def rows_of(phone: Handset) -> list[Row]:
    rows = [Row(pid, parent, user_name(uid), name, line) for pid, parent, uid, name, line in NATIVE]
    existing = {row.name for row in rows}
    apps = phone.packages.processes.values()
    rows += [
        Row(app.pid, 271, user_name(app.uid), app.name, app.name, app=True)
        for app in apps
        if app.name not in existing
    ]
    for own in processes_of(phone).running.values():
        parent = own.parent if own.parent != 1 else 355
        rows.append(Row(own.pid, parent, own.user.name, own.name, " ".join(own.argv), own))
    return sorted(rows, key=lambda row: row.pid)


def visible(call: Call) -> list[Row]:
    """The shell sees all processes; an app under run-as sees its own only."""
    if call.session.user.package is None:
        return all_rows(call)
    return [row for row in all_rows(call) if row.user == call.session.user.name]


async def pidof(call: Call) -> int:
    options = call.options
    left_out = options.values.get("o", "").split(",")
    rows, own = [row for row in visible(call) if str(row.pid) not in left_out], call.session.pid
    matches = [row.pid for name in options.rest for row in reversed(rows)
             if row.pid != own and name in {row.name, row.command.split(" ")[0]}]  # fmt: skip
    if matches:
        await call.line(" ".join(map(str, matches[:1] if "s" in options else matches)))
    return int(not matches)


def _matching(call: Call, options: Options) -> list[Row]:
    rows, wanted = [], compile_pattern(options.rest[0], extended=True)
    for row in visible(call):
        text = row.command if "f" in options else row.name
        hit = bool(wanted.fullmatch(text) if "x" in options else wanted.search(text))
        own = row.process is not None and row.process.argv is call.argv
        own_shell = row.pid == call.session.pid
        if hit != ("v" in options) and not own and not ("f" in options and own_shell):
            rows.append(row)
    return rows


def _picked(rows: list[Row], options: Options) -> list[Row]:
    if "P" in options:
        rows = [row for row in rows if str(row.parent) in options.values["P"].split(",")]
    for letter in "uU":
        if letter in options:
            names = options.values[letter].split(",")
            rows = [row for row in rows if row.user in names]
    return rows[-1:] if "n" in options else rows[:1] if "o" in options else rows


async def pgrep(call: Call) -> int:
    options = call.options
    rows = _picked(_matching(call, options), options)
    if "c" in options:
        await call.line(str(len(rows)))
        return int(not rows)
    shown = []
    for row in rows:
        name = row.command if options.flags & {"a", "f"} else row.name
        shown.append(f"{row.pid} {name}" if options.flags & {"l", "a"} else str(row.pid))
    if shown:
        await call.line(options.values.get("d", "\n").join(shown))
    return int(not rows)


async def pkill(call: Call) -> int:
    args, signal = _signal_of(call.args)
    options = read_options(args, "fxnov", "lPuU")
    if not options.rest:
        raise BadUsage("Needs 1 argument")
    signal = signal_number(options.values["l"]) or 15 if "l" in options else signal
    rows = _picked(_matching(call, options), options)
    refused = [row for row in rows if not _send(call, row, signal)]
    await asyncio.sleep(0)  # a command that hit itself or its shell ends here
    for row in refused:
        await call.fail(f"pid {row.pid}: Operation not permitted")
    return int(not rows or bool(refused))


async def killall(call: Call) -> int:
    args, signal = _signal_of(call.args)
    options, status = read_options(args, "q"), 0
    names = options.rest
    if not names:
        raise BadUsage("Needs 1 argument")
    for name in names:
        rows = [row for row in visible(call) if row.name == name]
        if not rows:
            status = 1 if "q" in options else await call.fail(f"{name}: No such process")
        for row in rows:
            if not _send(call, row, signal):
                status = await call.fail(f"bad '{row.pid}': Operation not permitted")
    await asyncio.sleep(0)
    return status


def _signal_of(args: list[str]) -> tuple[list[str], int]:
    """`-9`, `-KILL` or `-s KILL` before the rest."""
    if args[:1] == ["-s"] and args[1:]:
        return args[2:], signal_number(args[1]) or 15
    if (
        args
        and re.fullmatch(r"-(\d+|[A-Z]+[0-9]?|SIG[A-Z]+)", args[0])
        and (number := signal_number(args[0][1:])) is not None
    ):
        return args[1:], number
    return args, 15


def _send(call: Call, row: Row, signal: int) -> bool:
    """Deliver a signal if the user may."""
    user = call.session.user
    if row.process is not None and row.process.user.uid == user.uid:
        processes_of(call.phone).send(row.process, signal)
        return True
    if row.app and row.user == user.name and user.package is not None:
        if signal not in {0, 18, 19}:
            call.phone.kill_process(row.name)
        return True
    return False


def _send_group(call: Call, group: int, signal: int) -> bool:
    """Delivers a signal to a process group of the user; False if there is no such group."""
    table = processes_of(call.phone)
    users = {process.user.uid for process in table.running.values() if process.group == group}
    if call.session.user.uid not in users and group not in table.jobs.values():
        return False
    table.send_group(group, signal)
    return True


async def kill(call: Call) -> int:
    """`kill [-SIGNAL] PID…`; a negative number is a process group."""
    if call.args[:1] == ["-l"]:
        return await call.line(" ".join(SIGNALS))
    args, signal = _signal_of(call.args)
    args = args[1:] if args[:1] == ["--"] else args
    if not args:
        return await call.err(
            f"{SHELL}: kill: usage: kill [-s signame | -signum | -signame] {{ job | pid | pgrp }} ..."
        )
    rows, status = {row.pid: row for row in all_rows(call)}, 0
    for arg in args:
        if re.fullmatch(r"-\d{1,9}", arg) and _send_group(call, -int(arg), signal):
            continue
        row = rows.get(int(arg)) if re.fullmatch(r"\d{1,9}", arg) else None
        if row is None:
            match = re.fullmatch(r"-?\d+", arg)
            await call.err(
                f"{SHELL}: kill: {arg}: "
                f"{'No such process' if match else 'arguments must be jobs or process IDs'}"
            )
            status = 1
        elif not _send(call, row, signal):
            await call.err(f"{SHELL}: kill: {arg}: Operation not permitted")
            status = 1
    await asyncio.sleep(0)
    return status


APP_KB, NATIVE_KB = (14680064, 98304), (10782724, 6144)  # VSZ and RSS


def _memory(row: Row) -> tuple[int, int]:
    return APP_KB if row.app else NATIVE_KB


def _waits(row: Row) -> str:
    return "do_epoll_wait" if row.app or row.process is None else "__do_sys_rt_sigsuspend"


def _label(row: Row) -> str:
    return "u:r:untrusted_app:s0" if row.app else f"u:r:{'shell' if row.process else 'init'}:s0"


FIELDS: dict[str, tuple[str, int, Callable[[Row], str]]] = {
    "USER": ("USER", -12, lambda row: row.user),
    "UID": ("UID", 5, lambda row: str(user_number(row.user))),
    "GROUP": ("GROUP", -12, lambda row: row.user),
    "GID": ("GID", 5, lambda row: str(user_number(row.user))),
    "PID": ("PID", 5, lambda row: str(row.pid)),
    "TID": ("TID", 5, lambda row: str(row.pid)),
    "PPID": ("PPID", 5, lambda row: str(row.parent)),
    "VSZ": ("VSZ", 7, lambda row: str(_memory(row)[0])),
    "VSIZE": ("VSZ", 7, lambda row: str(_memory(row)[0])),
    "RSS": ("RSS", 6, lambda row: str(_memory(row)[1])),
    "WCHAN": ("WCHAN", -16, lambda row: f"{_waits(row):.16}"),
    "ADDR": ("ADDR", 4, lambda _: "0"),
    "S": ("S", -1, lambda _: "S"),
    "STAT": ("STAT", -4, lambda _: "S"),
    "NAME": ("NAME", -27, lambda row: row.name),
    "CMD": ("CMD", -15, lambda row: row.command),
    "ARGS": ("ARGS", -27, lambda row: row.command),
    "CMDLINE": ("CMDLINE", -27, lambda row: row.command),
    "COMM": ("COMM", -27, lambda row: row.name[-15:]),
    "C": ("C", 1, lambda _: "0"),
    "STIME": ("STIME", -5, lambda _: "00:00"),
    "TTY": ("TTY", -8, lambda _: "?"),
    "TIME": ("TIME", 8, lambda _: "00:00:00"),
    "TIME+": ("TIME+", 9, lambda _: "0:00.10"),
    "ETIME": ("ELAPSED", 11, lambda _: "00:01"),
    "PRI": ("PRI", 3, lambda _: "19"),
    "PR": ("PR", 2, lambda _: "20"),
    "NI": ("NI", 3, lambda _: "0"),
    "PCY": ("PCY", 3, lambda _: "fg"),
    "%CPU": ("%CPU", 4, lambda _: "0.0"),
    "%MEM": ("%MEM", 5, lambda row: f"{_memory(row)[1] / 20369:.1f}"),
    "PSR": ("PSR", 3, lambda _: "0"),
    "LABEL": ("LABEL", -30, _label),
}
PLAIN = "USER,PID,PPID,VSZ,RSS,WCHAN,ADDR,S,NAME"
THREADS = "USER,PID,TID,PPID,VSZ,RSS,WCHAN,ADDR,S,CMD"
FULL = "USER=UID,PID,PPID,C,STIME,TTY,TIME,CMD"


def _columns(text: str) -> list[tuple[str, int, Callable[[Row], str]]]:
    """`PID,NAME=title,…`: an empty title for every column leaves the first line out."""
    matches = []
    for word in re.split(r"[, ]+", text.strip(", ")):
        name, equals, title = word.partition("=")
        existing = FIELDS.get(name.split(":")[0].upper())
        if existing is None:
            raise BadUsage(f"bad -o {name}")
        own, width, cell = existing
        matches.append((title if equals else own, width, cell))
    return matches


def _chosen(call: Call, options: Options) -> list[Row]:
    rows = visible(call)
    if not options.flags & {"A", "e", "p", "P", "u", "U"} and not options.rest:
        rows = [row for row in rows if row.user == call.session.user.name]
    wanted = ",".join([*options.many.get("p", []), *options.rest])
    for pid in re.split(r"[ ,]+", wanted) if wanted else []:
        if not pid.isdigit():
            raise BadUsage(f"bad pid '{pid}'")
    if wanted:
        rows = [row for row in rows if str(row.pid) in re.split(r"[ ,]+", wanted)]
    if "P" in options:
        rows = [row for row in rows if str(row.parent) in options.values["P"].split(",")]
    for letter in "uU":
        if letter in options:
            names = options.values[letter].split(",")
            rows = [row for row in rows if row.user in names or str(user_number(row.user)) in names]
    return rows


async def ps(call: Call) -> int:
    options = call.options
    if sdk_of(call.phone) < TOYBOX_SINCE:
        return await _old_ps(call)
    rows = _chosen(call, options)
    text = ",".join(options.many["o"]) if "o" in options else PLAIN
    if "o" not in options and options.flags & {"f", "T"}:
        text = FULL if "f" in options else THREADS
    columns = _columns(text)
    columns = [*_columns("LABEL"), *columns] if "Z" in options else columns
    if "n" in options:
        by_name, number = FIELDS["USER"][2], FIELDS["UID"][2]
        columns = [(title, width, number if cell is by_name else cell) for title, width, cell in columns]
    for key in reversed(re.split(r"[, ]+", options.values.get("k", "")) if "k" in options else []):
        ((_, width, cell),) = _columns(key.lstrip("-+"))
        rows = sorted(rows, key=_sorting(cell, number=width > 0), reverse=key.startswith("-"))
    await _print(call, rows, columns, fixed="o" not in options)
    return 0 if rows else 1


TOYBOX_SINCE = 26
"""The API level from which `ps` has options; before, its arguments are names to show."""


async def _old_ps(call: Call) -> int:
    await call.line("USER     PID   PPID  VSIZE  RSS     WCHAN    PC         NAME")
    for row in all_rows(call):
        if not call.args or row.name.startswith(call.args[-1]):
            numbers = f"{row.user:<8} {row.pid:<5} {row.parent:<5} 8904   788"
            await call.line(f"{numbers}   ffffffff 00000000 S {row.name}")
    return 0


def _sorting(cell: Callable[[Row], str], *, number: bool) -> Callable[[Row], tuple[float, str]]:
    def key(row: Row) -> tuple[float, str]:
        text = cell(row)
        return (float(text) if number and re.fullmatch(r"-?\d+(\.\d+)?", text) else 0.0), text

    return key


async def _print(
    call: Call, rows: list[Row], columns: list[tuple[str, int, Callable[[Row], str]]], *, fixed: bool
) -> None:
    table = [[title for title, _, _ in columns]] if any(title for title, _, _ in columns) else []
    table += [[cell(row) for _, _, cell in columns] for row in rows]
    for line in table:
        cells = []
        for at, (_, width, _) in enumerate(columns):
            size = abs(width) if fixed else max(len(other[at]) for other in table)
            cells.append(line[at].ljust(size) if width < 0 else line[at].rjust(size))
        text = " ".join(cells)
        await call.line(text if fixed and line is table[0] else text.rstrip())


async def top(call: Call) -> int:
    """`top [-b] [-d SECONDS] [-n COUNT] [-m ROWS] [-o COLUMNS] [-p PIDS] [-u USERS]`; without -n for ever."""
    options = read_options(call.args, "bq", "dmnopu")
    rounds, pause = options.number("n", 1 << 30), _seconds(options.values.get("d", "3"))
    if "n" not in options and not call.session.tty:
        rounds = 1  # toybox stops when nobody can press a key
    columns = _columns(options.values["o"]) if "o" in options else None
    while rounds > 0:
        await _round(call, options, columns)
        rounds -= 1
        if rounds:
            await call.phone.clock.sleep_ms(pause * 1000)
    return 0


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadUsage(f"not float: {text}") from None


async def _round(
    call: Call, options: Options, columns: list[tuple[str, int, Callable[[Row], str]]] | None
) -> None:
    rows = visible(call)
    if "p" in options:
        rows = [row for row in rows if str(row.pid) in options.values["p"].split(",")]
    if "u" in options:
        rows = [row for row in rows if row.user in options.values["u"].split(",")]
    if "q" not in options:
        await call.out(
            f"Tasks: {len(rows)} total,   1 running, {len(rows) - 1} sleeping,   0 stopped,   0 zombie\n"
            "  Mem:  2036904K total,  1901232K used,   135672K free,     9092K buffers\n"
            " Swap:  1527676K total,        0K used,  1527676K free,   942268K cached\n"
            "800%cpu   0%user   0%nice   0%sys 800%idle   0%iow   0%irq   0%sirq   0%host\n"
        )
    shown = rows[: options.number("m", len(rows))]
    if columns is not None:
        await _print(call, shown, columns, fixed=False)
        return
    await call.out("  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS\n")
    for row in shown:
        await call.line(
            f"{row.pid:>5} {row.user:<12} 20   0  14G  80M  60M S  0.0   4.0   0:00.10 {row.command}"
        )


TICKS = 100  # per second, as CLK_TCK
CORES = 8
_CPU = """processor\t: {}
BogoMIPS\t: 38.40
Features\t: fp asimd aes
CPU implementer\t: 0x41
CPU architecture: 8

"""
_MEMORY = """MemTotal:        2036904 kB
MemFree:          135672 kB
MemAvailable:    1077940 kB
Buffers:            9092 kB
Cached:           942268 kB
SwapTotal:       1527676 kB
SwapFree:        1527676 kB
"""


def _file(text: str | bytes, mode: int = 0o444) -> Node:
    data = text if isinstance(text, bytes) else text.encode()
    return Node(modes.S_IFREG | mode, 0, 0, 0, 1, blob=intern(data))


def _folder(entries: dict[str, Node], uid: int = 0) -> Node:
    return Node(modes.S_IFDIR | 0o555, uid, uid, 0, 1, entries=entries)


def _link(target: str) -> Node:
    return Node(modes.S_IFLNK | 0o777, 0, 0, 0, 1, target=target)


def _unix_sockets(phone: Handset) -> str:
    names = [name.partition(":")[2] for name in phone.ports if name.startswith("localabstract:")]
    rows = [
        f"0000000000000000: 00000002 00000000 00010000 0001 01 {at + 20000} @{name}\n"
        for at, name in enumerate(names)
    ]
    return "Num       RefCount Protocol Flags    Type St Inode Path\n" + "".join(rows)


def _tcp(phone: Handset) -> str:
    """What listens on 127.0.0.1."""
    ports = [int(name[4:]) for name in phone.ports if name.startswith("tcp:") and name[4:].isdigit()]
    rows = [
        f"{at:>4}: 0100007F:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000  2000        "
        f"0 {at + 30000} 1 0000000000000000 100 0 0 10 0\n"
        for at, port in enumerate(sorted(ports))
    ]
    title = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
    return f"{title}\n{''.join(rows)}"


def _stat(seconds: float, rows: int) -> str:
    """Time of all cores in ticks: nine tenths of it idle."""
    total = int(seconds * TICKS)
    word = f"{total // 20} 0 {total // 20} {total - total // 10} 0 0 0 0 0 0"
    every = f"{total // 20 * CORES} 0 {total // 20 * CORES} {(total - total // 10) * CORES} 0 0 0 0 0 0"
    cores = "".join(f"cpu{number} {word}\n" for number in range(CORES))
    return (
        f"cpu  {every}\n{cores}intr 0\nctxt 0\nbtime 0\nprocesses {rows}\nprocs_running 1\nprocs_blocked 0\n"
    )


@lru_cache(maxsize=1024)
def _process(pid: int, parent: int, user: str, name: str, command: str, app: bool) -> Node:
    """Frozen, because most processes are the same for every caller and every phone."""
    uid, name = user_number(user), name[-15:]
    size, held = (14680064, 98304) if app else (10782724, 6144)
    status = (
        f"Name:\t{name}\nUmask:\t0077\nState:\tS (sleeping)\nTgid:\t{pid}\nNgid:\t0\nPid:\t{pid}\n"
        f"PPid:\t{parent}\nTracerPid:\t0\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n"
        f"Gid:\t{uid}\t{uid}\t{uid}\t{uid}\nFDSize:\t64\nVmSize:\t{size} kB\nVmRSS:\t{held} kB\nThreads:\t1\n"
    )
    stat = (
        f"{pid} ({name}) S {parent} {pid} 0 0 -1 4194560 0 0 0 0 10 5 0 0 20 0 1 0 100 "
        f"{size * 1024} {held // 4} 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n"
    )
    files = {
        "cmdline": _file(command.replace(" ", "\0") + "\0"),
        "comm": _file(f"{name}\n"),
        "oom_score_adj": _file("0\n"),
        "oom_score": _file("0\n"),
        "stat": _file(stat),
        "statm": _file(f"{size // 4} {held // 4} 0 0 0 0 0\n"),
        "status": _file(status),
        "cgroup": _file(f"0::/uid_{uid}/pid_{pid}\n"),
        "mounts": _link("/proc/mounts"),
    }
    return _folder({**files, "task": _folder({str(pid): _folder(dict(files), uid)}, uid)}, uid).freeze()


@lru_cache(maxsize=1)
def _machine() -> dict[str, Node]:
    """What never changes and is the same on every phone."""
    mounts = "".join(f"{device} {place} {kind} {facts} 0 0\n" for device, place, kind, facts in MOUNTS)
    version = f"Linux version {KERNEL} (handrail@sim) #1 SMP PREEMPT Wed Jan 10 00:00:00 UTC 2024\n"
    cores = "".join(_CPU.format(number) for number in range(CORES)) + "Hardware\t: Handrail\n"
    files = {
        "cpuinfo": _file(cores),
        "filesystems": _file("".join(f"nodev\t{kind}\n" for _, _, kind, _ in MOUNTS)),
        "loadavg": _file("0.10 0.08 0.05 1/900 20000\n"),
        "meminfo": _file(_MEMORY),
        "mounts": _file(mounts),
        "version": _file(version),
    }
    return {name: node.freeze() for name, node in files.items()}


def proc(phone: Handset) -> Node:
    """The whole folder as it is now; `self` is the program that was started last: it is the one asking."""
    seconds, rows = phone.clock.monotonic_ms() / 1000, rows_of(phone)
    return _folder(
        {
            **{
                str(row.pid): _process(row.pid, row.parent, row.user, row.name, row.command, row.app)
                for row in rows
            },
            **_machine(),
            "self": _link(str(processes_of(phone).last_pid)),
            "stat": _file(_stat(seconds, len(rows))),
            "uptime": _file(f"{seconds:.2f} {seconds * 7:.2f}\n"),
            "net": _folder({"unix": _file(_unix_sockets(phone)), "tcp": _file(_tcp(phone))}),
            "sys": _folder(
                {"kernel": _folder({"random": _folder({"boot_id": _file(f"{phone.boot_id}\n")})})}
            ),
        }
    )


def mount_proc(phone: Handset) -> None:
    phone.files.mount("proc", lambda: proc(phone))


FAMILY = by_name(pidof, pgrep, pkill, kill, killall, ps, top)
