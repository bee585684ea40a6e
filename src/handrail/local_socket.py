"""Where a home is, and its socket: a Unix socket, or a loopback port with a token where there are none.

The client of the daemon decides with it in a millisecond, so it imports nothing that the interpreter has not
loaded anyway, but for `_socket`.
"""

from __future__ import annotations

import _socket
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # as `typing` has it, which takes longer to import than this file
    from collections.abc import Mapping
    from typing import Any

HAS_UNIX_SOCKETS = hasattr(_socket, "AF_UNIX")
TOKEN_SIZE = 32
"""Characters that a client of a loopback port sends first. Only its user can read the file with them."""
_LOOPBACK = "127.0.0.1"


def dial(home: str, name: str, timeout_s: float) -> _socket.socket | None:
    """A connection to the server of this home, run by the same user; None where there is none."""
    family = _socket.AF_UNIX if HAS_UNIX_SOCKETS else _socket.AF_INET
    line = _socket.socket(family, _socket.SOCK_STREAM)
    line.settimeout(timeout_s)
    try:
        if HAS_UNIX_SOCKETS:
            path = socket_file(home, name)
            if is_private(os.path.dirname(path)):
                line.connect(path)
                if is_same_user(line):
                    return line
        else:
            with open(f"{home}/{name}.port", encoding="ascii") as file:
                port, _, token = file.read().partition(" ")
            line.connect((_LOOPBACK, int(port)))
            line.sendall(token.encode("ascii"))
            return line
    except (OSError, ValueError):
        pass
    line.close()
    return None


def listen(home: str, name: str) -> tuple[_socket.socket, bytes]:
    """A listening socket, and the token that clients must send first (empty with Unix sockets).

    The caller holds the lock of this name, so a socket that is there was left behind and is replaced.
    """
    if HAS_UNIX_SOCKETS:
        path = socket_file(home, name)
        remove_address(home, name)
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            line.bind(path)
        finally:
            os.umask(mask)
        line.listen(64)
        return line, b""
    line = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    line.bind((_LOOPBACK, 0))
    line.listen(64)
    token = os.urandom(TOKEN_SIZE // 2).hex()
    remove_address(home, name)
    file = os.open(f"{home}/{name}.port", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(file, f"{line.getsockname()[1]} {token}".encode("ascii"))
    os.close(file)
    return line, token.encode("ascii")


def take_lock(home: str, name: str) -> int | None:
    """A handle that holds the lock until it is closed or its process ends; None where another has it."""
    handle = os.open(f"{home}/{name}.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            os.lseek(handle, 1 << 20, os.SEEK_SET)  # a locked byte can't be read, so none that is written
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def phones_open_in_daemon(home: str) -> list[str]:
    """Serials of the devices that the daemon of a home has open, from its lock file."""
    import json  # noqa: PLC0415  (clients of the daemon do without)

    try:
        with open(f"{home}/daemon.lock", "rb") as file:
            phones = json.loads(file.read() or b"{}").get("phones", [])
    except (OSError, ValueError, AttributeError):
        return []
    if not phones or (line := dial(home, "daemon", 1.0)) is None:
        return []
    line.close()
    return [str(serial) for serial in phones]


def desk_address(home: str, file: str) -> str:
    """The address of the desk that serves this home, as `file` has it; "" where none is open."""
    import json  # noqa: PLC0415  (clients of the daemon do without)

    if (line := dial(home, "desk", 1.0)) is None:
        return ""
    line.close()
    try:
        with open(file, encoding="utf-8") as desk:
            return str(json.load(desk)["address"])
    except (OSError, ValueError, LookupError):
        return "here"


def ask_open_phones(home: str, name: str) -> list[dict[str, Any]]:
    """The open devices of the Handrail at this socket of a home: serial, model, android, channels."""
    import json  # noqa: PLC0415  (clients of the daemon do without)

    if (line := dial(home, name, 1.0)) is None:
        return []
    answers: list[dict[str, Any]] = []
    rest = b""
    try:
        line.sendall(b'{"phones": true}\n')
        while len(answers) < 2 and (more := line.recv(65_536)):  # who it is, then its answer
            *complete, rest = (rest + more).split(b"\n")
            answers += [json.loads(text) for text in complete]
        return list(answers[1].get("phones", ()))
    except (OSError, ValueError, LookupError):
        return []
    finally:
        line.close()


def remove_address(home: str, name: str) -> None:
    """Remove what tells clients where to connect."""
    try:  # noqa: SIM105  (`contextlib` takes longer to import than this file)
        os.unlink(socket_file(home, name) if HAS_UNIX_SOCKETS else f"{home}/{name}.port")
    except FileNotFoundError:
        pass


def make_socket_folder(home: str, name: str) -> None:
    """Raises `PermissionError` where the folder belongs to another user, or others may write to it."""
    if HAS_UNIX_SOCKETS:
        folder = os.path.dirname(socket_file(home, name))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not is_private(folder):
            raise PermissionError(1, "it belongs to another user, or others may write to it", folder)


def is_private(folder: str) -> bool:
    """Whether it is a folder of this user, closed to all others."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    is_folder = status.st_mode & 0o170000 == 0o040000
    return is_folder and status.st_uid == os.getuid() and not status.st_mode & 0o077


def is_same_user(line: _socket.socket) -> bool:
    """Asks the kernel. Where it can't tell, the mode of the folder has to do."""
    if hasattr(_socket, "SO_PEERCRED"):
        credentials = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()
    if sys.platform == "darwin":  # LOCAL_PEERCRED gives a version and the user
        credentials = line.getsockopt(0, 1, 76)
        return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()
    return True


LONGEST_SOCKET = 100
"""Bytes. Kernels take 103 (macOS) or 107 (Linux) for the path of a socket."""


def home_folder(env: Mapping[str, str]) -> str:
    """An absolute path, which need not exist."""
    if chosen := env.get("HANDRAIL_HOME"):
        chosen = os.path.expanduser(chosen)  # the working directory is needed for relative paths only
        return _plain_path(chosen if chosen.startswith("/") else f"{os.getcwd()}/{chosen}")
    # The XDG rules: a relative path in these variables counts as not set.
    data = env.get("XDG_DATA_HOME", "")
    if data.startswith("/"):
        return _plain_path(f"{data}/handrail")
    user = env.get("HOME") or os.path.expanduser("~")
    return _plain_path(f"{user}/.local/share/handrail")


def socket_file(home: str, name: str) -> str:
    """Under the home; where that path is too long for a socket, in a folder of this user's own."""
    direct = f"{home}/{name}.sock"
    if len(os.fsencode(direct)) <= LONGEST_SOCKET:
        return direct
    import hashlib  # noqa: PLC0415  (both are for long paths only)
    import tempfile  # noqa: PLC0415

    short = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    return f"{tempfile.gettempdir()}/handrail-{os.getuid()}-{short}/{name}.sock"


def _plain_path(path: str) -> str:
    """Writes it as `pathlib` does, without importing it."""
    lead = "/" if path.startswith("/") else ""
    return lead + "/".join(part for part in path.split("/") if part not in ("", "."))
