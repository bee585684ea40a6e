"""What an answer says of delivery, against the phone's own log and the bytes on the wire.

Every action of the vocabulary goes wrong in several ways. The judge knows the phone's input log, its state
and the commands that arrived at adbd; it shares no code with the engine.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.config import Config
from handrail.engine.envelope_text import envelope_text
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.adb_tap import Wire, tapped
from tests.scenario.world import FastClock, live, play

ASYNC_RUNNER = play

pytestmark = pytest.mark.slow

SETTINGS, NOTES, NOWHERE = "com.android.settings", "com.handrail.notes", "com.example.nowhere"
ALL = '[[rule]]\nname = "all"\naction = "*"\nverdict = "allow"\n'
MISSING = ("Zebra crossing", {"id": "zebra"}, {"role": "slider", "within": "Zebra"}, "@b999", "20000,20000")

WRONG: list[dict[str, Any]] = [
    *(
        {"type": kind, "target": one}
        for kind in ("tap", "double_tap", "long_press", "scroll_to")
        for one in MISSING
    ),
    *(
        {"type": kind, "target": one}
        for kind in ("clear_text", "read_text", "expect_visible")
        for one in MISSING
    ),
    {"type": "tap", "target": {"class_name": "android.widget.TextView"}},
    {"type": "tap", "target": "Display", "expect": "Zebra crossing"},
    {"type": "type_text", "text": "x"},
    {"type": "type_text", "text": "x", "target": "Zebra"},
    {"type": "type_text", "text": "x", "target": "Display"},
    {"type": "set_value", "target": "Display", "value": 5},
    {"type": "set_value", "target": "Zebra", "value": 5},
    {"type": "drag", "from": "Zebra", "to": "Display"},
    {"type": "drag", "from": "Display", "to": "Zebra"},
    {"type": "swipe", "direction": "down"},
    {"type": "swipe", "direction": "up", "target": "Zebra"},
    {"type": "pinch", "cx": 540, "cy": 900, "start_radius": 100, "end_radius": 300},
    {"type": "rotate", "cx": 540, "cy": 900, "radius": 200, "start_angle_deg": 0, "end_angle_deg": 90},
    {"type": "drag_path", "points": ["1,1", "20000,20000"]},
    {"type": "press_key", "key": "home", "expect": "Zebra"},
    {"type": "press_keys", "keys": ["ctrl", "a"], "expect": "Zebra"},
    {"type": "hide_keyboard", "expect": "Zebra"},
    {"type": "start_app", "name": "Nottes"},
    {"type": "start_app", "name": "Zebra crossing"},
    {"type": "start_app", "package": "Notes"},
    {"type": "start_app", "package": NOWHERE},
    {"type": "start_app", "package": NOTES, "activity": ".Nowhere"},
    *(
        {"type": kind, "package": NOWHERE}
        for kind in ("stop_app", "restart_app", "reset_app", "uninstall_app")
    ),
    {"type": "uninstall_app", "package": SETTINGS},
    {"type": "install_app", "path": "/nowhere.apk"},
    {"type": "install_app", "path": __file__},
    {"type": "add_media", "path": "/nowhere.png"},
    {"type": "add_media", "path": __file__},
    {"type": "open_url", "url": "nowhere:at-all"},
    {"type": "grant_permission", "package": NOWHERE, "permission": "CAMERA"},
    {"type": "grant_permission", "package": NOTES, "permission": "NOWHERE"},
    {"type": "revoke_permission", "package": NOTES, "permission": "NOWHERE"},
    {"type": "set_network", "speed": "gsm"},
    {"type": "set_clipboard", "text": "x"},
    {"type": "shell", "command": "rmdir /nowhere"},
    {"type": "run_script", "script": "rm -rf x"},
    {"type": "query_db", "package": NOTES, "database": "nowhere", "query": "delete from a", "write": True},
    {"type": "query_db", "package": NOWHERE, "database": "a", "query": "delete from a", "write": True},
    {"type": "get_shared_prefs", "package": NOWHERE, "file": "a"},
    {"type": "get_logs", "package": NOWHERE},
    {"type": "expect_app", "package": NOWHERE},
    {"type": "wait_for", "condition": "Zebra", "timeout_ms": 50},
]
"""Right in form, and wrong on this phone."""
REFUSING = {
    "grant_refused": {"type": "grant_permission", "package": "com.handrail.gallery", "permission": "CAMERA"},
    "settings_refused": {"type": "set_orientation", "orientation": "landscape"},
    "input_refused": {"type": "tap", "target": "Display"},
}
"""By the fault that makes the phone refuse it."""
LOST = [
    ("am", {"type": "start_app", "package": NOTES, "activity": ".NotesActivity"}),
    ("am", {"type": "start_app", "package": NOTES}),
    ("am", {"type": "stop_app", "package": NOTES}),
    ("pm", {"type": "reset_app", "package": NOTES}),
    ("cmd", {"type": "start_app", "package": NOTES}),
    ("input", {"type": "press_key", "key": "home"}),
    ("input", {"type": "tap", "target": "Display"}),
    ("settings", {"type": "set_orientation", "orientation": "landscape"}),
]
"""The line breaks in the middle of this command's answer."""


@asynccontextmanager
async def stage(home: Path) -> AsyncIterator[tuple[Phone, Wire, Session]]:
    clock = FastClock(10)
    phone = Phone(clock=clock)
    env = {"HANDRAIL_HOME": str(home), "HOME": str(home)}
    config = Config.from_env(env)
    config.policy.parent.mkdir(parents=True, exist_ok=True)
    config.policy.write_text(ALL)
    async with (
        serve([phone], port=0) as [served],
        tapped(served.address) as wire,
        Runtime.open(config, clock=clock, env=env) as runtime,
    ):
        yield phone, wire, await runtime.session(wire.address, helper="none")


def touched(phone: Phone) -> Any:
    """All that an action could have left on the phone."""
    phone.catch_up()
    state = phone.state()
    kept = ("front", "tasks", "clipboard", "settings", "permissions", "processes", "dialogs", "apps")
    return {name: state[name] for name in kept}


class Judged:
    """One action, what was said of it, and what the phone knows."""

    def __init__(self, phone: Phone, wire: Wire) -> None:
        self._phone, self._wire = phone, wire
        self._inputs, self._changes = len(phone.input_log), len(wire.changing())
        self._before = touched(phone)

    def check(self, data: dict[str, Any], delivery: str, said: str) -> None:
        new = self._phone.input_log[self._inputs :]
        arrived = self._wire.changing()[self._changes :]
        evidence = (data, delivery, said, arrived, new[:3])
        is_read = ACTIONS[data["type"]].traits.effect == "read" and not data.get("write")
        claims = {
            "not_delivered": "Nothing was delivered." in said,
            "unknown": "may have been" in said,
            "delivered": re.search(r"^Delivered: |^It was delivered", said, re.MULTILINE) is not None,
        }
        assert claims == {name: name == delivery and not is_read for name in claims}, evidence
        if delivery == "not_delivered":
            assert not new, evidence
            assert touched(self._phone) == self._before, evidence
        else:
            assert new or arrived, evidence
        fingers = sum(one["action"] == "down" for one in new)
        told = {
            word: int(count) for count, word in re.findall(r"(\d+) (tap|swipe|drag|long press)s?\b", said)
        }
        if delivery == "delivered" and not is_read and "Delivered:" in said:
            assert fingers == sum(told.values()), evidence


async def judge(phone: Phone, wire: Wire, session: Session, data: dict[str, Any]) -> str:
    """Does it; a failure is held against the phone. The code that it failed with."""
    judged = Judged(phone, wire)
    action = action_from(data)
    envelope = await session.run(action)
    if envelope.success:
        return ""
    judged.check(data, envelope.delivery, envelope_text(action, envelope))
    return str(envelope.failure_code)


@live
async def test_every_failure_says_of_delivery_what_the_phone_knows(tmp_path: Path) -> None:
    async with stage(tmp_path) as (phone, wire, session):
        failed = set()
        for data in WRONG:
            await session.start_app(SETTINGS)
            if await judge(phone, wire, session, data):
                failed.add(data["type"])
        tried = {one["type"] for one in WRONG}
        assert tried - failed <= {"drag_path", "hide_keyboard", "press_keys", "rotate", "swipe"}, (
            tried - failed
        )


def test_the_actions_that_are_left_out_can_not_fail_here() -> None:
    """A list that is short must say why: the rest waits, looks, asks a person, or goes by faults below."""
    tried = {one["type"] for one in (*WRONG, *REFUSING.values(), *(data for _, data in LOST))}
    rest = set(ACTIONS) - set(DESK_ACTIONS) - tried
    reads = {kind for kind in rest if ACTIONS[kind].traits.effect == "read"}
    assert rest - reads == {"set_appearance", "set_location"}


@pytest.mark.parametrize("fault", REFUSING)
async def test_what_the_phone_refuses_was_not_delivered(tmp_path: Path, fault: str) -> None:
    async with stage(tmp_path) as (phone, wire, session):
        await session.start_app(SETTINGS)
        phone.faults.add(fault)
        assert await judge(phone, wire, session, REFUSING[fault])


@pytest.mark.parametrize(
    ("command", "data"), LOST, ids=lambda one: one if isinstance(one, str) else one["type"]
)
async def test_a_line_that_breaks_leaves_in_doubt_only_what_was_sent(
    tmp_path: Path, command: str, data: dict[str, Any]
) -> None:
    for after in range(3):
        async with stage(tmp_path / str(after)) as (phone, wire, session):
            await session.start_app(SETTINGS)
            phone.faults.add("stream_reset", command=command, bytes=0, after=after, times=1)
            await judge(phone, wire, session, data)


@pytest.mark.parametrize("name", ["Notes!", "Nots", "Zebra", "com.example.nowhere"])
async def test_an_app_that_is_not_there_is_never_said_to_have_been_started(tmp_path: Path, name: str) -> None:
    async with stage(tmp_path) as (phone, wire, session):
        for field in ("name", "package"):
            try:
                action = action_from({"type": "start_app", field: name})
            except HandrailError:
                continue
            before = len(wire.changing())
            envelope = await session.run(action)
            if envelope.success:
                continue
            assert (envelope.delivery, wire.changing()[before:]) == ("not_delivered", [])
            assert "may have been" not in envelope_text(action, envelope)
        assert phone.input_log == []
