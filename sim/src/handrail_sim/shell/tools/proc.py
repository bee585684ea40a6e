"""The few files of /proc that tools read: made when they are opened, from what the phone is doing."""

from __future__ import annotations

import re

from handrail_sim.shell.call import Call
from handrail_sim.shell.tools.machine import KERNEL
from handrail_sim.shell.tools.processes import visible

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


def _unix_sockets(call: Call) -> str:
    """Abstract sockets that something in the phone serves, as clients look for devtools."""
    names = [name.partition(":")[2] for name in call.phone.ports if name.startswith("localabstract:")]
    rows = [
        f"0000000000000000: 00000002 00000000 00010000 0001 01 {at + 20000} @{name}\n"
        for at, name in enumerate(names)
    ]
    return "Num       RefCount Protocol Flags    Type St Inode Path\n" + "".join(rows)


def proc_file(call: Call, path: str) -> bytes | None:
    """The content of a file in /proc, None if there is no such file."""
    match = re.fullmatch(r"/proc/(\d+|self)/(cmdline|comm|oom_score_adj)", path)
    if match:
        row = next((one for one in visible(call) if str(one.pid) == match[1]), None)
        if row is None:
            return None
        shown = {
            "cmdline": row.command.replace(" ", "\0") + "\0",
            "comm": f"{row.name[-15:]}\n",
            "oom_score_adj": "0\n",
        }
        return shown[match[2]].encode()
    seconds = call.phone.clock.monotonic_ms() / 1000
    match path:
        case "/proc/cpuinfo":
            text = "".join(_CPU.format(number) for number in range(8)) + "Hardware\t: Handrail\n"
        case "/proc/meminfo":
            text = _MEMORY
        case "/proc/version":
            text = f"Linux version {KERNEL} (handrail@sim) #1 SMP PREEMPT Wed Jan 10 00:00:00 UTC 2024\n"
        case "/proc/uptime":
            text = f"{seconds:.2f} {seconds * 7:.2f}\n"
        case "/proc/loadavg":
            text = "0.10 0.08 0.05 1/900 20000\n"
        case "/proc/sys/kernel/random/boot_id":
            text = f"{call.phone.boot_id}\n"
        case "/proc/net/unix":
            text = _unix_sockets(call)
        case _:
            return None
    return text.encode()
