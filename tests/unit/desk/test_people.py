"""What people do at the desk, and which agent hears of it."""

from __future__ import annotations

import asyncio

import pytest

from handrail.errors import ActionRejected, InvalidAction, Unsupported
from tests.unit.desk.office import ASK, Office, asked, pages, settled
from tests.unit.desk.scene import creating


async def test_clicks_on_components_go_to_the_agent_that_made_the_window(here: Office) -> None:
    await here.create("form", by="bob", monitorId="monitor-1")
    [page] = await pages(here, "one")
    waiting = asyncio.ensure_future(here.desk.inbox("bob").wait(60_000))
    await settled()
    assert not waiting.done()
    await page.send(
        "COMPONENT_ACTION", windowId="form", monitorId="monitor-1", action="save", formId="f",
        formData={"name": "Ada"}, parallel=False,
    )  # fmt: skip
    await waiting
    [letter] = here.desk.inbox("bob").take()
    assert letter == {
        "type": "component_action", "window_id": "form", "monitor_id": "monitor-1", "action": "save",
        "form_id": "f", "form_data": {"name": "Ada"}, "parallel": False, "at_ms": here.clock.now_ms(),
    }  # fmt: skip
    assert here.desk.inbox("bob").take() == []


async def test_a_toasts_button_reaches_its_agent_and_the_toast_goes(here: Office) -> None:
    button = {"label": "Undo", "eventId": "undo"}
    await here.do("toast.show", id="t", message="Saved", action=button, by="bob")
    [page] = await pages(here, "one")
    with pytest.raises(InvalidAction) as caught:
        await page.send("TOAST_ACTION", toastId="t", eventId="other")
    assert caught.value.details["path"] == "eventId"
    await page.send("TOAST_ACTION", toastId="t", eventId="undo")
    assert here.desk.inbox("bob").take()[0]["event_id"] == "undo"
    assert here.desk.state.toasts == ()
    with pytest.raises(InvalidAction):
        await page.send("TOAST_ACTION", toastId="t", eventId="undo")


async def test_messages_go_to_the_windows_agent_or_to_the_console(here: Office) -> None:
    await here.create("a", by="bob")
    [page] = await pages(here, "one")
    await page.send("WINDOW_MESSAGE", messageId="m1", windowId="a", content="wider please")
    await page.send("USER_MESSAGE", messageId="m2", content="hello")
    assert here.desk.inbox("bob").take()[0]["content"] == "wider please"
    assert here.desk.inbox("console").take()[0]["content"] == "hello"
    with pytest.raises(InvalidAction):
        await page.send("WINDOW_MESSAGE", messageId="m3", windowId="nobody", content="x")


async def test_an_agent_hears_when_somebody_else_closes_its_window(here: Office) -> None:
    for window in ("a", "b"):
        await here.create(window)
    [page] = await pages(here, "one")
    await page.send("USER_INTERACTION", interactions=[{"type": "window.close", "windowId": "a"}])
    await here.do("window.close", "b")
    letters = here.desk.inbox("ada").take()
    assert [(letter["type"], letter["window_id"]) for letter in letters] == [("window_closed", "a")]


async def test_an_inbox_is_bounded_and_counts_what_it_lost(here: Office) -> None:
    [page] = await pages(here, "one")
    for number in range(510):
        await page.send("USER_MESSAGE", messageId=f"m{number}", content="x")
    inbox = here.desk.inbox("console")
    assert (len(inbox), inbox.dropped) == (500, 10)
    assert inbox.take()[0]["message_id"] == "m10"


@pytest.mark.parametrize("kind", ["dialog.confirm", "window.capture"])
async def test_a_person_asks_no_questions_through_interactions(here: Office, kind: str) -> None:
    await here.create("a")
    [page] = await pages(here, "one")
    fields = {"id": "d", **ASK} if kind == "dialog.confirm" else {"windowId": "a"}
    with pytest.raises(InvalidAction) as caught:
        await page.send("USER_INTERACTION", interactions=[{"type": kind, **fields}])
    assert caught.value.details["path"] == "interactions[0].type"


async def test_a_bad_interaction_is_named_by_its_place_in_the_frame(here: Office) -> None:
    await here.create("a")
    [page] = await pages(here, "one")
    gone = {"type": "window.close", "windowId": "gone"}
    with pytest.raises(InvalidAction) as caught:
        await page.send("USER_INTERACTION", interactions=[{**gone, "windowId": "a"}, gone])
    assert caught.value.details["path"] == "interactions[1].windowId"
    assert "monitor-0/a" in here.desk.state.windows


async def test_a_window_that_a_person_opens_is_the_persons(here: Office) -> None:
    [page] = await pages(here, "one")
    opening = creating("phone", content={"renderer": "iframe", "data": "app:phone"}).to_dict()
    await page.send("USER_INTERACTION", interactions=[opening])
    window = here.desk.state.windows["monitor-0/phone"]
    assert (window.birth.agent_id, window.birth.is_persons) == ("person", True)
    await page.send("COMPONENT_ACTION", windowId="phone", action="x")
    assert here.desk.inbox("console").take()[0]["action"] == "x"


async def test_the_last_browser_in_use_gives_the_viewport(here: Office) -> None:
    one, other = await pages(here, "one", "other")
    await one.shows(w=1000, h=600)
    await other.shows(w=400, h=800)
    viewport = here.desk.state.monitors["monitor-0"].viewport
    assert (viewport.w, viewport.h) == (400, 800)
    assert (one.client.focused, other.client.monitor) == (True, "monitor-0")


async def test_the_end_of_an_agent_frees_its_locks(here: Office) -> None:
    await here.create("a")
    await here.do("window.lock", "a", agentId="ada")
    with pytest.raises(ActionRejected):
        await here.do("window.close", "a", by="bob")
    here.desk.end_agent("ada")
    await here.do("window.close", "a", by="bob")


async def test_a_closed_desk_says_so(here: Office) -> None:
    asking = await asked(here)
    await here.desk.close()
    assert (await asking)["confirmed"] is False
    with pytest.raises(Unsupported, match="closed"):
        await here.create("a")
