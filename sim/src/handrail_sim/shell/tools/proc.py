"""/proc: made when somebody looks, from what the phone is doing and from its processes."""

from __future__ import annotations

import stat as modes
from functools import lru_cache
from typing import TYPE_CHECKING

from handrail_sim.disk.blobs import intern
from handrail_sim.disk.nodes import Node
from handrail_sim.shell.processes import processes_of
from handrail_sim.shell.tools.machine import KERNEL
from handrail_sim.shell.tools.names import user_number
from handrail_sim.shell.tools.processes import Row, rows_of
from handrail_sim.shell.tools.terminal import MOUNTS

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

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
    """Abstract sockets that something in the phone serves, as clients look for devtools."""
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
    whole = int(seconds * TICKS)
    one = f"{whole // 20} 0 {whole // 20} {whole - whole // 10} 0 0 0 0 0 0"
    every = f"{whole // 20 * CORES} 0 {whole // 20 * CORES} {(whole - whole // 10) * CORES} 0 0 0 0 0 0"
    cores = "".join(f"cpu{number} {one}\n" for number in range(CORES))
    return (
        f"cpu  {every}\n{cores}intr 0\nctxt 0\nbtime 0\nprocesses {rows}\nprocs_running 1\nprocs_blocked 0\n"
    )


@lru_cache(maxsize=1024)
def _process(pid: int, parent: int, user: str, name: str, command: str, app: bool) -> Node:
    """Frozen: a process looks the same to whoever asks, and most of them on every phone."""
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


def _of(row: Row) -> Node:
    return _process(row.pid, row.parent, row.user, row.name, row.command, row.app)


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
            **{str(row.pid): _of(row) for row in rows},
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
    """Where the phone's shells find it."""
    phone.files.mount("proc", lambda: proc(phone))
