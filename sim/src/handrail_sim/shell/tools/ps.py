"""`ps` and `top`: the processes in columns, as toybox on Android prints them."""

from __future__ import annotations

import re
from collections.abc import Callable

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, Options, read_options
from handrail_sim.shell.tools.names import user_number
from handrail_sim.shell.tools.processes import Row, visible

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
    found = []
    for word in re.split(r"[, ]+", text.strip(", ")):
        name, equals, title = word.partition("=")
        known = FIELDS.get(name.split(":")[0].upper())
        if known is None:
            raise BadUsage(f"bad -o {name}")
        own, width, cell = known
        found.append((title if equals else own, width, cell))
    return found


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
    """`ps [-AefTnwZ] [-o COLUMNS] [-k COLUMNS] [-p PIDS] [-P PARENTS] [-u USERS]`."""
    options = call.options
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


FAMILY: dict[str, Command] = {"ps": ps, "top": top}
