"""Notifications, toasts, dialogs, badges and shortcuts: ids, limits and expiry."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.desk.reduce import next_expiry, remove_expired
from handrail.desk.state import DialogExpired
from tests.cases import each
from tests.unit.desk.scene import NOW, Scene, action

SHORTCUT = {"id": "s1", "label": "L", "icon": "📄", "type": "file", "target": "a.md", "createdAt": 1}


def test_a_notification_with_a_known_id_is_replaced_where_it_stands() -> None:
    scene = Scene()
    for shown in ("n1", "n2"):
        scene.do("notification.show", id=shown, title="old", body="")
    scene.do("notification.show", id="n1", title="new", body="", by="bob")
    first, second = scene.state.notifications
    assert (first.title, first.agent_id, second.title) == ("new", "bob", "old")


def test_a_toast_with_a_known_id_is_replaced_and_lasts_anew() -> None:
    scene = Scene()
    scene.do("toast.show", id="t1", message="old")
    scene.now_ms += 4000
    scene.do("toast.show", id="t1", message="new")
    [toast] = scene.state.toasts
    assert (toast.message, toast.expires_ms) == ("new", NOW + 9000)


def test_what_expires_is_gone_at_its_moment_and_no_earlier() -> None:
    scene = Scene()
    scene.do("toast.show", id="t", message="m")
    scene.do("notification.show", id="n", title="t", body="b", duration=2000)
    scene.do("notification.show", id="stays", title="t", body="b")
    scene.do("dialog.confirm", id="d", title="t", message="m")
    assert next_expiry(scene.state) == NOW + 2000
    assert remove_expired(scene.state, NOW + 1999).state is scene.state
    left = remove_expired(scene.state, NOW + 2000)
    assert [shown.id for shown in left.state.notifications] == ["stays"]
    assert (len(left.state.toasts), left.wake_ms) == (1, NOW + 5000)
    assert remove_expired(scene.state, NOW + 5000).state.toasts == ()
    end = remove_expired(scene.state, NOW + 300_000)
    assert end.state.dialogs == ()
    assert [effect for _, effect in end.effects] == [DialogExpired("d")]
    assert end.wake_ms is None


def test_a_dialog_id_that_waits_cannot_be_asked_again() -> None:
    scene = Scene()
    scene.do("dialog.confirm", id="d", title="Pay?", message="All of it.")
    [dialog] = scene.state.dialogs
    assert (dialog.title, dialog.message) == ("Pay?", "All of it.")
    error = scene.refused("dialog.confirm", id="d", title="t", message="m", by="bob")
    assert (error.details["path"], error.message) == ("id", "id: 'd' waits for its answer already")


def test_no_agents_dialog_passes_for_a_question_of_the_engine() -> None:
    error = Scene().refused("dialog.confirm", id="approval:17", title="t", message="m")
    assert error.details["path"] == "id"
    assert error.message.startswith("id: 'approval:17' begins with approval:,")


@each(
    ("kind", "fields"),
    [
        ("notification.show", {"title": "t", "body": "b"}),
        ("toast.show", {"message": "m"}),
        ("dialog.confirm", {"title": "t", "message": "m"}),
    ],
)
def test_nobody_can_pile_up_more_than_people_read(kind: str, fields: dict[str, Any]) -> None:
    scene = Scene()
    scene.batch(*(action(kind, id=f"x{number}", **fields) for number in range(200)))
    error = scene.refused(kind, id="more", **fields)
    assert error.details["path"] == "id"
    assert error.message.startswith("id: 'more' would be one of more than 200")


def test_there_are_five_hundred_badges_at_most() -> None:
    scene = Scene()
    scene.batch(*(action("app.badge", appId=f"a{number}", count=1) for number in range(500)))
    assert scene.refused("app.badge", appId="more", count=1).details["path"] == "appId"
    scene.do("app.badge", appId="a7", count=2)
    assert len(scene.state.badges) == 500


def test_there_are_five_hundred_shortcuts_at_most() -> None:
    scene = Scene()
    many = [{**SHORTCUT, "id": f"s{number}"} for number in range(500)]
    scene.batch(*(action("desktop.createShortcut", shortcut=one) for one in many))
    error = scene.refused("desktop.createShortcut", shortcut={**SHORTCUT, "id": "more"})
    assert error.details["path"] == "shortcut"
    assert len(scene.state.shortcuts) == 500


def test_a_shortcut_id_that_exists_is_refused() -> None:
    scene = Scene()
    scene.do("desktop.createShortcut", shortcut=SHORTCUT)
    assert scene.refused("desktop.createShortcut", shortcut=SHORTCUT).details["path"] == "shortcut.id"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("desktop.removeShortcut", {}), ("desktop.updateShortcut", {"updates": {"label": "x"}})],
)
def test_an_unknown_shortcut_is_an_error_with_the_nearest_id(kind: str, fields: dict[str, Any]) -> None:
    scene = Scene()
    scene.do("desktop.createShortcut", shortcut={**SHORTCUT, "id": "report"})
    error = scene.refused(kind, shortcutId="reprot", **fields)
    assert error.details["path"] == "shortcutId"
    assert "report" in error.hint


@each(
    ("changed", "path"),
    [
        ({"type": "url", "target": "javascript:alert(1)"}, "target"),
        ({"type": "url", "target": "data:text/html,x"}, "target"),
        ({"type": "file", "target": "../../etc/passwd"}, "target"),
        ({"type": "file", "target": "/etc/passwd"}, "target"),
        ({"icon": "https://example.org/x.png", "iconType": "image"}, "icon"),
    ],
)
def test_a_shortcut_opens_pages_and_files_of_the_storage_only(changed: dict[str, Any], path: str) -> None:
    scene = Scene()
    error = scene.refused("desktop.createShortcut", shortcut={**SHORTCUT, **changed})
    assert error.details["path"] == f"shortcut.{path}"
    scene.do("desktop.createShortcut", shortcut=SHORTCUT)
    error = scene.refused("desktop.updateShortcut", shortcutId="s1", updates=changed)
    assert error.details["path"] == f"updates.{path}"


def test_an_update_that_changes_what_a_shortcut_opens_is_checked_with_its_old_fields() -> None:
    scene = Scene()
    scene.do("desktop.createShortcut", shortcut={**SHORTCUT, "type": "action", "target": "javascript:x"})
    assert scene.refused("desktop.updateShortcut", shortcutId="s1", updates={"type": "url"}).details["path"]
