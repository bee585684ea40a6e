"""What runs, and signals to it: pidof, pgrep, pkill, kill, killall."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, Options, read_options
from handrail_sim.shell.processes import SIGNALS, Process, processes_of, signal_number
from handrail_sim.shell.session import SHELL
from handrail_sim.shell.tools.expressions import compile_pattern
from handrail_sim.shell.tools.names import user_name

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

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
    """Everything that runs."""
    return rows_of(call.phone)


def rows_of(phone: Handset) -> list[Row]:
    """The system, apps, and what shells started."""
    rows = [Row(pid, parent, user_name(uid), name, line) for pid, parent, uid, name, line in NATIVE]
    known = {row.name for row in rows}
    apps = phone.packages.processes.values()
    rows += [
        Row(app.pid, 271, user_name(app.uid), app.name, app.name, app=True)
        for app in apps
        if app.name not in known
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
    """`pidof [-s] [-o PID] NAME…`."""
    options = call.options
    left_out = options.values.get("o", "").split(",")
    rows, own = [row for row in visible(call) if str(row.pid) not in left_out], call.session.pid
    found = [row.pid for name in options.rest for row in reversed(rows)
             if row.pid != own and name in {row.name, row.command.split(" ")[0]}]  # fmt: skip
    if found:
        await call.line(" ".join(map(str, found[:1] if "s" in options else found)))
    return int(not found)


def _matching(call: Call, options: Options) -> list[Row]:
    """Toybox looks at the name of the program, with -f at the whole command line."""
    found, wanted = [], compile_pattern(options.rest[0], extended=True)
    for row in visible(call):
        text = row.command if "f" in options else row.name
        hit = bool(wanted.fullmatch(text) if "x" in options else wanted.search(text))
        mine = row.process is not None and row.process.argv is call.argv
        own_shell = row.pid == call.session.pid
        if hit != ("v" in options) and not mine and not ("f" in options and own_shell):
            found.append(row)
    return found


def _picked(rows: list[Row], options: Options) -> list[Row]:
    """The children of -P, the users of -u and -U, the newest or the oldest."""
    if "P" in options:
        rows = [row for row in rows if str(row.parent) in options.values["P"].split(",")]
    for letter in "uU":
        if letter in options:
            names = options.values[letter].split(",")
            rows = [row for row in rows if row.user in names]
    return rows[-1:] if "n" in options else rows[:1] if "o" in options else rows


async def pgrep(call: Call) -> int:
    """`pgrep [-aclfnovx] [-P PID] [-u USER] PATTERN`."""
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
    """`pkill [-SIGNAL] [-fx] PATTERN`."""
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
    """`killall [-SIGNAL] NAME…`."""
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


FAMILY: dict[str, Command] = {
    "pidof": pidof,
    "pgrep": pgrep,
    "pkill": pkill,
    "kill": kill,
    "killall": killall,
}
