"""Another operating system, as far as Handrail's own code can see it: what is not there is not there.

The standard library and the packages of others stay as they are; how they cope is their affair.
Run as `python -m tests.platforms.elsewhere win32 WORDS…`: the command line of Handrail under that system.
"""

from __future__ import annotations

import asyncio
import builtins
import importlib
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

MODULES = {
    "win32": "fcntl termios tty pty resource pwd grp syslog readline curses posix crypt nis spwd".split(),
    "darwin": ["spwd"],
    "plain": [],
}
"""Modules that the system has not."""
NAMES = {
    "win32": {
        "os": "fork forkpty getuid geteuid getgid getegid setuid setsid setpgid getpgid getsid killpg uname "
        "nice mkfifo posix_spawn wait3 wait4 waitid WNOHANG O_NONBLOCK O_NOFOLLOW O_DIRECTORY O_CLOEXEC "
        "O_NOCTTY fchmod fchown chown lchown sched_getaffinity pidfd_open memfd_create register_at_fork "
        "ttyname ctermid getpriority "
        "setpriority getloadavg openpty statvfs pread pwrite POSIX_SPAWN_OPEN",
        "signal": "SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGUSR2 SIGWINCH SIGSTOP SIGTSTP SIGCONT SIGCHLD SIGALRM "
        "SIGPIPE pthread_sigmask setitimer alarm pause sigwait",
        "socket": "AF_UNIX SO_PEERCRED SCM_RIGHTS CMSG_LEN SO_REUSEPORT send_fds recv_fds",
        "asyncio": "start_unix_server open_unix_connection",
    },
    "darwin": {
        "os": "sched_getaffinity pidfd_open memfd_create O_TMPFILE prlimit posix_fadvise posix_fallocate",
        "signal": "SIGRTMIN SIGRTMAX SIGPWR SIGSTKFLT pidfd_send_signal",
        "socket": "SO_PEERCRED AF_NETLINK AF_VSOCK AF_PACKET SOCK_CLOEXEC SOCK_NONBLOCK",
    },
    "plain": {"os": "fork forkpty posix_spawn", "socket": "AF_UNIX SO_PEERCRED"},
}
"""Names that a module has not there. What begins with an underscore is the same underneath."""


class Poorer(ModuleType):
    """A module without some of its names, or with other values."""

    def __init__(self, name: str, hidden: Sequence[str] = (), **other: object) -> None:
        super().__init__(name)
        told = {"real": importlib.import_module(name), "hidden": frozenset(hidden), "other": other}
        self.__dict__.update(told)

    def __getattr__(self, name: str) -> Any:
        if name in self.other:
            return self.other[name]
        if name in self.hidden:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self.real, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.real, name, value)


def become(system: str) -> None:
    """From here on, for whatever of Handrail is imported."""
    seen: dict[str, ModuleType] = {"sys": Poorer("sys", platform=system)}
    for name, hidden in NAMES[system].items():
        seen[name] = Poorer(name, hidden.split())
        if f"_{name}" in ("_signal", "_socket"):
            seen[f"_{name}"] = Poorer(f"_{name}", hidden.split())
    real_import = builtins.__import__

    def imported(name: str, *more: Any, **rest: Any) -> ModuleType:
        asking: Mapping[str, Any] = (more[0] if more else rest.get("globals")) or {}
        if str(asking.get("__name__")).startswith("handrail"):
            if name.partition(".")[0] in MODULES[system]:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in seen:
                return seen[name]
        return real_import(name, *more, **rest)

    builtins.__import__ = imported
    if system == "win32":
        asyncio.SelectorEventLoop.add_signal_handler = _refused  # type: ignore[method-assign]


def _refused(*_: object) -> None:
    raise NotImplementedError


if __name__ == "__main__":
    become(sys.argv[1])
    sys.argv = ["handrail", *sys.argv[2:]]
    main = importlib.import_module("handrail.cli.main").main
    main()
