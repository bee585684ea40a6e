"""What an ADB stream may be opened to: the names in OPEN and who serves them. Knows no packets."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from struct import Struct
from typing import TYPE_CHECKING

from handrail_sim import shell
from handrail_sim.adbd.backup import backup
from handrail_sim.adbd.shell_service import exec_service, first_word, shell_service
from handrail_sim.adbd.sync import Sync
from handrail_sim.adbd.tracking import apps, pids, track
from handrail_sim.shell.processes import processes_of
from handrail_sim.shell.run import is_root
from handrail_sim.stream import Stream

if TYPE_CHECKING:
    from handrail_sim.adbd.connection import Connection
    from handrail_sim.phone import Phone

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
        options = kind.split(",")[1:]
        run = shell_service(phone, options, rest)
        pipes = "v2" in options and "pty" not in options and bool(rest)
        return Service(run, "v2" not in options, processes_of(phone).hang_up if pipes else None)
    if kind == "exec":
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


def _abb(phone: Phone, kind: str, rest: str) -> Service:
    """A service's command without a shell: its words come apart by zero bytes."""
    command = shlex.join(["cmd", *rest.split("\0")])
    if kind == "abb":
        return Service(shell_service(phone, ["v2", "raw"], command), hang_up=processes_of(phone).hang_up)
    return Service(exec_service(phone, command), drains=True)


def _control(connection: Connection, kind: str, rest: str) -> Service | None:
    """Services that act on the daemon or the whole phone, and answer with a text."""
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
