"""Commands about processes: ps, pidof, pgrep, pkill, kill, killall, top."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, read_options
from handrail_sim.shell.processes import SIGNALS, Process, processes_of, signal_number
from handrail_sim.shell.session import SHELL
from handrail_sim.shell.tools.expressions import compile_pattern
from handrail_sim.shell.tools.names import user_name

NATIVE = (
    (1, 0, 0, "init", "/system/bin/init second_stage"),
    (2, 0, 0, "[kthreadd]", "[kthreadd]"),
    (158, 1, 1000, "servicemanager", "/system/bin/servicemanager"),
    (160, 1, 1036, "logd", "/system/bin/logd"),
    (271, 1, 0, "zygote64", "zygote64"),
    (301, 1, 1000, "surfaceflinger", "/system/bin/surfaceflinger"),
    (355, 1, 2000, "adbd", "/apex/com.android.adbd/bin/adbd --root_seclabel=u:r:su:s0"),
    (371, 1, 0, "netd", "/system/bin/netd"),
    (543, 271, 1000, "system_server", "system_server"),
    (812, 271, 10098, "com.android.systemui", "com.android.systemui"),
    (934, 271, 1001, "com.android.phone", "com.android.phone"),
)
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
    """Everything that runs: the system, apps, and what shells started."""
    rows = [Row(pid, parent, user_name(uid), name, line) for pid, parent, uid, name, line in NATIVE]
    known = {row.name for row in rows}
    apps = call.phone.packages.processes.values()
    rows += [
        Row(app.pid, 271, user_name(app.uid), app.name, app.name, app=True)
        for app in apps
        if app.name not in known
    ]
    for own in processes_of(call.phone).running.values():
        name = own.name if own.name != "app_process" else "app_process"
        rows.append(
            Row(own.pid, own.parent if own.parent != 1 else 355, own.user.name, name, " ".join(own.argv), own)
        )
    return sorted(rows, key=lambda row: row.pid)


def visible(call: Call) -> list[Row]:
    """The shell sees all processes; an app under run-as sees its own only."""
    if call.session.user.package is None:
        return all_rows(call)
    return [row for row in all_rows(call) if row.user == call.session.user.name]


_COLUMNS = {
    "PID": "PID",
    "PPID": "PPID",
    "USER": "USER",
    "NAME": "NAME",
    "CMD": "CMD",
    "ARGS": "CMD",
    "UID": "UID",
}
_COLUMNS |= {
    "COMM": "COMM",
    "CMDLINE": "CMD",
    "STAT": "S",
    "S": "S",
    "RSS": "RSS",
    "VSZ": "VSZ",
    "TID": "PID",
}


def _cell(row: Row, column: str) -> str:
    values = {
        "PID": str(row.pid),
        "PPID": str(row.parent),
        "USER": row.user,
        "UID": row.user,
        "NAME": row.name,
    }
    values |= {"CMD": row.command, "COMM": row.name[:15], "S": "S", "RSS": "81920", "VSZ": "14680064"}
    return values[column]


async def ps(call: Call) -> int:
    """`ps [-A] [-ef] [-o COLUMNS] [-p PIDS] [-u USER]`."""
    options = read_options(call.args, "AeflTwZn", "opgtuUM")
    rows = visible(call)
    if not options.flags & {"A", "e", "p", "u", "U"}:
        rows = [row for row in rows if row.user == call.session.user.name]
    if "p" in options:
        wanted = re.split(r"[ ,]+", options.values["p"])
        rows = [row for row in rows if str(row.pid) in wanted]
    if "u" in options:
        rows = [row for row in rows if row.user == options.values["u"]]
    if "o" in options:
        return await _chosen_columns(call, rows, ",".join(options.many["o"]))
    lines = [_full(row) for row in rows] if "f" in options else [_brief(row) for row in rows]
    title = "UID            PID  PPID C STIME TTY          TIME CMD"
    if "f" not in options:
        title = "USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME                       "
    await call.out("\n".join([title, *lines]) + "\n")
    return 0 if rows else 1


def _brief(row: Row) -> str:
    vsz, rss = (14680064, 98304) if row.app else (10782724, 6144)
    waits = "do_epoll_wait" if row.app or row.process is None else "__do_sys_rt_sigsuspend"
    return f"{row.user:<12} {row.pid:>5} {row.parent:>5} {vsz:>7} {rss:>6} {waits:<16.16} {0:>4} S {row.name}"


def _full(row: Row) -> str:
    return f"{row.user:<12} {row.pid:>5} {row.parent:>5} 0 00:00 ?        00:00:00 {row.command}"


async def _chosen_columns(call: Call, rows: list[Row], spec: str) -> int:
    columns: list[tuple[str, str]] = []
    for word in spec.split(","):
        name, equals, title = word.partition("=")
        if name.upper() not in _COLUMNS:
            raise BadUsage(f"bad -o {name}")
        columns.append((_COLUMNS[name.upper()], title if equals else _COLUMNS[name.upper()]))
    table = [[title for _, title in columns]] if any(title for _, title in columns) else []
    table += [[_cell(row, column) for column, _ in columns] for row in rows]
    widths = [max((len(line[at]) for line in table), default=0) for at in range(len(columns))]
    right = [column in {"PID", "PPID", "RSS", "VSZ"} for column, _ in columns]
    for line in table:
        cells = [
            cell.rjust(widths[at]) if right[at] else cell.ljust(widths[at]) for at, cell in enumerate(line)
        ]
        await call.line(" ".join(cells).rstrip())
    return 0 if rows else 1


async def pidof(call: Call) -> int:
    """`pidof [-s] NAME…`."""
    options = read_options(call.args, "sx", "o")
    rows, own = visible(call), call.session.pid
    found = [row.pid for name in options.rest for row in reversed(rows)
             if row.pid != own and name in {row.name, row.command.split(" ")[0]}]  # fmt: skip
    if found:
        await call.line(" ".join(map(str, found[:1] if "s" in options else found)))
    return int(not found)


def _matching(call: Call, pattern: str, *, full: bool, exact: bool) -> list[Row]:
    """Toybox looks at the name of the program, with -f at the whole command line."""
    found, wanted = [], compile_pattern(pattern, extended=True)
    for row in visible(call):
        text = row.command if full else row.name
        hit = wanted.fullmatch(text) if exact else wanted.search(text)
        mine = row.process is not None and row.process.argv is call.argv
        own_shell = row.pid == call.session.pid
        if hit and not mine and not (full and own_shell):
            found.append(row)
    return found


async def pgrep(call: Call) -> int:
    """`pgrep [-flxn] PATTERN`."""
    options = read_options(call.args, "flxnovca", "dPuUtLgs")
    rows = _matching(call, options.rest[0] if options.rest else "", full="f" in options, exact="x" in options)
    rows = rows[-1:] if "n" in options else rows
    for row in rows:
        more = (
            f" {row.command if 'a' in options or 'f' in options else row.name}"
            if options.flags & {"l", "a"}
            else ""
        )
        await call.line(f"{row.pid}{more}")
    return int(not rows)


async def pkill(call: Call) -> int:
    """`pkill [-SIGNAL] [-fx] PATTERN`."""
    args, signal = _signal_of(call.args)
    options = read_options(args, "fxnov", "lPuUtgs")
    if not options.rest:
        raise BadUsage("Needs 1 argument")
    signal = signal_number(options.values["l"]) or 15 if "l" in options else signal
    rows = _matching(call, options.rest[0], full="f" in options, exact="x" in options)
    refused = [row for row in rows if not _send(call, row, signal)]
    await asyncio.sleep(0)  # a command that hit itself or its shell ends here
    for row in refused:
        await call.fail(f"pid {row.pid}: Operation not permitted")
    return int(not rows or bool(refused))


async def killall(call: Call) -> int:
    """`killall [-SIGNAL] NAME…`."""
    args, signal = _signal_of(call.args)
    names = [arg for arg in args if not arg.startswith("-")]
    status = 0
    for name in names:
        rows = [row for row in visible(call) if row.name == name]
        if not rows:
            status = await call.fail(f"{name}: No such process")
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
    """Deliver a signal to all of a group, if it is the user's; False when there is none."""
    table = processes_of(call.phone)
    users = {process.user.uid for process in table.running.values() if process.group == group}
    if call.session.user.uid not in users and group not in table.jobs.values():
        return False
    table.send_group(group, signal)
    return True


async def kill(call: Call) -> int:
    """`kill [-SIGNAL] PID…`; a negative number is a process group."""
    if call.args[:1] == ["-l"]:
        await call.line(" ".join(SIGNALS))
        return 0
    args, signal = _signal_of(call.args)
    args = args[1:] if args[:1] == ["--"] else args
    if not args:
        await call.err(
            f"{SHELL}: kill: usage: kill [-s signame | -signum | -signame] {{ job | pid | pgrp }} ..."
        )
        return 1
    rows, status = {row.pid: row for row in all_rows(call)}, 0
    for arg in args:
        if re.fullmatch(r"-\d{1,9}", arg) and _send_group(call, -int(arg), signal):
            continue
        row = rows.get(int(arg)) if re.fullmatch(r"\d{1,9}", arg) else None
        if row is None:
            known = re.fullmatch(r"-?\d+", arg)
            await call.err(
                f"{SHELL}: kill: {arg}: "
                f"{'No such process' if known else 'arguments must be jobs or process IDs'}"
            )
            status = 1
        elif not _send(call, row, signal):
            await call.err(f"{SHELL}: kill: {arg}: Operation not permitted")
            status = 1
    await asyncio.sleep(0)
    return status


async def top(call: Call) -> int:
    """One round of top."""
    rows = visible(call)
    await call.out(
        f"Tasks: {len(rows)} total,   1 running, {len(rows) - 1} sleeping,   0 stopped,   0 zombie\n"
    )
    await call.out("  Mem:  2036904K total,  1901232K used,   135672K free,     9092K buffers\n")
    await call.out(" Swap:  1527676K total,        0K used,  1527676K free,   942268K cached\n")
    await call.out("800%cpu   0%user   0%nice   0%sys 800%idle   0%iow   0%irq   0%sirq   0%host\n")
    await call.out("  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS\n")
    for row in rows:
        await call.line(
            f"{row.pid:>5} {row.user:<12} 20   0  14G  80M  60M S  0.0   4.0   0:00.10 {row.command}"
        )
    return 0


FAMILY: dict[str, Command] = {
    "ps": ps,
    "pidof": pidof,
    "pgrep": pgrep,
    "pkill": pkill,
    "kill": kill,
    "killall": killall,
    "top": top,
}
