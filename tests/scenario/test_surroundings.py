"""What an app finds around it, changed by one action each and seen on the phone itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from handrail.protocol.envelope import Envelope
from handrail.screen.windows import has_keyboard
from tests.scenario.world import World, play, world

ASYNC_RUNNER = play

POLICY = '[[rule]]\nname = "all"\naction = "*"\nverdict = "allow"\n'
CONTACTS = "com.google.android.contacts"
NOTES = "com.handrail.notes"


async def do(w: World, **action: Any) -> Envelope:
    return await w.session.run(action)


def has_one(w: World) -> bool:
    last = w.session.screens.last
    return has_keyboard(last.screen)


async def test_the_keyboard_goes_and_the_screen_stays(w: World) -> None:
    await w.open(CONTACTS)
    await do(w, type="tap", target="Create new contact")
    await do(w, type="tap", target={"id": "first"})
    assert has_one(w)
    told = await do(w, type="hide_keyboard")
    assert (told.success, told.verification and told.verification.outcome) == (True, "verified")
    assert not has_one(w)
    pressed = len(w.inputs())
    assert (await do(w, type="hide_keyboard")).success  # nothing to hide: Back would leave the form
    assert len(w.inputs()) == pressed
    assert (await do(w, type="expect_visible", target={"id": "first"}, timeout_ms=0)).success


@pytest.mark.parametrize("appearance", ["dark", "light"])
async def test_the_phone_turns_dark_and_light(w: World, appearance: str) -> None:
    w.phone.set_dark(appearance == "light")
    told = await do(w, type="set_appearance", appearance=appearance)
    assert told.success, told.message
    assert w.phone.display.dark == (appearance == "dark")


async def test_apps_are_told_another_place(w: World) -> None:
    told = await do(w, type="set_location", latitude=48.2082, longitude=16.3738)
    assert told.success, told.message
    assert "48.208200,16.373800" in w.phone.service_state("location")["gps"]


async def test_a_picture_of_this_machine_comes_into_the_gallery_after_a_yes(tmp_path: Path) -> None:
    picture = tmp_path / "cat picture;.png"
    Image.new("RGB", (8, 8), "red").save(picture)
    async with world(tmp_path, policy=POLICY) as w:
        told = await do(w, type="add_media", path=str(picture))
        assert told.success, told.message
        assert told.details["file"] == "/sdcard/Pictures/cat picture_.png"
        assert w.phone.files.read("/storage/emulated/0/Pictures/cat picture_.png") == picture.read_bytes()
        text = tmp_path / "notes.txt"
        text.write_text("no picture")
        assert (await do(w, type="add_media", path=str(text))).failure_code == "INVALID_ACTION"


@pytest.mark.parametrize(
    "action", [{"type": "add_media", "path": "/etc/passwd"}, {"type": "uninstall_app", "package": NOTES}]
)
async def test_nobody_copies_a_file_or_removes_an_app_unasked(tmp_path: Path, action: dict[str, str]) -> None:
    policy = '[[rule]]\nname = "no"\naction = ["add_media", "uninstall_app"]\nverdict = "deny"\n'
    async with world(tmp_path, policy=policy) as w:
        told = await do(w, **action)
        assert (told.failure_code, told.delivery) == ("ACTION_REJECTED", "not_delivered")
        assert NOTES in w.phone.state()["apps"]


async def test_a_removed_app_is_gone(tmp_path: Path) -> None:
    async with world(tmp_path, policy=POLICY) as w:
        told = await do(w, type="uninstall_app", package=NOTES)
        assert told.success, told.message
        assert (await do(w, type="start_app", package=NOTES)).failure_code == "APP_NOT_INSTALLED"


async def test_the_text_of_an_element_is_read_by_its_field(w: World) -> None:
    await w.open(CONTACTS)
    await do(w, type="tap", target="Create new contact")
    hint = await do(w, type="read_text", target={"id": "first"})
    assert hint.details == {"text": "First name"}
    await do(w, type="type_text", target={"id": "first"}, text="Ada")
    assert (await do(w, type="read_text", target={"id": "first"})).details == {"text": "Ada"}
    missing = await do(w, type="read_text", target="No such thing")
    assert missing.failure_code == "ELEMENT_NOT_FOUND"


async def test_an_app_is_started_with_values_of_every_type(tmp_path: Path) -> None:
    allowed = '[[rule]]\nname = "starts"\naction = "start_app"\nverdict = "allow"\n'
    async with world(tmp_path, policy=allowed) as w:
        extras = {"who": "Ada; reboot", "count": 3, "share": 0.5, "fast": True}
        told = await do(w, type="start_app", package=NOTES, extras=extras)
        assert told.success, told.message
        front = w.phone.tasks.top
        assert front.extras == extras
