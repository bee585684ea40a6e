"""Homes that are broken in every way we know, and every command of the parser with arguments that it takes.

Commands run in forks of a process that has imported everything: `python -m tests.scenario.broken_homes`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from handrail.cli.action_commands import ACTION_COMMANDS
from handrail.cli.main import main
from handrail.cli.program import cli

ROOT = Path(__file__).parents[2]
PATIENCE_SEC = 50
SERVING_SEC = 5.0
"""After this a command that serves or follows is asked to end, if it has not come to rest before."""
LOOKS_SEC, LOOKS_AT_REST = 0.1, 5
"""How often such a command is looked at, and how often in a row it must have done nothing."""
SERVING = {"serve", "watch"}


# commands


@dataclass(frozen=True)
class Command:
    """One command with arguments, and whether it can speak JSON."""

    name: tuple[str, ...]
    arguments: tuple[str, ...]
    has_json: bool

    def __str__(self) -> str:
        return " ".join(self.name)


FILLERS = {
    "file": "examples/actions.jsonl", "before": "examples/dumps/contact_empty.xml",
    "after": "examples/dumps/contact_typed.xml", "flows": "examples/flows/contact.yaml",
    "paths": "examples/flows/contact.yaml", "out": "/dev/null", "shell": "bash",
}  # fmt: skip
SPECIAL = {
    ("tree",): ("examples/dumps/contact_empty.xml",),
    ("actions",): ("tap",),
    ("policy", "check"): (),
    ("sim", "fault"): ("list",),
    ("sim", "snapshot"): ("/dev/full",),
    ("sim", "restore"): ("/dev/null",),
    ("sim", "reboot"): ("--help",),
    ("serve",): ("--port", "0"),
    ("desk", "act"): ("toast.show", "id=t", "message=m"),
    ("agent",): ("a task", "--model", "scripted:examples/agent_script.jsonl"),
    ("bug-report",): ("--out", f"{tempfile.gettempdir()}/handrail-broken-home-{os.getpid()}.zip"),
    ("eval",): ("--list",),
    ("demo",): ("--help",),
}
"""What can't be guessed from the parser. The demo has a home of its own."""


def commands() -> Iterator[Command]:
    """Every command there is; a new one is here without an edit."""
    yield from _walk(cli, ())


def _walk(command: click.Command, name: tuple[str, ...]) -> Iterator[Command]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for one in command.list_commands(context):
            if (child := command.get_command(context, one)) is not None:
                yield from _walk(child, (*name, one))
        return
    has_json = any("--json" in part.opts for part in command.params)
    yield Command(name, tuple(_arguments(command, name)), has_json)


def _arguments(command: click.Command, name: tuple[str, ...]) -> Iterator[str]:
    if name in SPECIAL:
        yield from SPECIAL[name]
    elif name[0] in ACTION_COMMANDS:
        yield from shlex.split(ACTION_COMMANDS[name[0]].example)[2:]
    else:
        for part in command.params:
            if isinstance(part, click.Argument):
                yield FILLERS.get(part.name or "", "x")


# homes


def _healthy(home: Path) -> None:
    """A home in which something was done."""
    from handrail.clock import SystemClock  # noqa: PLC0415
    from handrail.journal import Journal  # noqa: PLC0415
    from handrail.safety.approvals import Approvals  # noqa: PLC0415
    from handrail.store import Store  # noqa: PLC0415

    home.mkdir(mode=0o700, exist_ok=True)
    journal = Journal.open(home, SystemClock())
    for number in range(40):
        journal.note({"kind": "accepted", "action_id": f"tap_{number}", "action": {"type": "tap"}})
    asyncio.run(journal.close())
    store = Store(home / "handrail.db")
    Approvals(store, SystemClock())
    store.close()


def _folder_at(name: str) -> Callable[[Path], None]:
    def broken(home: Path) -> None:
        (home / name).unlink(missing_ok=True)
        (home / name / "in the way").mkdir(parents=True)

    return broken


def _file_at(name: str) -> Callable[[Path], None]:
    def broken(home: Path) -> None:
        shutil.rmtree(home / name, ignore_errors=True)
        (home / name).write_text("in the way")

    return broken


def _no_database(home: Path) -> None:
    (home / "handrail.db").write_bytes(b"This is a letter and no database.\n" * 1_000)
    for rest in ("handrail.db-wal", "handrail.db-shm"):
        (home / rest).unlink(missing_ok=True)


def _cut(home: Path) -> None:
    file = home / "handrail.db"
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def _scribbled(home: Path) -> None:
    file = home / "handrail.db"
    data = bytearray(file.read_bytes())
    data[4096:] = bytes(255 - one for one in data[4096:])
    file.write_bytes(data)


def _not_a_folder(home: Path) -> None:
    shutil.rmtree(home)
    home.write_text("in the way")


def _a_loop(home: Path) -> None:
    shutil.rmtree(home)
    home.symlink_to(home)


HOMES: dict[str, Callable[[Path], None]] = {
    "a file that is no database": _no_database,
    "half a database": _cut,
    "a database with scribbled pages": _scribbled,
    "a folder where the database should be": _folder_at("handrail.db"),
    "a folder where the head should be": _folder_at("journal.head"),
    "a file where the home should be": _not_a_folder,
    "a file where the configuration should be": _file_at("config"),
    "a file where the pictures should be": _file_at("blobs"),
    "a link that leads to itself": _a_loop,
    "a folder where the policy should be": _folder_at("config/policy.toml"),
    "a folder where the remembered answers should be": _folder_at("config/permissions.json"),
    "a folder where the secrets should be": _folder_at("config/secrets"),
}
MOUNTED = ("a home that can not be written", "a full disk")
"""These need a small disk of their own."""


@contextmanager
def broken(name: str, home: Path) -> Iterator[bool]:
    """The home, broken like that; False where this machine does not let us."""
    if name in HOMES:
        _healthy(home)
        HOMES[name](home)
        yield True
        return
    home.mkdir()
    if subprocess.run([*_MOUNT, str(home)], capture_output=True, check=False).returncode:
        yield False
        return
    try:
        home.chmod(0o700)
        _healthy(home)
        if name == "a full disk":
            _fill(home)
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
        yield True
    finally:
        subprocess.run(["umount", "-l", str(home)], check=True)


_MOUNT = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs"]


def _fill(home: Path) -> None:
    with (home / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    with (home / "filler").open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x")


# running


@dataclass(frozen=True)
class Ended:
    """What came of one command, as bytes."""

    code: int
    out: bytes
    err: bytes


class Forks:
    """Runs commands one after the other, each in a process of its own."""

    def __init__(self, folder: Path, device: str) -> None:
        self._folder = folder
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "HANDRAIL_DEVICE": device,
            "HANDRAIL_HELPER": "none",
            "HANDRAIL_NO_DAEMON": "1",
            "HANDRAIL_ADB": str(folder / "no-adb"),
            "ANDROID_ADB_SERVER_PORT": "1",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.scenario.broken_homes"],
            cwd=ROOT,
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate()

    def run(self, home: Path, *arguments: str) -> Ended:
        assert self._parent.stdin
        assert self._parent.stdout
        out, err = self._folder / "out", self._folder / "err"
        asked = {"home": str(home), "arguments": arguments, "out": str(out), "err": str(err)}
        self._parent.stdin.write(json.dumps(asked).encode() + b"\n")
        self._parent.stdin.flush()
        code = int(self._parent.stdout.readline())
        return Ended(code, out.read_bytes(), err.read_bytes())


def _child(asked: dict[str, Any]) -> None:
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ["HANDRAIL_HOME"] = asked["home"]
    sys.argv = ["handrail", *asked["arguments"]]
    main()


class AtRest:
    """Ends a process that serves: once it waits and has used no processor for a while, or after its time."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._used = ""
        self._rests = self._looks = 0

    def __call__(self, *_: object) -> None:
        try:
            state, *facts = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return  # it has ended just now
        used = " ".join(facts[10:12])  # ticks in its own code and in the kernel, of all threads
        self._looks += 1
        self._rests = self._rests + 1 if state == "S" and used == self._used else 0
        self._used = used
        if self._rests >= LOOKS_AT_REST or self._looks * LOOKS_SEC >= SERVING_SEC:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE_SEC)  # it is asked once, and may take its time
            os.kill(self._pid, signal.SIGTERM)


def _nursery() -> None:
    import handrail.cli.perform  # noqa: PLC0415
    import handrail.runtime  # noqa: F401, PLC0415

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _child(json.loads(line))
            sys.exit(0)  # with the usual end of a program: threads, buffers, exit functions
        if SERVING & set(json.loads(line)["arguments"][:1]):
            signal.signal(signal.SIGALRM, AtRest(pid))
            signal.setitimer(signal.ITIMER_REAL, LOOKS_SEC, LOOKS_SEC)
        else:
            signal.signal(signal.SIGALRM, lambda *_, pid=pid: os.kill(pid, signal.SIGTERM))
            signal.setitimer(signal.ITIMER_REAL, PATIENCE_SEC)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(1, f"{code}\n".encode())


if __name__ == "__main__":
    _nursery()
