"""The client of the daemon: hands a command over, does for it what only this process can, ends as it ended.

Imports nothing that the interpreter has not loaded anyway, but for sockets: all of this takes milliseconds.
Every message is a letter, four bytes of length and that many bytes:

client: C the request             fingerprint, folder, terminal, words, environment
daemon: Y | O | B version | N     ready | other code, I end | other code, and busy | run it yourself
client: G                         from here on it may have been done
daemon: 1, 2 bytes                write to standard output or error; client: A errno
daemon: R                         read standard input; client: D bytes (none at the end)
daemon: P                         send standard input as it comes; client: D bytes, again and again
daemon: F call                    work on a file, see `do_file_call`; client: V reply
daemon: Q id, X                   a person has to be asked at this terminal; the question is over
client: S number                  a signal
daemon: E code                    the end; hanging up without it is a failure with a code of its own
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _thread
import os
import sys
import time

from handrail import __version__
from handrail.local_socket import dial, home_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable
    from typing import Any, NoReturn


LARGEST = 64 * 1024 * 1024  # bytes of one message
PATIENCE_S = 5.0  # how long a daemon may take to answer; after that the command runs in this process
START_S = 15.0
STARTS = 2  # a command starts a daemon once more where it ended before it answered
FAILED = "daemon.failed"
"""A file in the home. A daemon that could not be started is not tried again for a minute."""
FORGIVEN_S = 60.0
NO = ("", "0", "false", "no", "off")
IN_PROCESS = ("HANDRAIL_RUN", "_HANDRAIL_COMPLETE")
"""Variables of scripts of a run and of shell completion, whose commands always run in their own process."""
SHARED_VARIABLES = (
    "HANDRAIL_WITNESS",
    "HANDRAIL_WITNESS_KEY",
    "HANDRAIL_NOTIFY_URL",
    "HANDRAIL_OTLP_ENDPOINT",
    "HANDRAIL_OTLP_HEADERS",
)
"""Variables that decide how the whole daemon works; a client with other values gets another daemon."""
KEPT_VARIABLES = ("HOME", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "USER", "LOGNAME", "SYSTEMROOT")
KEPT_PREFIXES = ("LC_", "LD_", "PYTHON")
"""Variables that a new daemon inherits beside the shared ones. No secret of a client is among them."""


def run_in_daemon(*, starts: bool) -> None:
    """Runs this command in the daemon and ends the process. Returns only if the command has to run in this
    process. `starts`: start a daemon if none runs."""
    if os.environ.get("HANDRAIL_NO_DAEMON", "").strip().lower() not in NO:
        return
    if None in (sys.stdin, sys.stdout, sys.stderr) or any(name in os.environ for name in IN_PROCESS):
        return
    if not sys.stdout.encoding.lower() == "utf-8" == sys.stderr.encoding.lower():
        return
    try:
        home = os.path.realpath(home_folder(os.environ))
        request = _encode_request(home)
    except OSError:  # a working directory that was removed, for one: the command itself says so
        return
    try:
        connection, note = _connect_to_ready_daemon(home, request, starts)
    except KeyboardInterrupt:  # before anything began
        from handrail.cli.program import fail  # noqa: PLC0415
        from handrail.errors import Cancelled  # noqa: PLC0415

        fail(Cancelled("it was stopped"), sys.argv[1:], quiet=True)
    if connection is not None:
        connection.serve_until_exit()
    if note:
        sys.stderr.write(f"handrail: {note}; this command runs by itself.\n")
        sys.stderr.flush()


def fingerprint(env: os._Environ[str] | dict[str, str]) -> str:
    """A daemon with other code or other settings has another fingerprint, and is replaced."""
    shared = [env.get(name, "") for name in SHARED_VARIABLES]
    return f"{__version__}\n{sys.prefix}\n{__file__}\n{shared}"


def _encode_request(home: str) -> bytes:
    width, height = 0, 0
    if sys.stdout.isatty():
        width, height = os.get_terminal_size(sys.stdout.fileno())
    session = os.getsid(0) if hasattr(os, "getsid") else 0
    ends = [int(stream.isatty()) for stream in (sys.stdin, sys.stdout, sys.stderr)]
    fields = [
        fingerprint(os.environ),
        os.getcwd(),
        " ".join(map(str, (*ends, width, height, session))),
        f"{sys.stdout.errors} {sys.stderr.errors}",
        home,
        str(len(sys.argv) - 1),
        *sys.argv[1:],
        *(f"{name}={value}" for name, value in os.environ.items()),
    ]
    encoded = [field.encode("utf-8", "surrogateescape") for field in fields]
    return b"".join(len(field).to_bytes(4, "big") + field for field in encoded)


def _connect_to_ready_daemon(home: str, request: bytes, starts: bool) -> tuple[DaemonConnection | None, str]:
    """A connection on which the daemon is ready to run the command, or the reason why not, if it matters.

    Nothing has been done when a daemon went away before this: another one may be tried.
    """
    note, starts_left = "", STARTS if starts else 0
    for _ in range(50):
        try:  # a daemon that is starting has an empty lock file and is busy with its imports
            patience_s = PATIENCE_S if os.stat(f"{home}/daemon.lock").st_size else START_S
        except OSError:
            patience_s = PATIENCE_S
        line = dial(home, "daemon", patience_s)
        if line is None and starts_left:
            starts_left -= 1
            line = _start_daemon(home)
        elif line is None and starts:
            _remember_failure(home)
        if line is None:
            if starts and _file_age_s(f"{home}/{FAILED}") < 1:
                note = f"the daemon can't be started{_last_log_line(home)} (see {home}/daemon.log)"
            return None, note
        connection = DaemonConnection(line)
        letter, data = connection.offer_command(request)
        if letter == b"Y":
            return connection, ""
        line.close()
        if letter == b"N":
            return None, ""
        if letter == b"B":
            return None, f"the daemon of this home is {data.decode()}, and is busy"
        note = "" if letter == b"O" else "the daemon does not answer"
        if connection.timed_out:
            break
        time.sleep(0.02)  # it is about to end
    return None, note


def _start_daemon(home: str) -> _socket.socket | None:
    """A connection to a new daemon, or to one that another client has started meanwhile."""
    if _file_age_s(f"{home}/{FAILED}") < FORGIVEN_S:
        return None
    words = [sys.executable, "-P", "-m", "handrail.cli.daemon", home]
    inherited = (*KEPT_VARIABLES, *SHARED_VARIABLES)
    names = [name for name in os.environ if name.upper() in inherited or name.startswith(KEPT_PREFIXES)]
    env = {name: os.environ[name] for name in names}
    try:
        ended = _spawn_daemon(words, env)
    except OSError:
        return None
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if (line := dial(home, "daemon", START_S)) is not None:
            return line
        if ended():
            break
        time.sleep(0.005)
    _remember_failure(home)
    return None


def _remember_failure(home: str) -> None:
    try:
        os.close(os.open(f"{home}/{FAILED}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        os.utime(f"{home}/{FAILED}")
    except OSError:
        pass


def _last_log_line(home: str) -> str:
    """The last line of the daemon's log, which names the error after a crash."""
    try:
        with open(f"{home}/daemon.log", "rb") as file:
            file.seek(-min(2_000, os.stat(file.fileno()).st_size), os.SEEK_END)
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((f": {line.strip()}" for line in reversed(lines) if line.strip()), "")


def _spawn_daemon(words: list[str], env: dict[str, str]) -> Callable[[], bool]:
    """Starts the daemon; returns a function that says whether it has failed already."""
    if not hasattr(os, "posix_spawn"):
        import subprocess  # noqa: PLC0415  (Windows)

        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        detached = getattr(subprocess, "DETACHED_PROCESS", 0)
        child = subprocess.Popen(words, env=env, creationflags=detached, **streams)  # type: ignore[call-overload]  # noqa: S603
        return lambda: child.poll() not in (None, 0)
    nowhere: list[Any] = [(os.POSIX_SPAWN_OPEN, handle, os.devnull, os.O_RDWR, 0) for handle in range(3)]
    nowhere += [(os.POSIX_SPAWN_CLOSE, handle) for handle in _inheritable_handles()]
    process = os.posix_spawn(sys.executable, words, env, file_actions=nowhere, setsid=True)

    def ended() -> bool:
        try:
            pid, status = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:
            return False
        return pid == process and status != 0

    return ended


def _inheritable_handles() -> list[int]:
    """Handles that the daemon would keep open: a shell's pipes, for example."""
    try:
        listed = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return []
    handles = []
    for handle in listed:
        try:
            if handle > 2 and os.get_inheritable(handle):
                handles.append(handle)
        except OSError:
            pass
    return handles


def _file_age_s(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return FORGIVEN_S


class DaemonConnection:
    """One command's connection to the daemon."""

    def __init__(self, line: _socket.socket) -> None:
        self.line = line
        self.timed_out = False
        self.has_written = False
        self.is_reading = False
        self.signals = 0
        self._received = b""
        self._outgoing: list[bytes] = []
        self._sending = _thread.allocate_lock()

    def offer_command(self, request: bytes) -> tuple[bytes, bytes]:
        """Sends the request; returns the daemon's first answer, an empty letter if it went away."""
        try:
            self.send(b"C", request)
            while b"\n" not in self._received:  # who answers, for clients that speak JSON
                if not self.receive_bytes():
                    return b"", b""
            self._received = self._received.partition(b"\n")[2]
            return self.next_message()
        except TimeoutError:
            self.timed_out = True
            return b"", b""
        except OSError:
            return b"", b""

    def send(self, letter: bytes, data: bytes = b"") -> None:
        """Sends whole messages, also when a thread or a signal handler sends at the same time."""
        self._outgoing.append(letter + len(data).to_bytes(4, "big") + data)
        while self._outgoing and self._sending.acquire(False):
            try:
                while self._outgoing:
                    self.line.sendall(self._outgoing.pop(0))
            finally:
                self._sending.release()

    def next_message(self) -> tuple[bytes, bytes]:
        """The next message; an empty letter at the end."""
        while (message := self.take_buffered_message()) is None:
            if not self.receive_bytes():
                return b"", b""
        return message

    def take_buffered_message(self) -> tuple[bytes, bytes] | None:
        size = int.from_bytes(self._received[1:5], "big")
        if len(self._received) < 5 + size or len(self._received) < 5:
            return None
        letter, data = self._received[:1], self._received[5 : 5 + size]
        self._received = self._received[5 + size :]
        return letter, data

    def receive_bytes(self) -> bool:
        """Returns False at the end of the stream."""
        data = self.line.recv(1 << 20)
        self._received += data
        return bool(data)

    def serve_until_exit(self) -> NoReturn:
        self._forward_signals()
        self.line.settimeout(None)
        code = None
        try:
            self.send(b"G")
            while code is None:
                letter, data = self.next_message()
                if letter == b"Q":
                    import asyncio  # noqa: PLC0415

                    from handrail.cli.approvals import answer_questions  # noqa: PLC0415

                    code = asyncio.run(answer_questions(self, data.decode()))
                else:
                    code = self.handle_message(letter, data)
        except OSError:
            pass
        if code is not None and code >= 0:
            os._exit(code)
        from handrail.cli.program import fail_without_daemon  # noqa: PLC0415

        fail_without_daemon(has_written=self.has_written)

    def handle_message(self, letter: bytes, data: bytes) -> int | None:
        """Does what one message asks. Returns the exit code at the command's end, -1 if the daemon went
        away, else None."""
        if letter in (b"1", b"2"):
            self.send(b"A", self._write_to_stream(int(letter), data).to_bytes(4, "big"))
        elif letter == b"R":
            self.is_reading = True
            self.send(b"D", os.read(0, 1 << 20))
            self.is_reading = False
        elif letter == b"P":
            _thread.start_new_thread(self._push_input, ())
        elif letter == b"F":
            self.send(b"V", do_file_call(data))
        elif letter == b"E":
            return data[0]
        elif not letter:
            return -1
        return None

    def _write_to_stream(self, number: int, data: bytes) -> int:
        """Returns 0 or an errno, which the command gets as its own failure."""
        self.has_written |= number == 1
        try:
            while data:
                data = data[os.write(number, data) :]
        except OSError as error:
            return error.errno or 5
        return 0

    def _push_input(self) -> None:
        try:
            while data := os.read(0, 1 << 16):
                self.send(b"D", data)
            self.send(b"D")
        except OSError:
            pass

    def _forward_signals(self) -> None:
        def forward(number: int, _: object) -> None:
            self.signals += 1
            if self.signals > 2 or self.is_reading:
                os._exit(130)
            try:  # noqa: SIM105  (`contextlib` takes longer to import than this file)
                self.send(b"S", bytes([number]))
            except OSError:
                pass

        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(_signal, name, None)
            if number is not None and _signal.getsignal(number) != _signal.SIG_IGN:
                _signal.signal(number, forward)


def do_file_call(message: bytes) -> bytes:
    """Opens a file or shows a page: relative paths, `<(…)`, rights and the umask are those of this process.

    The message is `read`, `write`, `isdir` or `show`, a path or an address, and bytes, parted by NUL.
    The reply is an errno (four bytes) and bytes.
    """
    from handrail.invocation import Invocation  # noqa: PLC0415

    kind, argument, data = message.split(b"\0", 2)
    path = os.fsdecode(argument)
    own = Invocation()
    reply = b""
    try:
        if kind == b"read":
            reply = own.read_bytes(path)
        elif kind == b"write":
            reply = os.fsencode(own.write_bytes(path or None, data))
        elif kind == b"isdir":
            reply = b"1" if os.path.isdir(path) else b""
        else:
            import webbrowser  # noqa: PLC0415

            webbrowser.open(path)
    except OSError as error:
        return (error.errno or 5).to_bytes(4, "big")
    return bytes(4) + reply
