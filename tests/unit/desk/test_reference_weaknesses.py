"""What went wrong in the reference desktop, and cannot here."""

from __future__ import annotations

import asyncio

import pytest

from handrail.errors import InvalidAction
from tests.unit.desk.office import Office
from tests.unit.desk.scene import Scene


async def test_answers_are_bound_to_the_browser_that_was_asked(here: Office) -> None:
    """There: resolved by a global, guessable id with no check of session or connection."""
    await here.create("a")
    asked, other = here.browser(name="asked"), here.browser(name="other")
    await other.shows()
    await asked.shows()
    capture = asyncio.ensure_future(here.do("window.capture", "a", requestId="guessed"))
    await asked.until(lambda frame: frame["type"] == "ACTIONS" and "window.capture" in str(frame))
    answer = {"requestId": "guessed", "windowId": "a", "kind": "capture", "success": False}
    with pytest.raises(InvalidAction, match="this browser was not asked"):
        await other.send("RENDERING_FEEDBACK", **answer)
    assert not capture.done()
    capture.cancel()
    await asyncio.gather(capture, return_exceptions=True)


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
