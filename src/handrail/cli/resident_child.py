"""The life of one command in the resident process: a fork that becomes what its client is, and runs it.

Everything that it is told is bounded and checked before anything is done. It dies with its command.
"""

from __future__ import annotations

import array
import fcntl
import io
import locale
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from socket import CMSG_LEN, SCM_RIGHTS, SOL_SOCKET, socket
from types import FrameType
from typing import BinaryIO, NoReturn, cast

from handrail.cli.hand_over import (
    ALONE,
    ENDED,
    FORWARDED,
    GO,
    HELLO,
    HIGHEST_FILE,
    MOST_BYTES,
    MOST_FILES,
    OTHER_CODE,
    READY,
    WRITES,
    our_code,
    our_interpreter,
    peer,
)
from handrail.cli.output import on_answer
from handrail.terminal import sit_for

_TOLD_S = 5.0
_FOLLOWED_S = 5.0
"""How long a command may still take after its client was killed."""
_SPACES = ("mnt", "net", "pid", "user", "ipc", "uts")
_BOUNDS = ("Seccomp", "NoNewPrivs", "CapEff", "Groups")
_FIXED = 8
"""Fields before the words."""


@dataclass(frozen=True)
class Handed:
    """What a client is made of."""

    code: str
    interpreter: str
    mask: int
    niceness: int
    numbers: list[int]
    ignored: list[int]
    streams: list[list[str]]
    words: list[str]
    env: dict[bytes, bytes]
    files: list[int]
    """As they arrived: the folder, then those of `numbers`."""


def work_for(line: socket, parent: int, *, is_current: Callable[[], bool]) -> NoReturn:
    """Never returns: the process ends here, whatever happens."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        os.closerange(3, line.fileno())  # the lock and the listener are the parent's: they end with it
        os.closerange(line.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        line.settimeout(_TOLD_S)
        line.sendall(HELLO)
        code = _work(line, parent, is_current)
    except (OSError, ValueError, IndexError):
        pass  # whoever talks like that is not heard
    finally:
        os._exit(code)


def _work(line: socket, parent: int, is_current: Callable[[], bool]) -> int:
    client, user, _ = peer(line)
    if user != os.getuid():
        return 0
    told = _receive(line)
    if told.code != our_code() or not is_current():
        if os.getppid() == parent:  # and not whoever took over the orphans
            os.kill(parent, signal.SIGTERM)
        line.sendall(OTHER_CODE)
        return 0
    if told.interpreter != our_interpreter() or not _is_alike(client) or not _can_be(told.niceness):
        line.sendall(ALONE)
        return 0
    line = _become(told, line)
    sit_for(client)
    line.sendall(READY + os.getpid().to_bytes(4, "big"))
    if line.recv(1) != GO:
        return 0
    line.settimeout(None)
    end = _End(line, told.numbers)
    threading.Thread(target=end.come_with_client, daemon=True).start()
    on_answer.append(end.tell)
    code = _run()
    end.tell(code)
    return code


# what it is told


def _receive(line: socket) -> Handed:
    """Raises `ValueError` and others for what is no such message."""
    head, extra, _, _ = line.recvmsg(4, CMSG_LEN(4 * MOST_FILES))
    files = array.array("i")
    for level, kind, data in extra:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            files.frombytes(data[: len(data) - len(data) % 4])
    length = int.from_bytes(head, "big")
    if len(head) != 4 or length > MOST_BYTES:
        raise ValueError("no message")
    fields = [*_fields(_exactly(line, length))]
    fixed, rest = [one.decode() for one in fields[:_FIXED]], fields[_FIXED:]
    count = int(rest[0])
    mask, niceness = map(int, fixed[2].split())
    numbers = [int(one) for one in fixed[3].split()]
    if len(files) != len(numbers) + 1 or numbers[:3] != [0, 1, 2] or max(numbers) > HIGHEST_FILE:
        raise ValueError("not the files that were said")
    return Handed(
        code=fixed[0],
        interpreter=fixed[1],
        mask=mask & 0o777,
        niceness=niceness,
        numbers=numbers,
        ignored=[int(one) for one in fixed[4].split()],
        streams=[one.split() for one in fixed[5:8]],
        words=[os.fsdecode(one) for one in rest[1 : count + 1]],
        env=dict(one.split(b"=", 1) for one in rest[count + 1 :]),
        files=files.tolist(),
    )


def _exactly(line: socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        if not (more := line.recv(length - len(data))):
            raise ValueError("it ends too early")
        data += more
    return bytes(data)


def _fields(body: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        if at + 4 + size > len(body):
            raise ValueError("a field that is longer than its message")
        yield body[at + 4 : at + 4 + size]
        at += 4 + size


# whether it can be what its client is


def _is_alike(client: int) -> bool:
    """Not for one that the kernel holds in other bounds: a sandbox must not be left through us."""
    own, theirs = Path("/proc/self"), Path(f"/proc/{client}")
    try:
        spaces = all((own / "ns" / one).readlink() == (theirs / "ns" / one).readlink() for one in _SPACES)
        limits = (own / "limits").read_bytes() == (theirs / "limits").read_bytes()
        return spaces and limits and _bounds(own) == _bounds(theirs)
    except OSError:
        return False


def _bounds(process: Path) -> list[str]:
    lines = (process / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if line.partition(":")[0] in _BOUNDS]


def _can_be(niceness: int) -> bool:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    if niceness > own:
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
    return niceness >= own


def _become(told: Handed, line: socket) -> socket:
    """Everything that the client is; the line, which had to make room for its files."""
    above = max(told.numbers) + 1
    line = socket(fileno=_moved(line.detach(), above))
    line.settimeout(_TOLD_S)
    folder, *files = [_moved(one, above) for one in told.files]
    for number in range(3, above):
        with suppress(OSError):
            os.close(number)
    for number, file in zip(told.numbers, files, strict=True):
        os.dup2(file, number)
        os.close(file)
    os.fchdir(folder)
    os.close(folder)
    os.umask(told.mask)
    os.environ.clear()
    for name, value in told.env.items():
        os.environb[name] = value
    time.tzset()
    with suppress(locale.Error):
        locale.setlocale(locale.LC_CTYPE, "")
    sys.argv = told.words
    for number in (*FORWARDED, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN if number in told.ignored else _usual(number))
    _open_streams(told.streams, line)
    return line


def _usual(number: int) -> signal.Handlers | Callable[[int, FrameType | None], None]:
    return signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL


def _moved(file: int, above: int) -> int:
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, above)
    os.close(file)
    return moved


# its streams and its end


class _Telling(io.FileIO):
    """Tells the client before anything is written there: from then on an answer may have been given."""

    line: socket | None = None

    def write(self, data: object) -> int:
        if self.line is not None:
            with suppress(OSError):  # it has gone; the command is about to be told
                self.line.sendall(WRITES)
            self.line = None
        return super().write(data)  # type: ignore[arg-type]


def _open_streams(streams: list[list[str]], line: socket) -> None:
    """As the client's interpreter has opened them."""
    for number, (name, told) in enumerate(zip(("stdin", "stdout", "stderr"), streams, strict=True)):
        raw = _Telling(number, "r" if number == 0 else "w", closefd=False)
        raw.line, raw.name = (line if number == 1 else None), f"<{name}>"
        encoding, errors, line_buffering, write_through = told
        if number > 0 and write_through == "True":  # with PYTHONUNBUFFERED
            below = cast("BinaryIO", raw)
        else:
            below = cast("BinaryIO", io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw))
        text = io.TextIOWrapper(
            below,
            encoding=encoding,
            errors=errors,
            newline="\n",
            line_buffering=line_buffering == "True",
            write_through=write_through == "True",
        )
        text.mode = "w" if number else "r"  # type: ignore[misc]
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)


class _End:
    """Of the command: the client is let go with its answer, and what is left to close is closed later."""

    def __init__(self, line: socket, numbers: list[int]) -> None:
        self._line = line
        self._numbers = numbers
        self._is_told = False

    def tell(self, code: int) -> None:
        """The first one counts. The client's files are let go: a pipe's reader waits for the last writer."""
        if self._is_told:
            return
        code = _flushed(code)
        self._is_told = True
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in self._numbers:
            os.dup2(nowhere, number)
        with suppress(OSError):  # it may have gone meanwhile
            self._line.sendall(ENDED + bytes([code & 0xFF]))

    def come_with_client(self) -> None:
        """One that was killed can't say so: its end of the line does."""
        with suppress(OSError):
            while self._line.recv(1):
                pass
        if self._is_told:
            return
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_FOLLOWED_S)
        os.kill(os.getpid(), signal.SIGKILL)


def _run() -> int:
    from handrail.cli.program import run  # noqa: PLC0415

    try:
        run()
        code: object = 0
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    return code if isinstance(code, int) else int(code is not None)


def _flushed(code: int) -> int:
    """What is left goes out, as at the end of an interpreter."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"Exception ignored in: {sys.stdout!r}\n{type(error).__name__}: {error}\n")
        code = 120
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    return code
