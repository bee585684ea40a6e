"""Keys together, a finger along a path, a part of the screen, an answer and an end: by what the phone got."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image

from handrail.engine.gestures import pressed_by_keys
from handrail.errors import InvalidAction
from handrail.protocol.keys import KeyEffect, effect_of_chord
from handrail.protocol.read import action_from
from tests.scenario.world import World, play

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"


async def _editor(w: World) -> None:
    await w.open(CONTACTS)
    await w.session.tap("Create new contact")
    await w.session.type_text("Ada", target="First name")


async def test_keys_that_are_down_together_reach_the_phone_together(w: World) -> None:
    await _editor(w)
    before = len(w.inputs())
    done = await w.session.press_keys(["ctrl", "a"])
    assert done.delivery == "delivered", done.to_json()
    got = [one for one in w.inputs()[before:] if one["action"] == "key"]
    assert [(one["code"], bool(one["meta"])) for one in got] == [(29, True)], got
    assert (await w.session.press_key("delete")).success
    seen = await w.session.get_ui_tree()
    assert "Ada" not in seen.details["text"]


def test_a_chord_that_may_press_anything_is_felt_like_enter() -> None:
    assert effect_of_chord(["ctrl", "KEYCODE_A"]) is KeyEffect.TYPES
    assert effect_of_chord(["ctrl", "enter"]) is KeyEffect.PRESSES
    assert effect_of_chord(["ctrl", "KEYCODE_S"]) is KeyEffect.PRESSES
    assert effect_of_chord(["alt", "KEYCODE_A"]) is KeyEffect.PRESSES
    assert effect_of_chord(["shift", "left"]) is KeyEffect.MOVES
    assert effect_of_chord(["shift", "KEYCODE_A"]) is KeyEffect.TYPES
    assert effect_of_chord(["ctrl", "shift"]) is KeyEffect.NOTHING
    assert pressed_by_keys("ctrl", "enter") is not None


def test_a_chord_is_read_in_one_word() -> None:
    made = action_from({"type": "press_keys", "keys": "ctrl+shift+left"}).to_dict()
    assert made["keys"] == ["ctrl", "shift", "left"]
    for wrong in ("ctrl", ["ctrl", "nokey"], ["a", "b", "c", "d", "e"]):
        try:
            action_from({"type": "press_keys", "keys": wrong})
        except InvalidAction:
            continue
        raise AssertionError(wrong)


async def test_a_finger_passes_every_point_of_its_path(w: World) -> None:
    points = [(200, 1500), (540, 1200), (880, 1500), (880, 1800)]
    before = len(w.inputs())
    done = await w.session.drag_path([f"{x},{y}" for x, y in points], duration_ms=300)
    assert done.delivery == "delivered", done.to_json()
    told = [(one["action"], one["x"], one["y"]) for one in w.inputs()[before:]]
    assert [one[1:] for one in told if one[0] == "down"] == [points[0]], w.inputs()[before:]
    assert [one[1:] for one in told if one[0] == "move"] == points[1:]
    assert [one[1:] for one in told if one[0] == "up"] == [points[-1]]


async def test_a_picture_of_a_region_is_that_part_of_the_screen(w: World) -> None:
    await w.open(CONTACTS)
    whole = await w.session.screenshot(scale=1.0)
    part = await w.session.screenshot(scale=1.0, region=[0, 200, 600, 500])
    assert whole.details
    assert part.details
    cut = _picture(whole.details).crop((0, 200, 600, 500))
    assert _picture(part.details).tobytes() == cut.tobytes()
    assert part.details["region"] == [0, 200, 600, 500]
    outside = await w.session.screenshot(region=[5_000, 5_000, 6_000, 6_000])
    assert outside.failure_code == "INVALID_ACTION"


def _picture(details: dict[str, Any]) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(details["screenshotBase64"]))).convert("RGB")


async def test_an_answer_does_not_end_the_task_and_an_end_has_a_status(w: World) -> None:
    told = await w.session.give_answer("482913")
    assert told.details == {"answer": "482913"}
    ended = await w.session.finish("no such app", status="infeasible")
    assert ended.details == {"message": "no such app", "status": "infeasible"}
