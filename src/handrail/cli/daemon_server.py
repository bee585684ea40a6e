"""The daemon of a home: owns its devices, sessions and desk, and runs the commands of clients.

It ends itself when nobody has used it for a while, when its home is removed, and for a client whose code or
settings are others, unless it is busy.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import io
import json
import logging
import os
import signal
import sys
import threading
import time
from collections import UserDict, deque
from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeVar, cast

from handrail import __version__
from handrail.cli.client import LARGEST, fingerprint
from handrail.cli.local_client import MOST_ASKED, close_writer, send
from handrail.cli.local_server import SharedRuntime, ask_at_callers_terminal, authenticate, serve_request
from handrail.cli.output import LOG_FORMAT
from handrail.cli.program import COMMANDS, import_in_turn, run
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.errors import InvalidAction
from handrail.invocation import Invocation, current
from handrail.local_socket import remove_address
from handrail.safety.caller import Caller
from handrail.satellites import COMMANDS as SATELLITE_COMMANDS
from handrail.waiting import beside

if TYPE_CHECKING:
    import _socket


IDLE_S = 9 * 60.0
TICK_S = 1.0  # how often the daemon checks whether it is still needed
FIRST_WORDS_S = 10.0
FINISHING_S = 5.0  # how long commands that run may take to end when the daemon is told to
HOSTED = frozenset(
    "act actions approvals approve reject devices desk take-over hand-back stop mcp serve".split()  # noqa: SIM905
)
"""Commands that run in the daemon, beside all actions. Every other command runs in its own process."""


def serve(home: str, line: _socket.socket, token: bytes, lock: int, idle_s: float) -> None:
    """Runs until it is stopped, replaced, idle for long, or its home is removed."""
    os.environ["HANDRAIL_HOME"] = home
    os.environ = ClientEnvironProxy(os.environ)  # type: ignore[assignment]  # noqa: B003
    own_error = sys.stderr
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, ClientStreamProxy(name, getattr(sys, name)))
    # Lets every level through to the handler, which knows what each client wants.
    logging.basicConfig(handlers=[ClientLogHandler(own_error)])
    logging.getLogger("handrail.progress").setLevel(logging.INFO)
    for name in ("cli.action_commands", "cli.approvals", "cli.perform", "cli.program", "android.surface"):
        importlib.import_module(f"handrail.{name}")
    gc.freeze()  # what was imported stays: it is not worth looking for garbage in it
    listener = socket(fileno=line.detach())
    listener.setblocking(False)
    asyncio.run(Daemon(Path(home), token, lock, idle_s).serve(listener))


class Daemon:
    """All clients of one home, and the runtime that they share."""

    def __init__(self, home: Path, token: bytes, lock: int, idle_s: float) -> None:
        self.home = home
        self.thread = threading.get_ident()
        self.invocations: set[ClientInvocation] = set()
        self._token = token
        self._lock = lock
        self._idle_s = idle_s
        self._runtime: SharedRuntime | None = None
        self._opening = asyncio.Lock()
        self._ended = asyncio.Event()
        self._used = time.monotonic()
        self._began = time.time()
        # When each of our files was changed: after an edit or an upgrade the daemon is replaced.
        modules = [
            module for name, module in [*sys.modules.items()] if name.partition(".")[0].startswith("handrail")
        ]
        self._code: dict[str, int] = {}
        for file in {getattr(module, "__file__", None) for module in modules} - {None}:
            with suppress(OSError):
                self._code[str(file)] = os.stat(str(file)).st_mtime_ns
        self._place = _folder_identity(home)

    async def serve(self, listener: socket) -> None:
        self.write_lock_file()
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # on Windows
            loop.add_signal_handler(signal.SIGTERM, self.stop)
        server = await asyncio.start_server(self._serve_connection, sock=listener, limit=MOST_ASKED)

        async def prepare() -> None:
            await asyncio.sleep(2 * TICK_S)
            await asyncio.to_thread(import_in_turn, "handrail.mcp_server.server")

        async with beside(prepare(), "imports"):
            while not self._ended.is_set() and self._is_needed():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ended.wait(), TICK_S)
        server.close()
        if _folder_identity(self.home) == self._place:
            remove_address(str(self.home), "daemon")
        lock, self._lock = self._lock, -1  # no note is written any more
        os.close(lock)  # from here on a next daemon may begin
        with suppress(TimeoutError):
            async with asyncio.timeout(3 * FINISHING_S):
                deadline = time.monotonic() + FINISHING_S
                while self.invocations and time.monotonic() < deadline:
                    await asyncio.sleep(0.02)
                for invocation in [*self.invocations]:
                    invocation.stop()
                while self.invocations and time.monotonic() < deadline + FINISHING_S:
                    await asyncio.sleep(0.02)
                if self._runtime is not None:
                    await self._runtime.close()
        os._exit(0)  # whatever a thread still waits for

    def _is_needed(self) -> bool:
        if self.invocations:
            self._used = time.monotonic()
        is_used = time.monotonic() - self._used < self._idle_s
        return is_used and self._place is not None and _folder_identity(self.home) == self._place

    def stop(self) -> None:
        """Stops listening. Running commands get time to finish before they are stopped."""
        self._ended.set()

    # clients

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(FIRST_WORDS_S):
                is_known = await authenticate(reader, writer, self._token)
                letter = await reader.readexactly(1) if is_known else b""
                if letter == b"C":
                    request = CommandRequest.read((await read_message(reader, letter))[1])
            if letter == b"{":
                await self._answer_request(reader, writer)
            elif letter == b"C":
                await self._serve_command(request, reader, writer)
        except (OSError, TimeoutError, ValueError, IndexError, asyncio.IncompleteReadError):
            pass  # it is not one of ours, or it went away
        finally:
            await close_writer(writer)

    async def _answer_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = json.loads(b"{" + await reader.readline())
        if request.get("daemon") == "stop":
            self.stop()
            await send(writer, {"pid": os.getpid()})
        elif request.get("daemon") == "status":
            await send(writer, self.status())
        else:
            visitor = Invocation()
            current.set(visitor)
            await serve_request(self._runtime, request, reader, writer)
            if self._runtime is not None:
                await self._runtime.release(visitor)

    def status(self) -> dict[str, Any]:
        return {
            "running": True,
            "pid": os.getpid(),
            "home": str(self.home),
            "version": __version__,
            "since_s": round(time.time() - self._began),
            "commands": len(self.invocations),
            "phones": [*self._runtime.sessions] if self._runtime else [],
        }

    async def _serve_command(
        self, request: CommandRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.fingerprint != own_fingerprint() or not are_unchanged(self._code):
            is_busy = bool(self.invocations)
            letter, words = (b"B", f"of version {__version__}") if is_busy else (b"O", "")
            writer.write(encode_message(letter, words.encode()))
            if not is_busy:
                self.stop()
            return
        name = request.words[0] if request.words else ""
        if name not in HOSTED and (name in COMMANDS or name in SATELLITE_COMMANDS):
            writer.write(encode_message(b"N"))
            return
        invocation = ClientInvocation(self, request, writer)
        self.invocations.add(invocation)
        try:
            writer.write(encode_message(b"Y"))
            if (await read_message(reader))[0] == b"G":
                await invocation.serve(reader, lambda: self._run_command(invocation))
        finally:
            self.invocations.discard(invocation)
            self._used = time.monotonic()

    def _run_command(self, invocation: ClientInvocation) -> int:
        """Runs in the command's thread. Devices are released before the client gets the exit code."""
        code: object = 1
        try:
            run(invocation.request.words)
        except SystemExit as end:
            code = end.code
        except KeyboardInterrupt:
            code = 130
        except BaseException:
            sys.excepthook(*sys.exc_info())
        if self._runtime is not None:
            releasing = self._runtime.release(invocation)
            asyncio.run_coroutine_threadsafe(releasing, invocation.loop).result()
        return flush_streams(invocation, code if isinstance(code, int) else int(code is not None))

    # what they share

    async def runtime(self, caller: Caller, *, counts: bool = False) -> SharedRuntime:
        """The shared runtime, which is opened for the first client that needs it."""
        invocation = current.get()
        async with self._opening:
            if self._runtime is None:
                config = invocation.config
                assert config is not None  # noqa: S101 - only commands come here
                config.make_home()
                runtime = SharedRuntime(config, SystemClock(), os.environ, Caller("daemon"))
                runtime.on_change = self.write_lock_file
                runtime.approvals.notify = ask_at_callers_terminal
                self._runtime = runtime
        invocation.caller = caller
        self._runtime.secrets.learn_environment()
        if counts:
            self._runtime.count()
        return self._runtime

    def write_lock_file(self) -> None:
        """Writes process, version and open phones into the lock file, which other programs read."""
        phones = [*self._runtime.sessions] if self._runtime else []
        note = {"pid": os.getpid(), "version": __version__, "since": self._began, "phones": phones}
        if self._lock < 0:
            return
        with suppress(OSError):
            os.ftruncate(self._lock, 0)
            os.lseek(self._lock, 0, os.SEEK_SET)
            os.write(self._lock, json.dumps(note).encode())


@cache
def own_fingerprint() -> str:
    return fingerprint(dict(os.environ))


def are_unchanged(marks: dict[str, int]) -> bool:
    try:
        return all(os.stat(file).st_mtime_ns == mark for file, mark in marks.items())
    except OSError:
        return False


def _folder_identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


T = TypeVar("T")
ENDING_S = 5.0  # how long a command whose client is gone may take to stop by itself


@dataclass(frozen=True)
class CommandRequest:
    """The client's code version, folder, terminal, command line and environment."""

    fingerprint: str
    folder: str
    is_terminal: tuple[bool, bool, bool]
    session: int
    errors: tuple[str, str]
    words: list[str]
    env: dict[str, str]

    @classmethod
    def read(cls, data: bytes) -> CommandRequest:
        """Raises `ValueError` or `IndexError` for what is not a request."""
        fields, at = [], 0
        while at < len(data):
            end = at + 4 + int.from_bytes(data[at : at + 4], "big")
            if end > len(data):
                raise ValueError("a field is longer than its message")
            fields.append(data[at + 4 : end].decode("utf-8", "surrogateescape"))
            at = end
        fingerprint, folder, terminal, errors, home, count, *rest = fields
        stdin, stdout, stderr, width, height, session = map(int, terminal.split())
        env = dict(pair.split("=", 1) for pair in rest[int(count) :])
        if "HANDRAIL_HOME" in env and not os.path.isabs(os.path.expanduser(env["HANDRAIL_HOME"])):
            env["HANDRAIL_HOME"] = home
        if width:
            env = {"COLUMNS": str(width), "LINES": str(height)} | env
        out_errors, err_errors = errors.split()
        terminals = (bool(stdin), bool(stdout), bool(stderr))
        words = rest[: int(count)]
        return cls(fingerprint, folder, terminals, session, (out_errors, err_errors), words, env)


async def read_message(reader: asyncio.StreamReader, begun: bytes = b"") -> tuple[bytes, bytes]:
    """The next message of a client; an empty letter at the end."""
    try:
        head = begun + await reader.readexactly(5 - len(begun))
        size = int.from_bytes(head[1:], "big")
        return (head[:1], await reader.readexactly(size)) if size <= LARGEST else (b"", b"")
    except (asyncio.IncompleteReadError, OSError):
        return b"", b""


def encode_message(letter: bytes, data: bytes = b"") -> bytes:
    return letter + len(data).to_bytes(4, "big") + data


class ClientInvocation(Invocation):
    """A client's command while it runs in the daemon. Files, streams and signals are the client's."""

    def __init__(self, daemon: Daemon, request: CommandRequest, writer: asyncio.StreamWriter) -> None:
        self.daemon = daemon
        self.request = request
        self.env = request.env
        self._writer = writer
        self.loop = asyncio.get_running_loop()
        self._replies: deque[Future[bytes]] = deque()
        """Replies that the client has not sent yet, in the order of the messages to it."""
        self._handlers: list[tuple[Callable[[], object], bool]] = []
        self._running: Future[Any] | None = None
        self._is_stopped = False
        self._is_gone = False
        self._input: asyncio.StreamReader | None = None
        self._failure = 0
        """The errno of a write that nobody waited for."""
        self.has_ended = False
        self._drops_output = False
        self.stdin, self.stdout, self.stderr = (_open_stream(self, number) for number in range(3))
        level = self.env.get("HANDRAIL_LOG", "").strip().upper()
        self.log_level = logging.getLevelNamesMapping().get(level, logging.WARNING)

    @cached_property
    def config(self) -> Config:
        """Raises `InvalidAction` where a variable of the client is wrong."""
        return Config.from_env(self.env)

    # its life, on the event loop

    async def serve(self, reader: asyncio.StreamReader, command: Callable[[], int]) -> None:
        """Runs the command to its end, whatever the client sends meanwhile."""
        ended = asyncio.Event()
        codes: list[int] = []

        def work() -> None:
            try:
                codes.append(command())
            finally:
                self.loop.call_soon_threadsafe(ended.set)

        current.set(self)
        threading.Thread(target=copy_context().run, args=(work,), name="command", daemon=True).start()
        async with beside(self._receive_messages(reader), "client"):
            await ended.wait()
        self.has_ended = True
        self._send(encode_message(b"E", bytes([(codes or [1])[0] & 0xFF])), None)
        with suppress(OSError):
            await self._writer.drain()

    async def _receive_messages(self, reader: asyncio.StreamReader) -> None:
        while True:
            letter, data = await read_message(reader)
            if not letter:
                self._on_client_gone()
                return
            if letter == b"S":
                self.stop()
            elif letter == b"D" and self._input is not None:
                self._input.feed_data(data) if data else self._input.feed_eof()
            elif self._replies:
                reply = self._replies.popleft()
                if letter == b"A" and reply.cancelled():
                    self._failure = self._failure or int.from_bytes(data, "big")
                elif not reply.done():
                    reply.set_result(data)

    def stop(self) -> None:
        """Like a signal: calls the handler that was registered last, else interrupts the command."""
        if self._handlers:
            handler, is_once = self._handlers[-1]
            if is_once:
                self._handlers.pop()
            handler()
            return
        self._is_stopped = True
        if self._running is not None:
            self._running.cancel()

    def _on_client_gone(self) -> None:
        """Stops the command like a signal does, as nobody waits for it."""
        self._is_gone = True
        if self._input is not None:
            self._input.feed_eof()
        while self._replies:
            reply = self._replies.popleft()
            if not reply.done():
                reply.set_exception(BrokenPipeError("the client has gone"))
        self.stop()
        self.loop.call_later(ENDING_S, lambda: self._running and self._running.cancel())

    def _send(self, data: bytes, reply: Future[bytes] | None) -> None:
        if self._is_gone:
            if reply is not None and not reply.done():
                reply.set_exception(BrokenPipeError("the client has gone"))
            return
        if reply is not None:
            self._replies.append(reply)
        self._writer.write(data)

    # what the command asks for

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Called in the command's thread."""
        if self._is_stopped:
            work.close()
            raise KeyboardInterrupt
        self._running = running = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return running.result()
        except (CancelledError, asyncio.CancelledError):
            raise KeyboardInterrupt from None
        finally:
            self._running = None

    @contextmanager
    def on_stop(self, handler: Callable[[], object], *, once: bool = True) -> Iterator[None]:
        entry = (handler, once)
        self._handlers.append(entry)
        try:
            yield
        finally:
            if entry in self._handlers:
                self._handlers.remove(entry)

    def request_reply(self, letter: bytes, data: bytes = b"") -> Future[bytes]:
        """Sends a message; the future gets the client's reply. The event loop must not wait for it."""
        reply: Future[bytes] = Future()
        self.loop.call_soon_threadsafe(self._send, encode_message(letter, data), reply)
        return reply

    def send_message(self, letter: bytes, data: bytes = b"") -> None:
        self._send(encode_message(letter, data), None)

    def write(self, number: int, data: bytes) -> None:
        """Raises `OSError` like a write to the client's own stream; on the event loop, at the next write."""
        if self._failure:
            failure, self._failure = self._failure, 0
            raise OSError(failure, os.strerror(failure))
        if not data or (number == 1 and self._drops_output):
            return
        letter = str(number).encode()
        if threading.get_ident() == self.daemon.thread:
            ignored: Future[bytes] = Future()
            ignored.cancel()
            self._send(encode_message(letter, data), ignored)
            return
        _raise_errno(self.request_reply(letter, data).result())

    def confirm_writes(self) -> None:
        """Waits until the client has done what the event loop asked of it. Raises what `write` would raise.

        Without this the connection would end while a slow client still writes, and look like a crash.
        """
        if self._replies:
            self.request_reply(b"1").result()  # replies come in order
        self.write(1, b"")

    async def write_answer(self, data: bytes) -> None:
        _raise_errno(await asyncio.wrap_future(self.request_reply(b"1", data)))

    def input(self, limit: int) -> asyncio.StreamReader:
        self._input = asyncio.StreamReader(limit=limit)
        self.send_message(b"P")
        return self._input

    def drop_output(self) -> None:
        self._drops_output = True

    def login_session(self) -> int:
        return self.request.session

    def path(self, path: Path) -> Path:
        return Path(self.request.folder) / path

    def read_bytes(self, path: str) -> bytes:
        return sys.stdin.buffer.read() if path == "-" else self._call_client(b"read", path)

    def write_bytes(self, path: str | None, data: bytes) -> str:
        return os.fsdecode(self._call_client(b"write", path or "", data))

    def is_folder(self, path: str) -> bool:
        return bool(self._call_client(b"isdir", path))

    async def ask_person(self, approval_id: str) -> None:
        self.send_message(b"Q", approval_id.encode())
        try:
            await asyncio.Event().wait()
        finally:
            self.send_message(b"X")

    async def show_url(self, url: str) -> None:
        self.request_reply(b"F", b"show\0" + url.encode() + b"\0")

    def _call_client(self, kind: bytes, path: str, data: bytes = b"") -> bytes:
        reply = self.request_reply(b"F", b"\0".join((kind, os.fsencode(path), data))).result()
        _raise_errno(reply[:4], path)
        return reply[4:]


def _raise_errno(errno: bytes, path: str | None = None) -> None:
    if number := int.from_bytes(errno, "big"):
        raise OSError(number, os.strerror(number), path)


class _ClientStream(io.RawIOBase):
    """One of the three standard streams."""

    def __init__(self, invocation: ClientInvocation, number: int) -> None:
        self._invocation = invocation
        self._number = number
        self.name = ("<stdin>", "<stdout>", "<stderr>")[number]

    def isatty(self) -> bool:
        return self._invocation.request.is_terminal[self._number]

    def readable(self) -> bool:
        return self._number == 0

    def writable(self) -> bool:
        return self._number > 0

    def readinto(self, buffer: Any) -> int:
        data = self._invocation.request_reply(b"R").result()
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        self._invocation.write(self._number, bytes(data))
        return len(data)


def _open_stream(invocation: ClientInvocation, number: int) -> TextIO:
    raw = _ClientStream(invocation, number)
    if number == 0:
        return io.TextIOWrapper(io.BufferedReader(raw, 1 << 20), encoding="utf-8")
    is_unbuffered = bool(invocation.env.get("PYTHONUNBUFFERED"))
    below = cast("BinaryIO", raw if is_unbuffered else io.BufferedWriter(raw, 1 << 16))
    errors = invocation.request.errors[number - 1]
    return io.TextIOWrapper(below, "utf-8", errors, "\n", number == 2, write_through=is_unbuffered)


class ClientStreamProxy:
    """Stands for `sys.stdin`, `stdout` or `stderr`: each command gets its client's stream."""

    def __init__(self, name: str, own: TextIO) -> None:
        self._name = name
        self._own = own

    def __getattr__(self, attribute: str) -> Any:
        invocation = current.get()
        stream = self._own if invocation.daemon is None else getattr(invocation, self._name)
        return getattr(stream, attribute)


class ClientEnvironProxy(UserDict[str, str]):
    """Stands for `os.environ`: each command gets its client's environment."""

    def __init__(self, own: MutableMapping[str, str]) -> None:
        self._own = own

    @property
    def data(self) -> MutableMapping[str, str]:  # type: ignore[override]
        invocation = current.get()
        return invocation.env if isinstance(invocation, ClientInvocation) else self._own

    def __iter__(self) -> Iterator[str]:
        return iter([*self.data])

    def copy(self) -> dict[str, str]:  # type: ignore[override]
        return dict(self)

    def __or__(self, other: MutableMapping[str, str]) -> dict[str, str]:  # type: ignore[override]
        return dict(self) | dict(other)

    def __ror__(self, other: MutableMapping[str, str]) -> dict[str, str]:  # type: ignore[override]
        return dict(other) | dict(self)


class ClientLogHandler(logging.Handler):
    """Log lines go to the standard error of the client that they are about, else to the daemon's log."""

    def __init__(self, own: TextIO) -> None:
        super().__init__()
        self._own = own

    def emit(self, record: logging.LogRecord) -> None:
        invocation = current.get()
        with suppress(OSError, ValueError, InvalidAction):
            if not isinstance(invocation, ClientInvocation) or invocation.has_ended:
                if record.levelno >= logging.WARNING:
                    self._own.write(logging.Formatter(LOG_FORMAT).format(record) + "\n")
            elif record.name == "handrail.progress":
                if invocation.request.is_terminal[2]:
                    invocation.stderr.write(f"… {record.getMessage()}\n")
            elif record.levelno >= invocation.log_level:
                form = LOG_FORMAT if "HANDRAIL_LOG" in invocation.env else "%(message)s"
                invocation.stderr.write(logging.Formatter(form).format(record) + "\n")


def flush_streams(invocation: ClientInvocation, code: int) -> int:
    """Flushes both streams as an interpreter does at its end; returns the exit code."""
    try:
        invocation.stdout.flush()
        invocation.confirm_writes()
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            encode_message = f"Exception ignored in: {invocation.stdout!r}\n{type(error).__name__}: {error}\n"
            invocation.stderr.write(encode_message)
        code = 120
    with suppress(OSError, ValueError):
        invocation.stderr.flush()
    return code
