"""@mobilenext/mobile-mcp, spoken to over stdio, against a phone. HANDRAIL_MOBILE_MCP=1 fetches it by npx.

HANDRAIL_MOBILE_MCP may also be the path of an installed `lib/index.js`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.adb_tools.conftest import Adb

WANTED = os.environ.get("HANDRAIL_MOBILE_MCP", "")
MARK = "HANDRAIL_TEST_RUN"
pytestmark = [
    pytest.mark.skipif(not WANTED, reason="set HANDRAIL_MOBILE_MCP=1 to run it (needs node and the network)"),
    pytest.mark.skipif(shutil.which("node") is None, reason="no node"),
]


class Mcp:
    """A server over stdio: one JSON object a line."""

    def __init__(self, env: dict[str, str]) -> None:
        command = ["npx", "-y", "@mobilenext/mobile-mcp"] if WANTED == "1" else ["node", WANTED]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            text=True,
        )
        self._count = 0
        client = {"name": "handrail-tests", "version": "1"}
        self.ask("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo=client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._count:
                return answer
        raise AssertionError("mobile-mcp ended")

    def tool(self, name: str, **arguments: Any) -> str:
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        text = str(result["content"][0]["text"])
        assert not result.get("isError"), text
        return text

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture(params=["1", ""], ids=["legacy", "mobilecli"])
def mcp(request: pytest.FixtureRequest, adb: Adb) -> Iterator[Mcp]:
    env = {**adb.env, "MOBILEMCP_DISABLE_TELEMETRY": "1", "MOBILEMCP_LEGACY_ROBOT": request.param}
    env["PATH"] = f"{Path(adb.binary).parent}:{env['PATH']}"
    env[MARK] = str(uuid4())
    server = Mcp(env)
    yield server
    server.stop()
    end_descendants(env[MARK])


def end_descendants(mark: str) -> None:
    """mobilecli leaves a daemon in a session of its own; only processes that inherited our mark are ended."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"{MARK}={mark}".encode() in (entry / "environ").read_bytes()
        except OSError:
            continue
        if marked:
            os.kill(int(entry.name), signal.SIGTERM)


def test_elements_are_listed_and_tapped(mcp: Mcp, adb: Adb) -> None:
    assert adb.serial in mcp.tool("mobile_list_available_devices", noParams={})
    mcp.tool("mobile_terminate_app", device=adb.serial, packageName="com.google.android.contacts")
    mcp.tool("mobile_launch_app", device=adb.serial, packageName="com.google.android.contacts")
    shown = mcp.tool("mobile_list_elements_on_screen", device=adb.serial)
    assert "Create new contact" in shown
    mcp.tool(
        "mobile_click_on_screen_at_coordinates", device=adb.serial, **_place(shown, "Create new contact")
    )
    assert "EditText" in mcp.tool("mobile_list_elements_on_screen", device=adb.serial)
    assert "1080" in mcp.tool("mobile_get_screen_size", device=adb.serial)
    mcp.tool("mobile_press_button", device=adb.serial, button="HOME")
    assert "Create new contact" not in mcp.tool("mobile_list_elements_on_screen", device=adb.serial)


def _place(shown: str, words: str) -> dict[str, Any]:
    """Where the element with these words is: its reference if it has one, else the middle of it."""
    line = next(line for line in shown.splitlines() if words in line)
    found = re.search(r"@e\d+", line)
    if found:
        return {"ref": found[0]}
    left, top, width, height = map(
        int, re.findall(r"(\d+)[,x](\d+)", line)[0] + re.findall(r"(\d+)x(\d+)", line)[0]
    )
    return {"x": left + width // 2, "y": top + height // 2}
