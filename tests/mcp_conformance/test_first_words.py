"""A client's first words over standard input, in a process of its own and through the daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]
OPENING: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
INITIALIZED: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING: dict[str, Any] = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


@pytest.mark.parametrize("switch", ["1", "0"])
def test_a_client_that_asks_everything_at_once_is_answered_once_and_in_order(
    tmp_path: Path, switch: str
) -> None:
    unknown = {"jsonrpc": "2.0", "id": 3, "method": "resources/templates/list"}
    messages = [OPENING, INITIALIZED, LIST, PING, unknown, {**LIST, "id": 4}]
    env = {**os.environ, "HANDRAIL_HOME": str(tmp_path), "HANDRAIL_NO_DAEMON": switch}
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen([*HANDRAIL, "mcp"], env=env, stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdout is not None
            process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
            process.stdin.flush()
            answers = [json.loads(process.stdout.readline()) for _ in range(5)]
            process.stdin.close()
            assert process.stdout.read() == ""
        assert process.returncode == 0
    finally:
        subprocess.run([*HANDRAIL, "daemon", "stop"], env=env, capture_output=True, timeout=60)
    by_id = {answer["id"]: answer for answer in answers}
    assert answers[0]["id"] == 1
    assert "protocolVersion" in answers[0]["result"]
    assert by_id.keys() == {1, 2, "p", 3, 4}
    assert by_id[4]["result"] == by_id[2]["result"]


def test_a_wrong_option_is_told_through_the_daemon_too(tmp_path: Path) -> None:
    env = {**os.environ, "HANDRAIL_HOME": str(tmp_path), "HANDRAIL_NO_DAEMON": "0"}
    try:
        done = subprocess.run(
            [*HANDRAIL, "mcp", "--tools", "nope"],
            env=env,
            input="",
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        subprocess.run([*HANDRAIL, "daemon", "stop"], env=env, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nope" in done.stderr
