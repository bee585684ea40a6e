"""The phone at the door: one stream for all who watch, hands that need the phone first, refs with boxes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from handrail.errors import AdbConnectionError, DeviceBusy
from handrail.journal.query import UNFINISHED, ActionRow
from handrail.protocol.message import PhoneInput
from handrail.safety.caller import Caller
from handrail.web_server.phone import Phones, handle_phone_input
from handrail.web_server.phone_stream import CALM, FASTEST_MS, SLOWEST_MS, pack_frame, pause_ms
from tests.scenario.world import World, play_live, until, world
from tests.unit.web_server.door import KEY, Door, door, unpack

ASYNC_RUNNER = play_live

SETTINGS = "com.android.settings"
PERSON = Caller("lena", "person", "desk")
AGENT = Caller("mail-agent", "agent", "mcp")


class Eye:
    """Somebody who watches and keeps what came."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.pictures: list[bytes] = []

    def offer_binary(self, picture: bytes, key: str = "") -> None:
        header, body = unpack(picture)
        assert key == header["device"], "a picture of another phone would be replaced by it"
        self.seen.append(header)
        self.pictures.append(body)


@asynccontextmanager
async def served(home: Path, **options: Any) -> AsyncIterator[tuple[World, Door]]:
    env = {"HANDRAIL_ADB": str(home / "no-adb"), "ANDROID_ADB_SERVER_PORT": "15797"}
    async with world(home, env=env, caller=AGENT, **options) as w, door(home, runtime=w.runtime) as opened:
        yield w, opened


def asked(serial: str, **fields: Any) -> PhoneInput:
    return PhoneInput.model_validate({"type": "PHONE_INPUT", "device": serial, **fields})


BOTH = pytest.mark.usefixtures("both_phones")


def size_of(w: World) -> tuple[int, int]:
    return w.phone.display.width, w.phone.display.height


@BOTH
async def test_all_who_watch_get_the_same_pictures_and_nothing_twice(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        phones, one, other = Phones(w.runtime), Eye(), Eye()
        await w.open(SETTINGS)
        phones.pictures.watch(w.serial, one)
        await until(lambda: one.seen)
        phones.pictures.watch(w.serial, other)
        assert other.seen == one.seen[-1:]  # who comes later need not wait for a change
        assert (one.seen[0]["w"], one.seen[0]["h"], one.seen[0]["mime"]) == (*size_of(w), "image/jpeg")
        await w.session.tap("Display")
        await until(lambda: len(one.seen) > 1 and one.seen[-1] == other.seen[-1])
        assert one.pictures[0] != one.pictures[-1]
        assert len(set(one.pictures)) == len(one.pictures)
        numbers = [header["n"] for header in one.seen]
        assert numbers == sorted(set(numbers))
        await phones.close()


async def test_the_stream_ends_with_the_last_who_watches(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        phones, one, other = Phones(w.runtime), Eye(), Eye()
        phones.pictures.watch(w.serial, one)
        phones.pictures.watch(w.serial, other)
        await until(lambda: one.seen)
        phones.leave(one)
        assert phones.watcher_count(w.serial) == 1
        phones.pictures.unwatch(w.serial, other)
        assert phones.watcher_count(w.serial) == 0
        await until(lambda: not [t for t in asyncio.all_tasks() if t.get_name().startswith("pictures")])
        await phones.close()


async def test_a_screen_that_forbids_pictures_is_told_and_not_shown(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        phones, eye = Phones(w.runtime), Eye()
        w.phone.start_activity("com.handrail.bank/.CodeActivity")
        phones.pictures.watch(w.serial, eye)
        header = await until(lambda: next((one for one in eye.seen if "problem" in one), None))
        assert header["problem"]["code"] == "SECURE_SCREEN"
        assert header["problem"]["hint"]
        assert eye.pictures[-1] == b""
        await w.session.press_key("home")
        await until(lambda: eye.pictures[-1].startswith(b"\xff\xd8"))
        await phones.close()


async def test_a_name_from_a_browser_opens_no_line_to_a_stranger(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        heard: list[str] = []
        stranger = await asyncio.start_server(lambda *_: heard.append("called"), "127.0.0.1", 0)
        port = stranger.sockets[0].getsockname()[1]
        phones = opened.context.phones
        with pytest.raises(AdbConnectionError, match="not one of the"):
            await phones.session(f"127.0.0.1:{port}")
        assert (await phones.session(w.serial)) is w.session
        assert heard == []
        stranger.close()


def _ended_at_the_desk(row: ActionRow) -> bool:
    return row.door == "desk" and row.state != UNFINISHED


async def test_hands_need_the_phone_first_and_an_agent_waits_until_it_is_handed_back(tmp_path: Path) -> None:
    async with world(tmp_path, caller=AGENT) as w:
        phones, eye = Phones(w.runtime), Eye()
        await w.open(SETTINGS)
        tap = asked(w.serial, action={"type": "tap", "target": "Display"})
        with pytest.raises(DeviceBusy, match="mail-agent"):
            await handle_phone_input(phones, eye, tap, PERSON)
        await handle_phone_input(phones, eye, asked(w.serial, control="take"), PERSON)
        busy = await w.session.tap("Display")
        assert busy.failure_code == "DEVICE_BUSY", busy.to_json()
        assert "person lena" in (busy.message or "")
        await handle_phone_input(phones, eye, tap, PERSON)
        mine = await until(lambda: [row for row in w.runtime.journal.actions() if row.state != "failed"])
        await until(lambda: w.runtime.journal.actions()[0].type == "tap" and mine)
        row = await until(lambda: next(filter(_ended_at_the_desk, w.runtime.journal.actions()), None))
        assert row.actor == {"kind": "person", "id": "lena"}
        assert row.reason == "by hand, at the desk"
        await handle_phone_input(phones, eye, asked(w.serial, control="hand_back"), PERSON)
        done = await w.session.press_key("back")
        assert done.success, done.to_json()
        kinds = [event["kind"] for event in w.events() if event.get("door") == "desk"]
        assert kinds[0] == "taken_over"
        assert kinds[-1] == "handed_back"
        await phones.close()


async def test_an_agent_that_waits_for_a_screen_makes_way_and_one_that_waits_for_a_person_does_not(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, caller=AGENT) as w:
        phones = Phones(w.runtime)
        await w.open(SETTINGS)
        asking = asyncio.create_task(w.session.request_human_auth("The code?", capability="2fa"))
        [question] = await until(w.runtime.approvals.pending)
        waiting = asyncio.create_task(w.session.wait_for({"visible": "never there"}, timeout_ms=60_000))
        await until(lambda: len(w.session._queue) == 2)
        await phones.control.take(w.serial, PERSON)
        stopped = await waiting
        assert stopped.failure_code == "CANCELLED"
        assert "lena took the phone over" in (stopped.message or "")
        done = await w.session.run({"type": "tap", "target": "Display"}, caller=PERSON)
        assert done.success, done.to_json()
        await w.runtime.approvals.answer(question.id, True, "lena", data="123456")
        assert (await asking).success
        await phones.close()


async def test_another_person_has_to_wait_too(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        phones = Phones(w.runtime)
        await phones.control.take(w.serial, PERSON)
        await phones.control.take(w.serial, PERSON)  # another browser of the same person
        with pytest.raises(DeviceBusy, match="lena"):
            await phones.control.take(w.serial, Caller("otto", "person", "desk"))
        await phones.control.hand_back(w.serial, PERSON)
        await phones.control.hand_back(w.serial, PERSON)
        assert [event["kind"] for event in w.events()] == ["taken_over", "handed_back"]


@BOTH
async def test_refs_and_boxes_are_those_of_the_compact_tree(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await w.open(SETTINGS)
        tree = (await opened.get(f"/api/phone/{quote(w.serial)}/tree?fresh=1", token=KEY)).json
        told = await w.session.get_ui_tree()
        lines = [line.split()[0] for line in told.details["text"].splitlines() if "@" in line.split()[0]]
        assert tree["text"] == told.details["text"]
        assert [one["ref"] for one in tree["refs"]] == lines
        nodes = w.session.screens.registry.refs
        assert {one["ref"]: one["bounds"] for one in tree["refs"]} == {
            ref: list(nodes[ref].bounds) for ref in lines
        }
        assert (tree["width"], tree["height"]) == size_of(w)


@BOTH
async def test_the_state_says_who_has_the_phone_and_what_was_done_last(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        path = f"/api/phone/{quote(w.serial)}"
        await w.open(SETTINGS)
        state = (await opened.get(f"{path}/state", token=KEY)).json
        assert (state["app"], state["yours"]) == (SETTINGS, False)
        assert state["holder"]["holder"]["label"] == "mail-agent"
        last = await until(lambda: opened.context.phones.last)
        assert next(iter(last.values())).action_type == "start_app"
        refused = await opened.send("POST", f"{path}/take", {})  # a program's token
        assert (refused.status, refused.json["code"]) == (403, "ACTION_REJECTED")
        taken = await opened.send("POST", f"{path}/take", {}, token=KEY)
        assert taken.json["yours"] is True
        back = await opened.send("POST", f"{path}/hand-back", {}, token=KEY)
        assert back.json["yours"] is False
        picture = await opened.get(f"{path}/frame.jpg", token=KEY)
        assert picture.headers["content-type"] == "image/jpeg"
        assert picture.body.startswith(b"\xff\xd8")


@BOTH
async def test_stop_ends_what_is_being_done_on_this_phone(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        waiting = asyncio.create_task(w.session.wait_for({"visible": "never there"}, timeout_ms=60_000))
        await until(lambda: w.session._queue)
        answer = await opened.send("POST", f"/api/phone/{quote(w.serial)}/stop", {}, token=KEY)
        assert answer.json == {"stopped": 1}
        assert (await waiting).failure_code == "CANCELLED"
        assert "stop" in [event["kind"] for event in w.events()]


@BOTH
async def test_what_was_done_is_pictured_before_and_after(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await w.open(SETTINGS)
        events: list[dict[str, Any]] = await until(lambda: _pictured(w, 1))
        assert list(events[0]["blobs"]) == ["after"]
        tapped = await w.session.tap("Display")
        [_, second] = await until(lambda: _pictured(w, 2))
        assert second["action_id"] == tapped.action_id
        assert second["blobs"]["before"] == events[0]["blobs"]["after"]
        entry = (await opened.get(f"/api/journal/entry/{tapped.action_id}", token=KEY)).json
        assert entry["pictures"] == second["blobs"]
        picture = await opened.get(f"/api/journal/blob/{second['blobs']['after']}", token=KEY)
        assert picture.body.startswith(b"\xff\xd8")
        assert w.runtime.journal.verify().ok


def _pictured(w: World, count: int) -> list[dict[str, Any]]:
    found = [event for event in w.events() if event["kind"] == "pictured"]
    return found if len(found) >= count else []


async def test_no_picture_is_kept_once_a_secret_is_known(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, _):
        w.runtime.secrets.add("PIN", "4711-secret")
        await w.open(SETTINGS)
        await w.session.tap("Display")
        assert _pictured(w, 1) == []
        assert not [name for name in (tmp_path / "blobs").rglob("*") if name.is_file()]


@pytest.mark.parametrize(
    ("took_ms", "same", "rest_ms"),
    [(10.0, 0, FASTEST_MS - 10.0), (400.0, 0, 100.0), (10.0, CALM, SLOWEST_MS - 10.0)],
    ids=["a fast phone", "a slow phone has other work too", "a calm screen"],
)
def test_the_pace_follows_the_phone(took_ms: float, same: int, rest_ms: float) -> None:
    assert pause_ms(took_ms, same) == rest_ms


def test_while_an_action_is_under_way_pictures_leave_the_phone_half_of_its_time() -> None:
    assert [pause_ms(took, 0, busy=True) for took in (50, 100, 400)] == [150, 100, 400]


def test_a_frame_is_a_length_a_header_and_the_picture() -> None:
    message = pack_frame({"device": "ä"}, b"picture")
    size = int.from_bytes(message[:4], "big")
    assert json.loads(message[4 : 4 + size]) == {"type": "FRAME", "device": "ä"}
    assert message[4 + size :] == b"picture"
    assert unpack(message) == ({"type": "FRAME", "device": "ä"}, b"picture")
