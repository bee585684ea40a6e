"""A tap and its outcome through MCP stdio, beside @mobilenext/mobile-mcp on the same simulated phone.

Handrail answers one call with a tap, its verdict and what changed; the peer needs a click and a list of the
elements, which waits for rest in its mode mobilecli, not in its mode legacy. HANDRAIL_MOBILE_MCP is the
path of its `lib/index.js` (1 fetches it by npx). Tokens (o200k): what a model writes as arguments and reads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from rs_bpe.bpe import openai

from handrail.adb.server import find_adb

HANDRAIL = (sys.executable, "-m", "handrail.cli.main")
MARK = "HANDRAIL_BENCH_RUN"
SETTINGS = "com.android.settings"
STEPS = {"a switch": "Data Saver", "another screen": "Internet"}
"""What is tapped on the page of the network settings."""


class Mcp:
    """A server over stdio: one JSON object a line, the same client for both."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            text=True,
        )
        self._count = 0
        self.tokens = 0
        self._tokens_of = openai.o200k_base().count
        client = {"name": "bench", "version": "1"}
        self._ask("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo=client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._count:
                return answer
        raise SystemExit("the server ended")

    def tool(self, name: str, **arguments: Any) -> str:
        result = self._ask("tools/call", name=name, arguments=arguments)["result"]
        text = "\n".join(block["text"] for block in result["content"])
        if result.get("isError"):
            raise SystemExit(f"{name}: {text}")
        self.tokens += self._tokens_of(json.dumps(arguments)) + self._tokens_of(text)
        return text

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@dataclass
class Figures:
    """Of one step, done many times."""

    ms: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def measure(self, server: Mcp, step: Callable[[], object]) -> None:
        began, used = time.perf_counter(), server.tokens
        step()
        self.ms.append((time.perf_counter() - began) * 1000)
        self.tokens.append(server.tokens - used)

    def row(self) -> dict[str, float]:
        ordered = sorted(self.ms)
        return {
            "median_ms": round(statistics.median(ordered), 1),
            "p90_ms": round(ordered[int(len(ordered) * 0.9)], 1),
            "tokens": statistics.median(self.tokens),
        }


def main() -> None:
    options = arguments().parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="handrail-bench-")))
        address = stack.enter_context(phone())
        rows = {"handrail": ours(options.rounds, home, address)}
        if path := os.environ.get("HANDRAIL_MOBILE_MCP"):
            name = f"mobile-mcp ({'legacy' if options.legacy else 'mobilecli'})"
            rows[name] = theirs(options.rounds, home, address, path, legacy=options.legacy)
    print(json.dumps(rows, indent=1) if options.json else "\n".join(table(rows, options.rounds)))


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="taps of each kind (default 15)")
    parser.add_argument("--legacy", action="store_true", help="the peer's older mode, plain adb")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    return parser


def ours(rounds: int, home: Path, address: str) -> dict[str, dict[str, float]]:
    env = {**os.environ, "HANDRAIL_HOME": str(home / "handrail"), "HANDRAIL_DEVICE": address}
    server = Mcp([*HANDRAIL, "mcp"], env)
    try:
        server.tool("start_app", package=SETTINGS, reason="I open the settings")
        server.tool("tap", target="Network & internet", reason="I open the network settings")
        found = {}
        for name, label in STEPS.items():
            figures = found[name] = Figures()
            for _ in range(rounds):
                figures.measure(server, partial(server.tool, "tap", **our_target(label)))
                if name == "another screen":
                    server.tool("press_key", key="back", reason="I go back")
        return {name: figures.row() for name, figures in found.items()}
    finally:
        server.close()


def our_target(label: str) -> dict[str, Any]:
    return {"target": label, "reason": f"I tap {label} to see what it does"}


def theirs(rounds: int, home: Path, address: str, path: str, *, legacy: bool) -> dict[str, dict[str, float]]:
    with adb_server(home, address) as env:
        env |= {"MOBILEMCP_DISABLE_TELEMETRY": "1", "MOBILEMCP_LEGACY_ROBOT": "1" if legacy else ""}
        server = Mcp(["npx", "-y", "@mobilenext/mobile-mcp"] if path == "1" else ["node", path], env)
        try:
            return their_steps(server, rounds, address)
        finally:
            server.close()
            end_descendants(env[MARK])


def their_steps(server: Mcp, rounds: int, device: str) -> dict[str, dict[str, float]]:
    def listed() -> str:
        return server.tool("mobile_list_elements_on_screen", device=device)

    def click(shown: str, label: str) -> str:
        server.tool("mobile_click_on_screen_at_coordinates", device=device, **their_place(shown, label))
        return listed()

    server.tool("mobile_terminate_app", device=device, packageName=SETTINGS)
    server.tool("mobile_launch_app", device=device, packageName=SETTINGS)
    shown = click(listed(), "Network & internet")
    found = {}
    for name, label in STEPS.items():
        figures = found[name] = Figures()
        for _ in range(rounds):
            figures.measure(server, partial(click, shown, label))
            if name == "another screen":
                server.tool("mobile_press_button", device=device, button="BACK")
            shown = listed()
    return {name: figures.row() for name, figures in found.items()}


def their_place(shown: str, words: str) -> dict[str, Any]:
    """Its reference if it has one, else the middle of it."""
    line = next(line for line in shown.splitlines() if words in line)
    if found := re.search(r"@e\d+", line):
        return {"ref": found[0]}
    (left, top), (width, height) = (
        map(int, re.findall(form, line)[0]) for form in (r"(\d+),(\d+)", r"(\d+)x(\d+)")
    )
    return {"x": left + width // 2, "y": top + height // 2}


@contextmanager
def phone() -> Iterator[str]:
    """A phone in a process of its own."""
    with subprocess.Popen([*HANDRAIL, "sim", "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["connect"]
        finally:
            process.terminate()


@contextmanager
def adb_server(home: Path, address: str) -> Iterator[dict[str, str]]:
    """A private one that knows the phone, for a peer that speaks through the adb binary."""
    adb = find_adb(os.environ)
    if adb is None:
        raise SystemExit("no adb binary: install adbutils, or set HANDRAIL_ADB")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    env = {**os.environ, "HOME": str(home), "ANDROID_USER_HOME": str(home), "ANDROID_ADB_SERVER_PORT": port}
    env |= {"PATH": f"{adb.parent}:{os.environ['PATH']}", MARK: str(uuid4())}
    subprocess.run([adb, "connect", address], env=env, check=True, capture_output=True)
    try:
        yield env
    finally:
        subprocess.run([adb, "kill-server"], env=env, check=False, capture_output=True)


def end_descendants(mark: str) -> None:
    """mobilecli leaves a daemon in a session of its own; only what inherited our mark is ended."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = f"{MARK}={mark}".encode() in (entry / "environ").read_bytes()
        except OSError:
            continue
        if is_ours:
            os.kill(int(entry.name), signal.SIGTERM)


def table(rows: dict[str, dict[str, dict[str, float]]], rounds: int) -> Iterator[str]:
    yield f"{f'tap and outcome, {rounds} times':<30}{'':<16}{'median ms':>11}{'p90 ms':>9}{'tokens':>9}"
    for who, steps in rows.items():
        for step, row in steps.items():
            yield f"{who:<30}{step:<16}{row['median_ms']:>11.0f}{row['p90_ms']:>9.0f}{row['tokens']:>9.0f}"
    if len(rows) > 1:
        us, them = rows.values()
        for step in STEPS:
            spent, tokens = (us[step][key] / them[step][key] for key in ("median_ms", "tokens"))
            shares = f"{spent:.2f} of the peer's time (goal ≤ 1), {tokens:.2f} of its tokens (goal ≤ 0.33)"
            yield f"{step}: {shares}"


if __name__ == "__main__":
    main()
