"""Every action of the vocabulary once or more, as a person's program calls them: names and plain values."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from handrail.config import Config
from handrail.desk.desk import Desk
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.safety.approvals import Approvals
from handrail.sync import BlockingPhone, phone
from handrail_sim.shell.apk.packing import packed_apk
from tests.unit.desk.office import Browser

Call = tuple[str, dict[str, Any]]
SETTINGS, CONTACTS = "com.android.settings", "com.google.android.contacts"
NOTES = "com.handrail.notes"
PNG = b64encode(b"\x89PNG\r\n\x1a\n...").decode()
FINGER = {"x": 500, "y": 1500}


def config_of(home: Path) -> Config:
    return Config.from_env({"HANDRAIL_HOME": str(home), "HOME": str(home)})


class Owner:
    """Says yes to every question, as the person would at whose desk the test stands."""

    approvals: Approvals

    async def __call__(self, asked: Any, _token: str | None) -> None:
        await self.approvals.answer(asked.id, True, "the owner")


def allow_all(home: Path) -> None:
    """A rule, so that nobody is asked: a yes would be void where the screen moves on meanwhile."""
    policy = config_of(home).policy
    policy.parent.mkdir(mode=0o700, parents=True)
    kinds = ", ".join(f'"{kind}"' for kind in ACTIONS if kind not in DESK_ACTIONS)
    policy.write_text(f'[[rule]]\nname = "all"\naction = [{kinds}]\nverdict = "allow"\n')


def opened(home: Path, **options: Any) -> BlockingPhone:
    owner = Owner()
    made = phone(sim=True, config=config_of(home), notify=owner, **options)
    owner.approvals = made._runtime.approvals
    return made


def device_calls(folder: Path) -> Iterator[Call]:
    apk, picture = folder / "a.apk", folder / "a.png"
    apk.write_bytes(packed_apk("com.example.packed", "Packed", ".Main", {}))
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    yield "start_app", {"name": "Contacts"}
    yield "get_ui_tree", {}
    yield "get_ui_tree", {"format": "outline"}
    yield "get_ui_tree", {"format": "full"}
    yield "get_ui_tree", {"since": "r1"}
    yield "what_changed", {}
    yield "tap", {"target": "Create new contact"}
    yield "type_text", {"text": "Ada", "target": "First name"}
    yield "clear_text", {"target": {"id": "first"}}
    yield "double_tap", {"target": {"id": "first"}}
    yield "long_press", {"target": {"id": "first"}}
    yield "hide_keyboard", {}
    yield "press_key", {"key": "KEYCODE_ENTER"}
    yield "press_keys", {"keys": ["ctrl", "a"]}
    yield from _in_settings()
    yield from _in_apps(apk, picture)
    yield from _of_the_device()


def _in_settings() -> Iterator[Call]:
    yield "start_app", {"package": SETTINGS}
    yield "expect_screen", {"activity": "Settings"}
    yield "swipe", {"direction": "up"}
    yield "scroll_to", {"target": "Display", "direction": "up"}
    yield "drag", {"from_": FINGER, "to": "500,1000"}
    yield "drag_path", {"points": [FINGER, "500,1300", "400,1000"]}
    yield "read_text", {"target": "Display"}
    yield "expect_visible", {"target": "Display"}
    yield "expect_absent", {"target": "Nowhere"}
    yield "expect_text", {"target": "Display", "equals": "Display"}
    yield "expect_state", {"target": "Display", "property": "enabled", "value": True}
    yield "expect_app", {"package": SETTINGS}
    yield "tap", {"target": "Display"}
    yield "set_value", {"target": {"role": "slider"}, "value": 50}


def _in_apps(apk: Path, picture: Path) -> Iterator[Call]:
    yield "start_app", {"package": NOTES}
    yield "query_db", {"package": NOTES, "database": "notes.db", "query": "select count(*) from notes"}
    yield "query_db", {"package": NOTES, "database": "notes.db", "query": "delete from notes", "write": True}
    yield "wait_for", {"condition": {"app": NOTES}}
    yield "tap", {"target": "Sort by"}
    yield "tap", {"target": "Title"}
    yield "get_shared_prefs", {"package": NOTES, "file": "settings"}
    yield "restart_app", {"package": SETTINGS}
    yield "stop_app", {"package": SETTINGS}
    yield "reset_app", {"package": SETTINGS}
    yield "install_app", {"path": str(apk)}
    yield "uninstall_app", {"package": "com.example.packed"}
    yield "add_media", {"path": str(picture)}
    yield "open_url", {"url": "https://example.com/"}
    given = {"package": CONTACTS, "permission": "android.permission.READ_CONTACTS"}
    yield "grant_permission", given
    yield "revoke_permission", given
    yield "list_apps", {}


def _of_the_device() -> Iterator[Call]:
    yield "get_state", {}
    yield "screenshot", {}
    yield "screenshot", {"region": (0, 0, 100, 100), "marks": True}
    yield "get_logs", {}
    yield "wait", {"duration_ms": 1}
    yield "wait_for_stable", {}
    yield "set_network", {"wifi": False}
    yield "set_orientation", {"orientation": "landscape"}
    yield "set_appearance", {"appearance": "dark"}
    yield "set_location", {"latitude": 1.0, "longitude": 2.0}
    yield "shell", {"command": ["getprop", "ro.product.model"]}
    yield "run_script", {"script": "echo hi"}
    yield "request_human_auth", {"instruction": "Yes?"}
    yield "give_answer", {"text": "42"}
    yield "finish", {}


def calls_of_two_fingers() -> Iterator[Call]:
    """What plain adb can't do, and an emulator can."""
    yield "pinch", {"cx": 500, "cy": 1200, "start_radius": 100, "end_radius": 300}
    yield "rotate", {"cx": 500, "cy": 1200, "radius": 200, "start_angle_deg": 0.0, "end_angle_deg": 90.0}
    yield "set_clipboard", {"text": "hello"}


def desk_calls() -> Iterator[Call]:
    bounds = {"x": 0, "y": 0, "w": 400, "h": 300}
    content = {"renderer": "text", "data": "hello"}
    link = {
        "id": "s", "label": "Notes", "icon": "N", "type": "url", "target": "https://example.com/",
        "createdAt": 1,
    }  # fmt: skip
    yield "create_window", {"window_id": "w", "title": "Hello", "bounds": bounds, "content": content}
    yield "focus_window", {"window_id": "w"}
    yield "minimize_window", {"window_id": "w"}
    yield "restore_window", {"window_id": "w"}
    yield "maximize_window", {"window_id": "w"}
    yield "move_window", {"window_id": "w", "x": 10, "y": 20}
    yield "resize_window", {"window_id": "w", "w": 300, "h": 200}
    yield "set_window_title", {"window_id": "w", "title": "Other"}
    yield "set_window_content", {"window_id": "w", "content": content}
    yield "update_window_content", {"window_id": "w", "operation": {"op": "append", "data": "!"}}
    yield "lock_window", {"window_id": "w", "agent_id": "local"}
    yield "unlock_window", {"window_id": "w", "agent_id": "local"}
    yield "capture_window", {"window_id": "w"}
    yield "show_notification", {"id": "n", "title": "A", "body": "B"}
    yield "dismiss_notification", {"id": "n"}
    yield "show_toast", {"id": "t", "message": "A"}
    yield "dismiss_toast", {"id": "t"}
    yield "confirm_dialog", {"id": "d", "title": "A", "message": "B"}
    yield "set_app_badge", {"app_id": "notes", "count": 2}
    yield "refresh_apps", {}
    yield "create_shortcut", {"shortcut": link}
    yield "update_shortcut", {"shortcut_id": "s", "updates": {"label": "Other"}}
    yield "remove_shortcut", {"shortcut_id": "s"}
    yield "close_window", {"window_id": "w"}


async def page_with_a_person(desk: Desk) -> None:
    """A browser that shows the desk: takes pictures when asked, and its person says yes to all."""
    page = Browser(desk, desk.join("page", None))
    await page.next()
    await page.shows()
    while True:
        frame = await page.next()
        for asked in [one for one in frame.get("actions", ()) if one["type"] == "window.capture"]:
            told = {"requestId": asked["requestId"], "windowId": asked["windowId"], "kind": "capture"}
            await page.send("RENDERING_FEEDBACK", **told, success=True, imageData=PNG)
        for dialog in desk.state.dialogs:
            await desk.dialogs.answer(dialog, True, False)
