"""Seed 003 at the MCP door, on the simulated phone: its counts, its names, its hints, its diagnostics."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from handrail.android.settings import set_network
from handrail.config import Helper
from handrail.dialects.agentest import read_tool
from handrail.surface.values import NetworkChange
from handrail_sim.channels.emulator import open_console
from handrail_sim.phone import Phone
from tests.scenario.test_mcp_answers import CONTACTS, Door, door
from tests.scenario.world import play, usual_clock
from tests.unit.android.scripted_shell import ScriptedShell

ASYNC_RUNNER = play

REACT = "com.handrail.reactlab"


async def told(ask: Door, name: str, *, fails: bool = False, **arguments: Any) -> dict[str, Any]:
    answer = await ask(f"agentest_{name}", **arguments)
    assert answer.is_error is fails, answer.text
    written: dict[str, Any] = json.loads(answer.text)
    return written


async def test_a_step_that_was_carried_out_and_failed_counts_and_says_why_in_its_own_words(
    tmp_path: Path,
) -> None:
    async with door(tmp_path, "agentest") as ask:
        await told(ask, "connect", packageName=CONTACTS)
        steps = [
            {"action": "assert_visible", "target": {"text": "Create new contact"}},
            {"action": "assert_visible", "target": {"text": "Nobody"}},
            {"action": "wait", "timeoutMs": 1},
        ]
        trace = await told(ask, "run_flow", fails=True, steps=steps)
        assert (trace["stepsCompleted"], trace["totalSteps"]) == (2, 3)
        assert trace["error"].startswith("Step 2 (assert_visible Nobody) failed: ")
        assert trace["results"][1]["code"] == "ASSERTION_FAILED"
        assert "expect_visible" not in json.dumps(trace)


async def test_a_stale_ref_tells_the_model_to_call_agentest_get_ui_tree(tmp_path: Path) -> None:
    async with door(tmp_path, "agentest") as ask:
        await told(ask, "connect", packageName=CONTACTS)
        tree = (await ask("agentest_get_ui_tree")).text
        ref = next(line.split()[0] for line in tree.splitlines() if "Create new contact" in line)
        await told(ask, "run_flow", steps=[{"action": "tap", "target": {"ref": ref}}])
        for gone in (ref, "@b99"):
            step = {"action": "tap", "target": {"ref": gone}}
            trace = await told(ask, "run_flow", fails=True, steps=[step])
            [result] = trace["results"]
            assert "agentest_get_ui_tree" in result["error"]
            assert "agentest_get_ui_tree" in trace["error"]
            assert result["code"] == "ELEMENT_NOT_FOUND"


async def test_what_an_error_adds_reaches_the_tools_answer(tmp_path: Path) -> None:
    async with door(tmp_path, "agentest") as ask:
        missing = await told(ask, "connect", fails=True, packageName="com.example.nothing")
        assert missing["code"] == "APP_NOT_INSTALLED"
        ask.world.phone.faults.add("dump_killed")
        killed = await told(ask, "get_ui_tree", fails=True)
        assert (killed["code"], killed["command"]) == ("ADB_COMMAND_ERROR", "uiautomator dump")


def test_speed_and_delay_reach_the_emulator_by_their_names() -> None:
    async def story() -> None:
        phone, clock = Phone(clock=usual_clock()), usual_clock()
        action: Any = read_tool("set_network", {"speed": "edge", "delay": "gprs"})[0].action
        async with open_console(phone, 0) as port:
            change = NetworkChange(speed=action.speed, delay=action.delay)
            done = await set_network(ScriptedShell(), f"emulator-{port}", change, clock)
        assert done.applied == {"speed": "edge", "delay": "gprs"}
        assert phone.props["sim.network.speed"] == "edge"

    asyncio.run(story())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("helper", "backend", "installed"),
    [("none", "adb", False), ("u2", "u2", False), ("handrail", "helper", True)],
)
async def test_only_the_helper_itself_is_an_installed_helper(
    tmp_path: Path, helper: Helper, backend: str, installed: bool
) -> None:
    async with door(tmp_path / "home", "agentest", helper=helper) as ask:
        written = await told(ask, "connect", packageName=CONTACTS)
        assert (written["backend"], written["helperInstalled"]) == (backend, installed)
        if backend != "adb":
            refused = await told(ask, "connect", fails=True, packageName=CONTACTS, backend="adb")
            assert refused["code"] == "UNSUPPORTED"


async def test_a_backend_that_is_not_there_is_an_error_and_not_another_one(tmp_path: Path) -> None:
    async with door(tmp_path, "agentest") as ask:
        refused = await told(ask, "connect", fails=True, packageName=CONTACTS, backend="grpc")
        assert refused["code"] == "GRPC_CONNECTION_ERROR"
        assert not (await ask.world.session.expect_app(CONTACTS, timeout_ms=0)).success
        assert "diagnostics" not in await told(ask, "connect", packageName=CONTACTS, backend="adb")
        verbose = await told(ask, "connect", packageName=CONTACTS, verbose=True)
        assert "[channel] tap: adb" in verbose["diagnostics"]


async def test_what_the_framework_says_reaches_the_tools(tmp_path: Path) -> None:
    async with door(tmp_path, "agentest") as ask:
        heard = []
        for _ in range(40):
            written = await told(ask, "connect", packageName=REACT)
            trace = await told(ask, "run_flow", steps=[{"action": "wait_for_stable", "timeoutMs": 2000}])
            looked = await ask("agentest_get_ui_tree")
            heard += [*written.get("diagnostics", ()), *trace.get("diagnostics", ()), *looked.more]
            if any("sync: " in line for line in heard):
                return
        raise AssertionError(heard)


async def test_the_picture_is_as_large_as_it_says(tmp_path: Path) -> None:
    async with door(tmp_path, "agentest") as ask:
        answer = await ask("agentest_screenshot")
        said = json.loads(answer.text)
        with Image.open(io.BytesIO(base64.b64decode(answer.images[0]))) as picture:
            assert picture.size == (said["width"], said["height"])


async def test_the_full_tree_names_the_class_of_what_has_no_label(tmp_path: Path) -> None:
    async with door(tmp_path, "agentest") as ask:
        await told(ask, "connect", packageName=CONTACTS)
        whole = await told(ask, "get_ui_tree", format="full")
        nodes = [whole]
        for one in nodes:
            nodes += one.get("children", [])
        names = ("text", "desc", "hint", "state", "pane", "tooltip")
        bare = [one for one in nodes[1:] if not any(name in one for name in names)]
        assert bare
        assert all(one.get("cls") for one in bare)
        some = await told(ask, "get_ui_tree", format="full", onlyInteractive=True)
        assert len(json.dumps(some)) < len(json.dumps(whole))
