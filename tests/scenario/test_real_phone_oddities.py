"""What breaks first on a real phone: each with the simulator's odd mode, checked on the phone itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.errors import AdbCommandError
from handrail_sim.phone import Phone
from tests.scenario.world import FastClock, World, play, world

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"
FIRST = {"id": "first"}


async def _editor(w: World, text: str = "Important") -> None:
    await w.open(CONTACTS)
    opened = await w.session.tap("Create new contact", expect={"visible": FIRST})
    assert opened.success, opened.to_json()
    typed = await w.session.type_text(text, target=FIRST)
    assert typed.success, typed.to_json()


def _first(phone: Phone) -> str:
    phone.catch_up()
    activity = phone.tasks.top
    assert activity
    return activity.field("first")


@pytest.mark.parametrize("text", ["日本語", "Zoë", "two\nlines", "tab\there"])
async def test_a_field_is_not_emptied_for_a_text_that_cannot_be_typed(w: World, text: str) -> None:
    await _editor(w)
    done = await w.session.type_text(text, target=FIRST, clear=True)
    assert done.failure_code == "UNSUPPORTED", done.to_json()
    assert _first(w.phone) == "Important"


async def test_a_field_that_was_emptied_in_vain_gets_its_text_back(w: World) -> None:
    await _editor(w)
    w.phone.faults.add("input_refused", command="text", times=1)
    done = await w.session.type_text("new", target=FIRST, clear=True)
    assert not done.success, done.to_json()
    assert _first(w.phone) == "Important"


async def test_where_input_text_is_refused_the_helper_types_it_once(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), helper="u2") as w:
        await _editor(w, "a")
        w.phone.faults.add("input_refused", command="text")
        done = await w.session.type_text("new", target=FIRST, clear=True)
        assert done.success, done.to_json()
        assert _first(w.phone) == "new"


async def test_refused_input_names_the_permission_and_what_to_switch_on(w: World) -> None:
    await w.open(CONTACTS)
    w.phone.faults.add("input_refused")
    done = await w.session.tap("Create new contact")
    assert (done.failure_code, done.delivery) == ("ADB_COMMAND_ERROR", "not_delivered"), done.to_json()
    assert "INJECT_EVENTS" in done.to_json()
    assert "Security settings" in done.to_json()


async def test_with_a_work_profile_apps_are_listed_started_and_stopped(w: World) -> None:
    w.phone.faults.add("work_profile")
    await w.open(CONTACTS)
    stopped = await w.session.stop_app(CONTACTS)
    assert stopped.success, stopped.to_json()
    assert w.phone.packages.pid_of(CONTACTS) is None
    missing = await w.session.start_app("com.example.nowhere")
    assert missing.failure_code == "APP_NOT_INSTALLED", missing.to_json()


async def test_of_a_folded_phone_the_picture_is_of_the_panel_that_is_shown(w: World) -> None:
    w.phone.faults.add("fold")
    assert await w.sees_what_is_shown()
    assert await w.sees_what_is_shown()
    assert any("several displays" in line for line in w.session.surface.diagnostics())


async def test_a_clipboard_that_may_not_be_read_is_never_emptied(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), helper="u2") as w:
        await _editor(w, "a")
        w.phone.clipboard = "the person's own"
        w.phone.faults.add("clipboard_unreadable")
        await w.session.type_text("ß", target=FIRST)
        assert w.phone.clipboard


async def test_a_screen_that_is_off_is_said_to_be_off_and_wakes_on_request(w: World) -> None:
    await w.open(CONTACTS)
    w.phone.set_awake(False)
    w.phone.faults.add("dump_null_root")
    with pytest.raises(AdbCommandError, match="The screen is off") as caught:
        await w.session.screens.reader.look()
    assert "wakeup" in caught.value.hint
    w.phone.faults.clear("dump_null_root")
    await w.session.press_key("wakeup")
    assert w.phone.awake
