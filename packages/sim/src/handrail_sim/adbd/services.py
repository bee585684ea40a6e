"""The services that a client opens by name: shells, files, framebuffer, logs, backups, port lists."""

from __future__ import annotations

import asyncio
import io
import shlex
import tarfile
import zlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING

from handrail_sim import shell
from handrail_sim.adbd.sync import Sync
from handrail_sim.adbd.wire import ShellKind, ShellParser, encode_shell
from handrail_sim.channels.emulator import encode
from handrail_sim.shell.io import Source
from handrail_sim.shell.processes import processes_of
from handrail_sim.shell.run import is_root
from handrail_sim.stream import PIPE_SIZE, Stream
from handrail_sim.system.releases import EXEC_SINCE, SHELL_V2_SINCE, sdk_of
from handrail_sim.waiting import first

if TYPE_CHECKING:
    from handrail_sim.adbd.connection import Connection
    from handrail_sim.phone import Phone
    from handrail_sim.system.packages import Package


HEADER = b"ANDROID BACKUP\n5\n1\nnone\n"
"""Version of the format, packed, not encrypted."""
PATIENCE_MS = 60_000.0
DOMAINS = {"databases": "db", "files": "f", "shared_prefs": "sp"}
"""Folders of an app, and what they are called in the archive; the rest of its folder is `r`."""


def backup(phone: Phone, rest: str) -> Callable[[Stream], Awaitable[None]]:
    """Nothing is sent when the prompt is refused or unanswered for a minute: adb keeps an empty file."""

    async def run(stream: Stream) -> None:
        answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def answer(allowed: bool) -> None:
            if not answered.done():
                answered.set_result(allowed)

        phone.ask_backup(answer)
        waited, _ = await first(_wait(answered), phone.clock.sleep_ms(PATIENCE_MS))
        if waited.cancelled() or not waited.result():
            return
        await stream.write(HEADER + zlib.compress(archive(phone, _words(rest))))

    return run


def _words(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:
        return rest.split()


async def _wait(answered: asyncio.Future[bool]) -> bool:
    return await answered


def archive(phone: Phone, words: list[str]) -> bytes:
    flags = {word for word in words if word.startswith("-")}
    names = [word for word in words if not word.startswith("-")]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, package in sorted(phone.packages.installed.items()):
            wanted = name in names or ("-all" in flags and not (package.system and "-nosystem" in flags))
            if wanted and package.debuggable:
                for path, data in _entries(phone, package, apk="-apk" in flags):
                    entry = tarfile.TarInfo(f"apps/{name}/{path}")
                    entry.size, entry.mode, entry.uid = len(data), 0o600, package.uid
                    tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _entries(phone: Phone, package: Package, *, apk: bool) -> Iterator[tuple[str, bytes]]:
    sdk = phone.props.get("ro.build.version.sdk", "34")
    facts = ["1", package.name, str(package.version_code), sdk, package.installer, str(int(apk)), "0", ""]
    yield "_manifest", "\n".join(facts).encode()
    if apk and phone.files.is_file(package.path):
        yield "a/base.apk", phone.files.read(package.path)
    home = f"/data/data/{package.name}"
    for path in _files(phone, home):
        folder, _, inner = path.removeprefix(f"{home}/").partition("/")
        if folder in DOMAINS:
            yield f"{DOMAINS[folder]}/{inner}", phone.files.read(path)
        elif folder not in {"cache", "code_cache", "no_backup", "lib"}:
            yield f"r/{path.removeprefix(f'{home}/')}", phone.files.read(path)


def _files(phone: Phone, folder: str) -> Iterator[str]:
    for name in sorted(phone.files.list(folder)) if phone.files.is_dir(folder) else []:
        path = f"{folder}/{name}"
        if phone.files.is_dir(path):
            yield from _files(phone, path)
        elif phone.files.is_file(path):
            yield path


CTRL_C = b"\x03"
SIGINT = 2


class Tty:
    """A source of keys for the shell that runs in the current task."""

    def __init__(self, phone: Phone, keys: Source) -> None:
        self._phone = phone
        self._keys = keys
        self._held = bytearray()
        self._ended = False
        self._changed = asyncio.Event()
        self._shell = asyncio.current_task()
        self._pump = asyncio.ensure_future(self._take())

    async def read(self, n: int = -1, /) -> bytes:
        """What was typed, up to n bytes; a terminal never waits for more than there is."""
        while not self._held and not self._ended:
            await self._wait()
        data = bytes(self._held if n < 0 else self._held[:n])
        del self._held[: len(data)]
        self._changed.set()
        return data

    def close(self) -> None:
        self._pump.cancel()

    async def _take(self) -> None:
        while keys := await self._keys.read(4096):
            if CTRL_C in keys and self._interrupt():
                self._held.clear()
                keys = keys.rpartition(CTRL_C)[2]
            self._held += keys
            self._changed.set()
            while len(self._held) > PIPE_SIZE:
                await self._wait()
        self._ended = True
        self._changed.set()

    def _interrupt(self) -> bool:
        """SIGINT for the commands in front; False when the shell itself waits for a line."""
        table = processes_of(self._phone)
        running = list(table.running.values())
        pid = next((process.pid for process in running if process.task is self._shell), None)
        front = [process for process in running if process.parent == pid and process.task not in table.jobs]
        for process in front:
            table.send(process, SIGINT)
        return bool(front)

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()


PACKET_DATA = 65536 - 5
"""Data of one shell packet: with its header it fills one WRTE."""

Run = Callable[[Stream], Awaitable[None]]


def shell_service(phone: Phone, options: list[str], command: str) -> Run:
    """`shell[,v2][,TERM=…][,raw|pty]:command`; unknown options are ignored, as adbd does.

    Without raw or pty, an empty command gets a terminal and any other none.
    """
    pty = "pty" in options or (not command and "raw" not in options)
    term = next((option[5:] for option in options if option.startswith("TERM=")), "dumb")

    async def run(stream: Stream) -> None:
        ends = V2(stream, merged=pty) if "v2" in options else V1(stream)
        await ends.run(phone, command, tty=pty, term=term)

    return run


def exec_service(phone: Phone, command: str) -> Run:
    """`exec:command`: bytes as they are, both ways."""

    async def run(stream: Stream) -> None:
        await V1(stream).run(phone, command, tty=False, term="dumb")

    return run


class V1:
    """Raw bytes: stderr goes where stdout goes, the exit code is lost."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._held = b""
        self._room: int | None = None

    async def run(self, phone: Phone, command: str, *, tty: bool, term: str) -> None:
        cut = phone.faults.get("truncated_output", first_word(command))
        self._room = None if cut is None else int(cut["bytes"])
        keys = Tty(phone, self) if tty else None
        io = shell.ShellIO(stdin=keys or self, out=self.out, err=self.err, tty=tty)
        try:
            await self.exit(await shell.run(phone, command, io, {"TERM": term}))
        finally:
            if keys is not None:
                keys.close()

    async def read(self, n: int = -1, /) -> bytes:
        """At most n bytes, b"" at the end; everything until then when n is negative."""
        if n < 0:
            parts = [self._held]
            self._held = b""
            while part := await self._next():
                parts.append(part)
            return b"".join(parts)
        data = self._held or await self._next()
        self._held = data[n:]
        return data[:n]

    async def _next(self) -> bytes:
        return await self._stream.read()

    async def out(self, data: bytes) -> None:
        await self._stream.write(self._fit(data))

    async def err(self, data: bytes) -> None:
        await self.out(data)

    async def exit(self, code: int) -> None:
        """Nobody is told."""

    def _fit(self, data: bytes) -> bytes:
        """What is left of the data when output is cut short by a fault."""
        if self._room is None:
            return data
        data = data[: self._room]
        self._room -= len(data)
        return data


class OldTerminal(V1):
    """A command before Android 7: it has a terminal, which writes a line's end as two characters and repeats
    what is typed. Its end of input is never told."""

    @classmethod
    async def serve(cls, phone: Phone, command: str, stream: Stream) -> None:
        await cls(stream).run(phone, command, tty=False, term="dumb")

    async def out(self, data: bytes) -> None:
        await super().out(data.replace(b"\n", b"\r\n"))

    async def _next(self) -> bytes:
        typed = await super()._next()
        if typed:
            await self.out(typed)
        return typed


class V2(V1):
    """Packets: stdout, stderr and exit code apart; with a terminal everything is stdout."""

    def __init__(self, stream: Stream, *, merged: bool) -> None:
        super().__init__(stream)
        self._parser = ShellParser()
        self._err = ShellKind.STDOUT if merged else ShellKind.STDERR
        self._ended = False

    async def _next(self) -> bytes:
        ready: list[bytes] = []
        while not ready and not self._ended:
            data = await self._stream.read()
            self._ended = not data
            for kind, part in self._parser.feed(data):
                if kind == ShellKind.STDIN and not self._ended:
                    ready.append(part)
                elif kind == ShellKind.CLOSE_STDIN:
                    self._ended = True
        return b"".join(ready)

    async def out(self, data: bytes) -> None:
        await self._send(ShellKind.STDOUT, self._fit(data))

    async def err(self, data: bytes) -> None:
        await self._send(self._err, self._fit(data))

    async def exit(self, code: int) -> None:
        await self._send(ShellKind.EXIT, bytes([code & 0xFF]))

    async def _send(self, kind: ShellKind, data: bytes) -> None:
        view = memoryview(data)
        for at in range(0, len(view), PACKET_DATA):
            await self._stream.write(encode_shell(kind, view[at : at + PACKET_DATA]))


def first_word(command: str) -> str:
    """The program a command line starts with, for faults that strike one program only."""
    while command.lstrip().startswith("#"):
        command = command.lstrip().partition("\n")[2]
    words = command.split(None, 2)
    name = words[1] if words[:1] == ["exec"] and words[1:] else "".join(words[:1])
    return name.rpartition("/")[2] or "sh"


ARCHITECTURE = "arm64"


def _debuggable(phone: Phone) -> Iterator[int]:
    everything = phone.props.get("ro.debuggable") == "1"
    for name, process in phone.packages.processes.items():
        package = phone.packages.installed.get(name)
        if package is not None and (package.debuggable or everything):
            yield process.pid


def pids(phone: Phone) -> bytes:
    return "".join(f"{pid}\n" for pid in sorted(_debuggable(phone))).encode()


def apps(phone: Phone) -> bytes:
    """adb's AppProcesses: pid, debuggable, profileable, architecture of each."""
    return b"".join(
        encode((1, encode((1, pid), (2, True), (3, True), (4, ARCHITECTURE))))
        for pid in sorted(_debuggable(phone))
    )


def track(phone: Phone, tell: Callable[[Phone], bytes]) -> Callable[[Stream], Awaitable[None]]:
    """Four hex digits of length and the list, now and after each change, until the host has enough."""

    async def run(stream: Stream) -> None:
        changed = asyncio.Event()
        phone.packages.watchers.append(changed.set)
        reply: bytes | None = None
        try:
            while True:
                now = tell(phone)
                if now != reply:
                    await stream.write(f"{len(now):04x}".encode() + now)
                    reply = now
                changed.clear()
                await changed.wait()
        finally:
            phone.packages.watchers.remove(changed.set)

    return run


__all__ = ["Service", "Stream", "find_service"]

_RAW_HEADER = Struct("<4I")
"""screencap without -p: width, height, pixel format, colour space."""
_FRAMEBUFFER = Struct("<14I")
"""Version 2: version, depth, colour space, size, width, height; offset and length in bits of R, B, G, A."""
_RGBA = (0, 8, 16, 8, 8, 8, 24, 8)


@dataclass(frozen=True, slots=True)
class Service:
    """What runs behind a stream and ends with it: SIGHUP, as from adbd or its pty.

    One that `drains` may first read what was sent before the end, as `exec-in` needs it.
    """

    run: Callable[[Stream], Awaitable[None]]
    drains: bool = False
    hang_up: Callable[[asyncio.Task[None]], None] | None = None
    """How it learns of the end, where cancelling it would be more than Android does."""


def find_service(connection: Connection, name: str) -> Service | None:
    """The service of this name; None refuses the OPEN, as adbd does for what it doesn't know."""
    service = _find(connection, name)
    kind, _, rest = name.partition(":")
    word = first_word(rest) if kind.startswith(("shell", "exec")) else kind
    reset = None if service is None else connection.phone.faults.get("stream_reset", word)
    if service is None or reset is None:
        return service
    return _reset_after(service, int(reset["bytes"]))


def _find(connection: Connection, name: str) -> Service | None:
    kind, colon, rest = name.partition(":")
    phone = connection.phone
    if kind == "shell" or kind.startswith("shell,"):
        return _shell(phone, kind.split(",")[1:], rest)
    if kind == "exec" and sdk_of(phone) >= EXEC_SINCE:
        return Service(exec_service(phone, rest), drains=True)
    if kind in ("abb", "abb_exec"):
        return _abb(phone, kind, rest)
    if name == "sync:":
        return Service(_sync(phone))
    if name in _TRACKED:
        return Service(track(phone, _TRACKED[name]))
    if name == "jdwp":
        return _answer(pids(phone))
    if kind in ("tcp", "local", "localabstract", "localreserved", "localfilesystem"):
        handler = phone.ports.get(name)
        return None if handler is None else Service(handler)
    return _control(connection, kind, rest) if colon or name == "reconnect" else None


def _shell(phone: Phone, options: list[str], command: str) -> Service:
    if command and sdk_of(phone) < SHELL_V2_SINCE:
        return Service(partial(OldTerminal.serve, phone, command))
    run = shell_service(phone, options, command)
    pipes = "v2" in options and "pty" not in options and bool(command)
    return Service(run, "v2" not in options, processes_of(phone).hang_up if pipes else None)


def _abb(phone: Phone, kind: str, rest: str) -> Service:
    """A service's command without a shell: its words come apart by zero bytes."""
    command = shlex.join(["cmd", *rest.split("\0")])
    if kind == "abb":
        return Service(shell_service(phone, ["v2", "raw"], command), hang_up=processes_of(phone).hang_up)
    return Service(exec_service(phone, command), drains=True)


def _control(connection: Connection, kind: str, rest: str) -> Service | None:
    phone = connection.phone
    answers: dict[str, Callable[[], bytes]] = {
        "reverse": lambda: connection.reverse.request(rest),
        "root": lambda: _root(connection),
        "unroot": lambda: _unroot(connection),
        "remount": lambda: _NO_REMOUNT if is_root(phone) else _NOT_ROOT,
        "usb": lambda: _usb_mode(connection),
    }
    if kind in answers:
        return _answer(answers[kind]())
    runs = {
        "reboot": _reboot(phone),
        "framebuffer": _framebuffer(phone),
        "reconnect": _reconnect(connection),
        "tcpip": _tcp_mode(connection, rest),
        "backup": backup(phone, rest),
    }
    return Service(runs[kind]) if kind in runs else None


_TRACKED = {"track-jdwp": pids, "track-app": apps}
_NO_REMOUNT = b"Device must be bootloader unlocked\n"
_NOT_ROOT = b'Not running as root. Try "adb root" first.\n'


def _usb_mode(connection: Connection) -> bytes:
    connection.adbd.leave_tcp()
    return b"restarting in USB mode\n"


def _unroot(connection: Connection) -> bytes:
    if not is_root(connection.phone):
        return b"adbd not running as root\n"
    connection.adbd.become_root(False)
    return b"restarting adbd as non root\n"


def _root(connection: Connection) -> bytes:
    """adbd starts again as another user, if the build allows it."""
    phone, adbd = connection.phone, connection.adbd
    if phone.props.get("ro.debuggable") != "1":
        return b"adbd cannot run as root in production builds\n"
    if is_root(phone):
        return b"adbd is already running as root\n"
    adbd.become_root(True)
    return b"restarting adbd as root\n"


def _tcp_mode(connection: Connection, rest: str) -> Callable[[Stream], Awaitable[None]]:
    """Another port for this phone; the one that it was reached by is its cable and stays."""

    async def run(stream: Stream) -> None:
        port = int(rest) if rest.isascii() and rest.isdigit() else 0
        if not 0 < port < 65536:
            await stream.write(b"invalid port\n")
        elif await connection.adbd.open_port(port):
            await stream.write(f"restarting in TCP mode port: {port}\n".encode())
        else:
            await stream.write(f"error: port {port} is in use\n".encode())

    return run


def _sync(phone: Phone) -> Callable[[Stream], Awaitable[None]]:
    async def run(stream: Stream) -> None:
        await phone.faults.delay("sync")
        files = phone.files if is_root(phone) else phone.files.as_shell()
        await Sync(files).serve(stream)

    return run


def _answer(text: bytes) -> Service:
    async def run(stream: Stream) -> None:
        await stream.write(text)

    return Service(run)


def _reboot(phone: Phone) -> Callable[[Stream], Awaitable[None]]:
    async def run(stream: Stream) -> None:
        """The stream stays open until the connection drops, so that scripts can wait for the phone next."""
        phone.reboot()
        while await stream.read():
            pass

    return run


def _reconnect(connection: Connection) -> Callable[[Stream], Awaitable[None]]:
    async def run(stream: Stream) -> None:
        await stream.write(b"done")
        stream.close()
        connection.close()

    return run


def _framebuffer(phone: Phone) -> Callable[[Stream], Awaitable[None]]:
    async def run(stream: Stream) -> None:
        """adbd too gets its pixels from the screencap command."""
        raw = (await shell.capture(phone, "screencap")).stdout
        width, height, _, space = _RAW_HEADER.unpack_from(raw)
        await stream.write(_FRAMEBUFFER.pack(2, 32, space, width * height * 4, width, height, *_RGBA))
        await stream.write(raw[_RAW_HEADER.size :])

    return run


def _reset_after(service: Service, size: int) -> Service:
    """The same service, whose stream breaks after so many bytes of its answer."""

    async def run(stream: Stream) -> None:
        await service.run(_Breaking(stream, size))

    return replace(service, run=run)


class _Breaking:
    """A stream that is closed in the middle of an answer."""

    def __init__(self, stream: Stream, size: int) -> None:
        self._stream = stream
        self._left = size
        self.read = stream.read
        self.close = stream.close

    async def write(self, data: bytes) -> None:
        await self._stream.write(data[: self._left])
        self._left -= len(data)
        if self._left <= 0:
            self._stream.close()
            raise BrokenPipeError
