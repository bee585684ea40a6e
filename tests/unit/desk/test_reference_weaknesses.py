"""What went wrong in the reference desktop, and cannot here: one test for each weakness of the core."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.desk.state import state_json
from handrail.errors import ActionRejected, InvalidAction
from tests.unit.desk.office import office
from tests.unit.desk.scene import NOW, TEXT, Scene


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


def test_a_window_closed_while_a_browser_was_away_is_gone_when_it_comes_back(tmp_path: Path) -> None:
    """There: never removed on the client."""

    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            page = here.browser()
            await page.next()
            page.client.close()
            await here.do("window.close", "a")
            again = here.browser(since=page.seq)
            again.state = page.state
            await again.catch_up()
            assert again.state["windows"] == {}

    asyncio.run(story())


def test_what_people_did_survives_a_restart(tmp_path: Path) -> None:
    """There: a person's moves and closes were ignored by the restore, and closed apps came back."""

    async def story() -> None:
        async with office(tmp_path) as here:
            for window in ("a", "b"):
                await here.create(window)
            page = here.browser()
            moves = [
                {"type": "window.move", "windowId": "a", "x": 7, "y": 8},
                {"type": "window.close", "windowId": "b"},
            ]
            await page.send("USER_INTERACTION", interactions=moves)
        async with office(tmp_path) as here:
            assert list(here.desk.state.windows) == ["monitor-0/a"]
            assert here.desk.state.windows["monitor-0/a"].bounds.x == 7

    asyncio.run(story())


def test_a_window_style_cannot_cover_a_dialog() -> None:
    """There: spread last into the element's style, z-index and position included."""
    scene = Scene()
    scene.create("a", windowStyle={"zIndex": 2**31 - 1, "position": "fixed", "inset": 0, "width": "100vw"})
    assert dict(scene.window("a").birth.window_style) == {}


def test_answers_are_bound_to_the_browser_that_was_asked(tmp_path: Path) -> None:
    """There: resolved by a global, guessable id with no check of session or connection."""

    async def story() -> None:
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

    asyncio.run(story())


def test_an_update_needs_no_browser_to_be_answered(tmp_path: Path) -> None:
    """There: every update waited 500 ms for a browser, and silence counted as success."""

    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            await here.do("window.lock", "a", agentId="ada")
            with pytest.raises(ActionRejected):
                await here.do("window.setContent", "a", content=TEXT, by="bob")
            assert here.clock.monotonic_ms() == 0

    asyncio.run(story())


def test_an_invalid_operation_is_told_to_the_agent() -> None:
    """There: append on a table was reported as success."""
    scene = Scene()
    scene.create("t", content={"renderer": "table", "data": {"headers": [], "rows": []}})
    error = scene.refused("window.updateContent", "t", operation={"op": "append", "data": "x"})
    assert error.details["path"] == "operation.op"


def test_a_toasts_button_is_heard_by_its_agent(tmp_path: Path) -> None:
    """There: it always meant that a cache entry had failed."""

    async def story() -> None:
        async with office(tmp_path) as here:
            await here.do("toast.show", id="t", message="m", action={"label": "Undo", "eventId": "e"})
            await here.browser().send("TOAST_ACTION", toastId="t", eventId="e")
            assert [letter["event_id"] for letter in here.desk.inbox("ada").take()] == ["e"]

    asyncio.run(story())


def test_a_notifications_duration_is_kept_and_none_means_for_good() -> None:
    """There: dropped, and eight seconds for all."""
    scene = Scene()
    scene.do("notification.show", id="n", title="t", body="b", duration=60_000)
    scene.do("notification.show", id="m", title="t", body="b")
    assert [shown.expires_ms for shown in scene.state.notifications] == [NOW + 60_000, None]


def test_a_click_on_another_monitor_reaches_the_agent_of_that_window(tmp_path: Path) -> None:
    """There: without its monitor, and so handled by the agent of the first one."""

    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("form", by="ada")
            await here.create("form", by="bob", monitorId="monitor-1")
            page = here.browser()
            await page.send("COMPONENT_ACTION", windowId="form", monitorId="monitor-1", action="go")
            assert len(here.desk.inbox("bob").take()) == 1
            assert here.desk.inbox("ada").take() == []

    asyncio.run(story())


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


def test_badges_are_in_the_snapshot_and_survive(tmp_path: Path) -> None:
    """There: in memory of one page only."""

    async def story() -> None:
        async with office(tmp_path) as here:
            await here.do("app.badge", appId="x", count=2)
        async with office(tmp_path) as here:
            assert (await here.browser().next())["state"]["badges"] == {"x": 2}

    asyncio.run(story())


def test_a_closed_windows_focus_goes_to_no_minimised_window() -> None:
    """There: to the top of one order for all monitors, even if minimised or elsewhere."""
    scene = Scene("a", "b")
    scene.do("window.minimize", "a")
    scene.create("c", monitorId="monitor-1")
    scene.do("window.close", "b")
    assert scene.focused is None
