"""The frames of the desk's WebSocket: their fields, and what becomes of bad ones."""

from typing import Any

import pytest
from pydantic import ValidationError

from handrail.errors import InvalidAction
from handrail.protocol.message import CLIENT_MESSAGE, SERVER_MESSAGE
from handrail.protocol.read import invalid_action
from tests.cases import each

CLOSE = {"type": "window.close", "windowId": "w"}
TAP = {"type": "tap", "target": {"x": 1, "y": 2}}
ENVELOPE = {
    "action_id": "tap_1_1", "timestamp": "2026-04-23T08:00:00.000Z", "action_type": "tap",
    "semantic": "selection", "lifecycle_state": "verified", "source_module": "server", "success": True,
    "delivery": "delivered",
}  # fmt: skip
APPROVAL = {"approvalId": "a", "dialogId": "d"}

# Each frame of the design: required fields, then optional ones.
SERVER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "SNAPSHOT": ({"state": {"windows": {}}}, {}),
    "ACTIONS": (
        {"actions": [CLOSE], "changes": {"windows": {"monitor-0/w": None}}},
        {"monitorId": "monitor-0", "agentId": "agent-1"},
    ),
    "APPROVAL_REQUEST": (
        {
            **APPROVAL, "title": "Allow?", "message": "It types.", "expiresAt": "2026-04-23T08:05:00.000Z",
            "canRemember": "session", "wantsData": True,
        },
        {
            "reason": "I log in.", "capability": "2fa", "imageData": "aGk=", "why": "It types a password.",
            "device": "phone", "askedBy": "agent-1",
        },
    ),
    "APPROVAL_RESOLVED": ({**APPROVAL, "decision": "approved"}, {}),
    "AGENT_STATUS": ({"agentId": "a", "status": "thinking"}, {"message": "I look."}),
    "ENVELOPE": (
        {"actionId": "tap_1_1", "lifecycleState": "verified"},
        {"envelope": ENVELOPE, "actionType": "tap", "device": "phone", "actor": {"kind": "agent", "id": "a"}},
    ),
    "ERROR": ({"code": "INVALID_ACTION", "path": "x", "message": "x: is required", "hint": "Say x."}, {}),
}  # fmt: skip
CLIENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "HELLO": ({"clientId": "c"}, {"since": 0}),
    "USER_MESSAGE": ({"messageId": "m", "content": "hi"}, {"monitorId": "monitor-0"}),
    "WINDOW_MESSAGE": ({"messageId": "m", "windowId": "w", "content": "hi"}, {"monitorId": "monitor-0"}),
    "COMPONENT_ACTION": (
        {"windowId": "w", "action": "go", "parallel": False},
        {"formId": "f", "formData": {"name": "Ada"}, "monitorId": "monitor-0"},
    ),
    "USER_INTERACTION": ({"interactions": [CLOSE, {"type": "window.focus", "windowId": "w"}]}, {}),
    "DIALOG_FEEDBACK": ({"dialogId": "d", "confirmed": True}, {"remember": True, "data": {"code": "123456"}}),
    "TOAST_ACTION": ({"toastId": "t", "eventId": "e"}, {}),
    "SHORTCUT_ACTION": ({"shortcutId": "s"}, {}),
    "RENDERING_FEEDBACK": (
        {"requestId": "r", "windowId": "w", "kind": "capture", "success": True},
        {
            "error": "tainted",
            "imageData": "aGk=",
            "madeFrom": "a copy of the window",
            "missing": ["a page"],
            "waitsForPerson": True,
        },
    ),
    "SUBSCRIBE_MONITOR": ({"monitorId": "m"}, {"viewport": {"w": 1280, "h": 720}}),
    "PHONE_INPUT": ({"device": "d"}, {"action": TAP, "control": "take"}),
    "INTERRUPT": ({}, {"agentId": "a"}),
}
STAMP = {"seq": 0, "ts": "2026-04-23T08:00:00.000Z"}
FRAMES = [
    *((SERVER_MESSAGE, kind, {**STAMP, **needed}, optional) for kind, (needed, optional) in SERVER.items()),
    *((CLIENT_MESSAGE, kind, needed, optional) for kind, (needed, optional) in CLIENT.items()),
]
KINDS = [kind for _, kind, *_ in FRAMES]


def refused_at(path: str, adapter: Any, frame: Any) -> InvalidAction:
    """The error frame's path, as the socket makes it."""
    with pytest.raises(ValidationError) as caught:
        adapter.validate_python(frame)
    error = invalid_action(caught.value, frame)
    assert error.details["path"] == path
    return error


@each(("adapter", "kind", "required", "optional"), FRAMES, ids=KINDS)
def test_a_frame_is_written_as_it_was_read(adapter: Any, kind: str, required: Any, optional: Any) -> None:
    for fields in (required, {**required, **optional}):
        frame = {"type": kind, **fields}
        assert adapter.validate_python(frame).to_dict() == frame
        assert adapter.validate_json(adapter.validate_python(frame).to_json()).to_dict() == frame


@each(
    ("adapter", "kind", "required", "field"),
    [
        (adapter, kind, required, field)
        for adapter, kind, required, _ in FRAMES
        for field in required
        if field != "parallel"
    ],
)
def test_a_frame_without_a_required_field_is_refused_there(
    adapter: Any, kind: str, required: Any, field: str
) -> None:
    rest = {key: value for key, value in required.items() if key != field}
    assert refused_at(field, adapter, {"type": kind, **rest}).message.startswith(f"{field}: is required")


LISTS = ("actions", "interactions", "missing")


@each(("adapter", "kind", "required", "optional"), FRAMES, ids=KINDS)
def test_a_field_of_the_wrong_type_is_refused_there(
    adapter: Any, kind: str, required: Any, optional: Any
) -> None:
    for field in {**required, **optional}:
        refused_at(
            field,
            adapter,
            {
                "type": kind,
                **required,
                field: 5 if field in ("actions", "interactions", "missing") else [[5]],
            },
        )


@each(("adapter", "kind", "required", "optional"), FRAMES, ids=KINDS)
def test_an_unknown_field_is_refused(adapter: Any, kind: str, required: Any, optional: Any) -> None:
    refused_at("colour", adapter, {"type": kind, **required, "colour": "red"})


def test_clicks_run_beside_each_other_unless_they_say_otherwise() -> None:
    frame = {"type": "COMPONENT_ACTION", "windowId": "w", "action": "go"}
    assert CLIENT_MESSAGE.validate_python(frame).parallel is True


@each(
    ("path", "frame"),
    [
        ("type", {}),
        ("type", {"type": "NOPE"}),
        ("type", {"type": "SNAPSHOT", **STAMP, "state": {}}),
        ("", []),
        ("", "HELLO"),
        ("", None),
        ("since", {"type": "HELLO", "clientId": "c", "since": -1}),
        ("interactions", {"type": "USER_INTERACTION", "interactions": []}),
        ("interactions[0].type", {"type": "USER_INTERACTION", "interactions": [TAP]}),
        ("interactions[1].windowId", {"type": "USER_INTERACTION",
                                      "interactions": [CLOSE, {"type": "window.close"}]}),
        ("action.type", {"type": "PHONE_INPUT", "device": "d", "action": CLOSE}),
        ("action.type", {"type": "PHONE_INPUT", "device": "d", "action": {"type": "get_ui_tree"}}),
        ("action.start_radius", {"type": "PHONE_INPUT", "device": "d",
                                 "action": {"type": "pinch", "cx": 1, "cy": 1, "endRadius": 5}}),
        ("control", {"type": "PHONE_INPUT", "device": "d", "control": "keep"}),
        ("viewport.w", {"type": "SUBSCRIBE_MONITOR", "monitorId": "m", "viewport": {"w": 0, "h": 5}}),
        ("kind", {"type": "RENDERING_FEEDBACK", "requestId": "r", "windowId": "w", "kind": "video",
                  "success": True}),
        ("formData.n", {"type": "COMPONENT_ACTION", "windowId": "w", "action": "a", "formData": {"n": 5}}),
    ],
)  # fmt: skip
def test_a_bad_frame_is_refused_with_the_path(path: str, frame: Any) -> None:
    assert refused_at(path, CLIENT_MESSAGE, frame).code == "INVALID_ACTION"


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "DIALOG_FEEDBACK", "dialogId": "d", "confirmed": True, "data": {"code": 123456}},
        {"type": "COMPONENT_ACTION", "windowId": "w", "action": "a", "formData": {"pin": 123456}},
    ],
)
def test_what_a_person_filled_in_is_not_in_the_error(frame: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        CLIENT_MESSAGE.validate_python(frame)
    assert "123456" not in str(invalid_action(caught.value, frame).to_dict())
