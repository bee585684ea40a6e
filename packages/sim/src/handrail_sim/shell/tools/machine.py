"""Tools that describe the machine: uname, uptime, id, date, ip, ping, netstat, tty, stty."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

from handrail_sim import resources
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys.radio import ADDRESS, is_on
from handrail_sim.shell.io import CHUNK
from handrail_sim.shell.options import BadUsage, read_getopt
from handrail_sim.shell.tools.files import human
from handrail_sim.shell.tools.names import user_name
from handrail_sim.stream import End, Stream, join, pair
from handrail_sim.waiting import beside

GROUPS = (2000, 1004, 1007, 1011, 1015, 1028, 1078, 1079, 3001, 3002, 3003, 3006, 3009, 3011)
KERNEL = "5.15.123-android14-11"


async def identity(call: Call) -> int:
    options, user = call.options, call.session.user
    shown = user_name(user.uid)
    context = "u:r:shell:s0" if user.package is None else "u:r:runas_app:s0:c100,c256,c512,c768"
    context = "u:r:su:s0" if user.uid == 0 else context
    if "Z" in options:
        return await call.line(context)
    if options.flags & {"u", "g"}:
        return await call.line(shown if "n" in options else str(user.uid))
    numbers = GROUPS if user.package is None else (user.uid, 3003, 9997, user.uid + 10000, user.uid + 40000)
    if "G" in options:
        return await call.line(
            " ".join(user_name(index) if "n" in options else str(index) for index in numbers)
        )
    groups = ",".join(f"{number}({user_name(number)})" for number in numbers)
    return await call.line(
        f"uid={user.uid}({shown}) gid={user.uid}({shown}) groups={groups} context={context}"
    )


async def pwd(call: Call) -> int:
    """`pwd` as a program, for those who start it without a shell."""
    return await call.line(call.cwd)


async def whoami(call: Call) -> int:
    return await call.line(user_name(call.session.user.uid))


async def uname(call: Call) -> int:
    options = call.options
    version = "#1 SMP PREEMPT Wed Jan 10 00:00:00 UTC 2024"
    fields = {"s": "Linux", "n": "localhost", "r": KERNEL, "v": version, "m": "aarch64", "o": "Toybox"}
    chosen = (
        list("snrvmo") if "a" in options else [letter for letter in "snrvmo" if letter in options] or ["s"]
    )
    return await call.line(" ".join(fields[letter] for letter in chosen))


async def uptime(call: Call) -> int:
    """`uptime`, since the phone's clock began."""
    minutes = int(call.phone.clock.monotonic_ms() // 60_000)
    seconds = call.phone.wall_ms() // 1000 % 86400
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    up = f"{minutes // 60}:{minutes % 60:02}" if minutes >= 60 else f"{minutes} min"
    return await call.line(f" {clock} up {up},  0 users,  load average: 0.10, 0.08, 0.05")


async def getenforce(call: Call) -> int:
    return await call.line("Enforcing")


async def nproc(call: Call) -> int:
    return await call.line("8")


async def hostname(call: Call) -> int:
    return await call.line("localhost")


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
        shown = [human(figure) if "h" in call.options else str(figure // unit) for figure in figures]
        await call.line(f"{title:<10}" + "".join(f"{name:>12}" for name in shown))
    return 0


async def clear(call: Call) -> int:
    return await call.out("\x1b[2J\x1b[H")


async def reboot(call: Call) -> int:
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


MAC, GATEWAY, BROADCAST = "02:00:00:00:00:00", "192.168.1.1", "192.168.1.255"


def _interfaces(call: Call) -> list[str]:
    return ["lo", "wlan0"] if is_on(call, "wifi_on") else ["lo"]


def _address(number: int, name: str) -> str:
    if name == "lo":
        facts = "<LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000"
        link = "link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00"
        inet = "inet 127.0.0.1/8 scope host lo"
    else:
        facts = "<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 3000"
        link = f"link/ether {MAC} brd ff:ff:ff:ff:ff:ff"
        inet = f"inet {ADDRESS}/24 brd {BROADCAST} scope global {name}"
    lifetime = "       valid_lft forever preferred_lft forever"
    return f"{number}: {name}: {facts}\n    {link}\n    {inet}\n{lifetime}\n"


_IP_OPTIONS = frozenset({"-f", "-4", "-6", "-o", "-oneline", "-family", "-details", "-d", "-s", "-br"})


async def ip(call: Call) -> int:
    words = [
        arg
        for at, arg in enumerate(call.args)
        if not arg.startswith("-") and call.args[at - 1 : at] != ["-f"]
    ]
    kind = words[0] if words else ""
    wrong = [arg for arg in call.args if arg.startswith("-") and arg not in _IP_OPTIONS]
    if wrong:
        return await call.err(f'Option "{wrong[0]}" is unknown, try "ip -help".', 255)
    existing = _interfaces(call)
    if "addr".startswith(kind) or "address".startswith(kind) or "link".startswith(kind):
        requested = [word for word in words[1:] if word not in {"show", "dev", "list", "ls"}]
        if requested and requested[0] not in existing:
            return await call.err(f'Device "{requested[0]}" does not exist.')
        for number, name in enumerate(existing, 1):
            if not requested or name == requested[0]:
                await call.out(_address(number if name == "lo" else 21, name))
        return 0
    if kind and "route".startswith(kind):
        if "wlan0" in existing:
            if words[1:2] == ["get"]:
                await call.line(
                    f"{words[2] if words[2:] else GATEWAY} via {GATEWAY} dev wlan0 table wlan0 "
                    f"src {ADDRESS} uid 2000"
                )
            else:
                await call.line(f"192.168.1.0/24 dev wlan0 proto kernel scope link src {ADDRESS} ")
        return 0
    return await call.err(f'Object "{kind}" is unknown, try "ip help".')


async def ifconfig(call: Call) -> int:
    names = [arg for arg in call.args if not arg.startswith("-")]
    existing = _interfaces(call)
    if names and names[0] not in existing:
        return await call.fail(f"{names[0]}: No such device")
    for name in existing[::-1]:
        if names and name != names[0]:
            continue
        link = "Local Loopback" if name == "lo" else f"Ethernet  HWaddr {MAC}  Driver sim_wifi"
        inet = (
            "127.0.0.1  Mask:255.0.0.0 "
            if name == "lo"
            else f"{ADDRESS}  Bcast:{BROADCAST}  Mask:255.255.255.0 "
        )
        flags = (
            "UP LOOPBACK RUNNING  MTU:65536  Metric:1"
            if name == "lo"
            else "UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1"
        )
        await call.out(
            f"{name:<10}Link encap:{link}\n          inet addr:{inet}\n          {flags}\n"
            "          RX packets:1200 errors:0 dropped:0 overruns:0 frame:0 \n"
            "          TX packets:900 errors:0 dropped:0 overruns:0 carrier:0 \n"
            "          collisions:0 txqueuelen:1000 \n          RX bytes:640000 TX bytes:98000 \n\n"
        )
    return 0


async def ping(call: Call) -> int:
    """Only this phone and its gateway answer: there is no net behind it."""
    options = read_getopt(call.args, "46bnqc:i:I:s:t:w:W:", code=2)
    if not options.rest:
        return await call.err("ping: usage error: Destination address required", 2)
    host = options.rest[0]
    count = min(options.number("c", 4), 100)
    literal = re.fullmatch(r"\d+\.\d+\.\d+\.\d+", host)
    near = host in {"127.0.0.1", "localhost", ADDRESS} or (host == GATEWAY and is_on(call, "wifi_on"))
    if not literal and not near:
        return await call.fail(f"unknown host {host}", 2)
    await call.line(f"PING {host} ({host}) 56(84) bytes of data.")
    for number in range(1, count + 1 if near else 1):
        await call.line(f"64 bytes from {host}: icmp_seq={number} ttl=64 time=0.50 ms")
    got, loss = (count, 0) if near else (0, 100)
    await call.line(
        f"\n--- {host} ping statistics ---\n{count} packets transmitted, {got} received, {loss}% "
        "packet loss, time 0ms"
    )
    return 0 if near else 1


async def netstat(call: Call) -> int:
    flags = call.options.flags
    listening = bool(flags & {"a", "l"})
    kinds = "only servers" if "l" in flags else "servers and established" if "a" in flags else "w/o servers"
    await call.line(
        f"Active Internet connections ({kinds})\nProto Recv-Q Send-Q Local Address           "
        "Foreign Address         State"
    )
    for name in call.phone.ports:
        kind, _, port = name.partition(":")
        if kind == "tcp" and listening and "u" not in flags:
            await call.line(f"tcp        0      0 {'127.0.0.1:' + port:<23} {'0.0.0.0:*':<23} LISTEN")
    return 0


FAMILY |= {"ip": ip, "ifconfig": ifconfig, "ping": ping, "netstat": netstat}


_SIZE = (24, 80)  # rows, columns
MOUNTS = resources.rows("shell/tools/mounts.txt")
"""Device, place, kind and options, as /proc/mounts lists them too."""


async def tty(call: Call) -> int:
    if not call.session.tty:
        await call.out("" if "s" in call.options else "not a tty\n")
        return 1
    return await call.out("" if "s" in call.options else "/dev/pts/0\n")


async def stty(call: Call) -> int:
    """`stty [-a|-g] [size|echo|-echo|raw|sane|rows N|cols N]`; echo is the one mode that a shell here has."""
    if not call.session.tty:
        return await call.fail("stdin: Not a typewriter")
    held, words = call.phone.service_state("tty"), list(call.args)
    rows, columns = held.get("rows", str(_SIZE[0])), held.get("cols", str(_SIZE[1]))
    if words[:1] in ([], ["-a"], ["-g"]):
        echo = "echo" if call.session.echo else "-echo"
        return await call.line(f"speed 38400 baud; rows {rows}; columns {columns};\nisig icanon {echo}")
    while words:
        word = words.pop(0)
        if word == "size":
            await call.line(f"{rows} {columns}")
        elif word in {"echo", "-echo", "raw", "sane"}:
            call.session.echo = word in {"echo", "sane"}
        elif word in {"rows", "cols", "columns"} and words and words[0].isdigit():
            held[word.removesuffix("umns") if word == "columns" else word] = words.pop(0)
        else:
            raise BadUsage(f"unknown mode '{word}'")
    return 0


async def mount(call: Call) -> int:
    """`mount`: what is mounted; mounting more needs root."""
    options = call.options
    if options.rest:
        return await call.fail(f"'{options.rest[0]}'->'{options.rest[-1]}': Operation not permitted")
    for device, place, kind, facts in MOUNTS:
        if options.values.get("t", kind) == kind:
            await call.line(f"{device} on {place} type {kind} ({facts})")
    return 0


async def umount(call: Call) -> int:
    """`umount PLACE`: needs root, and a mount."""
    for name in call.options.rest:
        exists = any(place == call.path(name) for _, place, _, _ in MOUNTS)
        await call.fail(f"{name}: {'Operation not permitted' if exists else 'Invalid argument'}")
    return 1


async def mktemp(call: Call) -> int:
    options, files = call.options, call.session.files
    template = options.rest[0] if options.rest else "tmp.XXXXXXXXXX"
    if not template.endswith("XX"):
        raise BadUsage("need XX in template")
    folder = options.values.get("p") or ("" if options.rest else call.env.get("TMPDIR", "/tmp"))  # noqa: S108 - the phone's
    stem = template.rstrip("X")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    name = stem + "".join(call.phone.random.choices(letters, k=len(template) - len(stem)))
    path = call.path(f"{folder}/{name}" if folder else name)
    try:
        files.mkdir(path, 0o700) if "d" in options else files.write(path, b"", mode=0o600)
    except OSError as problem:
        return await call.fail(f"Failed to create {path}: {problem.strerror}")
    return await call.line(path if folder else name)


async def nc(call: Call) -> int:
    """`nc HOST PORT`, `nc -l -p PORT`: TCP to what this phone serves; there is no net behind it."""
    options = call.options
    port = options.values.get("p") or (options.rest[-1] if options.rest else "")
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise BadUsage(f"bad port '{port}'" if port else "Needs 2 arguments")
    if "l" in options:
        return await _listen(call, port)
    host = options.rest[0]
    handler = call.phone.ports.get(f"tcp:{port}")
    if host not in {"127.0.0.1", "localhost", "::1", "0.0.0.0"}:  # noqa: S104 - a name, nothing is bound
        if host.replace(".", "").isdigit():
            return await call.fail("connect: Network is unreachable")
        return await call.fail(f"{host}:{port}: No address associated with hostname")
    if handler is None:
        return await call.fail("connect: Connection refused")
    end, theirs = pair()
    async with beside(_serve(handler, theirs), "what a port serves"):
        await _talk(call, end)
    return 0


async def _serve(handler: Callable[[Stream], Awaitable[None]], end: End) -> None:
    try:
        await handler(end)
    finally:
        end.close()


async def _listen(call: Call, port: str) -> int:
    name, own = f"tcp:{port}", pair()
    if name in call.phone.ports:
        return await call.fail("bind: Address already in use")

    async def accept(stream: Stream) -> None:
        call.phone.ports.pop(name, None)
        await join(stream, own[1])

    call.phone.ports[name] = accept
    try:
        await _talk(call, own[0])
    finally:
        if call.phone.ports.get(name) is accept:
            del call.phone.ports[name]
    return 0


async def _talk(call: Call, end: End) -> None:
    """Both ways until the other side ends; the end of stdin alone does not hang up."""

    async def send() -> None:
        with suppress(BrokenPipeError):
            while data := await call.stdin.read(CHUNK):
                await end.write(data)

    try:
        async with beside(send(), "what nc sends"):
            while data := await end.read():
                await call.stdout.write(data)
    finally:
        end.close()


FAMILY |= {"tty": tty, "stty": stty, "mount": mount, "umount": umount}
FAMILY |= {"mktemp": mktemp, "nc": nc}
