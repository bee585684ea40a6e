"""Reads: the screen as text, picture and change; the device's state, logs, preferences and databases."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

from PIL import Image

from handrail.protocol.envelope import Envelope
from tests.scenario.world import World, play

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
CONTACTS = "com.google.android.contacts"
SHOP = "com.handrail.shop"
NOTES = "com.handrail.notes"
BANK = "com.handrail.bank"
TROUBLE = "com.handrail.trouble"


def _details(envelope: Envelope) -> dict[str, Any]:
    assert envelope.success, envelope.to_json()
    assert envelope.details
    return envelope.details


async def test_the_tree_comes_as_compact_text_as_json_and_in_full(w: World) -> None:
    await w.open(SETTINGS)
    compact = _details(await w.session.get_ui_tree())
    header, *lines = compact["text"].splitlines()
    assert header.startswith(f"screen 1080x2400 {SETTINGS} #{compact['fingerprint']}")
    assert any(line.lstrip().startswith("@i") for line in lines)
    whole = _details(await w.session.get_ui_tree(format="outline"))
    assert "Display" in json.dumps(whole["tree"])
    full = _details(await w.session.get_ui_tree(format="full", max_lines=1_000))
    assert full["text"].startswith(f"Window: {SETTINGS}")
    assert 'TextView "Display" [' in full["text"]


async def test_options_of_the_tree_cut_it_and_say_how_much(w: World) -> None:
    await w.open(SHOP)
    short = _details(await w.session.get_ui_tree(max_lines=5))
    assert (short["truncated"], short["text"].count("\n") + 1) == (True, 5)
    assert "more" in short["text"].splitlines()[-1]
    found = _details(await w.session.get_ui_tree(find="KETTLE", max_lines=5))
    assert len(found["text"].splitlines()) == 3
    none = _details(await w.session.get_ui_tree(find="elephant"))
    assert "no line of" in none["text"]
    acts = _details(await w.session.get_ui_tree(only_interactive=True))
    assert '"Lantern Shop"' not in acts["text"]
    shallow = _details(await w.session.get_ui_tree(depth=1))
    assert "Add Blue mug to cart" not in shallow["text"]
    for form in ("compact", "full", "outline"):
        tile = _details(await w.session.get_ui_tree(format=form, within={"text": "Blue mug"}, max_lines=99))
        said = json.dumps(tile)
        assert "Blue mug" in said
        assert "Enamel kettle" not in said
    cut = _details(await w.session.get_ui_tree(format="full", depth=3, max_lines=6))
    assert len(cut["text"].splitlines()) <= 6


async def test_what_changed_is_told_since_a_look_and_since_a_revision(w: World) -> None:
    await w.open(SETTINGS)
    await w.session.tap("Display", expect="Dark theme")
    first = _details(await w.session.get_ui_tree())["revision"]
    same = _details(await w.session.what_changed())
    assert same["text"] == "No change on screen."
    await w.session.tap("Night Light")
    w.phone.set_dark(True)
    now = _details(await w.session.what_changed())
    assert "Dark theme" in now["text"]
    assert "Night Light" not in now["text"]
    since = _details(await w.session.get_ui_tree(since=first))
    assert "Dark theme" in since["text"]
    assert "Night Light" in since["text"]
    lost = _details(await w.session.what_changed("r999999"))
    assert "not known" in lost["note"]
    assert lost["text"].startswith("screen ")


async def test_a_picture_is_seed_000s_snapshot_and_lives_in_the_journal_as_a_blob(w: World) -> None:
    await w.open(SETTINGS)
    shown = _details(await w.session.screenshot())
    assert {"deviceId", "currentApp", "width", "height", "screenshotBase64", "capturedAt"} <= set(shown)
    assert (shown["currentApp"], shown["width"], shown["height"]) == (SETTINGS, 1080, 2400)
    picture = Image.open(io.BytesIO(base64.b64decode(shown["screenshotBase64"])))
    assert picture.size == (706, 1568)
    half = _details(await w.session.screenshot(scale=0.5))
    assert Image.open(io.BytesIO(base64.b64decode(half["screenshotBase64"]))).size == (540, 1200)
    assert "screenshotBase64" not in json.dumps(w.events())
    assert sum("screenshot" in (event.get("blobs") or {}) for event in w.events()) == 2


async def test_marks_are_drawn_where_the_elements_are(w: World) -> None:
    await w.open(CONTACTS)
    plain = _picture(await w.session.screenshot(scale=1.0))
    marked = _picture(await w.session.screenshot(scale=1.0, marks=True))
    box = w.session.screens.registry.resolve(await w.ref("Create new contact")).bounds
    assert marked.getpixel((box.left, box.center.y)) != plain.getpixel((box.left, box.center.y))
    assert marked.getpixel(box.center) == plain.getpixel(box.center)


def _picture(envelope: Envelope) -> Image.Image:
    data = base64.b64decode(_details(envelope)["screenshotBase64"])
    return Image.open(io.BytesIO(data)).convert("RGB")


async def test_the_state_of_the_device_is_data_and_one_paragraph(w: World) -> None:
    await w.open(SETTINGS)
    told = _details(await w.session.get_state())
    assert SETTINGS in told["text"]
    assert "84" in told["text"]
    assert "\n" not in told["text"].strip()
    assert told["state"]


async def test_logs_of_one_app_at_one_level(w: World) -> None:
    await w.open(TROUBLE)
    w.phone.logcat("E", "Lantern", "out of oil", TROUBLE)
    w.phone.logcat("D", "Lantern", "flicker", TROUBLE)
    w.phone.logcat("E", "Other", "somebody else", SETTINGS)
    told = _details(await w.session.get_logs(TROUBLE, level="warn"))
    assert "out of oil" in told["logs"]
    assert "flicker" not in told["logs"]
    assert "somebody else" not in told["logs"]


async def test_preferences_and_rows_come_with_their_types(w: World) -> None:
    await w.open(NOTES)
    rows = _details(await w.session.query_db(NOTES, "notes.db", "select count(*) as n from notes"))
    assert (rows["columns"], rows["rows"]) == (["n"], [[3]])
    await w.open(TROUBLE)
    await w.session.scroll_to("Covered button")
    await w.session.tap("Covered button")
    await w.session.tap("Close banner")
    await w.session.tap("Accept")
    prefs = _details(await w.session.get_shared_prefs(TROUBLE, "trouble"))
    assert "accepted" in json.dumps(prefs)


async def test_a_secure_screen_gives_text_and_no_black_picture(w: World) -> None:
    w.phone.start_activity(component=f"{BANK}/.CodeActivity")
    refused = await w.session.screenshot()
    assert refused.failure_code == "SECURE_SCREEN", refused.to_json()[:400]
    assert "get_ui_tree" in (refused.hint or "")
    text = _details(await w.session.get_ui_tree())
    assert "Security code" in text["text"]


async def test_a_snapshot_is_the_picture_with_what_stands_beside_it(w: World) -> None:
    await w.open("com.google.android.contacts")
    snapshot = await w.session.snapshot()
    assert (snapshot.device_id, snapshot.current_app) == (w.session.serial, "com.google.android.contacts")
    assert (snapshot.width, snapshot.height) == (1080, 2400)
    assert base64.b64decode(snapshot.screenshot_base64).startswith(b"\x89PNG")
