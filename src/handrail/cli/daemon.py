"""`handrail daemon`: whether the daemon of this home runs, and its end."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from handrail.cli.options import json_option
from handrail.cli.output import print_json
from handrail.config import Config
from handrail.errors import HandrailError
from handrail.local_socket import dial, listen, make_socket_folder, take_lock

END_S = 10.0
ANSWER_S = 5.0


@click.group()
def daemon() -> None:
    """Show or stop the process of this home that has its phones, sessions and desk.

    The first command that needs a phone starts it; it ends 9 minutes after the last one.
    HANDRAIL_NO_DAEMON=1 turns it off.
    """


@daemon.command()
@json_option("Print it as JSON.")
def status(as_json: bool) -> None:
    """Show whether one runs for this home, and since when."""
    answer = daemon_status(_home())
    if as_json:
        print_json(answer)
    elif answer["running"]:
        commands, phones = answer["commands"], ", ".join(answer["phones"])
        click.echo(
            f"Runs as process {answer['pid']} since {answer['since_s']} s, version {answer['version']}, "
            f"{commands} command{'' if commands == 1 else 's'} now{f', phones: {phones}' if phones else ''}."
        )
    else:
        click.echo("None runs for this home. The first command that needs a phone starts one.")


@daemon.command()
def stop() -> None:
    """End it. Commands that run get some seconds to finish; servers that it runs are stopped."""
    home = _home()
    answer = _ask_daemon(home, {"daemon": "stop"})
    if answer is None:
        click.echo("None runs for this home.")
        return
    deadline = time.monotonic() + END_S
    while (again := _ask_daemon(home, {"daemon": "status"})) and again.get("pid") == answer["pid"]:
        if time.monotonic() > deadline:
            raise HandrailError(f"Process {answer['pid']} does not end", hint=f"kill -9 {answer['pid']}")
        time.sleep(0.01)
    click.echo(f"Stopped process {answer['pid']}.")


def _home() -> Path:
    """The home with links resolved, as the client names it to the daemon."""
    return Path(os.path.realpath(Config.from_env(os.environ).home))


def daemon_status(home: Path) -> dict[str, Any]:
    return _ask_daemon(home, {"daemon": "status"}) or {"running": False, "home": str(home)}


def _ask_daemon(home: Path, message: dict[str, str]) -> dict[str, Any] | None:
    if (line := dial(str(home), "daemon", ANSWER_S)) is None:
        return None
    try:
        line.sendall(json.dumps(message).encode() + b"\n")
        received = b""
        while data := line.recv(1 << 16):
            received += data
        answer = json.loads(received.splitlines()[1])
    except (OSError, ValueError, IndexError):
        return None
    finally:
        line.close()
    return answer if isinstance(answer, dict) and "pid" in answer else None


HANDED_ON_S = 5.0  # how long an older daemon that has stopped listening may take to end
LARGEST_LOG = 1_000_000


def main(idle_s: float | None = None) -> None:
    home = sys.argv[1]
    os.makedirs(home, mode=0o700, exist_ok=True)
    if not os.stat(home).st_mode & 0o022:  # others may read it at most: closed, as by `Config.make_home`
        os.chmod(home, 0o700)
    make_socket_folder(home, "daemon")
    deadline = time.monotonic() + HANDED_ON_S
    while (lock := take_lock(home, "daemon")) is None:
        if time.monotonic() > deadline or dial(home, "daemon", 1.0) is not None:
            return  # another one serves this home
        time.sleep(0.02)
    # Sends standard output and error to a file of the home, of which one older part is kept.
    path = f"{home}/daemon.log"
    try:
        if os.stat(path).st_size > LARGEST_LOG:
            os.replace(path, f"{path}.1")
    except FileNotFoundError:
        pass
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(handle, number)
    os.close(handle)
    os.chdir(os.path.abspath(os.sep))
    os.ftruncate(lock, 0)  # it is starting
    line, token = listen(home, "daemon")
    from handrail.cli.daemon_server import IDLE_S, serve  # noqa: PLC0415

    serve(home, line, token, lock, IDLE_S if idle_s is None else idle_s)


if __name__ == "__main__":
    main()
