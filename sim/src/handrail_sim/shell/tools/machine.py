"""Commands about the machine and its user: id, whoami, uname, uptime, getenforce, free, nproc, clear."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.tools.ls import human
from handrail_sim.shell.tools.names import user_name

GROUPS = (2000, 1004, 1007, 1011, 1015, 1028, 1078, 1079, 3001, 3002, 3003, 3006, 3009, 3011)
KERNEL = "5.15.123-android14-11"


async def identity(call: Call) -> int:
    """`id [-ugnG]`."""
    options, user = call.options, call.session.user
    shown = user_name(user.uid)
    context = "u:r:shell:s0" if user.package is None else "u:r:runas_app:s0:c100,c256,c512,c768"
    context = "u:r:su:s0" if user.uid == 0 else context
    if "Z" in options:
        await call.line(context)
        return 0
    if options.flags & {"u", "g"}:
        await call.line(shown if "n" in options else str(user.uid))
        return 0
    numbers = GROUPS if user.package is None else (user.uid, 3003, 9997, user.uid + 10000, user.uid + 40000)
    if "G" in options:
        await call.line(" ".join(user_name(one) if "n" in options else str(one) for one in numbers))
        return 0
    groups = ",".join(f"{one}({user_name(one)})" for one in numbers)
    await call.line(f"uid={user.uid}({shown}) gid={user.uid}({shown}) groups={groups} context={context}")
    return 0


async def pwd(call: Call) -> int:
    """`pwd` as a program, for those who start it without a shell."""
    await call.line(call.cwd)
    return 0


async def whoami(call: Call) -> int:
    """`whoami`."""
    await call.line(user_name(call.session.user.uid))
    return 0


async def uname(call: Call) -> int:
    """`uname [-asnrvmo]`."""
    options = call.options
    version = "#1 SMP PREEMPT Wed Jan 10 00:00:00 UTC 2024"
    fields = {"s": "Linux", "n": "localhost", "r": KERNEL, "v": version, "m": "aarch64", "o": "Toybox"}
    chosen = (
        list("snrvmo") if "a" in options else [letter for letter in "snrvmo" if letter in options] or ["s"]
    )
    await call.line(" ".join(fields[letter] for letter in chosen))
    return 0


async def uptime(call: Call) -> int:
    """`uptime`, since the phone's clock began."""
    minutes = int(call.phone.clock.monotonic_ms() // 60_000)
    seconds = call.phone.wall_ms() // 1000 % 86400
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    up = f"{minutes // 60}:{minutes % 60:02}" if minutes >= 60 else f"{minutes} min"
    await call.line(f" {clock} up {up},  0 users,  load average: 0.10, 0.08, 0.05")
    return 0


async def getenforce(call: Call) -> int:
    """SELinux is on."""
    await call.line("Enforcing")
    return 0


async def nproc(call: Call) -> int:
    """Eight cores."""
    await call.line("8")
    return 0


async def hostname(call: Call) -> int:
    """`hostname`."""
    await call.line("localhost")
    return 0


_MEMORY = (
    ("Mem:", 2085789696, 1946861568, 138928128, 8744960, 9310208),
    ("-/+ buffers/cache:", 1937551360, 148238336),
    ("Swap:", 1564340224, 0, 1564340224),
)


async def free(call: Call) -> int:
    """`free [-bkmgh]`: round figures."""
    unit = next((size for letter, size in (("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30))
                 if letter in call.options), 1)  # fmt: skip
    await call.line("\t\ttotal        used        free      shared     buffers")
    for title, *figures in _MEMORY:
        shown = [human(one) if "h" in call.options else str(one // unit) for one in figures]
        await call.line(f"{title:<10}" + "".join(f"{one:>12}" for one in shown))
    return 0


async def clear(call: Call) -> int:
    """Clear the terminal."""
    await call.out("\x1b[2J\x1b[H")
    return 0


async def reboot(call: Call) -> int:
    """`reboot`."""
    call.phone.reboot()
    return 0


FAMILY: dict[str, Command] = {
    "id": identity,
    "pwd": pwd,
    "whoami": whoami,
    "uname": uname,
    "uptime": uptime,
    "getenforce": getenforce,
    "nproc": nproc,
    "hostname": hostname,
    "free": free,
    "clear": clear,
    "reboot": reboot,
}
