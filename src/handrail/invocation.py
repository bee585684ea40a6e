"""For whom a command runs: for this process's own shell, or for a client of the daemon.

Many commands run at once in the daemon. What a process has only once (signals, the working directory, the
terminal, an event loop) is therefore asked for here; each command finds its own by context.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class Invocation:
    """What a command asks of the process that it was typed in. This one runs in that process itself."""

    daemon: Any = None
    """The daemon that runs the command; None in a process of its own."""
    config: Any = None
    """The `Config` of the client's environment, where it is not this process's."""
    caller: Any = None
    """The `Caller` who acts, where the runtime is shared with others."""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        import asyncio  # noqa: PLC0415  (most of a short command's start)

        return asyncio.run(work)

    @contextmanager
    def on_stop(self, handler: Callable[[], object], *, once: bool = True) -> Iterator[None]:
        """Ctrl-C and SIGTERM call `handler`. With `once` a second one has its usual effect."""
        import asyncio  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)

        def release() -> None:
            for number in numbers:
                loop.remove_signal_handler(number)

        def stopped() -> None:
            if once:
                release()
            handler()

        for number in numbers:
            loop.add_signal_handler(number, stopped)
        try:
            yield
        finally:
            release()

    def drop_output(self) -> None:
        """Nobody reads standard output any more."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def login_session(self) -> int:
        """The session of the terminal's owner, which tells a person's shell from an agent's."""
        return os.getsid(0)

    def path(self, path: Path) -> Path:
        """A path of the caller as this process can open it."""
        return path

    def read_bytes(self, path: str) -> bytes:
        """A file of the caller; `-` is standard input. Raises `OSError`."""
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()

    def write_bytes(self, path: str | None, data: bytes) -> str:
        """Writes a file of the caller, a new temporary picture where no path is given; its path."""
        if path is None:
            import tempfile  # noqa: PLC0415

            handle, path = tempfile.mkstemp(prefix="handrail-", suffix=".png")
            os.close(handle)
        Path(path).write_bytes(data)
        return path

    def is_folder(self, path: str) -> bool:
        """Whether the caller has a folder there."""
        return os.path.isdir(path)

    def input(self, limit: int) -> asyncio.StreamReader:
        """Standard input as it comes, in lines of `limit` bytes at most. Only in the daemon."""
        raise NotImplementedError

    async def write_answer(self, data: bytes) -> None:
        """Returns when standard output has it. Only in the daemon."""
        raise NotImplementedError

    async def ask_person(self, approval_id: str) -> None:
        """Asks at the caller's terminal until it is cancelled. Only the daemon can."""
        raise NotImplementedError

    async def show_url(self, url: str) -> None:
        """Opens an address in the browser of whoever runs the command."""
        import asyncio  # noqa: PLC0415
        import webbrowser  # noqa: PLC0415

        await asyncio.to_thread(webbrowser.open, url)


current: ContextVar[Invocation] = ContextVar("invocation", default=Invocation())  # noqa: B039


def run(work: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`; in the daemon, on its event loop."""
    return current.get().run(work)


def login_session() -> int:
    """The session of whoever gave the command. Raises `ProcessLookupError` when they have gone."""
    return current.get().login_session()


def process_start_time(process: int) -> str:
    """When a process was started, in ticks since boot; '' where that is unknown."""
    try:
        return _process_stat(process)[19]
    except (OSError, IndexError):
        return ""


def is_in_foreground(handle: int) -> bool:
    """Whether this command's job is in the foreground of that terminal, or there are no jobs."""
    try:
        facts = _process_stat(os.getpid())
        group, terminal, in_front = int(facts[2]), int(facts[4]), int(facts[5])
        device = os.fstat(handle).st_rdev
    except (OSError, ValueError, IndexError):
        return True
    # `stat` gives a device's number in another form than /proc.
    shown = os.makedev((terminal >> 8) & 0xFFF, (terminal & 0xFF) | ((terminal >> 12) & 0xFFF00))
    return shown != device or group == in_front


def _process_stat(process: int) -> list[str]:
    """Fields of /proc/PID/stat after the name, which may hold anything: state, parent, group, session, …"""
    text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    return text.rpartition(")")[2].split()
