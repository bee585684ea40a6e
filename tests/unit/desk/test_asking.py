"""What the desk asks people and browsers: dialogs, captures, load feedback; and what people tell agents."""

from __future__ import annotations

import asyncio
import threading
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from handrail.desk.dialogs import permission_key
from handrail.engine.permissions.keys import agent_key
from handrail.errors import ActionRejected, HandrailError, InvalidAction, Timeout, Unsupported
from tests.unit.desk.office import Browser, Office, office, settled
from tests.unit.desk.scene import action, creating

PNG = b64encode(b"\x89PNG\r\n\x1a\n...").decode()
ASK = {"title": "Delete", "message": "Sure?"}
OPTIONS = {"showRememberChoice": True, "toolName": "delete", "context": "notes"}
PAGE = {"renderer": "iframe", "data": "https://example.org/"}


async def asked(here: Office, **fields: Any) -> asyncio.Task[dict[str, Any]]:
    task = asyncio.ensure_future(here.do("dialog.confirm", **{"id": "d1", **ASK, **fields}))
    while not here.desk.state.dialogs:
        await asyncio.sleep(0)
    return task


async def pages(here: Office, *names: str) -> list[Browser]:
    found = [here.browser(name=name) for name in names]
    for page in found:
        await page.next()
        await page.shows()
    return found


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_dialog_waits_for_its_answer_and_is_withdrawn_everywhere(tmp_path: Path, confirmed: bool) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            one, other = await pages(here, "one", "other")
            asking = await asked(here)
            await other.catch_up()
            assert [dialog["id"] for dialog in other.state["dialogs"]] == ["d1"]
            await one.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=confirmed)
            assert await asking == {"confirmed": confirmed, "remembered": False}
            await other.catch_up()
            assert other.state["dialogs"] == []
            with pytest.raises(InvalidAction) as late:
                await other.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=True)
            assert late.value.details["path"] == "dialogId"

    asyncio.run(story())


def test_dialogs_queue_and_each_has_its_own_answer(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            [page] = await pages(here, "one")
            first, second = await asked(here), await asked(here, id="d2")
            await settled()
            assert [dialog.id for dialog in here.desk.state.dialogs] == ["d1", "d2"]
            await page.send("DIALOG_FEEDBACK", dialogId="d2", confirmed=True)
            await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=False)
            assert (await first)["confirmed"] is False
            assert (await second)["confirmed"] is True

    asyncio.run(story())


def test_a_dialog_expires_to_no_after_five_minutes(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            asking = await asked(here)
            await settled()
            await here.clock.advance(299_999)
            assert not asking.done()
            await here.clock.advance(1)
            assert await asking == {"confirmed": False, "remembered": False, "expired": True}
            assert here.desk.state.dialogs == ()

    asyncio.run(story())


def test_a_dialog_whose_asker_has_gone_is_withdrawn(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            asking = await asked(here)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert here.desk.state.dialogs == ()

    asyncio.run(story())


def test_a_remembered_answer_is_kept_under_the_agents_own_key(tmp_path: Path) -> None:
    async def story() -> None:
        kept: dict[str, bool] = {}
        async with office(tmp_path, remember=kept.__setitem__, recall=kept.get) as here:
            [page] = await pages(here, "one")
            asking = await asked(here, permissionOptions=OPTIONS)
            await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=True, remember=True)
            assert await asking == {"confirmed": True, "remembered": True}
            assert kept == {agent_key("ada", "delete", "notes"): True}
            again = await here.do("dialog.confirm", id="d2", **ASK, permissionOptions=OPTIONS)
            assert again == {"confirmed": True, "remembered": True}
            assert here.desk.state.dialogs == ()

    asyncio.run(story())


def test_an_answer_that_is_being_remembered_answers_no_later_dialog_of_that_name(tmp_path: Path) -> None:
    async def story() -> None:
        held = threading.Event()

        def slowly(_key: str, _allow: bool) -> None:
            held.wait(20)

        async with office(tmp_path, remember=slowly) as here:
            [page] = await pages(here, "one")
            first = await asked(here, permissionOptions=OPTIONS)
            feedback = {"dialogId": "d1", "confirmed": True, "remember": True}
            answering = asyncio.ensure_future(page.send("DIALOG_FEEDBACK", **feedback))
            await settled()
            second = await asked(here)
            held.set()
            await answering
            assert (await first)["confirmed"]
            await settled()
            assert not second.done()
            assert [dialog.id for dialog in here.desk.state.dialogs] == ["d1"]
            await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=False)
            assert not (await second)["confirmed"]

    asyncio.run(story())


@pytest.mark.parametrize("options", [None, {**OPTIONS, "showRememberChoice": False}])
def test_nothing_is_remembered_that_the_dialog_did_not_offer(tmp_path: Path, options: Any) -> None:
    async def story() -> None:
        kept: dict[str, bool] = {}
        async with office(tmp_path, remember=kept.__setitem__, recall=kept.get) as here:
            [page] = await pages(here, "one")
            fields = {"permissionOptions": options} if options else {}
            asking = await asked(here, **fields)
            await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=True, remember=True)
            assert await asking == {"confirmed": True, "remembered": False}
            assert kept == {}

    asyncio.run(story())


def test_an_answer_counts_also_where_it_cannot_be_remembered(tmp_path: Path) -> None:
    def refuse(_key: str, _allow: bool) -> None:
        raise HandrailError("the file is damaged")

    async def story() -> None:
        async with office(tmp_path, remember=refuse) as here:
            [page] = await pages(here, "one")
            asking = await asked(here, permissionOptions=OPTIONS)
            await page.send("DIALOG_FEEDBACK", dialogId="d1", confirmed=True, remember=True)
            assert (await asking)["not_remembered"] == "the file is damaged"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("agent", "tool", "context"),
    [("ada", "delete", None), ("a:b", "c%d:e", "f:g"), ("agent:x", "shell", "")],
)
def test_keys_are_those_of_the_permissions_file(agent: str, tool: str, context: str | None) -> None:
    options = {"toolName": tool, "context": context}
    if context != "":
        assert permission_key(agent, options) == agent_key(agent, tool, context)
    assert permission_key(agent, options).startswith("agent:")


def test_the_browser_in_use_takes_the_picture(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            one, other = await pages(here, "one", "other")
            await one.send(
                "USER_INTERACTION", interactions=[{"type": "window.move", "windowId": "a", "x": 1, "y": 1}]
            )
            capture = asyncio.ensure_future(here.do("window.capture", "a"))
            frame = await one.until(lambda told: told["actions"][0]["type"] == "window.capture")
            request = frame["actions"][0]["requestId"]
            assert here.desk.awaits_capture(one.client)
            assert not here.desk.awaits_capture(other.client)
            answer = {
                "requestId": request,
                "windowId": "a",
                "kind": "capture",
                "success": True,
                "imageData": PNG,
            }
            with pytest.raises(InvalidAction):
                await other.send("RENDERING_FEEDBACK", **answer)
            await one.send("RENDERING_FEEDBACK", **answer)
            assert await capture == {"imageData": PNG, "requestId": request}
            await other.catch_up()
            assert all("window.capture" not in str(told) for told in other.frames)
            assert not here.desk.awaits_capture(one.client)

    asyncio.run(story())


def test_without_a_browser_a_capture_is_unsupported_at_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            with pytest.raises(Unsupported, match="no browser"):
                await here.do("window.capture", "a")
            before = here.desk.state
            with pytest.raises(Unsupported):
                await here.desk.apply_batch(
                    [creating("b"), action("window.capture", windowId="a")], "ada", False
                )
            assert here.desk.state is before

    asyncio.run(story())


def test_a_program_that_only_follows_the_frames_is_not_asked_for_pictures(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            follower = here.browser()
            await follower.next()
            await follower.send("USER_MESSAGE", messageId="m", content="x")
            with pytest.raises(Unsupported, match="no browser"):
                await here.do("window.capture", "a")
            assert "iframe" not in await here.create("page", content=PAGE)

    asyncio.run(story())


def test_a_browser_that_does_not_answer_is_an_error_after_five_seconds(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            [page] = await pages(here, "one")
            capture = asyncio.ensure_future(here.do("window.capture", "a"))
            await settled()
            await here.clock.advance(5_000)
            with pytest.raises(Timeout):
                await capture
            assert not here.desk.awaits_capture(page.client)

    asyncio.run(story())


def test_a_browser_that_leaves_is_not_waited_for(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            [page] = await pages(here, "one")
            capture = asyncio.ensure_future(here.do("window.capture", "a"))
            await settled()
            page.client.close()
            with pytest.raises(Unsupported, match="left"):
                await capture

    asyncio.run(story())


@pytest.mark.parametrize(
    "answer",
    [
        {"success": False, "error": "tainted canvas"},
        {"success": True},
        {"success": True, "imageData": "not base64!"},
        {"success": True, "imageData": b64encode(b"GIF89a").decode()},
    ],
)
def test_an_answer_without_a_png_is_an_error(tmp_path: Path, answer: dict[str, Any]) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            [page] = await pages(here, "one")
            capture = asyncio.ensure_future(here.do("window.capture", "a", requestId="r1"))
            await settled()
            await page.send("RENDERING_FEEDBACK", requestId="r1", windowId="a", kind="capture", **answer)
            with pytest.raises(Unsupported, match="could not be captured"):
                await capture

    asyncio.run(story())


def test_a_request_id_that_waits_cannot_be_used_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            await pages(here, "one")
            first = asyncio.ensure_future(here.do("window.capture", "a", requestId="r1"))
            await settled()
            with pytest.raises(InvalidAction) as caught:
                await here.do("window.capture", "a", requestId="r1")
            assert caught.value.details["path"] == "requestId"
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)

    asyncio.run(story())


def test_a_batch_asks_no_two_questions_under_one_id(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            await pages(here, "one")
            acts = [action("window.capture", windowId="a", requestId="r"), creating("b")] * 2
            with pytest.raises(InvalidAction) as caught:
                await here.desk.apply_batch(acts, "ada", False)
            assert caught.value.details["path"] == "requestId"
            assert list(here.desk.state.windows) == ["monitor-0/a"]

    asyncio.run(story())


def test_a_failed_capture_in_a_batch_stands_in_its_details(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            await pages(here, "one")
            acts = [action("window.capture", windowId="a"), creating("b")]
            batch = asyncio.ensure_future(here.desk.apply_batch(acts, "ada", False))
            await settled()
            await here.clock.advance(5_000)
            first, second = await batch
            assert first["error"]["code"] == "TIMEOUT"
            assert second == {"key": "monitor-0/b"}

    asyncio.run(story())


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"success": True}, {"loaded": True}),
        ({"success": False, "error": "refused"}, {"loaded": False, "error": "refused"}),
    ],
)
def test_load_feedback_of_an_iframe_stands_in_the_details(
    tmp_path: Path, answer: dict[str, Any], told: dict[str, Any]
) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            one, other = await pages(here, "one", "other")
            await one.shows()
            creation = asyncio.ensure_future(here.create("page", content=PAGE, requestId="r1"))
            await settled()
            await other.send(
                "RENDERING_FEEDBACK", requestId="r1", windowId="page", kind="iframe", success=False
            )
            await one.send("RENDERING_FEEDBACK", requestId="r1", windowId="page", kind="iframe", **answer)
            assert (await creation)["iframe"] == told

    asyncio.run(story())


def test_an_iframe_that_tells_nothing_is_waited_for_five_seconds(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await pages(here, "one")
            creation = asyncio.ensure_future(here.create("page", content=PAGE))
            await settled()
            assert here.desk.state.windows["monitor-0/page"].birth.request_id
            await here.clock.advance(5_000)
            assert (await creation)["iframe"]["loaded"] is False

    asyncio.run(story())


@pytest.mark.parametrize("why", ["no browser", "other monitor", "minimised"])
def test_nobody_waits_for_an_iframe_that_no_browser_shows(tmp_path: Path, why: str) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            if why != "no browser":
                await pages(here, "one")
            fields = {"other monitor": {"monitorId": "monitor-1"}, "minimised": {"minimized": True}}.get(
                why, {}
            )
            assert "iframe" not in await here.create("page", content=PAGE, **fields)

    asyncio.run(story())


def test_clicks_on_components_go_to_the_agent_that_made_the_window(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
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

    asyncio.run(story())


def test_a_toasts_button_reaches_its_agent_and_the_toast_goes(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
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

    asyncio.run(story())


def test_messages_go_to_the_windows_agent_or_to_the_console(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a", by="bob")
            [page] = await pages(here, "one")
            await page.send("WINDOW_MESSAGE", messageId="m1", windowId="a", content="wider please")
            await page.send("USER_MESSAGE", messageId="m2", content="hello")
            assert here.desk.inbox("bob").take()[0]["content"] == "wider please"
            assert here.desk.inbox("console").take()[0]["content"] == "hello"
            with pytest.raises(InvalidAction):
                await page.send("WINDOW_MESSAGE", messageId="m3", windowId="nobody", content="x")

    asyncio.run(story())


def test_an_agent_hears_when_somebody_else_closes_its_window(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            for window in ("a", "b"):
                await here.create(window)
            [page] = await pages(here, "one")
            await page.send("USER_INTERACTION", interactions=[{"type": "window.close", "windowId": "a"}])
            await here.do("window.close", "b")
            letters = here.desk.inbox("ada").take()
            assert [(letter["type"], letter["window_id"]) for letter in letters] == [("window_closed", "a")]

    asyncio.run(story())


def test_an_inbox_is_bounded_and_counts_what_it_lost(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            [page] = await pages(here, "one")
            for number in range(510):
                await page.send("USER_MESSAGE", messageId=f"m{number}", content="x")
            inbox = here.desk.inbox("console")
            assert (len(inbox), inbox.dropped) == (500, 10)
            assert inbox.take()[0]["message_id"] == "m10"

    asyncio.run(story())


def test_waiting_for_an_inbox_ends_with_its_time(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            waiting = asyncio.ensure_future(here.desk.inbox("ada").wait(1_000))
            await settled()
            await here.clock.advance(1_000)
            await waiting
            assert here.desk.inbox("ada").take() == []

    asyncio.run(story())


def test_what_one_person_drags_the_other_sees(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            one, other = await pages(here, "one", "other")
            await one.send(
                "USER_INTERACTION", interactions=[{"type": "window.move", "windowId": "a", "x": 9, "y": 8}]
            )
            await other.catch_up()
            assert other.state["windows"]["monitor-0/a"]["bounds"] == {"x": 9, "y": 8, "w": 480, "h": 320}

    asyncio.run(story())


@pytest.mark.parametrize("kind", ["dialog.confirm", "window.capture"])
def test_a_person_asks_no_questions_through_interactions(tmp_path: Path, kind: str) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            [page] = await pages(here, "one")
            fields = {"id": "d", **ASK} if kind == "dialog.confirm" else {"windowId": "a"}
            with pytest.raises(InvalidAction) as caught:
                await page.send("USER_INTERACTION", interactions=[{"type": kind, **fields}])
            assert caught.value.details["path"] == "interactions[0].type"

    asyncio.run(story())


def test_a_bad_interaction_is_named_by_its_place_in_the_frame(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            [page] = await pages(here, "one")
            gone = {"type": "window.close", "windowId": "gone"}
            with pytest.raises(InvalidAction) as caught:
                await page.send("USER_INTERACTION", interactions=[{**gone, "windowId": "a"}, gone])
            assert caught.value.details["path"] == "interactions[1].windowId"
            assert "monitor-0/a" in here.desk.state.windows

    asyncio.run(story())


def test_a_window_that_a_person_opens_is_the_persons(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            [page] = await pages(here, "one")
            opening = creating("phone", content={"renderer": "iframe", "data": "app:phone"}).to_dict()
            await page.send("USER_INTERACTION", interactions=[opening])
            window = here.desk.state.windows["monitor-0/phone"]
            assert (window.birth.agent_id, window.birth.is_persons) == ("person", True)
            await page.send("COMPONENT_ACTION", windowId="phone", action="x")
            assert here.desk.inbox("console").take()[0]["action"] == "x"

    asyncio.run(story())


def test_the_last_browser_in_use_gives_the_viewport(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            one, other = await pages(here, "one", "other")
            await one.shows(w=1000, h=600)
            await other.shows(w=400, h=800)
            viewport = here.desk.state.monitors["monitor-0"].viewport
            assert (viewport.w, viewport.h) == (400, 800)
            assert (one.client.focused, other.client.monitor) == (True, "monitor-0")

    asyncio.run(story())


def test_toasts_notifications_and_locks_end_by_themselves(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            await here.do("window.lock", "a", agentId="ada")
            await here.do("notification.show", id="n", title="t", body="b", duration=60_000)
            await here.do("toast.show", id="t", message="m")
            [page] = await pages(here, "one")
            await here.clock.advance(5_000)
            assert here.desk.state.toasts == ()
            await here.clock.advance(55_000)
            assert here.desk.state.notifications == ()
            assert here.desk.state.windows["monitor-0/a"].lock
            await here.clock.advance(60_000)
            assert here.desk.state.windows["monitor-0/a"].lock is None
            await page.catch_up()
            assert page.state == here.desk.snapshot()

    asyncio.run(story())


def test_an_earlier_end_is_not_missed_behind_a_later_one(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.do("toast.show", id="late", message="m", duration=9_000)
            await settled()
            await here.do("toast.show", id="soon", message="m", duration=1_000)
            await settled()
            await here.clock.advance(1_000)
            assert [toast.id for toast in here.desk.state.toasts] == ["late"]

    asyncio.run(story())


def test_the_end_of_an_agent_frees_its_locks(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            await here.create("a")
            await here.do("window.lock", "a", agentId="ada")
            with pytest.raises(ActionRejected):
                await here.do("window.close", "a", by="bob")
            here.desk.end_agent("ada")
            await here.do("window.close", "a", by="bob")

    asyncio.run(story())


def test_open_approvals_are_in_the_state_and_on_their_icon(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            [page] = await pages(here, "one")
            here.desk.set_approvals([{"approvalId": "1", "title": "Pay?"}])
            await page.catch_up()
            assert page.state["approvals"] == [{"approvalId": "1", "title": "Pay?"}]
            assert page.state["badges"] == {"approvals": 1}
            here.desk.set_approvals([])
            await page.catch_up()
            assert (page.state["approvals"], page.state["badges"]) == ([], {})

    asyncio.run(story())


def test_a_closed_desk_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as here:
            asking = await asked(here)
            await here.desk.close()
            assert (await asking)["confirmed"] is False
            with pytest.raises(Unsupported, match="closed"):
                await here.create("a")

    asyncio.run(story())
