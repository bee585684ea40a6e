"""Seed 004: what every OS action does to the desk, line by line of its "Behavior" notes."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.desk.state import CaptureAsked, DialogAsked, FrameLoading
from tests.cases import each
from tests.unit.desk.scene import NOW, TEXT, Scene

TABLE = {"renderer": "table", "data": {"headers": ["Name"], "rows": [["Ada"]]}}
LAYOUT = {"renderer": "component", "data": {"components": [{"type": "badge", "label": "new"}]}}
SHORTCUT = {
    "id": "s1", "label": "Report", "icon": "📄", "type": "file", "target": "report.md",
    "createdAt": 1710000000000,
}  # fmt: skip


# window.create


def test_a_window_is_created_with_all_that_was_asked_for() -> None:
    scene = Scene()
    scene.do(
        "window.create", "report", title="Report", bounds={"x": 80, "y": 60, "w": 480, "h": 320},
        content={"renderer": "markdown", "data": "# Done"}, frameless=True, windowStyle={"color": "red"},
    )  # fmt: skip
    window = scene.window("report")
    assert (window.title, window.content.renderer, window.content.data) == ("Report", "markdown", "# Done")
    assert scene.bounds("report") == (80, 60, 480, 320)
    assert window.birth.frameless
    assert dict(window.birth.window_style) == {"color": "red"}
    assert (window.birth.agent_id, window.birth.variant) == ("ada", "standard")


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ((-50, -20, 400, 300), (0, 0, 400, 300)),
        ((1200, 700, 400, 300), (880, 420, 400, 300)),
        ((10, 10, 5000, 4000), (0, 0, 1280, 720)),
    ],
)
def test_bounds_are_clamped_to_the_viewport(asked: tuple[int, ...], got: tuple[int, ...]) -> None:
    scene = Scene()
    scene.create("w", asked)
    assert scene.bounds("w") == got


def test_widgets_stack_below_standard_windows_and_panels_stay_outside() -> None:
    scene = Scene("a")
    scene.create("clock", variant="widget")
    scene.create("bar", variant="panel")
    scene.create("b")
    scene.create("weather", variant="widget")
    assert scene.order == ["clock", "weather", "a", "b"]
    assert scene.monitor.panels == ("monitor-0/bar",)


def test_a_standard_window_steals_the_focus_on_creation() -> None:
    assert Scene("a", "b").focused == "b"


def test_a_window_created_minimised_leaves_the_focus_where_it_is() -> None:
    scene = Scene("a")
    scene.create("b", minimized=True)
    assert scene.focused == "a"
    assert scene.window("b").minimized


@pytest.mark.parametrize("variant", ["widget", "panel"])
def test_widgets_and_panels_leave_the_focus_where_it_is(variant: str) -> None:
    scene = Scene("a")
    scene.create("b", variant=variant)
    assert scene.focused == "a"


def test_a_panel_docks_at_its_edge_and_at_the_bottom_when_none_is_named() -> None:
    scene = Scene()
    scene.create("top", (0, 300, 1280, 40), variant="panel", dockEdge="top")
    scene.create("low", (0, 300, 1280, 40), variant="panel")
    assert scene.bounds("top") == (0, 0, 1280, 40)
    assert scene.bounds("low") == (0, 680, 1280, 40)


def test_a_request_id_tracks_the_load_of_an_iframe() -> None:
    scene = Scene()
    page = {"renderer": "iframe", "data": "https://example.org/"}
    scene.create("page", content=page, requestId="r1")
    assert scene.effects == [FrameLoading("monitor-0/page", "r1")]
    scene.create("text", requestId="r2")
    assert scene.effects == []


# window.close, focus, minimize


def test_closing_the_focused_window_gives_the_focus_to_the_topmost_that_is_left() -> None:
    scene = Scene("a", "b", "c")
    scene.do("window.focus", "a")
    scene.do("window.close", "a")
    assert "monitor-0/a" not in scene.state.windows
    assert (scene.order, scene.focused) == (["b", "c"], "c")


def test_closing_another_window_leaves_the_focus() -> None:
    scene = Scene("a", "b")
    scene.do("window.close", "a")
    assert scene.focused == "b"


def test_focus_brings_a_standard_window_to_the_top() -> None:
    scene = Scene("a", "b", "c")
    scene.do("window.focus", "a")
    assert (scene.order, scene.focused) == (["b", "c", "a"], "a")


def test_focus_brings_a_widget_to_the_top_of_the_widgets_only() -> None:
    scene = Scene()
    for widget in ("w1", "w2"):
        scene.create(widget, variant="widget")
    scene.create("a")
    scene.do("window.focus", "w1")
    assert scene.order == ["w2", "w1", "a"]


def test_focus_does_not_affect_a_panel() -> None:
    scene = Scene("a")
    scene.create("bar", variant="panel")
    assert scene.do("window.focus", "bar") == {"no_op": True}
    assert scene.focused == "a"


def test_focus_unminimises() -> None:
    scene = Scene("a", "b")
    scene.do("window.minimize", "a")
    scene.do("window.focus", "a")
    assert not scene.window("a").minimized
    assert scene.focused == "a"


def test_minimise_hides_a_window_and_passes_the_focus_on() -> None:
    scene = Scene("a", "b")
    scene.do("window.minimize", "b")
    assert scene.window("b").minimized
    assert scene.focused == "a"


@pytest.mark.parametrize("variant", ["widget", "panel"])
def test_widgets_and_panels_cannot_be_minimised(variant: str) -> None:
    scene = Scene()
    scene.create("w", variant=variant)
    assert scene.do("window.minimize", "w") == {"no_op": True}
    assert not scene.window("w").minimized


# window.maximize, restore, move, resize


def test_maximise_fills_the_viewport_and_saves_the_bounds() -> None:
    scene = Scene("a")
    scene.do("window.maximize", "a")
    window = scene.window("a")
    assert scene.bounds("a") == (0, 0, 1280, 720)
    assert window.maximized
    assert window.previous_bounds.x == 80


def test_restore_gives_a_maximised_window_its_bounds_back() -> None:
    scene = Scene("a")
    scene.do("window.maximize", "a")
    scene.do("window.restore", "a")
    assert scene.bounds("a") == (80, 60, 480, 320)
    assert (scene.window("a").maximized, scene.window("a").previous_bounds) == (False, None)


def test_restore_makes_a_minimised_window_visible_again() -> None:
    scene = Scene("a", "b")
    scene.do("window.minimize", "b")
    scene.do("window.restore", "b")
    assert not scene.window("b").minimized
    assert scene.focused == "b"


def test_a_maximised_window_that_was_minimised_comes_back_maximised() -> None:
    scene = Scene("a")
    scene.do("window.maximize", "a")
    scene.do("window.minimize", "a")
    scene.do("window.restore", "a")
    assert scene.window("a").maximized
    scene.do("window.restore", "a")
    assert scene.bounds("a") == (80, 60, 480, 320)


def test_move_moves() -> None:
    scene = Scene("a")
    scene.do("window.move", "a", x=200, y=120.4)
    assert scene.bounds("a") == (200, 120, 480, 320)


def test_resize_resizes() -> None:
    scene = Scene("a")
    scene.do("window.resize", "a", w=640, h=480)
    assert scene.bounds("a") == (80, 60, 640, 480)


# window.setTitle, setContent, updateContent


def test_set_title_changes_the_title() -> None:
    scene = Scene("a")
    scene.do("window.setTitle", "a", title="Final")
    assert scene.window("a").title == "Final"


def test_set_content_replaces_the_whole_content() -> None:
    scene = Scene("a")
    before = scene.window("a").content_rev
    scene.do("window.setContent", "a", content=TABLE)
    assert scene.window("a").content.renderer == "table"
    assert scene.window("a").content.data == TABLE["data"]
    assert scene.window("a").content_rev == before + 1


OPERATIONS: list[tuple[dict[str, Any], str]] = [
    ({"op": "append", "data": "!"}, "hello!"),
    ({"op": "prepend", "data": "oh "}, "oh hello"),
    ({"op": "insertAt", "data": "--", "position": 2}, "he--llo"),
    ({"op": "insertAt", "data": "!", "position": 5}, "hello!"),
    ({"op": "replace", "data": "bye"}, "bye"),
    ({"op": "clear"}, ""),
]


@each(("operation", "expected"), OPERATIONS)
@each("renderer", ["markdown", "html", "text"])
def test_text_takes_every_operation(renderer: str, operation: dict[str, Any], expected: str) -> None:
    scene = Scene()
    scene.create("a", content={"renderer": renderer, "data": "hello"})
    scene.do("window.updateContent", "a", operation=operation)
    assert scene.window("a").content.data == expected


@each("content", [TABLE, LAYOUT, {"renderer": "iframe", "data": "https://example.org"}])
@each("op", ["append", "prepend", "insertAt"])
def test_only_text_takes_append_prepend_and_insert(content: dict[str, Any], op: str) -> None:
    scene = Scene()
    scene.create("a", content=content)
    position = {"position": 0} if op == "insertAt" else {}
    error = scene.refused("window.updateContent", "a", operation={"op": op, "data": "x", **position})
    assert error.details["path"] == "operation.op"


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (TEXT, ""),
        (TABLE, {"headers": [], "rows": []}),
        (LAYOUT, {"components": []}),
        ({"renderer": "iframe", "data": "https://example.org"}, ""),
    ],
)
def test_clear_resets_every_renderer_to_its_empty_content(content: dict[str, Any], left: Any) -> None:
    scene = Scene()
    scene.create("a", content=content)
    scene.do("window.updateContent", "a", operation={"op": "clear"})
    assert scene.window("a").content.data == left


def test_replace_takes_data_that_fits_the_renderer_and_no_other() -> None:
    scene = Scene()
    scene.create("a", content=TABLE)
    new = {"headers": ["N"], "rows": []}
    scene.do("window.updateContent", "a", operation={"op": "replace", "data": new})
    assert scene.window("a").content.data == new
    error = scene.refused(
        "window.updateContent", "a", operation={"op": "replace", "data": {"headers": [1], "rows": []}}
    )
    assert error.details["path"] == "operation.data.headers[0]"


def test_update_content_may_change_the_renderer() -> None:
    scene = Scene("a")
    scene.do("window.updateContent", "a", operation={"op": "append", "data": "!"}, renderer="markdown")
    assert scene.window("a").content.renderer == "markdown"
    assert scene.window("a").content.data == "hello!"


# window.lock, unlock, capture


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("window.setContent", {"content": TABLE}), ("window.updateContent", {"operation": {"op": "clear"}})],
)
def test_only_the_holder_of_the_lock_updates_a_locked_window(kind: str, fields: dict[str, Any]) -> None:
    scene = Scene("a")
    scene.do("window.lock", "a", agentId="ada")
    assert scene.rejected(kind, "a", by="bob", **fields).details["holder"] == "ada"
    scene.do(kind, "a", **fields)


def test_unlock_releases_the_lock_of_the_agent_that_acquired_it() -> None:
    scene = Scene("a")
    scene.do("window.lock", "a", agentId="ada")
    assert scene.rejected("window.unlock", "a", agentId="bob", by="bob").details["holder"] == "ada"
    scene.do("window.unlock", "a", agentId="ada")
    scene.do("window.setContent", "a", content=TABLE, by="bob")


def test_capture_asks_for_a_picture_and_changes_nothing() -> None:
    scene = Scene("a")
    before = scene.state
    assert scene.do("window.capture", "a", requestId="r1") == {}
    assert scene.state is before
    assert scene.effects == [CaptureAsked("monitor-0/a", "r1")]


# notifications, toasts, dialogs


def test_a_notification_persists_until_it_is_dismissed() -> None:
    scene = Scene()
    scene.do("notification.show", id="n1", title="Done", body="Saved", icon="ok")
    [shown] = scene.state.notifications
    assert (shown.title, shown.body, shown.icon, shown.expires_ms) == ("Done", "Saved", "ok", None)
    scene.do("notification.dismiss", id="n1")
    assert scene.state.notifications == ()


def test_a_notification_with_a_duration_dismisses_itself() -> None:
    scene = Scene()
    scene.do("notification.show", id="n1", title="Done", body="", duration=3000)
    assert scene.state.notifications[0].expires_ms == NOW + 3000


def test_a_toast_is_an_info_for_five_seconds_unless_it_says_otherwise() -> None:
    scene = Scene()
    scene.do("toast.show", id="t1", message="Saved")
    scene.do("toast.show", id="t2", message="Bad", variant="error", duration=100,
             action={"label": "Undo", "eventId": "u"})  # fmt: skip
    first, second = scene.state.toasts
    assert (first.variant, first.action, first.expires_ms) == ("info", None, NOW + 5000)
    assert (second.variant, second.action, second.expires_ms) == (
        "error", {"label": "Undo", "eventId": "u"}, NOW + 100,
    )  # fmt: skip
    scene.do("toast.dismiss", id="t1")
    assert [toast.id for toast in scene.state.toasts] == ["t2"]


def test_a_dialog_asks_with_yes_and_no_unless_it_says_otherwise() -> None:
    scene = Scene()
    scene.do("dialog.confirm", id="d1", title="Delete", message="Sure?")
    assert scene.effects == [DialogAsked("d1")]
    options = {"showRememberChoice": True, "toolName": "delete", "context": "notes"}
    scene.do("dialog.confirm", id="d2", title="T", message="M", confirmText="Do", cancelText="Don't",
             permissionOptions=options)  # fmt: skip
    first, second = scene.state.dialogs
    assert (first.confirm_text, first.cancel_text, first.permission_options) == ("Yes", "No", None)
    assert (second.confirm_text, second.cancel_text) == ("Do", "Don't")
    assert second.permission_options == options


# apps and the desktop


def test_a_badge_counts_and_zero_clears_it() -> None:
    scene = Scene()
    scene.do("app.badge", appId="approvals", count=2)
    assert scene.state.badges == {"approvals": 2}
    scene.do("app.badge", appId="approvals", count=0)
    assert scene.state.badges == {}


def test_refresh_apps_makes_browsers_read_the_list_again() -> None:
    scene = Scene()
    scene.do("desktop.refreshApps")
    assert scene.state.apps_rev == 1


def test_a_shortcut_is_added_updated_and_removed() -> None:
    scene = Scene()
    scene.do("desktop.createShortcut", shortcut=SHORTCUT)
    [made] = scene.state.shortcuts
    maker = {"agentId": made["agentId"]}
    assert made == {**SHORTCUT, **maker}
    scene.do("desktop.updateShortcut", shortcutId="s1", updates={"label": "Final"})
    assert scene.state.shortcuts == ({**SHORTCUT, **maker, "label": "Final"},)
    scene.do("desktop.removeShortcut", shortcutId="s1")
    assert scene.state.shortcuts == ()


# Processing pipeline


def test_windows_are_keyed_by_monitor_and_id() -> None:
    scene = Scene("a")
    scene.create("a", monitorId="monitor-1")
    assert list(scene.state.windows) == ["monitor-0/a", "monitor-1/a"]


def test_an_action_without_a_monitor_is_for_the_active_one() -> None:
    scene = Scene()
    scene.create("a", monitorId="monitor-1")
    error = scene.refused("window.focus", "a")
    assert error.details["path"] == "windowId"
    scene.do("window.setTitle", "a", title="here", monitorId="monitor-1")
    assert scene.window("a", "monitor-1").title == "here"
