"""The resident process of a home: has everything imported, and gives every command a process of its own.

It parses nothing, opens no phone and knows no secret: it waits, and forks. A child becomes what its client is
(environment, folder, files, terminal, signals) and then runs the command as the client would have. So nothing
of one command can be found by the next, and the end of this process ends no command.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import NoReturn

from handrail import __version__
from handrail.cli.resident_child import work_for
from handrail.config import Config
from handrail.errors import HandrailError
from handrail.local.wire import make_folder, only_server, socket_path

IDLE_S = 15 * 60.0
_TICK_S = 1.0
"""How often it is looked whether the home is still there."""
_HANDED_ON_S = 2.0
"""How long an older process may take to give its place to this one."""
MOST_CHILDREN = 64
_BREATH_S = 0.0 if (os.cpu_count() or 1) > 1 else 0.1
"""A child that waits that long for its command makes itself ready: the one before it may still run."""
_AT_ONCE = 1 << 20
"""Bytes that are made ready between two looks for a client: half a millisecond."""
_POPULATE_READ, _POPULATE_WRITE = 22, 23
"""MADV_POPULATE_… of Linux 5.14. Older kernels refuse them, and nothing is lost but some milliseconds."""
TAKEN = b"\xff"
"""A child has a command now. No signal has this number: their numbers come by the same pipe."""


class ResidentProcess:
    """The listening socket of one home, a child that waits for the next command, and those that run."""

    def __init__(self, home: Path, *, idle_s: float = IDLE_S) -> None:
        self._home = home
        self._process = os.getpid()
        self._idle_s = idle_s
        self._running: set[int] = set()
        self._waiting: int | None = None
        self._used = time.monotonic()
        self._is_stopped = False
        self._code = code_marks()
        self._place = _identity(home)

    def serve_first(self, line: socket) -> None:
        """Whoever started this process."""
        if child := os.fork():
            self._running.add(child)
            line.close()
        else:
            work_for(line, self._process, is_current=lambda: True)

    def listen(self, listener: socket) -> None:
        """Until it is stopped, replaced, not used for long, or its home is gone."""
        self._code = code_marks() | self._code  # more was imported since; what was there is as it was then
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        heard, tell = os.pipe()
        alive, keep = os.pipe()  # its end says that this process has ended, however it did
        for end in (heard, tell):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        while not self._is_stopped and self._is_at_home() and self._is_wanted():
            if self._waiting is None and len(self._running) < MOST_CHILDREN:
                self._waiting = os.fork()
                if not self._waiting:
                    os.close(keep)
                    self._wait_for_one(listener, alive, (heard, tell))
            select.select([heard], [], [], _TICK_S)
            with suppress(BlockingIOError):
                if TAKEN in os.read(heard, 4096) and self._waiting is not None:
                    self._running.add(self._waiting)
                    self._waiting = None
            self._reap()

    def _wait_for_one(self, listener: socket, alive: int, parent: tuple[int, int]) -> NoReturn:
        """In the child."""
        signal.set_wakeup_fd(-1)
        with suppress(OSError):
            wanted = partial(select.select, [listener.fileno(), alive], [], [])
            if not wanted(_BREATH_S)[0]:
                own_pages(lambda: bool(wanted(0)[0]))
            while alive not in (ready := select.select([listener.fileno(), alive], [], [])[0]):
                if not ready:
                    continue
                with suppress(BlockingIOError, ConnectionError):  # they have gone already
                    line, _ = listener.accept()
                    os.write(parent[1], TAKEN)
                    for one in (listener.detach(), alive, *parent):
                        os.close(one)
                    work_for(line, self._process, is_current=partial(are_current, self._code))
        os._exit(0)

    def _is_at_home(self) -> bool:
        return self._place is not None and _identity(self._home) == self._place

    def _is_wanted(self) -> bool:
        if self._running:
            self._used = time.monotonic()
        return time.monotonic() - self._used < self._idle_s

    def _reap(self) -> None:
        for child in [*self._running, self._waiting]:
            if child is not None and _has_ended(child):
                self._running.discard(child)
                self._waiting = None if child == self._waiting else self._waiting

    def _stop(self, *_: object) -> None:
        self._is_stopped = True


def _has_ended(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True


def code_marks() -> dict[str, int]:
    """When each of our files was changed: whoever edits or upgrades them is not served old code."""
    files = {getattr(module, "__file__", None) for name, module in [*sys.modules.items()] if _is_ours(name)}
    marks = {}
    for file in files - {None}:
        with suppress(OSError):
            marks[str(file)] = os.stat(str(file)).st_mtime_ns
    return marks


def are_current(marks: dict[str, int]) -> bool:
    """Whether those files are as they were. Somebody waits for this."""
    try:
        return all(os.stat(file).st_mtime_ns == mark for file, mark in marks.items())
    except OSError:
        return False


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("handrail", "handrail_sim")


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def own_pages(is_wanted: Callable[[], bool]) -> None:
    """Copy what a child shares with its parent while nobody waits: at a touch, each page costs more."""
    libc = ctypes.CDLL(None)
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        place, mode, _, _, _, *name = line.split(maxsplit=5)
        is_code = bool(name) and (".so" in name[0] or name[0] == os.path.realpath(sys.executable))
        if mode == "rw-p" and (not name or name[0] == "[heap]" or is_code):
            wish = _POPULATE_WRITE
        elif is_code:
            wish = _POPULATE_READ  # it is shared, but a fork begins without the tables of its pages
        else:
            continue
        start, end = (int(one, 16) for one in place.split("-"))
        for at in range(start, end, _AT_ONCE):
            if is_wanted():
                return
            libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(min(_AT_ONCE, end - at)), wish)


def warm() -> None:
    """All that an action on a phone imports; a child that needs more imports it by itself."""
    import handrail.cli.action_commands  # noqa: PLC0415
    import handrail.cli.perform  # noqa: PLC0415
    import handrail.cli.program  # noqa: PLC0415
    import handrail.cli.terminal_prompt  # noqa: PLC0415
    import handrail.engine.answer  # noqa: PLC0415
    import handrail.protocol.read  # noqa: PLC0415
    import handrail.runtime  # noqa: F401, PLC0415


def prime() -> None:
    """What is imported or made at its first use: helpers, and validators of models at milliseconds each."""
    import pwd  # noqa: F401, PLC0415

    from pydantic import BaseModel  # noqa: PLC0415

    import handrail.android  # noqa: PLC0415
    from handrail.cli.action_commands import command_for  # noqa: PLC0415
    from handrail.cli.index import ACTION_COMMANDS  # noqa: PLC0415

    for name in ACTION_COMMANDS:
        command_for(name)

    for found in pkgutil.walk_packages(handrail.android.__path__, "handrail.android."):
        with suppress(ImportError):  # of what is not installed
            importlib.import_module(found.name)
    known = [BaseModel]
    for one in known:
        known += one.__subclasses__()
        if _is_ours(one.__module__) and not one.__pydantic_complete__:
            one.model_rebuild()


def main(idle_s: float = IDLE_S) -> None:
    """`python -m handrail.cli.resident HOME DESCRIPTOR`: a client starts it so, and is served first."""
    home, first = Path(sys.argv[1]), int(sys.argv[2])
    os.closerange(3, first)
    os.closerange(first + 1, os.sysconf("SC_OPEN_MAX"))  # a shell's pipes would stay open with us
    os.chdir("/")
    line = socket(fileno=first)
    with _listening(home) as listener:  # before anything takes time: others wait instead of starting one more
        warm()
        resident = ResidentProcess(home, idle_s=idle_s)
        resident.serve_first(line)
        if listener is not None:
            prime()
            gc.freeze()  # what is there now is never looked through again, in any child
            resident.listen(listener)


@contextmanager
def _listening(home: Path) -> Iterator[socket | None]:
    """None where another process listens, or nobody can: the first command is done all the same."""
    with ExitStack() as stack:
        listener = None
        with suppress(HandrailError, OSError):
            Config(home).make_home()
            listener = _listen(home, stack)
        yield listener


def _listen(home: Path, stack: ExitStack) -> socket | None:
    deadline = time.monotonic() + _HANDED_ON_S
    while not stack.enter_context(only_server(home, "daemon")):
        if time.monotonic() > deadline:
            return None
        time.sleep(0.02)  # an older one that was told to go has not gone yet
    path = socket_path(home, "daemon")
    make_folder(path)
    path.unlink(missing_ok=True)
    note = {"pid": os.getpid(), "version": __version__, "since": time.time()}
    (home / "daemon.lock").write_text(json.dumps(note), encoding="utf-8")
    listener = stack.enter_context(socket(AF_UNIX, SOCK_STREAM))
    before = os.umask(0o177)
    listener.bind(str(path))
    os.umask(before)
    listener.listen(MOST_CHILDREN)
    listener.setblocking(False)
    stack.callback(path.unlink, missing_ok=True)
    return listener


if __name__ == "__main__":
    main()
