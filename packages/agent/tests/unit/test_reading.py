"""What a model wrote, as an action or as a reason to ask again."""

from __future__ import annotations

from typing import Any

from handrail_agent.model import Reply
from handrail_agent.read_answer import read_reply
from tests.cases import each


def read(action: Any) -> Any:
    return read_reply(Reply("", action, "raw", problem="" if action is not None else "It is empty."))


@each(
    ("written", "native"),
    [
        ({"type": "tap", "target": "@b1"}, {"type": "tap", "target": {"ref": "@b1"}}),
        ({"type": "tap", "x": 540, "y": "750"}, {"type": "tap", "target": {"x": 540, "y": 750}}),
        ({"type": "tap", "coordinate": [1, 2]}, {"type": "tap", "target": {"x": 1, "y": 2}}),
        ({"type": "keyevent", "keycode": "KEYCODE_BACK"}, {"type": "press_key", "key": "KEYCODE_BACK"}),
        ({"type": "type", "text": "Ada"}, {"type": "type_text", "text": "Ada"}),
        ({"type": "launch_app", "packageName": "a.b"}, {"type": "start_app", "package": "a.b"}),
        ({"type": "wait"}, {"type": "wait", "duration_ms": 1000}),
        ({"type": "wait_for", "visible": "Saved"}, {"type": "wait_for"}),
        ({"type": "finish"}, {"type": "finish", "message": "Task finished."}),
        ({"type": "tap", "target": "Save", "device": "other"}, {"type": "tap", "target": {"text": "Save"}}),
    ],
)
def test_native_and_seed_spellings_become_one_action(written: Any, native: dict[str, Any]) -> None:
    choice = read(written)
    assert choice.action is not None, choice.problem
    assert native.items() <= choice.action.to_dict().items()


@each(
    ("written", "why"),
    [
        (None, "It is empty."),
        ({}, "no `type`"),
        ({"type": 7}, "no `type`"),
        ({"type": "teleport"}, '"teleport" is not known'),
        ({"type": "tap"}, "missing or invalid coordinates: x, y"),
        ({"type": "tap", "x": 3}, "missing or invalid coordinates: y"),
        ({"type": "tap", "x": 0, "y": 0}, "(0, 0) is not a place"),
        ({"type": "double_tap", "target": "0,0"}, "(0, 0) is not a place"),
        ({"type": "drag", "from": "0,0", "to": "0,0"}, "(0, 0) is not a place"),
        ({"type": "keyevent"}, "keycode is missing"),
        ({"type": "type"}, "text is missing"),
        ({"type": "launch_app"}, "packageName is empty"),
        ({"type": "tap", "target": {"colour": "red"}}, "colour"),
        ({"type": "scroll_to"}, "target"),
    ],
)
def test_what_would_have_to_be_invented_is_a_reason_to_ask_again(written: Any, why: str) -> None:
    choice = read(written)
    assert choice.action is None
    assert why in choice.problem


def test_a_swipe_from_the_corner_to_somewhere_is_a_real_one() -> None:
    assert read({"type": "swipe", "x1": 0, "y1": 0, "x2": 0, "y2": 900}).action is not None
