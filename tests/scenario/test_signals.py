"""A signal during the wait for a person: whoever asked gets one JSON object, and the question is withdrawn.

Real processes; the question is looked up in the database by plain sqlite3.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

POLICY = '[[rule]]\nname = "ask"\naction = "press_key"\nverdict = "ask"\n'
HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]
PATIENCE_SEC = 40
ACTION = {"type": "press_key", "key": "home", "reason": "I want to go home"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    (place / "config").mkdir(parents=True, mode=0o700)
    place.chmod(0o700)
    (place / "config" / "policy.toml").write_text(POLICY)
    return place


def started(home: Path, *words: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "HANDRAIL_HOME": str(home), "HANDRAIL_HELPER": "none"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*HANDRAIL, *words],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
    )


def states(home: Path) -> list[str]:
    try:
        with closing(sqlite3.connect(f"file:{home}/handrail.db?mode=ro", uri=True)) as db:
            return [row[0] for row in db.execute("SELECT state FROM approvals ORDER BY seq")]
    except sqlite3.Error:  # not there yet
        return []


def until(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_SEC
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def answer_of(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, err = process.communicate(timeout=PATIENCE_SEC)
    assert b"Traceback" not in err
    assert process.returncode == 130
    told: dict[str, Any] = json.loads(out)
    return told


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_a_command_that_is_stopped_while_it_waits_for_a_person_answers_in_json(
    home: Path, number: signal.Signals
) -> None:
    process = started(home, "press-key", "home", "--sim", "--json")
    until(lambda: "pending" in states(home))
    process.send_signal(number)
    told = answer_of(process)
    assert (told["failure_code"], told["delivery"]) == ("CANCELLED", "not_delivered")
    assert states(home) == ["withdrawn"]


@pytest.mark.slow
def test_a_command_that_is_stopped_before_it_did_anything_answers_in_json(home: Path) -> None:
    process = started(home, "press-key", "home", "--sim", "--json")
    until((home / "handrail.db").exists)
    process.send_signal(signal.SIGTERM)
    told = answer_of(process)
    assert "CANCELLED" in (told.get("code"), told.get("failure_code"))
    assert "pending" not in states(home)


def served(home: Path) -> tuple[subprocess.Popen[bytes], str]:
    server, phone = started(home, "serve", "--sim", "1", "--port", "0"), ""
    assert server.stdout
    for line in server.stdout:
        if line.startswith(b"Phone:"):
            phone = line.split()[1].decode()
        if b"Ctrl-C" in line:
            break
    return server, phone


def test_a_server_that_is_stopped_answers_those_who_wait_for_a_person(home: Path) -> None:
    server, phone = served(home)
    desk = json.loads((home / "config" / "desk.json").read_text())
    answers: list[tuple[int, Any]] = []

    def ask(method: str, path: str, body: str | None) -> None:
        headers = {"Authorization": f"Bearer {desk['token']}", "Content-Type": "application/json"}
        place = desk["address"].removeprefix("http://")
        with closing(http.client.HTTPConnection(place, timeout=PATIENCE_SEC)) as line:
            line.request(method, path, body, headers)
            answer = line.getresponse()
            answers.append((answer.status, json.loads(answer.read())))

    body = json.dumps(ACTION | {"device": phone})
    waiting = [
        threading.Thread(target=ask, args=("POST", "/api/actions", body)),
        threading.Thread(target=ask, args=("GET", "/api/inbox?wait=60000", None)),
    ]
    for thread in waiting:
        thread.start()
    command = started(home, "press-key", "home", "--device", phone, "--json")
    until(lambda: states(home).count("pending") == 2)
    server.send_signal(signal.SIGTERM)
    for thread in waiting:
        thread.join()
    assert answer_of(command)["failure_code"] == "CANCELLED"
    assert [status for status, _ in answers] == [499, 499]
    assert {told.get("failure_code") or told.get("code") for _, told in answers} == {"CANCELLED"}
    server.communicate(timeout=PATIENCE_SEC)
    assert server.returncode == 0
    assert states(home) == ["withdrawn", "withdrawn"]
