"""The terminal, mounts, temporary files and bare connections: tty, stty, mount, umount, mktemp, nc."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.io import CHUNK
from handrail_sim.shell.options import BadUsage
from handrail_sim.stream import End, Stream, join, pair
from handrail_sim.waiting import beside

_SIZE = (24, 80)  # rows, columns
MOUNTS = (
    ("/dev/block/dm-5", "/", "ext4", "ro,seclabel,relatime"),
    ("tmpfs", "/dev", "tmpfs", "rw,seclabel,nosuid,relatime,mode=755"),
    ("proc", "/proc", "proc", "rw,relatime,gid=3009,hidepid=invisible"),
    ("sysfs", "/sys", "sysfs", "rw,seclabel,relatime"),
    ("/dev/block/dm-39", "/data", "f2fs", "rw,lazytime,seclabel,nosuid,nodev,noatime"),
    (
        "/dev/fuse",
        "/storage/emulated",
        "fuse",
        "rw,nosuid,nodev,noexec,noatime,user_id=0,group_id=0",
    ),
)
"""Device, place, kind and options, as /proc/mounts lists them too."""


async def tty(call: Call) -> int:
    """`tty [-s]`."""
    if not call.session.tty:
        await call.out("" if "s" in call.options else "not a tty\n")
        return 1
    await call.out("" if "s" in call.options else "/dev/pts/0\n")
    return 0


async def stty(call: Call) -> int:
    """`stty [-a|-g] [size|echo|-echo|raw|sane|rows N|cols N]`; echo is the one mode that a shell here has."""
    if not call.session.tty:
        return await call.fail("stdin: Not a typewriter")
    held, words = call.phone.service_state("tty"), list(call.args)
    rows, columns = held.get("rows", str(_SIZE[0])), held.get("cols", str(_SIZE[1]))
    if words[:1] in ([], ["-a"], ["-g"]):
        echo = "echo" if call.session.echo else "-echo"
        await call.line(f"speed 38400 baud; rows {rows}; columns {columns};\nisig icanon {echo}")
        return 0
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
        known = any(place == call.path(name) for _, place, _, _ in MOUNTS)
        await call.fail(f"{name}: {'Operation not permitted' if known else 'Invalid argument'}")
    return 1


async def mktemp(call: Call) -> int:
    """`mktemp [-d] [-p DIR] [TEMPLATE]`."""
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
    await call.line(path if folder else name)
    return 0


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
    mine, theirs = pair()
    async with beside(_serve(handler, theirs), "what a port serves"):
        await _talk(call, mine)
    return 0


async def _serve(handler: Callable[[Stream], Awaitable[None]], end: End) -> None:
    try:
        await handler(end)
    finally:
        end.close()


async def _listen(call: Call, port: str) -> int:
    """One caller, then the port is free again."""
    name, mine = f"tcp:{port}", pair()
    if name in call.phone.ports:
        return await call.fail("bind: Address already in use")

    async def accept(stream: Stream) -> None:
        call.phone.ports.pop(name, None)
        await join(stream, mine[1])

    call.phone.ports[name] = accept
    try:
        await _talk(call, mine[0])
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


FAMILY: dict[str, Command] = {"tty": tty, "stty": stty, "mount": mount, "umount": umount}
FAMILY |= {"mktemp": mktemp, "nc": nc}
