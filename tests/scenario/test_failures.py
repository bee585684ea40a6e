"""Every failure code, provoked: a story each, with a message that carries values and a hint for what next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from handrail.config import Config
from handrail.errors import ERRORS, HandrailError
from handrail.protocol.act import Act
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime
from handrail_emulator import EmulatorClient, Endpoint
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.doors import free_port
from tests.scenario.world import FastClock, World, play, world

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
CONTACTS = "com.google.android.contacts"
COMPOSE = "com.handrail.composelab"
TROUBLE = "com.handrail.trouble"
BANK = "com.handrail.bank"

POLICY = """
[[rule]]
name = "no gallery"
action = "start_app"
app = "com.handrail.gallery"
verdict = "deny"

[[rule]]
name = "shell"
action = "shell"
verdict = "allow"
"""

Failed = Envelope | HandrailError
Story = Callable[[World], Awaitable[Failed]]


async def _display(w: World) -> None:
    await w.open(SETTINGS)
    assert (await w.session.tap("Display", expect="Brightness level")).success


async def _caught(doing: Awaitable[Any]) -> HandrailError:
    try:
        await doing
    except HandrailError as error:
        return error
    raise AssertionError("nothing failed")


async def invalid_action(w: World) -> Failed:
    return await _caught(w.session.run({"type": "tap", "target": {"x": 1.5, "y": 2}}))


async def unsupported(w: World) -> Failed:
    return await w.session.pinch(540, 1200, 100, 400)


async def action_rejected(w: World) -> Failed:
    return await w.session.start_app("com.handrail.gallery")


async def device_busy(w: World) -> Failed:
    """Somebody else on the same home has touched the device."""
    await w.open(SETTINGS)
    env = {"HANDRAIL_HOME": str(w.home), "HOME": str(w.home)}
    async with Runtime.open(Config.from_env(env), clock=w.runtime.clock, env=env) as other:
        second = await other.session(w.serial, helper="none")
        return await second.tap("Display")


async def element_not_found(w: World) -> Failed:
    await w.open(SETTINGS)
    return await w.session.tap("Dispaly")


async def stale_reference(w: World) -> Failed:
    await w.open(SETTINGS)
    ref = await w.ref("Display")
    await w.open(CONTACTS)
    return await w.session.tap(ref)


async def ambiguous_target(w: World) -> Failed:
    await w.open(TROUBLE)
    return await w.session.tap({"id": "trouble"})


async def element_not_interactable(w: World) -> Failed:
    await w.open(COMPOSE)
    return await w.session.tap("Decrease")


async def semantic_mismatch(w: World) -> Failed:
    await w.open(COMPOSE)
    return await w.session.type_text("x", target="Save")


async def timeout(w: World) -> Failed:
    await w.open(SETTINGS)
    return await w.session.wait_for("Godot", timeout_ms=100)


async def idle_timeout(w: World) -> Failed:
    w.phone.start_activity(f"{TROUBLE}/.EndlessActivity")
    return await w.session.wait_for_stable(500)


async def navigation_no_change(w: World) -> Failed:
    await w.open(SETTINGS)
    await w.session.scroll_to("About phone")
    await w.session.swipe("up")
    return await w.session.swipe("up")


async def verification_failed(w: World) -> Failed:
    await w.open(SETTINGS)
    return await w.session.tap("Display", expect="No such words")


async def assertion_failed(w: World) -> Failed:
    await w.open(SETTINGS)
    return await w.session.expect_absent("Display", timeout_ms=0)


async def expect_state_mismatch(w: World) -> Failed:
    await _display(w)
    return await w.session.expect_state("Dark theme", "checked", True, timeout_ms=0)


async def control_convergence_failed(w: World) -> Failed:
    await _display(w)
    return await w.session.set_value("Display brightness", 140)


async def adb_connection_error(w: World) -> Failed:
    return await _caught(w.runtime.session(f"127.0.0.1:{free_port()}"))


async def adb_command_error(w: World) -> Failed:
    return await w.session.shell(["ls", "/nowhere"])


async def device_offline(w: World) -> Failed:
    asleep = Phone(clock=w.runtime.clock)
    asleep.faults.add("unauthorized")
    async with serve([asleep], port=0) as [served]:
        return await _caught(w.runtime.session(served.address, helper="none"))


async def app_not_installed(w: World) -> Failed:
    return await w.session.start_app("com.android.contact")


async def app_crashed(w: World) -> Failed:
    await w.open(TROUBLE)
    return await w.session.tap("Crash")


async def tree_parse_error(w: World) -> Failed:
    await w.open(SETTINGS)
    w.phone.faults.add("truncated_output", bytes=900)
    return await w.session.get_ui_tree()


async def secure_screen(w: World) -> Failed:
    w.phone.start_activity(f"{BANK}/.CodeActivity")
    return await w.session.screenshot()


async def cancelled(w: World) -> Failed:
    waiting = asyncio.ensure_future(w.session.wait(600_000))
    while not await w.session.end_actions():
        await asyncio.sleep(0)
    return await waiting


class _BrokenDesk:
    async def apply(self, action: Act, by: str, is_person: bool) -> dict[str, Any]:
        raise KeyError(action.type)


async def unknown(w: World) -> Failed:
    """A mistake in the program itself is told as one, and logged with its traceback."""
    w.runtime.attach_desk(_BrokenDesk())  # type: ignore[arg-type]
    async with serve([Phone(clock=w.runtime.clock)], port=0) as [served]:
        session = await w.runtime.session(served.address, helper="none")
        return await session.run({"type": "toast.show", "id": "t", "message": "Hello"})


async def grpc_connection_error(_: World) -> Failed:
    client = EmulatorClient(Endpoint(1))
    try:
        return await _caught(client.status())
    finally:
        await client.close()


HERE: dict[str, Story] = {
    "INVALID_ACTION": invalid_action, "UNSUPPORTED": unsupported, "ACTION_REJECTED": action_rejected,
    "DEVICE_BUSY": device_busy, "ELEMENT_NOT_FOUND": element_not_found, "STALE_REFERENCE": stale_reference,
    "AMBIGUOUS_TARGET": ambiguous_target, "ELEMENT_NOT_INTERACTABLE": element_not_interactable,
    "SEMANTIC_MISMATCH": semantic_mismatch, "TIMEOUT": timeout, "IDLE_TIMEOUT": idle_timeout,
    "NAVIGATION_NO_CHANGE": navigation_no_change, "VERIFICATION_FAILED": verification_failed,
    "ASSERTION_FAILED": assertion_failed, "EXPECT_STATE_MISMATCH": expect_state_mismatch,
    "CONTROL_CONVERGENCE_FAILED": control_convergence_failed, "ADB_CONNECTION_ERROR": adb_connection_error,
    "ADB_COMMAND_ERROR": adb_command_error, "DEVICE_OFFLINE": device_offline,
    "APP_NOT_INSTALLED": app_not_installed, "APP_CRASHED": app_crashed,
    "TREE_PARSE_ERROR": tree_parse_error, "SECURE_SCREEN": secure_screen, "CANCELLED": cancelled,
    "UNKNOWN": unknown, "GRPC_CONNECTION_ERROR": grpc_connection_error,
}  # fmt: skip
"""Code → the story that provokes it."""

ELSEWHERE = {
    "GRPC_RPC_ERROR": "packages/emulator/tests/test_emulator.py",
    "MODEL_UNAVAILABLE": "packages/agent/tests/unit/test_models_patience.py",
    "MODEL_REFUSED": "packages/agent/tests/hosted/test_computer.py",
    "POLICY_UNUSABLE": "tests/scenario/test_policy_changes.py",
    "PICTURE_UNREADABLE": "tests/unit/surface/test_picture.py",
    "BROWSER_COMMAND_ERROR": "tests/unit/cdp/test_connection.py",
    "BROWSER_CONNECTION_ERROR": "tests/unit/cdp/test_connection.py",
    "IOS_COMMAND_ERROR": "tests/unit/ios/test_wda.py",
    "IOS_CONNECTION_ERROR": "tests/unit/ios/test_wda.py",
    "SCRIPT_FAILED": "packages/maestro/tests/unit/test_scripts.py",
    "NO_SUCH_FILE": "tests/unit/flow/test_table.py",
    "PORT_IN_USE": "tests/unit/test_errors.py",
    "NO_MODEL": "packages/agent/tests/test_agent_console.py",
    "STORE_FULL": "tests/scenario/test_full_disk.py",
    "STORE_UNUSABLE": "tests/unit/desk/test_store.py",
}
"""Codes that need a peer which only another suite has."""

BEFORE_DISPATCH = {
    "UNSUPPORTED", "ACTION_REJECTED", "DEVICE_BUSY", "ELEMENT_NOT_FOUND", "STALE_REFERENCE",
    "AMBIGUOUS_TARGET", "ELEMENT_NOT_INTERACTABLE", "SEMANTIC_MISMATCH",
}  # fmt: skip
"""In these stories nothing has reached the device."""


def test_every_code_is_provoked_somewhere() -> None:
    assert set(HERE) | set(ELSEWHERE) == set(ERRORS)
    root = Path(__file__).parents[2]
    for code, path in ELSEWHERE.items():
        assert ERRORS[code].__name__ in (root / path).read_text()


@pytest.mark.parametrize("code", sorted(HERE))
async def test_a_code_comes_with_a_message_and_a_hint(tmp_path: Path, code: str) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=POLICY) as w:
        failed = await HERE[code](w)
        if isinstance(failed, HandrailError):
            assert failed.code == code, failed
        else:
            _check(failed, code)
        assert failed.message
        assert failed.hint


def _check(envelope: Envelope, code: str) -> None:
    assert envelope.failure_code == code, envelope.to_json()
    assert envelope.lifecycle_state == "failed"
    assert not envelope.success
    if code in BEFORE_DISPATCH:
        assert envelope.delivery == "not_delivered"
    if envelope.delivery == "unknown":
        assert envelope.retryable is False
