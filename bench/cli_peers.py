"""The peers of `cli.py`, on the same simulated phone, by an adb server and a home of their own.

agent-device is a command line with a daemon, as ours is: its `snapshot` is our `ui`, its `press` our `tap`,
which also says what came of it. mobile-mcp is a server over stdio: a click and a list of the elements, beside
our MCP server's one `tap`. Their daemons are ended at the end, by a mark in their environment.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from doors import HANDRAIL, MARK, Mcp, adb_server, end_descendants, our_target, their_place

if TYPE_CHECKING:
    from cli import Bench, Row

PAGE = "Network & internet"
SWITCH = "Data Saver"
PLACE = ("960", "1030")
"""Of that switch: refs of a peer end with each look, a point does not."""
SETTINGS = "com.android.settings"


def agent_device(bench: Bench, path: str, ui: Row, tap: Row) -> Iterator[tuple[Row, Row]]:
    """Its own node, where it stands beside it, is new enough."""
    beside = Path(path).parents[2] / "node" / "bin" / "node"
    node = str(beside) if beside.exists() else "node"
    home = bench.home / "agent-device"
    home.mkdir()
    with adb_server(home, bench.address) as env:

        def say(*words: str) -> str:
            done = subprocess.run([node, path, *words], env=env, capture_output=True, text=True, check=True)
            return done.stdout

        try:
            say("open", SETTINGS, "--platform", "android", "--serial", bench.address)
            shown = say("snapshot", "-i")
            if SWITCH not in shown:
                say("press", _ref(shown, PAGE))
                shown = say("snapshot", "-i")
            if SWITCH not in shown:
                raise SystemExit(f"agent-device shows no {SWITCH}: {shown}")
            snapshot = bench.measured("agent-device snapshot -i", [node, path, "snapshot", "-i"], env)
            press = bench.measured("agent-device press, unverified", [node, path, "press", *PLACE], env)
            yield snapshot, ui
            yield press, tap
        finally:
            end_descendants(env[MARK])


def _ref(shown: str, label: str) -> str:
    found = re.search(rf'(@e\d+)[^\n]*"[^"\n]*{re.escape(label)}', shown)
    if found is None:
        raise SystemExit(f"agent-device shows no {label}: {shown}")
    return found[1]


def mobile_mcp(bench: Bench, path: str, ui: Row, tap: Row) -> Iterator[tuple[Row, Row]]:
    """Both over stdio, by the same client."""
    del ui, tap
    ours = Mcp([*HANDRAIL, "mcp"], bench.alone)
    try:
        mine = bench.timed("handrail mcp: tap", partial(ours.tool, "tap", **our_target(SWITCH)))
    finally:
        ours.close()
    home = bench.home / "mobile-mcp"
    home.mkdir()
    with adb_server(home, bench.address) as env:
        server = Mcp(["node", path], env | {"MOBILEMCP_DISABLE_TELEMETRY": "1"})

        def listed() -> str:
            return server.tool("mobile_list_elements_on_screen", device=bench.address)

        def act() -> str:
            server.tool("mobile_click_on_screen_at_coordinates", device=bench.address, **place)
            return listed()

        try:
            place = their_place(listed(), SWITCH)
            yield bench.timed("mobile-mcp: tap and list", act), mine
        finally:
            server.close()
            end_descendants(env[MARK])
