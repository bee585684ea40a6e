"""Notifications, toasts, an agent's questions, and the engine's own."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.web.desk_person import Person

pytestmark = pytest.mark.slow

ASK = {
    "type": "dialog.confirm",
    "id": "d1",
    "title": "Delete the note?",
    "message": "It can't be brought back.",
}
TEXT = {"renderer": "text", "data": "x"}


def picture() -> str:
    out = io.BytesIO()
    Image.new("RGB", (40, 60), "#aa0000").save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def asked(number: int = 1, **more: Any) -> dict[str, Any]:
    """An open question of the engine's, as the door lists it."""
    return {
        "approvalId": f"a{number}", "dialogId": f"approval:a{number}", "title": f"Allow tap {number}?",
        "message": "Tap “Pay 12.28”", "reason": "I place the order", "expiresAt": "2126-01-01T00:00:00Z",
        "imageData": picture(), "canRemember": "never", "wantsData": False,
    } | more  # fmt: skip


class Engine:
    """Asks, and hears what the page answers: the door's part is played here, the wire is real."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.heard: list[Any] = []

    def asks(self, *questions: dict[str, Any]) -> None:
        async def ask() -> None:
            self.person.server.context.approvals.answer_dialog = self._hear  # type: ignore[method-assign]
            self.person.server.desk.set_approvals(list(questions))

        self.person.server.run(ask)

    async def _hear(self, feedback: Any, visitor: Any) -> None:
        self.heard.append(feedback)
        self.person.server.desk.set_approvals([])


@pytest.fixture
def engine(person: Person) -> Iterator[Engine]:
    one = Engine(person)
    yield one
    one.asks()


def test_a_new_notification_is_a_card_and_stays_in_the_centre_until_dismissed(person: Person) -> None:
    action = {
        "type": "notification.show",
        "id": "n",
        "title": "Done",
        "body": "All contacts are there.",
        "icon": "check",
    }
    person.server.act(action)
    expect(person.page.locator("#cards .note")).to_contain_text("All contacts are there.")
    person.button("Notifications, 1").click()
    note = person.page.locator(".centre .note")
    expect(note).to_contain_text("Done")
    expect(note).to_contain_text("agent-1")
    person.button("Dismiss Done", note).click()
    expect(person.page.locator(".centre")).to_contain_text("No notifications")
    assert person.server.state()["notifications"] == []
    person.page.keyboard.press("Escape")
    expect(person.page.locator(".centre")).to_be_hidden()


def test_a_notification_with_a_known_id_is_replaced(person: Person) -> None:
    for body in ("first", "second"):
        person.server.act({"type": "notification.show", "id": "n", "title": "T", "body": body})
    expect(person.page.locator("#cards .note")).to_have_count(1)
    expect(person.page.locator("#cards .note")).to_contain_text("second")


def test_all_notifications_are_cleared_at_once(person: Person) -> None:
    for number in range(3):
        person.server.act({"type": "notification.show", "id": f"n{number}", "title": "T", "body": "b"})
    person.button("Notifications, 3").click()
    person.button("Clear all").click()
    person.until(lambda: person.server.state()["notifications"] == [])
    person.page.keyboard.press("Escape")


def test_the_button_of_a_toast_tells_its_agent_and_the_toast_goes(person: Person) -> None:
    button = {"label": "Undo", "eventId": "undo-7"}
    person.server.act(
        {"type": "toast.show", "id": "t", "message": "Saved", "variant": "success", "action": button}
    )
    person.button("Undo").click()
    assert person.letter()["event_id"] == "undo-7"
    expect(person.page.locator(".toast")).to_have_count(0)


@pytest.mark.parametrize("variant", ["info", "success", "warning", "error"])
def test_a_toast_has_its_variant_and_can_be_dismissed(person: Person, variant: str) -> None:
    person.server.act(
        {"type": "toast.show", "id": "t", "message": "Words", "variant": variant, "duration": 60_000}
    )
    toast = person.page.locator(f".toast-{variant}")
    expect(toast).to_contain_text("Words")
    person.button("Dismiss", toast).click()
    person.until(lambda: person.server.state()["toasts"] == [])


@pytest.mark.parametrize(("name", "confirmed"), [("Yes, delete", True), ("Keep it", False)])
def test_a_question_is_answered_by_its_buttons(person: Person, name: str, confirmed: bool) -> None:
    future = person.server.begin_act(ASK | {"confirmText": "Yes, delete", "cancelText": "Keep it"})
    expect(person.page.get_by_role("dialog", name="Delete the note?")).to_contain_text(
        "can't be brought back"
    )
    person.button(name).click()
    expect(person.page.locator("dialog")).to_have_count(0)
    assert future.result(5)["confirmed"] is confirmed


def test_escape_is_a_no_and_nothing_else_gets_the_keys_meanwhile(person: Person) -> None:
    person.show("a", TEXT)
    future = person.server.begin_act(ASK)
    expect(person.page.locator("dialog")).to_be_visible()
    person.page.keyboard.press("Alt+Shift+KeyN")
    person.page.keyboard.press("Escape")
    assert person.until(future.done)
    assert future.result()["confirmed"] is False


def test_a_choice_is_remembered_only_when_ticked(person: Person) -> None:
    options = {"permissionOptions": {"showRememberChoice": True, "toolName": "delete_note"}}
    future = person.server.begin_act(ASK | options)
    person.page.get_by_label("Remember my choice").check()
    person.button("Yes").click()
    person.until(future.done)
    assert future.result() == {"confirmed": True, "remembered": True}
    assert person.server.act(ASK | options) == {"confirmed": True, "remembered": True}, "not asked again"


def test_questions_queue(person: Person) -> None:
    first = person.server.begin_act(ASK)
    expect(person.page.locator("dialog")).to_be_visible()
    second = person.server.begin_act(ASK | {"id": "d2", "title": "And the other?"})
    expect(person.page.locator("dialog")).to_contain_text("1 more waiting")
    person.button("Yes").click()
    expect(person.page.get_by_role("dialog", name="And the other?")).to_be_visible()
    person.button("No").click()
    assert [person.until(one.done) and one.result()["confirmed"] for one in (first, second)] == [True, False]


def test_an_approval_shows_what_why_and_the_marked_screen(person: Person, engine: Engine) -> None:
    engine.asks(asked(why="the label pays", device="phone-1", askedBy="agent-1"))
    dialog = person.page.locator("dialog.approval")
    for words in ("Allow tap 1?", "Pay 12.28", "I place the order", "the label pays", "phone-1", " left"):
        expect(dialog).to_contain_text(words)
    assert dialog.locator("img").evaluate(
        "e => e.decode().then(() => [e.naturalWidth, e.naturalHeight])"
    ) == [40, 60]
    expect(dialog.get_by_role("checkbox")).to_have_count(0)
    expect(dialog.get_by_role("textbox")).to_have_count(0)


@pytest.mark.parametrize(("name", "confirmed"), [("Approve", True), ("Reject", False)])
def test_an_approval_is_answered(person: Person, engine: Engine, name: str, confirmed: bool) -> None:
    engine.asks(asked(canRemember="always"))
    person.page.get_by_label("Always answer this way").check()
    person.button(name).click()
    expect(person.page.locator("dialog")).to_have_count(0)
    [heard] = engine.heard
    assert (heard.dialog_id, heard.confirmed, heard.remember) == ("approval:a1", confirmed, True)


def test_the_like_of_an_approval_is_allowed_for_a_time(person: Person, engine: Engine) -> None:
    engine.asks(asked(canRemember="time", canAllow="tap 'Send' in com.example.mail"))
    dialog = person.page.locator("dialog.approval")
    expect(dialog.get_by_role("checkbox")).to_have_count(0)
    expect(dialog).to_contain_text("How often may it tap 'Send' in com.example.mail?")
    dialog.get_by_label("Allow for a time").select_option("60/10")
    person.button("Approve").click()
    expect(person.page.locator("dialog")).to_have_count(0)
    [heard] = engine.heard
    assert (heard.confirmed, heard.minutes, heard.times, heard.remember) == (True, 60, 10, None)


@pytest.mark.parametrize(
    ("is_secret", "text", "turns", "readable"),
    [
        (True, "493 021", 0, False), (True, "493 021", 1, True), (False, "the blue one", 0, None),
        (False, "the blue one", 1, False), (False, "493 021", 0, False), (False, "hunter2", 0, False),
        (False, "493 021", 1, True),
    ],
)  # fmt: skip
def test_whoever_answers_decides_whether_the_agent_may_read_it(
    person: Person, engine: Engine, is_secret: bool, text: str, turns: int, readable: bool | None
) -> None:
    """The switch starts as the question looks, and turns itself off for an answer that looks like a code."""
    engine.asks(asked(wantsData=True, isSecret=is_secret, capability="sms" if is_secret else "unknown"))
    field = person.page.get_by_label("Code or answer, which the agent can type")
    field.fill(text)
    switch = person.page.get_by_label("The agent may read this")
    for _ in range(turns):
        switch.click()
    expect(field).to_have_attribute("type", "text" if switch.is_checked() else "password")
    assert switch.is_checked() == (readable is not False)
    person.button("Approve").click()
    person.until(lambda: engine.heard)
    assert (engine.heard[0].data, engine.heard[0].readable) == ({"value": text}, readable)
    assert text not in person.page.content()


def test_an_approval_just_shown_takes_no_click_and_enter_does_not_approve(
    person: Person, engine: Engine
) -> None:
    engine.asks(asked())
    dialog = person.page.locator("dialog.approval")
    dialog.wait_for()
    assert person.button("Approve").evaluate("e => [e.disabled, e === document.activeElement]")[1] is False
    person.page.keyboard.press("Enter")
    person.frame()
    assert engine.heard == []
    expect(person.button("Approve")).to_be_enabled()


def test_escape_puts_an_approval_aside_without_an_answer(person: Person, engine: Engine) -> None:
    engine.asks(asked())
    person.page.locator("dialog.approval").wait_for()
    person.page.keyboard.press("Escape")
    expect(person.page.locator("dialog")).to_have_count(0)
    assert engine.heard == []
    person.page.locator(".approval-pill").click()
    expect(person.page.locator("dialog.approval")).to_be_visible()


def test_an_approval_lies_over_an_agents_question_which_waits(person: Person, engine: Engine) -> None:
    engine.asks(asked())
    future = person.server.begin_act(ASK)
    expect(person.page.locator("dialog")).to_have_count(1)
    expect(person.page.locator("dialog.approval")).to_be_visible()
    person.button("Reject").click()
    expect(person.page.get_by_role("dialog", name="Delete the note?")).to_be_visible()
    person.button("No").click()
    person.until(future.done)


def test_approvals_come_one_after_another(person: Person, engine: Engine) -> None:
    engine.asks(asked(1), asked(2))
    expect(person.page.locator("dialog.approval")).to_contain_text("Allow tap 1?")
    engine.asks(asked(2))
    expect(person.page.locator("dialog.approval")).to_contain_text("Allow tap 2?")
    expect(person.page.locator("dialog")).to_have_count(1)


def test_no_window_can_cover_or_click_through_a_question(person: Person, engine: Engine) -> None:
    style = {"zIndex": 2147483647, "position": "fixed", "inset": 0, "transform": "scale(50)", "opacity": 1}
    person.show(
        "cover", TEXT, windowStyle=style, frameless=True, bounds={"x": 0, "y": 0, "w": 1280, "h": 720}
    )
    panel = {"variant": "panel", "bounds": {"x": 0, "y": 0, "w": 1280, "h": 720}}
    person.show("panel", TEXT, windowStyle=style, **panel)
    engine.asks(asked())
    dialog = person.page.locator("dialog.approval")
    dialog.wait_for()
    inside = """e => { const b = e.getBoundingClientRect(); const hits = [];
      for (let x = b.left + 4; x < b.right - 4; x += 40) for (let y = b.top + 4; y < b.bottom - 4; y += 40)
        hits.push(e.contains(document.elementFromPoint(x, y))); return hits }"""
    assert set(dialog.evaluate(inside)) == {True}
