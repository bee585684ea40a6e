"""The client of the resident process: hands a command over, and ends as the command ended.

What goes over is what a process is made of: words, environment, folder, open files, terminal. The other side
writes to our own files, so nothing is copied here and nothing looks different. Imports nothing that the
interpreter has not loaded anyway, but for the sockets: all of this takes three milliseconds.

One message, then bytes, on `daemon.sock`:

server: H                                                    it is awake: files in a queue would stay open
client: length (4 bytes), fields (4 bytes of length each)    with the folder and all open files as descriptors
server: R and its process id | O other code | A alone        nothing has been done yet
client: G                                                    from here on it may have been done
server: W                                                    it begins to write its answer
server: E and the exit code                                  hanging up without it is a failure with a code
"""

from __future__ import annotations

import _locale
import _signal  # type: ignore[import-not-found]
import _socket
import os
import sys

from handrail import __version__
from handrail.places import home_folder, socket_file

TYPE_CHECKING = False
if TYPE_CHECKING:  # as `typing` has it, which takes longer to import than all this takes
    from typing import NoReturn

MOST_BYTES = 4 * 1024 * 1024
"""Of one command: its words and its environment. The kernel's own limit is lower on most machines."""
MOST_FILES = 64
HIGHEST_FILE = 255
HELLO, READY, OTHER_CODE, ALONE, GO, WRITES, ENDED = (bytes([one]) for one in b"HROAGWE")
_PATIENCE_S = 5.0
"""A resident process that has not answered by then is not waited for: the command runs here."""
_START_S = 15.0
_FAILED = "/daemon.failed"
_FORGIVEN_S = 60.0
"""How long nobody tries again to start one after that failed. So it is said once, not at every command."""
FORWARDED = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT)
_NO = ("", "0", "false", "no", "off")
_OUR_OWN = ("HANDRAIL_RUN", "_HANDRAIL_COMPLETE")
"""Scripts of ours are bound to their run, completion to its shell: they stay in their process."""
_KEPT = ("HOME", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "USER", "LOGNAME")
_KEPT_STARTS = ("LC_", "LD_", "PYTHON")
"""What the resident process needs of the environment to start, and what makes an interpreter different."""


def hand_over(*, starts: bool) -> None:
    """Returns where the command has to run here. `starts`: start a resident process where there is none."""
    if not _may_be_handed():
        return
    try:
        home = os.path.realpath(home_folder(os.environ))
        message, files = _message()
    except OSError:  # a working directory that was removed, for one: the command says it
        return
    try:
        line = _connected(home)
        answer = _offer(line, message, files) if line is not None else OTHER_CODE
        if answer[:1] == OTHER_CODE and starts and (line := _started(home)) is not None:
            answer = _offer(line, message, files)
            if not answer:
                _leave_note(home)
    except KeyboardInterrupt:
        from handrail.cli.program import stopped_early  # noqa: PLC0415

        stopped_early()
    if line is not None and answer[:1] == READY:
        _follow(line, int.from_bytes(answer[1:5], "big"))
    if not answer:
        sys.stderr.write("handrail: the resident process went away; this command runs by itself.\n")
        sys.stderr.flush()
    for one in files[:1]:
        os.close(one)


def _may_be_handed() -> bool:
    if os.environ.get("HANDRAIL_NO_DAEMON", "").strip().lower() not in _NO:
        return False
    is_plain = not sys._xoptions and None not in (sys.stdin, sys.stdout, sys.stderr)
    return is_plain and hasattr(_socket, "SO_PEERCRED") and not any(name in os.environ for name in _OUR_OWN)


def _connected(home: str) -> _socket.socket | None:
    """A line to the resident process of this user; None where there is none."""
    path = socket_file(home, "daemon")
    try:
        folder = os.lstat(os.path.dirname(path))
        if folder.st_uid != os.getuid() or folder.st_mode & 0o077:
            return None
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        line.settimeout(_PATIENCE_S)
        line.connect(path)
    except OSError:
        return None
    return line if peer(line)[1] == os.getuid() else None


def peer(line: _socket.socket) -> tuple[int, int, int]:
    """Process, user and group at the other end, as the kernel knows them."""
    raw = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    process, user, group = (int.from_bytes(raw[at : at + 4], sys.byteorder) for at in (0, 4, 8))
    return process, user, group


def _started(home: str) -> _socket.socket | None:
    """A new resident process, and the line on which it serves us first, whether it gets to listen or not."""
    try:
        if _age_s(home + _FAILED) < _FORGIVEN_S:
            return None
        ours, theirs = (_socket.socket(fileno=end.detach()) for end in _pair())
    except OSError:
        return None
    ours.settimeout(_START_S)
    os.set_inheritable(theirs.fileno(), True)
    nowhere = [(os.POSIX_SPAWN_OPEN, handle, os.devnull, os.O_RDWR, 0) for handle in range(3)]
    words = [sys.executable, "-P", "-m", "handrail.cli.resident", home, str(theirs.fileno())]
    try:
        os.posix_spawn(sys.executable, words, _kept(), file_actions=nowhere, setsid=True)
    except (OSError, NotImplementedError):
        return None
    finally:
        theirs.close()
    return ours


def _pair() -> tuple[_socket.socket, _socket.socket]:
    return _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM, 0)


def _age_s(path: str) -> float:
    try:
        return _now() - os.stat(path).st_mtime
    except OSError:
        return _FORGIVEN_S


def _now() -> float:
    import time  # noqa: PLC0415  (built in)

    return time.time()


def _leave_note(home: str) -> None:
    try:
        os.close(os.open(home + _FAILED, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        os.utime(home + _FAILED)
    except OSError:
        pass


def _kept() -> dict[str, str]:
    """The environment of the resident process: nothing that a client keeps secret."""
    return {
        name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_STARTS)
    }


# what a process is made of


def _message() -> tuple[bytes, list[int]]:
    """The command as bytes, and the descriptors that go with it: the folder first."""
    numbers = open_files()
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY)  # it may be one that can be entered and not be read
    fields = [
        our_code().encode(),
        our_interpreter().encode(),
        f"{_mask()} {os.getpriority(os.PRIO_PROCESS, 0)}".encode(),
        " ".join(str(number) for number in numbers).encode(),
        " ".join(str(int(one)) for one in FORWARDED if _signal.getsignal(one) == _signal.SIG_IGN).encode(),
        *(_stream(one).encode() for one in (sys.stdin, sys.stdout, sys.stderr)),
        str(len(sys.argv)).encode(),
        *(os.fsencode(word) for word in sys.argv),
        *(name + b"=" + value for name, value in os.environb.items()),
    ]
    body = b"".join(len(one).to_bytes(4, "big") + one for one in fields)
    return len(body).to_bytes(4, "big") + body, [folder, *numbers]


def our_code() -> str:
    """Whose code this is: another one is replaced."""
    return f"{__version__} {sys.executable} {__file__}"


def our_interpreter() -> str:
    """How the interpreter was set up: a command that was given another one runs by itself."""
    flags = [one for one in repr(sys.flags).split(", ") if not one.startswith(("safe_path", "utf8_mode"))]
    told = {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "LD_"))}
    # Where no locale is set, an interpreter sets one for those that it starts: only what comes of it counts.
    text = "utf-8" if sys.flags.utf8_mode else _locale.getencoding().lower()
    return repr((flags, sorted(told.items()), sys.warnoptions, sys.getfilesystemencoding(), text))


def open_files() -> list[int]:
    """What a shell has opened for us, also beside the three: `<(…)` is such a file."""
    listed = (int(name) for name in os.listdir("/proc/self/fd"))
    return [number for number in sorted(listed) if number < 3 or _is_inherited(number)]


def _is_inherited(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:  # the listing's own
        return False


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _stream(stream: object) -> str:
    """How the interpreter writes and reads there, as it found out for itself."""
    told = (getattr(stream, name) for name in ("encoding", "errors", "line_buffering", "write_through"))
    return " ".join(str(one) for one in told)


# handing over


def _offer(line: _socket.socket, message: bytes, files: list[int]) -> bytes:
    """What the other side says; nothing where it went away. What can't be handed over stays here."""
    if len(message) > MOST_BYTES or len(files) > MOST_FILES or files[-1] > HIGHEST_FILE:
        return ALONE
    packed = b"".join(one.to_bytes(4, sys.byteorder) for one in files)
    try:
        if line.recv(1) != HELLO:
            return b""
        line.sendmsg([message[:4]], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)])
        line.sendall(message[4:])
        return line.recv(5)
    except OSError:
        return b""


def _follow(line: _socket.socket, worker: int) -> NoReturn:
    """Wait for the end, and pass on meanwhile what a shell or a terminal tells us."""

    def forward(number: int, _: object) -> None:
        _tell(worker, number)

    def suspend(*_: object) -> None:
        _tell(worker, _signal.SIGSTOP)
        os.kill(os.getpid(), _signal.SIGSTOP)
        _tell(worker, _signal.SIGCONT)  # a shell has let us go on

    for number in FORWARDED:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, forward)
    if _signal.getsignal(_signal.SIGTSTP) != _signal.SIG_IGN:
        _signal.signal(_signal.SIGTSTP, suspend)
    line.settimeout(None)
    has_written, heard = False, b""
    try:
        line.sendall(GO)
        while (heard := line.recv(1)) == WRITES:
            has_written = True
        code = line.recv(1) if heard == ENDED else b""
    except OSError:
        code = b""
    if code:
        os._exit(code[0])
    from handrail.cli.program import lost  # noqa: PLC0415

    lost(has_written=has_written)


def _tell(worker: int, number: int) -> None:
    try:  # noqa: SIM105  (`contextlib` takes longer to import than all of this file)
        os.kill(worker, number)
    except ProcessLookupError:
        pass
