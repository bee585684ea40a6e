"""What a person's answer is good for: how long, on which screen, for whom, and after whose death."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.engine.gestures import line_points, pressed_by_strokes
from handrail.engine.snapshot import ChangeKind, node_key
from handrail.errors import ActionRejected
from handrail.safety.approval_store import AskedApproval
from handrail.safety.caller import Caller
from handrail.screen.node import Screen
from tests.unit.engine.scripted import still
from tests.unit.safety.authorizing import ASKS, PAY, Office, play, shop
from tests.unit.safety.policy_subjects import policy
from tests.unit.screen.drawn import node, row, screen

# remembered answers


@pytest.mark.parametrize("approved", [True, False])
def test_an_answer_that_is_remembered_is_not_asked_for_again(tmp_path: Path, approved: bool) -> None:
    async def story(o: Office) -> None:
        stages = [await o.stage(PAY)]
        try:
            await o.answered(o.guard.authorize_named(stages[0]), approved=approved, remember="session")
        except ActionRejected:
            assert not approved
        assert stages[0].run.approval is not None
        assert stages[0].run.approval.remembered is True
        assert o.book.events[0]["remembered"] is True
        o.lock = asyncio.Lock()
        again = await o.stage(PAY)
        if approved:
            await o.guard.authorize_named(again)
        else:
            with pytest.raises(ActionRejected):
                await o.guard.authorize_named(again)
        assert again.run.approval is None
        assert o.permissions.all() == {}

    play(tmp_path, story)


def test_an_answer_for_always_is_written_into_the_file(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await o.answered(o.guard.authorize_named(await o.stage(PAY)), remember="always")
        assert list(o.permissions.all().values()) == [True]

    play(tmp_path, story)


def test_an_answer_about_a_secret_is_kept_for_the_session_and_not_written(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        o.secrets.add("NAME", "Pay now")
        await o.answered(o.guard.authorize_named(await o.stage(PAY)), remember="always")
        assert o.permissions.all() == {}
        o.lock = asyncio.Lock()
        again = await o.stage(PAY)
        await o.guard.authorize_named(again)
        assert again.run.approval is None

    play(tmp_path, story)


def test_an_answer_for_never_is_not_remembered(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        await o.answered(o.guard.authorize_named(stage), remember="never")
        assert stage.run.approval is not None
        assert stage.run.approval.remembered is None

    play(tmp_path, story)


# the screen after the answer


@pytest.mark.parametrize(
    "drawn",
    [
        shop(total="99 EUR"),
        shop(pay="Pay now or later"),
        shop(note="for Mallory"),
        screen(node("TextView", box=row(0), text="Elsewhere")),
    ],
)
def test_a_yes_is_useless_when_the_screen_has_changed(tmp_path: Path, drawn: Screen) -> None:
    async def story(o: Office) -> None:
        work = o.guard.authorize_named(await o.stage({"type": "tap", "target": {"id": "pay"}}))
        with pytest.raises(ActionRejected, match="changed after the approval"):
            await o.answered(work, meanwhile=o.shows(drawn))
        [one] = await o.approvals.history()
        assert (one.state, one.consumed_ms) == ("void", None)
        assert [event["decision"] for event in o.book.events] == ["approved", "void"]
        o.stand.driver.shows = still(shop())
        assert not await goes_through(o, o.session())

    play(tmp_path, story)


@pytest.mark.parametrize("how", ["stopped", "stricter rules"])
def test_a_yes_that_its_act_did_not_use_is_void(tmp_path: Path, how: str) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        task = asyncio.ensure_future(o.guard.authorize_named(stage))
        one = await o.question(task)
        if how == "stopped":
            await o.lock.acquire()  # somebody else has the turn
        else:
            o.gate.policy = policy("[[rule]]\nlabel = 'Pay*'\nverdict = 'deny'\n")
        await o.approvals.answer(one.id, True, "lena")
        if how == "stopped":
            while one.id in o.approvals._waiting:
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait({task})
        assert task.cancelled() if how == "stopped" else isinstance(task.exception(), ActionRejected)
        assert (await o.approvals.get(one.id)).state == "void"

    play(tmp_path, story)


def test_the_same_screen_drawn_anew_is_the_same_and_the_action_goes_on_there(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        stage = await o.stage(PAY)
        old, drawn = stage.run.before, shop()
        await o.answered(o.guard.authorize_named(stage), meanwhile=o.shows(drawn))
        assert stage.run.before is not old
        assert stage.run.before is not None
        assert stage.run.before.screen is drawn
        assert stage.run.aims["target"].node in drawn.nodes
        assert stage.run.revision_before == o.stand.screens.revision_name

    play(tmp_path, story)


def test_what_changes_by_itself_is_named_and_asked_about_again(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        o.stand.driver.shows = still(shop(ticker="First"))
        stage = await o.stage(PAY)
        assert stage.run.before is not None
        learned(o, stage.run.before.screen, "ticker")
        task = asyncio.ensure_future(o.guard.authorize_named(stage))
        one = await o.question(task)
        assert one.request.instruction.endswith("which changes by itself, is shown: 1. 'First'")
        o.shows(shop(ticker="Second"))(one)
        await o.approvals.answer(one.id, True, "lena")
        again = await _next_question(o, task, one)
        assert list(again.request.volatile.values()) == ["Second"]
        assert (await o.approvals.get(one.id)).state == "void"
        o.shows(shop(ticker="Third"))(again)
        await o.approvals.answer(again.id, True, "lena", may_change=[1])
        await task
        assert (await o.approvals.get(again.id)).consumed_ms is not None

    play(tmp_path, story)


def test_a_price_that_seems_to_tick_is_asked_about_again(tmp_path: Path) -> None:
    """Asked at 5.05, paid 900.00: four looks had made the price restless."""

    async def story(o: Office) -> None:
        o.stand.driver.shows = still(shop(pay="OK", ticker="Send 5 EUR"))
        stage = await o.stage({"type": "tap", "target": {"text": "OK"}})
        assert stage.run.before is not None
        learned(o, stage.run.before.screen, "ticker")
        task = asyncio.ensure_future(o.guard.authorize_named(stage))
        one = await o.question(task)
        o.shows(shop(pay="OK", ticker="Send 500 EUR"))(one)
        await o.approvals.answer(one.id, True, "lena")
        again = await _next_question(o, task, one)
        assert "Send 500 EUR" in again.request.instruction
        await o.approvals.answer(again.id, False, "lena")
        with pytest.raises(ActionRejected, match="lena said no"):
            await task

    play(tmp_path, story, ASKS.replace("Pay*", "OK"))


async def _next_question(o: Office, task: asyncio.Future[None], before: AskedApproval) -> AskedApproval:
    while (one := await o.question(task)).id == before.id:
        await asyncio.sleep(0)
    return one


def learned(o: Office, seen: Screen, name: str) -> None:
    """This element changes its words by itself."""
    moving = next(one for one in seen.nodes if one.id_tail == name)
    o.stand.screens.volatile.learn(seen, {node_key(moving): ChangeKind.WORDS})


def test_a_button_that_may_be_another_one_by_what_changed_beside_it_is_not_pressed(tmp_path: Path) -> None:
    """The total is known to change by itself; what the button belongs to can't be told without it."""

    async def story(o: Office) -> None:
        drawn = screen(*_few("12 EUR"))
        o.stand.driver.shows = still(drawn)
        stage = await o.stage(PAY)
        learned(o, drawn, "total")
        with pytest.raises(ActionRejected, match="changed after the approval"):
            await o.answered(o.guard.authorize_named(stage), meanwhile=o.shows(screen(*_few("13 EUR"))))

    play(tmp_path, story)


def _few(total: str) -> tuple[str, str]:
    return (
        node("TextView", box=row(0), text=total, resource_id="app:id/total"),
        node("Button", box=row(1), text="Pay now", resource_id="app:id/pay", flags="clickable"),
    )


def test_what_a_finger_comes_down_on_must_still_be_called_the_same(tmp_path: Path) -> None:
    """Nothing was aimed at, and the button's words are known to change by themselves."""

    async def story(o: Office) -> None:
        stage = await o.stage({"type": "swipe", "from": {"x": 500, "y": 400}, "to": {"x": 500, "y": 390}})
        assert stage.run.before is not None
        learned(o, stage.run.before.screen, "pay")
        stage.run.advance("resolved")
        felt = pressed_by_strokes([line_points((500, 400, 500, 390))])
        with pytest.raises(ActionRejected, match="changed after the approval"):
            await o.answered(o.guard.authorize_press(stage, felt), meanwhile=o.shows(shop(pay="Pay all")))

    play(tmp_path, story)


# questions of a process that died


def test_a_question_of_a_session_before_is_not_asked_again(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        one = await _asked_by_the_dead(o, PAY)
        later = o.session()
        o.lock = asyncio.Lock()
        again = await o.answered(later.authorize_named(await o.stage(PAY)))
        assert again.id == one

    play(tmp_path, story)


async def _asked_by_the_dead(
    o: Office, action: dict[str, Any], caller: Caller | None = None, **answer: Any
) -> str:
    """What is left of a process that was killed while it asked: the question, perhaps with an answer."""
    task = asyncio.ensure_future(o.guard.authorize_named(await o.stage(action, caller)))
    one = await o.question(task)
    await o.store.write(lambda db: db.execute("CREATE TABLE kept AS SELECT * FROM approvals"))
    task.cancel()
    await asyncio.wait({task})
    await o.store.write(lambda db: db.execute("DELETE FROM approvals"))
    await o.store.write(lambda db: db.execute("INSERT INTO approvals SELECT * FROM kept"))
    if answer:
        await o.approvals.answer(one.id, by="lena", **answer)
    return one.id


@pytest.mark.parametrize("approved", [None, True])
def test_a_question_of_another_session_is_asked_again(tmp_path: Path, approved: bool | None) -> None:
    """Whatever name it takes: the name is the same here."""

    async def story(o: Office) -> None:
        one = await _asked_by_the_dead(o, PAY, **({} if approved is None else {"approved": approved}))
        o.lock = asyncio.Lock()
        task = asyncio.ensure_future(o.session("another").authorize_named(await o.stage(PAY)))
        while [each.id for each in await o.approvals.pending()] in ([], [one]):
            assert not task.done()
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert (await o.approvals.get(one)).consumed_ms is None

    play(tmp_path, story)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        (Caller("ada", door="mcp", asker="one"), Caller("ada", door="mcp", asker="two")),
        (Caller("ada", door="mcp", asker="one"), Caller("ada", door="http", asker="one")),
        (Caller("ada"), Caller("ada", asker="one")),
        (Caller("ada"), Caller("ada", is_remote=True)),
        (Caller("ada"), Caller("ada", "person")),
    ],
)
def test_an_answer_to_one_caller_is_none_to_another_one(tmp_path: Path, asked: Caller, sent: Caller) -> None:
    async def story(o: Office) -> None:
        one = await _asked_by_the_dead(o, PAY, asked, approved=True)
        assert not await goes_through(o, o.session(), sent)
        assert (await o.approvals.get(one)).consumed_ms is None
        assert await goes_through(o, o.session(), replace(asked, id="another name"))

    play(tmp_path, story)


def test_what_one_asker_may_do_for_the_session_another_one_may_not(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        ada, bob = Caller("agent", asker="ada"), Caller("agent", asker="bob")
        await o.answered(o.guard.authorize_named(await o.stage(PAY, ada)), remember="session")
        assert await goes_through(o, o.guard, ada)
        assert not await goes_through(o, o.guard, bob)

    play(tmp_path, story)


@pytest.mark.parametrize("other", [{"type": "long_press", "target": {"text": "Pay now"}}])
def test_a_question_about_something_else_is_no_answer(tmp_path: Path, other: dict[str, Any]) -> None:
    async def story(o: Office) -> None:
        one = await _asked_by_the_dead(o, other, approved=True)
        o.lock = asyncio.Lock()
        later = o.session()
        again = await o.answered(later.authorize_named(await o.stage(PAY)))
        assert again.id != one

    play(tmp_path, story)


def test_a_question_about_another_screen_is_no_answer(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        one = await _asked_by_the_dead(o, PAY, approved=True)
        o.lock = asyncio.Lock()
        o.stand.driver.shows = still(shop(note="for Mallory"))
        again = await o.answered(o.session().authorize_named(await o.stage(PAY)))
        assert again.id != one

    play(tmp_path, story)


async def goes_through(o: Office, later: Any, caller: Caller | None = None) -> bool:
    """Without anybody being asked again."""
    o.lock = asyncio.Lock()
    task = asyncio.ensure_future(later.authorize_named(await o.stage(PAY, caller)))
    while not task.done():
        if await o.approvals.pending():
            task.cancel()
        await asyncio.wait({task}, timeout=0.01)
    return not task.cancelled()


@pytest.mark.parametrize(("late_ms", "counts"), [(0, True), (299_999, True), (300_000, False)])
def test_an_answer_that_came_after_its_process_had_died_counts_while_its_question_lives(
    tmp_path: Path, late_ms: int, counts: bool
) -> None:
    async def story(o: Office) -> None:
        one = await _asked_by_the_dead(o, PAY, approved=True)
        later = o.session()
        await o.clock.advance(late_ms)
        assert await goes_through(o, later) is counts
        assert ((await o.approvals.get(one)).consumed_ms is not None) is counts
        assert not await goes_through(o, later)  # once

    play(tmp_path, story)


@pytest.mark.parametrize(("late_ms", "counts"), [(59_999, True), (60_000, False)])
def test_a_late_answer_counts_for_a_minute(tmp_path: Path, late_ms: int, counts: bool) -> None:
    async def story(o: Office) -> None:
        one = await _asked_by_the_dead(o, PAY)
        later = o.session()
        await o.clock.advance(299_000)
        await o.approvals.answer(one, True, "lena")
        await o.clock.advance(late_ms)
        assert await goes_through(o, later) is counts

    play(tmp_path, story)


def test_a_no_to_a_dead_process_is_no_answer_to_the_next_question(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await _asked_by_the_dead(o, PAY, approved=False)
        assert not await goes_through(o, o.session())

    play(tmp_path, story)


def test_an_answer_whose_data_died_with_its_process_is_no_answer(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        one = await _asked_by_the_dead(o, PAY, approved=True)
        await o.store.write(lambda db: db.execute("UPDATE approvals SET data = '\"x\"' WHERE id = ?", (one,)))
        assert not await goes_through(o, o.session())

    play(tmp_path, story)


# request_human_auth


def test_an_agent_asks_a_person_by_itself(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        action = {
            "type": "request_human_auth",
            "capability": "camera",
            "instruction": "Show the cat",
            "timeout_sec": 7,
            "reason": "it hides",
        }
        run = await o.run(action, Caller("agent-7", door="mcp"))
        one = await o.answered(o.guard.authorizer.ask_person(run, run.action, "f1ng3r"))  # type: ignore[arg-type]
        request = one.request
        assert (request.kind, request.capability, request.device) == ("human_auth", "camera", "phone-1")
        assert (request.instruction, request.reason) == ("Show the cat", "it hides")
        assert (request.door, request.asked_by, request.fingerprint) == ("mcp", "agent-7", "f1ng3r")
        assert one.expires_ms - one.created_ms == 7_000
        assert (await o.approvals.get(one.id)).consumed_ms is not None
        assert "approval" in run.timings
        assert (o.book.events[0]["approval"], o.book.events[0]["remembered"]) == (one.id, False)

    play(tmp_path, story)


def test_a_no_to_an_agent_is_told_and_not_used(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        run = await o.run({"type": "request_human_auth", "capability": "camera", "instruction": "Show it"})
        task = asyncio.ensure_future(o.guard.authorizer.ask_person(run, run.action, ""))  # type: ignore[arg-type]
        one = await o.question(task)
        assert one.request.reason == ""
        await o.approvals.answer(one.id, False, "lena")
        assert not (await task).approved
        assert (await o.approvals.get(one.id)).consumed_ms is None
        assert run.approval is not None
        assert run.approval.decision == "denied"

    play(tmp_path, story)


def test_what_was_permitted_is_used_up_by_a_touch_that_changes_the_screen(tmp_path: Path) -> None:
    """A double tap on the "OK" of "Continue?" must not be a yes to the "OK" of "Confirm payment"."""

    async def story(o: Office) -> None:
        o.stand.driver.shows = still(shop(pay="OK", ticker="Continue?"))
        stage = await o.stage({"type": "double_tap", "target": {"text": "OK"}})
        await o.guard.authorize_named(stage)
        assert stage.run.permitted
        await o.guard.look_between_touches(stage)
        assert stage.run.permitted, "nothing changed"
        o.stand.driver.shows = still(shop(pay="OK", ticker="Confirm payment of 900 EUR"))
        await o.guard.look_between_touches(stage)
        assert not stage.run.permitted
        assert not stage.run.rule

    play(tmp_path, story, "")


def dialog(question: str) -> Screen:
    return screen(
        node("TextView", box=row(0), text=question),
        node("Button", box=row(1), text="OK", resource_id="android:id/button1", flags="clickable"),
    )


@pytest.mark.parametrize("span", ["session", "always"])
def test_a_remembered_ok_is_a_yes_to_what_it_answered(tmp_path: Path, span: Any) -> None:
    tap = {"type": "tap", "target": {"text": "OK"}}

    async def story(o: Office) -> None:
        await o.answered(o.guard.authorize_named(await o.stage(tap)), remember=span)
        for question, is_asked in (("Launch rocket?", False), ("Launch missile?", True)):
            o.lock = asyncio.Lock()
            o.stand.driver.shows = still(dialog(question))
            named = o.guard.authorize_named(await o.stage(tap))
            await (o.answered(named) if is_asked else named)
        assert len(await o.approvals.history()) == 2

    rule = f"[[rule]]\nlabel = '*Launch*'\nverdict = 'ask'\nremember = '{span}'\n"
    play(tmp_path, story, rule, drawn=dialog("Launch rocket?"))


@pytest.mark.parametrize("first", ["allow", "ask"])
def test_rules_of_the_same_name_do_not_answer_for_each_other(tmp_path: Path, first: str) -> None:
    """The first is about the app, the second about its button: a swipe that begins there presses it."""
    app = f"[[rule]]\nname = 'shop'\npressed = false\nverdict = '{first}'\n"
    button = "[[rule]]\nname = 'shop'\nlabel = 'Pay*'\nverdict = 'ask'\n"

    async def story(o: Office) -> None:
        start = next(n for n in o.stand.driver.shows(0).nodes if n.text == "Pay now").bounds.center
        swipe = {"type": "swipe", "from": {"x": start.x, "y": start.y}, "to": {"x": 5, "y": 5}}
        stage = await o.stage(swipe)
        named = o.guard.authorize_named(stage)
        await (o.answered(named) if first == "ask" else named)
        pressed = pressed_by_strokes([line_points((start.x, start.y, 5, 5))])
        assert not o.guard.may_press(stage, pressed)

    play(tmp_path, story, app + button)
