"""What went wrong in the reference desktop, and cannot here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.desk.state import state_json
from handrail.errors import InvalidAction
from tests.unit.desk.office import office
from tests.unit.desk.scene import NOW, Scene


def test_a_snapshot_holds_all_that_a_joiner_must_see() -> None:
    """There: no z-order, focus, maximised, lock, badges, toasts, notifications, dialogs or monitors."""
    scene = Scene("a", "b")
    scene.do("window.maximize", "a")
    scene.do("window.lock", "a", agentId="ada")
    scene.do("app.badge", appId="x", count=1)
    scene.do("toast.show", id="t", message="m")
    scene.do("notification.show", id="n", title="t", body="b")
    scene.do("dialog.confirm", id="d", title="t", message="m")
    seen = state_json(scene.state)
    window, monitor = seen["windows"]["monitor-0/a"], seen["monitors"][0]
    assert (monitor["order"], monitor["focused"]) == (["monitor-0/b", "monitor-0/a"], "monitor-0/a")
    assert (window["maximized"], window["previousBounds"]["x"]) == (True, 80)
    assert (window["lockedBy"], window["lockExpiresMs"]) == ("ada", NOW + 120_000)
    assert seen["badges"] == {"x": 1}
    assert [seen[name][0]["id"] for name in ("toasts", "notifications", "dialogs")] == ["t", "n", "d"]


def test_a_window_style_cannot_cover_a_dialog() -> None:
    """There: spread last into the element's style, z-index and position included."""
    scene = Scene()
    scene.create("a", windowStyle={"zIndex": 2**31 - 1, "position": "fixed", "inset": 0, "width": "100vw"})
    assert dict(scene.window("a").birth.window_style) == {}


async def test_answers_are_bound_to_the_browser_that_was_asked(tmp_path: Path) -> None:
    """There: resolved by a global, guessable id with no check of session or connection."""
    async with office(tmp_path) as here:
        await here.create("a")
        asked, other = here.browser(name="asked"), here.browser(name="other")
        await other.shows()
        await asked.shows()
        capture = asyncio.ensure_future(here.do("window.capture", "a", requestId="guessed"))
        await asked.until(lambda frame: frame["type"] == "ACTIONS" and "window.capture" in str(frame))
        answer = {"requestId": "guessed", "windowId": "a", "kind": "capture", "success": False}
        with pytest.raises(InvalidAction, match="nobody asked this browser"):
            await other.send("RENDERING_FEEDBACK", **answer)
        assert not capture.done()
        capture.cancel()
        await asyncio.gather(capture, return_exceptions=True)


async def test_a_click_on_another_monitor_reaches_the_agent_of_that_window(tmp_path: Path) -> None:
    """There: without its monitor, and so handled by the agent of the first one."""
    async with office(tmp_path) as here:
        await here.create("form", by="ada")
        await here.create("form", by="bob", monitorId="monitor-1")
        page = here.browser()
        await page.send("COMPONENT_ACTION", windowId="form", monitorId="monitor-1", action="go")
        assert len(here.desk.inbox("bob").take()) == 1
        assert here.desk.inbox("ada").take() == []


def test_shortcuts_are_not_doubled_and_keep_their_id() -> None:
    """There: no check of the id at creation, and any field could be patched."""
    scene = Scene()
    shortcut = {"id": "s", "label": "L", "icon": "x", "type": "action", "target": "t", "createdAt": 1}
    scene.do("desktop.createShortcut", shortcut=shortcut)
    scene.refused("desktop.createShortcut", shortcut=shortcut)
    assert (
        scene.refused("desktop.updateShortcut", shortcutId="s", updates={"id": "t"}).details["path"]
        == "updates.id"
    )
