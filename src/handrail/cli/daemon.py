"""`handrail daemon`: the resident process that makes commands quick; whether it runs, and its end."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import Any

import click

from handrail.cli.hand_over import peer
from handrail.cli.output import print_json
from handrail.config import Config
from handrail.errors import HandrailError
from handrail.local.wire import is_ours, socket_path

_END_S = 5.0


@click.group()
def daemon() -> None:
    """The process that stays behind the first command, so that the next ones need no start of their own.

    It holds no phone and keeps nothing of a command. It ends after 15 minutes without one.
    HANDRAIL_NO_DAEMON=1 does without it.
    """


@daemon.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def status(as_json: bool) -> None:
    """Say whether one runs for this home, and since when."""
    told = running(_home())
    if as_json:
        print_json(told)
    elif told["running"]:
        click.echo(
            f"Runs as process {told['pid']} since {told['since_s']} s, version {told['version']}, "
            f"{told['commands']} command{'' if told['commands'] == 1 else 's'} now."
        )
    else:
        click.echo("None runs for this home. The first command that needs a phone starts one.")


@daemon.command()
def stop() -> None:
    """End it. Commands that run are finished; the next one starts a new resident process."""
    home = _home()
    process = _listening(home)
    if process is None:
        click.echo("None runs for this home.")
        return
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
    deadline = time.monotonic() + _END_S
    while _listening(home) == process:
        if time.monotonic() > deadline:
            raise HandrailError(f"Process {process} does not end", hint=f"kill -9 {process}")
        time.sleep(0.01)
    click.echo(f"Stopped process {process}.")


def _home() -> Path:
    """As the client spells it. A link that leads to itself stays as it is, and nobody listens there."""
    return Path(os.path.realpath(Config.from_env(os.environ).home))


def running(home: Path) -> dict[str, Any]:
    """What is known of the resident process of a home. Its lock says whether there is one."""
    nobody = {"running": False, "home": str(home)}
    try:
        with (home / "daemon.lock").open("rb") as lock:
            note = json.loads(lock.read() or b"{}")
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return nobody
    except BlockingIOError:
        pass
    except (OSError, ValueError):
        return nobody
    return {
        "running": True,
        "pid": note.get("pid"),
        "home": str(home),
        "version": note.get("version"),
        "since_s": round(time.time() - note.get("since", time.time())),
        "commands": _children(note.get("pid")),
    }


def _listening(home: Path) -> int | None:
    """The process at the other end, as the kernel knows it: a file could name any other one."""
    path = socket_path(home, "daemon")
    if not is_ours(path.parent):
        return None
    with socket(AF_UNIX, SOCK_STREAM) as line:
        try:
            line.connect(str(path))
        except OSError:
            return None
        process, user, _ = peer(line)
    return process if user == os.getuid() else None


def _children(process: int | None) -> int:
    """Commands that run now."""
    with suppress(OSError):
        return len(Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split())
    return 0
