"""Servers that are killed under load: `python tests/fuzz/kill.py [deaths] [seed]`.

A real `handrail serve` with a simulated phone; clients on its HTTP door note what was answered. After each
`kill -9` the database is read by plain sqlite3: every answered action must stand in the journal with its end,
and every window must be as the last answer left it, or as the one action in flight would have.
"""

from __future__ import annotations

import http.client
import importlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from handrail.cli.serve import serve

ROOT = Path(__file__).parents[2]
DEATHS_PER_HOME = 10
LIFE_SEC = 1.2
"""At most, between the first answers and the kill."""
DESKS, PHONES = 3, 1
APPS = ("com.handrail.notes", "com.google.android.contacts")
PATIENCE_SEC = 60

Window = tuple[str, bool]
"""Its title, and whether it is minimised."""


@dataclass
class Client:
    """One caller on one connection: an action after the other, each noted when its answer is here."""

    address: str
    token: str
    actions: Iterator[dict[str, Any]]
    answered: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    done: list[dict[str, Any]] = field(default_factory=list)
    flying: dict[str, Any] | None = None

    def work(self) -> None:
        """Until the server is gone."""
        with closing(http.client.HTTPConnection(self.address, timeout=PATIENCE_SEC)) as line:
            for action in self.actions:
                self.flying = action
                try:
                    envelope = self._send(line, action)
                except (OSError, http.client.HTTPException, ValueError):
                    return
                self.flying = None
                self.answered.append(envelope["action_id"])
                if envelope["success"]:
                    self.done.append(action)
                else:
                    self.refused.append(f"{action['type']}: {envelope['message']}")

    def _send(self, line: http.client.HTTPConnection, action: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        line.request("POST", "/api/actions", json.dumps(action), headers)
        envelope: dict[str, Any] = json.loads(line.getresponse().read())
        return envelope


def desk_actions(random: Random, name: str) -> Iterator[dict[str, Any]]:
    """Windows of one's own: made, named, minimised, and most of them closed again."""
    for number in range(100_000):
        window = {"windowId": f"{name}-{number}"}
        bounds = {"x": random.randrange(400), "y": random.randrange(300), "w": 300, "h": 200}
        content = {"renderer": "text", "data": "x" * random.randrange(2_000)}
        yield {"type": "window.create", **window, "title": "0", "bounds": bounds, "content": content}
        for title in range(1, random.randrange(1, 4)):
            yield {"type": "window.setTitle", **window, "title": str(title)}
        if random.random() < 0.3:
            yield {"type": "window.minimize", **window}
        if random.random() < 0.8:
            yield {"type": "window.close", **window}


def phone_actions(random: Random, device: str) -> Iterator[dict[str, Any]]:
    """What costs no time: keys, taps on the empty screen, programs."""
    same = {"device": device, "reason": "load"}
    yield {"type": "start_app", "package": random.choice(APPS), **same}
    while True:
        yield {"type": "press_key", "key": random.choice(["volume_up", "volume_down"]), **same}
        yield {"type": "get_ui_tree", "device": device}


def windows_after(actions: list[dict[str, Any]]) -> dict[str, Window]:
    """What a desk that does as it says has then."""
    found: dict[str, Window] = {}
    for action in actions:
        key = action.get("windowId", "")
        match action["type"]:
            case "window.create":
                found[key] = (action["title"], False)
            case "window.setTitle":
                found[key] = (action["title"], found[key][1])
            case "window.minimize":
                found[key] = (found[key][0], True)
            case "window.close":
                del found[key]
    return found


@dataclass
class Tally:
    """What a run saw."""

    deaths: int = 0
    answered: int = 0
    windows: int = 0
    flying: int = 0
    lost: list[str] = field(default_factory=list)


class Servers:
    """Forks of a parent that has imported everything; one life each."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__)), "--nursery"]
        pipe = subprocess.PIPE
        self._parent = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, process_group=0)

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._parent.pid, signal.SIGKILL)  # a test that was cut short leaves a server alive
        self._parent.communicate()

    def _line(self) -> str:
        assert self._parent.stdout
        line = self._parent.stdout.readline().decode()
        assert line, "the nursery itself died"
        return line

    def start(self, home: Path) -> tuple[int, str, str, str]:
        """Its process, the address and token of its door, and the phone."""
        assert self._parent.stdin
        self._parent.stdin.write(f"{home}\n".encode())
        self._parent.stdin.flush()
        pid, phone = int(self._line()), ""
        while "Ctrl-C" not in (line := self._line()):
            if line.startswith("Phone:"):
                phone = line.split()[1]
        told = json.loads((home / "config" / "desk.json").read_text())
        return pid, told["address"].removeprefix("http://"), told["token"], phone

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        while self._line() != "dead\n":
            pass


def run(folder: Path, deaths: int, seed: int, most_sec: float = LIFE_SEC) -> Tally:
    """So many lives and deaths. Raises nothing: what was lost stands in the tally."""
    tally = Tally()
    kept: dict[str, Window] = {}
    with Servers() as servers:
        for number in range(deaths):
            home = folder / str(number // DEATHS_PER_HOME)
            home.mkdir(mode=0o700, exist_ok=True)
            if number % DEATHS_PER_HOME == 0:
                kept = {}
            clients = _live(servers, home, Random(f"{seed} {number}"), number, most_sec)
            kept = examine(home, clients, kept, tally)
    return tally


def _live(servers: Servers, home: Path, random: Random, number: int, most_sec: float) -> list[Client]:
    pid, address, token, phone = servers.start(home)
    clients = [
        Client(address, token, desk_actions(Random(random.random()), f"n{number}c{c}")) for c in range(DESKS)
    ]
    clients += [Client(address, token, phone_actions(Random(random.random()), phone)) for _ in range(PHONES)]
    working = [threading.Thread(target=client.work) for client in clients]
    for thread in working:
        thread.start()
    deadline = time.monotonic() + PATIENCE_SEC
    while not all(client.answered for client in clients) and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(random.uniform(0, most_sec))
    servers.kill(pid)
    for thread in working:
        thread.join()
    return clients


def examine(home: Path, clients: list[Client], kept: dict[str, Window], tally: Tally) -> dict[str, Window]:
    """The windows of this home as the next life must find them."""
    ended, windows = _stored(home)
    tally.deaths += 1
    for client in clients:
        tally.answered += len(client.answered)
        tally.flying += client.flying is not None
        tally.lost += [f"{one} has no end in the journal" for one in client.answered if one not in ended]
        tally.lost += [f"refused: {one}" for one in client.refused]
        sure = windows_after(client.done)
        may_be = windows_after([*client.done, client.flying]) if client.flying else sure
        for key in sure.keys() | may_be.keys():
            tally.windows += 1
            if windows.get(key) not in (sure.get(key), may_be.get(key)):
                tally.lost.append(f"{key} was answered as {sure.get(key)} and is {windows.get(key)}")
    for key, window in kept.items():
        if windows.get(key) != window:
            tally.lost.append(f"{key} of an earlier life was {window} and is {windows.get(key)}")
    return windows


def _stored(home: Path) -> tuple[set[str], dict[str, Window]]:
    with closing(sqlite3.connect(home / "handrail.db")) as db:
        ended = {row[0] for row in db.execute("SELECT action_id FROM journal WHERE terminal = 1")}
        bodies = [json.loads(row[0]) for row in db.execute("SELECT body FROM desk_windows")]
        [(rest,)] = db.execute("SELECT body FROM desk_rest").fetchall()
        listed = {key.partition("/")[2] for key in json.loads(rest)["windows"]}
    windows = {one["windowId"]: (one["title"], bool(one.get("minimized"))) for one in bodies}
    return ended, {key: window for key, window in windows.items() if key in listed}


def nursery() -> None:
    """Reads homes from standard input, forks a server for each, and says when it is dead."""
    for name in ("desk.desk", "web_server.server", "mcp_server.http", "runtime", "cli.sim"):
        importlib.import_module(f"handrail.{name}")
    importlib.import_module("handrail_sim.adbd.server")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os.environ["HANDRAIL_HOME"] = line.strip()
            os.environ["HANDRAIL_HELPER"] = "none"
            os.write(1, f"{os.getpid()}\n".encode())
            serve(["--sim", "1", "--port", "0"], standalone_mode=False)
            os._exit(0)
        os.waitpid(pid, 0)
        os.write(1, b"dead\n")


def main(deaths: int, seed: int) -> None:
    print(f"seed {seed}")  # noqa: T201
    with tempfile.TemporaryDirectory() as folder:
        tally = run(Path(folder), deaths, seed)
    print(  # noqa: T201
        f"{tally.deaths} servers killed: {tally.answered} answered actions, {tally.flying} in flight, "
        f"{tally.windows} windows looked at, {len(tally.lost)} lost"
    )
    for one in tally.lost[:20]:
        print(one)  # noqa: T201
    sys.exit(1 if tally.lost else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--nursery"]:
        nursery()
    else:
        given = [int(one) for one in sys.argv[1:]]
        main(*(given + [200, int(time.time())][len(given) :]))
