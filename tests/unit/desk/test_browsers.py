"""What the desk asks browsers: pictures of windows, and whether a frame has loaded."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any

import pytest

from handrail.errors import InvalidAction, Timeout, Unsupported
from tests.unit.desk.office import Office, pages, settled
from tests.unit.desk.scene import action, creating

PNG = b64encode(b"\x89PNG\r\n\x1a\n...").decode()
PAGE = {"renderer": "iframe", "data": "https://example.org/"}


async def test_the_browser_in_use_takes_the_picture(here: Office) -> None:
    await here.create("a")
    one, other = await pages(here, "one", "other")
    await one.send(
        "USER_INTERACTION", interactions=[{"type": "window.move", "windowId": "a", "x": 1, "y": 1}]
    )
    capture = asyncio.ensure_future(here.do("window.capture", "a"))
    frame = await one.until(lambda told: told["actions"][0]["type"] == "window.capture")
    request = frame["actions"][0]["requestId"]
    assert here.desk.pending.awaits_capture(one.client)
    assert not here.desk.pending.awaits_capture(other.client)
    answer = {"requestId": request, "windowId": "a", "kind": "capture", "success": True, "imageData": PNG}
    with pytest.raises(InvalidAction):
        await other.send("RENDERING_FEEDBACK", **answer)
    await one.send("RENDERING_FEEDBACK", **answer)
    assert await capture == {"imageData": PNG, "requestId": request}
    await other.catch_up()
    assert all("window.capture" not in str(told) for told in other.frames)
    assert not here.desk.pending.awaits_capture(one.client)


async def test_without_a_browser_a_capture_is_unsupported_at_once(here: Office) -> None:
    await here.create("a")
    with pytest.raises(Unsupported, match="no browser"):
        await here.do("window.capture", "a")
    before = here.desk.state
    with pytest.raises(Unsupported):
        await here.desk.apply_batch([creating("b"), action("window.capture", windowId="a")], "ada", False)
    assert here.desk.state is before


async def test_a_program_that_only_follows_the_frames_is_not_asked_for_pictures(here: Office) -> None:
    await here.create("a")
    follower = here.browser()
    await follower.next()
    await follower.send("USER_MESSAGE", messageId="m", content="x")
    with pytest.raises(Unsupported, match="no browser"):
        await here.do("window.capture", "a")
    assert "iframe" not in await here.create("page", content=PAGE)


async def test_a_browser_that_does_not_answer_is_an_error_after_five_seconds(here: Office) -> None:
    await here.create("a")
    [page] = await pages(here, "one")
    capture = asyncio.ensure_future(here.do("window.capture", "a"))
    await settled()
    await here.clock.advance(5_000)
    with pytest.raises(Timeout):
        await capture
    assert not here.desk.pending.awaits_capture(page.client)


async def test_a_browser_that_leaves_is_not_waited_for(here: Office) -> None:
    await here.create("a")
    [page] = await pages(here, "one")
    capture = asyncio.ensure_future(here.do("window.capture", "a"))
    await settled()
    page.client.close()
    with pytest.raises(Unsupported, match="left"):
        await capture


@pytest.mark.parametrize(
    "answer",
    [
        {"success": False, "error": "tainted canvas"},
        {"success": True},
        {"success": True, "imageData": "not base64!"},
        {"success": True, "imageData": b64encode(b"GIF89a").decode()},
    ],
)
async def test_an_answer_without_a_png_is_an_error(here: Office, answer: dict[str, Any]) -> None:
    await here.create("a")
    [page] = await pages(here, "one")
    capture = asyncio.ensure_future(here.do("window.capture", "a", requestId="r1"))
    await settled()
    await page.send("RENDERING_FEEDBACK", requestId="r1", windowId="a", kind="capture", **answer)
    with pytest.raises(Unsupported, match="could not be captured"):
        await capture


async def test_a_request_id_that_waits_cannot_be_used_again(here: Office) -> None:
    await here.create("a")
    await pages(here, "one")
    first = asyncio.ensure_future(here.do("window.capture", "a", requestId="r1"))
    await settled()
    with pytest.raises(InvalidAction) as caught:
        await here.do("window.capture", "a", requestId="r1")
    assert caught.value.details["path"] == "requestId"
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)


async def test_a_batch_asks_no_two_questions_under_one_id(here: Office) -> None:
    await here.create("a")
    await pages(here, "one")
    acts = [action("window.capture", windowId="a", requestId="r"), creating("b")] * 2
    with pytest.raises(InvalidAction) as caught:
        await here.desk.apply_batch(acts, "ada", False)
    assert caught.value.details["path"] == "requestId"
    assert list(here.desk.state.windows) == ["monitor-0/a"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"success": True}, {"loaded": True}),
        ({"success": False, "error": "refused"}, {"loaded": False, "error": "refused"}),
    ],
)
async def test_load_feedback_of_an_iframe_stands_in_the_details(
    here: Office, answer: dict[str, Any], told: dict[str, Any]
) -> None:
    one, other = await pages(here, "one", "other")
    await one.shows()
    creation = asyncio.ensure_future(here.create("page", content=PAGE, requestId="r1"))
    await settled()
    await other.send("RENDERING_FEEDBACK", requestId="r1", windowId="page", kind="iframe", success=False)
    await one.send("RENDERING_FEEDBACK", requestId="r1", windowId="page", kind="iframe", **answer)
    assert (await creation)["iframe"] == told


async def test_an_iframe_that_tells_nothing_is_waited_for_five_seconds(here: Office) -> None:
    await pages(here, "one")
    creation = asyncio.ensure_future(here.create("page", content=PAGE))
    await settled()
    assert here.desk.state.windows["monitor-0/page"].birth.request_id
    await here.clock.advance(5_000)
    assert (await creation)["iframe"]["loaded"] is False


@pytest.mark.parametrize("why", ["no browser", "other monitor", "minimised"])
async def test_nobody_waits_for_an_iframe_that_no_browser_shows(here: Office, why: str) -> None:
    if why != "no browser":
        await pages(here, "one")
    fields = {"other monitor": {"monitorId": "monitor-1"}, "minimised": {"minimized": True}}.get(why, {})
    assert "iframe" not in await here.create("page", content=PAGE, **fields)


async def test_the_maker_of_a_window_learns_what_a_person_did_about_its_page(here: Office) -> None:
    one, other = await pages(here, "one", "other")
    await one.shows()
    creation = asyncio.ensure_future(here.create("page", content=PAGE, requestId="r1"))
    await settled()
    page = {"requestId": "r1", "windowId": "page", "kind": "iframe"}
    waits = {"success": False, "error": "A person has to say yes first.", "waitsForPerson": True}
    await one.send("RENDERING_FEEDBACK", **page, **waits)
    assert (await creation)["iframe"]["loaded"] is False
    await other.send("RENDERING_FEEDBACK", **page, **waits)
    assert here.desk.inbox("ada").take() == [], "another browser asks the same"
    await one.send("RENDERING_FEEDBACK", **page, success=False, error="nothing listens there")
    await one.send("RENDERING_FEEDBACK", **page, success=True)
    await other.send("RENDERING_FEEDBACK", **page, success=True)
    outcomes = here.desk.inbox("ada").take()
    assert [(each["type"], each["request_id"], each["success"]) for each in outcomes] == [
        ("rendering_feedback", "r1", False),
        ("rendering_feedback", "r1", True),
    ]
    assert outcomes[0]["error"] == "nothing listens there"


async def test_a_window_that_is_closed_while_its_page_waits_for_a_yes_is_an_outcome(here: Office) -> None:
    (one,) = await pages(here, "one")
    await one.shows()
    creation = asyncio.ensure_future(here.create("page", content=PAGE, requestId="r1"))
    await settled()
    page = {"requestId": "r1", "windowId": "page", "kind": "iframe"}
    await one.send("RENDERING_FEEDBACK", **page, success=False, error="ask", waitsForPerson=True)
    await creation
    await one.send("USER_INTERACTION", interactions=[{"type": "window.close", "windowId": "page"}])
    feedback, closed = here.desk.inbox("ada").take()
    assert (feedback["request_id"], feedback["success"]) == ("r1", False)
    assert "closed" in feedback["error"]
    assert closed["type"] == "window_closed"


async def test_a_shortcut_to_an_action_reaches_the_agent_that_made_it(here: Office) -> None:
    (one,) = await pages(here, "one")
    shortcut = {"id": "s", "label": "Sort", "icon": "x", "type": "action", "target": "sort", "createdAt": 1}
    await here.do("desktop.createShortcut", shortcut=shortcut)
    await here.do("desktop.createShortcut", shortcut={**shortcut, "id": "mine"}, by="person", person=True)
    await one.send("SHORTCUT_ACTION", shortcutId="s")
    [message] = here.desk.inbox("ada").take()
    assert (message["type"], message["shortcut_id"], message["action"]) == ("shortcut_action", "s", "sort")
    await one.send("SHORTCUT_ACTION", shortcutId="mine")
    assert [each["shortcut_id"] for each in here.desk.inbox("console").take()] == ["mine"]
    with pytest.raises(InvalidAction):
        await one.send("SHORTCUT_ACTION", shortcutId="none")


async def test_html_that_a_window_does_not_show_is_named(here: Office) -> None:
    html = "<p style='color:red' onclick='x()'>a</p><form><button>b</button></form><script>x</script>"
    content = {"renderer": "html", "data": html}
    dropped = ["style=", "onclick=", "form", "button", "script"]
    assert (await here.create("a", content=content))["dropped_html"] == dropped
    assert (await here.do("window.setContent", "a", content=content))["dropped_html"] == dropped
    append = {"op": "append", "data": "<b>c</b><iframe src='x'></iframe>"}
    assert (await here.do("window.updateContent", "a", operation=append))["dropped_html"] == ["iframe"]
    readable = {"op": "replace", "data": "<h1>a</h1><table><tr><td>b</td></tr></table>"}
    assert "dropped_html" not in await here.do("window.updateContent", "a", operation=readable)
