"""Seed 004: the 24 OS actions of the desk, field by field."""

from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.protocol import content
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.read import action_from
from tests.cases import each

BOUNDS = {"x": 80, "y": 60, "w": 480, "h": 320}
CONTENT = {"renderer": "markdown", "data": "# Done"}
SHORTCUT = {
    "id": "s1", "label": "Report", "icon": "📄", "type": "file", "target": "report.md",
    "createdAt": 1710000000000,
}  # fmt: skip
WINDOW = {"windowId": "report"}
STYLE = {"opacity": 0.5, "color": "red", "zIndex": 3}
ASK = {"showRememberChoice": True, "toolName": "shell"}

# One section of the seed each: required fields, and every optional field with a good value.
TABLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "window.create": (
        {**WINDOW, "title": "Report", "bounds": BOUNDS, "content": CONTENT},
        {"variant": "widget", "dockEdge": "top", "frameless": True, "windowStyle": STYLE, "minimized": True,
         "requestId": "r1"},
    ),
    "window.close": (WINDOW, {}),
    "window.focus": (WINDOW, {}),
    "window.minimize": (WINDOW, {}),
    "window.maximize": (WINDOW, {}),
    "window.restore": (WINDOW, {}),
    "window.move": ({**WINDOW, "x": 200, "y": -12.5}, {}),
    "window.resize": ({**WINDOW, "w": 640, "h": 480.5}, {}),
    "window.setTitle": ({**WINDOW, "title": ""}, {}),
    "window.setContent": ({**WINDOW, "content": CONTENT}, {}),
    "window.updateContent": ({**WINDOW, "operation": {"op": "clear"}}, {"renderer": "table"}),
    "window.lock": ({**WINDOW, "agentId": "agent-1"}, {}),
    "window.unlock": ({**WINDOW, "agentId": "agent-1"}, {}),
    "window.capture": (WINDOW, {"requestId": "r1"}),
    "notification.show": ({"id": "n1", "title": "Done", "body": "Saved"}, {"icon": "ok", "duration": 3000}),
    "notification.dismiss": ({"id": "n1"}, {}),
    "toast.show": (
        {"id": "t1", "message": "Saved"},
        {"variant": "success", "action": {"label": "Undo", "eventId": "undo-1"}, "duration": 3000},
    ),
    "toast.dismiss": ({"id": "t1"}, {}),
    "dialog.confirm": (
        {"id": "d1", "title": "Delete", "message": "Delete this note?"},
        {"confirmText": "Delete", "cancelText": "Keep", "permissionOptions": {**ASK, "context": "notes"}},
    ),
    "app.badge": ({"appId": "approvals", "count": 0}, {}),
    "desktop.refreshApps": ({}, {}),
    "desktop.createShortcut": ({"shortcut": SHORTCUT}, {}),
    "desktop.removeShortcut": ({"shortcutId": "s1"}, {}),
    "desktop.updateShortcut": (
        {"shortcutId": "s1", "updates": {"label": "R", "icon": "a.png", "iconType": "image", "type": "url",
                                         "target": "https://example.org"}},
        {},
    ),
}  # fmt: skip
REQUIRED = [(kind, field) for kind, (required, _) in TABLE.items() for field in required]
OPTIONAL = [(kind, field) for kind, (_, optional) in TABLE.items() for field in optional]


def refused_at(path: str, kind: str, **changed: Any) -> InvalidAction:
    fields = {**TABLE[kind][0], **changed}
    with pytest.raises(InvalidAction) as caught:
        action_from({"type": kind, **{key: value for key, value in fields.items() if value is not ...}})
    assert caught.value.details["path"] == path
    return caught.value


def accepts(kind: str, **changed: Any) -> dict[str, Any]:
    return action_from({"type": kind, **TABLE[kind][0], **changed}).to_dict()


def test_the_actions_are_the_24_of_the_seed() -> None:
    assert list(DESK_ACTIONS) == list(TABLE)
    assert len(TABLE) == 24


@each("kind", TABLE)
def test_an_action_with_all_its_fields_is_written_as_the_seed_writes_it(kind: str) -> None:
    required, optional = TABLE[kind]
    for fields in (required, {**required, **optional}):
        given = {"type": kind, **fields}
        assert action_from(given).to_dict() == given


@each(("kind", "field"), REQUIRED)
def test_a_required_field_may_not_be_missing(kind: str, field: str) -> None:
    assert refused_at(field, kind, **{field: ...}).message == f"{field}: is required"


@each(("kind", "field"), OPTIONAL)
def test_an_optional_field_may_stand_alone(kind: str, field: str) -> None:
    value = TABLE[kind][1][field]
    assert accepts(kind, **{field: value})[field] == value


@each(("kind", "field"), [*REQUIRED, *OPTIONAL])
def test_a_field_of_the_wrong_type_is_refused(kind: str, field: str) -> None:
    assert refused_at(field, kind, **{field: [[]]}).code == "INVALID_ACTION"


@each("kind", TABLE)
def test_every_action_accepts_a_monitor(kind: str) -> None:
    assert accepts(kind, monitorId="monitor-1")["monitorId"] == "monitor-1"


@each("kind", TABLE)
def test_no_action_accepts_a_field_that_the_seed_does_not_have(kind: str) -> None:
    refused_at("colour", kind, colour="red")


@each("kind", TABLE)
def test_snake_case_is_read_and_camel_case_is_written(kind: str) -> None:
    def snake(name: str) -> str:
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)

    required, optional = TABLE[kind]
    fields = {**required, **optional}
    given = {"type": kind, **{snake(name): value for name, value in fields.items()}}
    assert action_from(given).to_dict() == {"type": kind, **fields}


@pytest.mark.parametrize(
    ("kind", "field", "words"),
    [
        ("window.create", "variant", ["standard", "widget", "panel"]),
        ("window.create", "dockEdge", ["top", "bottom"]),
        ("toast.show", "variant", ["info", "success", "warning", "error"]),
        ("window.updateContent", "renderer", ["markdown", "html", "text", "table", "iframe", "component"]),
    ],
)
def test_a_choice_takes_the_words_of_the_seed_and_no_other(kind: str, field: str, words: list[str]) -> None:
    for word in words:
        assert accepts(kind, **{field: word})[field] == word
    assert refused_at(field, kind, **{field: "other"}).message.endswith(", ".join(words))


@each(
    ("path", "kind", "changed"),
    [
        ("bounds.w", "window.create", {"bounds": {"x": 0, "y": 0, "h": 5}}),
        ("bounds.w", "window.create", {"bounds": {**BOUNDS, "w": 0}}),
        ("bounds.h", "window.create", {"bounds": {**BOUNDS, "h": -5}}),
        ("bounds.x", "window.create", {"bounds": {**BOUNDS, "x": 40_000}}),
        ("bounds.z", "window.create", {"bounds": {**BOUNDS, "z": 1}}),
        ("x", "window.move", {"x": "5"}),
        ("x", "window.move", {"x": float("nan")}),
        ("w", "window.resize", {"w": 0}),
        ("windowId", "window.close", {"windowId": ""}),
        ("count", "app.badge", {"count": -1}),
        ("count", "app.badge", {"count": 1.5}),
        ("duration", "notification.show", {"duration": -1}),
        ("action.eventId", "toast.show", {"action": {"label": "Undo"}}),
        ("action.label", "toast.show", {"action": {"eventId": "u"}}),
        ("permissionOptions.toolName", "dialog.confirm", {"permissionOptions": {"showRememberChoice": True}}),
        ("permissionOptions.showRememberChoice", "dialog.confirm", {"permissionOptions": {"toolName": "a"}}),
        ("shortcut.type", "desktop.createShortcut", {"shortcut": {**SHORTCUT, "type": "app"}}),
        ("shortcut.iconType", "desktop.createShortcut", {"shortcut": {**SHORTCUT, "iconType": "svg"}}),
        ("updates.id", "desktop.updateShortcut", {"updates": {"id": "s2"}}),
        ("updates.createdAt", "desktop.updateShortcut", {"updates": {"createdAt": 1}}),
        ("updates.type", "desktop.updateShortcut", {"updates": {"type": "app"}}),
        ("content.renderer", "window.setContent", {"content": {"renderer": "pdf", "data": ""}}),
        ("content.renderer", "window.setContent", {"content": {"data": ""}}),
        ("content.data", "window.setContent", {"content": {"renderer": "text"}}),
        ("operation.op", "window.updateContent", {"operation": {"op": "truncate"}}),
        ("operation.position", "window.updateContent", {"operation": {"op": "insertAt", "data": "a"}}),
    ],
)
def test_a_bad_value_is_refused_at_its_place(path: str, kind: str, changed: dict[str, Any]) -> None:
    refused_at(path, kind, **changed)


@each("field", SHORTCUT)
def test_no_field_of_a_shortcut_is_optional_but_its_icon_type(field: str) -> None:
    rest = {key: value for key, value in SHORTCUT.items() if key != field}
    refused_at(f"shortcut.{field}", "desktop.createShortcut", shortcut=rest)


@each("icon_type", ["emoji", "image"])
@each("opens", ["file", "url", "action"])
def test_a_shortcut_has_the_kinds_of_the_seed(icon_type: str, opens: str) -> None:
    shortcut = {**SHORTCUT, "iconType": icon_type, "type": opens}
    assert accepts("desktop.createShortcut", shortcut=shortcut)["shortcut"] == shortcut
    updates = {"iconType": icon_type, "type": opens}
    assert accepts("desktop.updateShortcut", updates=updates)["updates"] == updates


GUARDS = {
    "window.": content.is_window_action,
    "notification.": content.is_notification_action,
    "toast.": content.is_toast_action,
    "dialog.": content.is_dialog_action,
    "app.": content.is_app_action,
    "desktop.": content.is_desktop_action,
}


@each("kind", ACTIONS)
def test_each_guard_knows_its_family_and_no_other(kind: str) -> None:
    action = action_from(ACTIONS[kind].example)
    for family, guard in GUARDS.items():
        assert guard(action) is guard({"type": kind}) is kind.startswith(family)


@each("guard", GUARDS.values())
@each("data", [{}, {"type": None}, {"type": []}, {"type": "windows"}])
def test_a_guard_answers_no_to_what_is_no_action(guard: Any, data: dict[str, Any]) -> None:
    assert guard(data) is False
