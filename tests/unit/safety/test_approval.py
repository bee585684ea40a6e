"""Questions to people: stored before they are asked, answered once, used once, for one act only."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from pathlib import Path

import pytest

from handrail.errors import ActionRejected, InvalidAction
from handrail.protocol.read import action_from
from handrail.safety.approval_request import digest_of
from handrail.safety.approval_store import Answer, AskedApproval
from handrail_sim.clock import ManualClock
from tests.unit.safety.asking import ASKER, Desk, approved, bound, desk, question, run


def test_a_yes_reaches_the_one_who_asked(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(
            question(reason="I pay for the order.", label="Pay now", why="it costs money")
        )
        assert (one.request.reason, one.request.label, one.request.why) == (
            "I pay for the order.",
            "Pay now",
            "it costs money",
        )
        await at.approvals.answer(one.id, True, "ada")
        answer = await waiting
        assert (answer.approved, answer.by, answer.id) == (True, "ada", one.id)
        assert re.fullmatch("ap_[0-9a-f]{10}", one.id)
        assert await at.approvals.pending() == []

    run(tmp_path, story)


def test_a_no_is_a_rejection_that_says_who_and_why(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        await at.approvals.answer(one.id, False, "ada", note="too dear")
        answer = await waiting
        failure = answer.rejection()
        assert (answer.approved, answer.decision) == (False, "denied")
        assert failure.code == "ACTION_REJECTED"
        assert failure.message == "ada said no: too dear"
        assert failure.details == {"approval": one.id, "decision": "denied"}

    run(tmp_path, story)


def test_a_no_without_a_reason_says_who(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        await at.approvals.answer(one.id, False, "ada")
        assert (await waiting).rejection().message == "ada said no"

    run(tmp_path, story)


def test_an_unanswered_question_expires_by_the_clock(tmp_path: Path) -> None:
    clock = ManualClock()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        assert one.expires_ms - one.created_ms == 300_000
        await clock.advance(299_999)
        assert (await at.approvals.get(one.id)).is_open
        while not waiting.done():  # it may have read the time just before
            await clock.advance(1)
        answer = await waiting
        assert (answer.decision, answer.by, answer.note) == ("expired", "", "")
        failure = answer.rejection()
        assert failure.message == "No one answered in time"
        assert failure.details == {"approval": one.id, "decision": "expired"}
        with pytest.raises(ActionRejected, match="is expired: it can't be answered again") as late:
            await at.approvals.answer(one.id, True, "ada")
        assert late.value.details == {"approval": one.id, "state": "expired"}
        row = await at.store.read(lambda db: db.execute("SELECT token_hash FROM approvals").fetchone())
        assert row[0] == "", "its link is worth nothing"

    run(tmp_path, story, clock=clock)


def test_a_question_whose_asker_died_expires_all_the_same(tmp_path: Path) -> None:
    clock = ManualClock()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        async with desk(tmp_path, ManualClock(clock.now_ms() + 300_000)) as later:
            assert await later.approvals.pending() == []
            with pytest.raises(ActionRejected, match="expired"):
                await later.approvals.answer(one.id, True, "ada")
        await at.approvals.withdraw(one.id)
        await waiting

    run(tmp_path, story, clock=clock)


def test_the_first_answer_wins_and_the_second_is_an_error(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        outcomes = await asyncio.gather(
            *(
                at.approvals.answer(one.id, approved, name)
                for approved, name in ((True, "ada"), (False, "bob"))
            ),
            return_exceptions=True,
        )
        assert sorted(type(one).__name__ for one in outcomes) == ["ActionRejected", "AskedApproval"]
        won = next(one for one in outcomes if isinstance(one, AskedApproval))
        lost = next(one for one in outcomes if isinstance(one, ActionRejected))
        assert (await waiting).by == won.answered_by
        assert f"by {won.answered_by}" in lost.message

    run(tmp_path, story)


def test_a_cancelled_question_is_withdrawn(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        known = await at.approvals.get(one.id)
        assert known.state == "withdrawn"
        with pytest.raises(ActionRejected, match="is withdrawn: it"):
            await at.approvals.answer(one.id, True, "ada")
        failure = Answer.of(known).rejection()
        assert failure.message == "The request was withdrawn"
        assert failure.details == {"approval": one.id, "decision": "withdrawn"}

    run(tmp_path, story)


def test_a_question_whose_time_is_over_can_not_be_taken_back(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        async with desk(tmp_path, ManualClock(at.clock.now_ms() + 300_000)) as later:
            await later.approvals.withdraw(one.id)
            assert (await later.approvals.get(one.id)).state == "expired"
        await at.clock.advance(100)  # type: ignore[attr-defined]
        assert (await waiting).decision == "expired"

    run(tmp_path, story)


def test_a_question_that_was_deleted_is_no_yes(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        await at.store.write(lambda db: db.execute("DELETE FROM approvals"))
        await at.clock.advance(100)  # type: ignore[attr-defined]
        with pytest.raises(ActionRejected, match=f"{one.id} was deleted"):
            await waiting

    run(tmp_path, story)


def test_a_question_cancelled_at_birth_leaves_nothing_open(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        task = asyncio.create_task(at.approvals.ask(question()))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert await at.approvals.pending() == []

    run(tmp_path, story)


async def test_a_question_survives_a_restart(tmp_path: Path) -> None:
    async with desk(tmp_path) as before:
        waiting, one = await before.ask(question(screenshot="ab12", door="mcp", asked_by="agent-1"))
        db = sqlite3.connect(tmp_path / "handrail.db")  # what a killed process leaves behind
        rows = db.execute("SELECT state FROM approvals").fetchall()
        db.close()
        assert rows == [("pending",)]
        async with desk(tmp_path, before.clock) as after:
            [found] = await after.approvals.pending()
            assert found == one
            resumed = asyncio.create_task(after.approvals.resume(found.id))
            await after.approvals.answer(found.id, True, "ada")
            assert (await resumed).approved
        await before.clock.advance(100)  # type: ignore[attr-defined]
        assert (await waiting).approved


def test_an_answer_given_before_the_resumption_is_found(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        await at.approvals.answer(one.id, True, "ada")
        await waiting
        assert (await at.approvals.resume(one.id)).approved

    run(tmp_path, story)


def test_an_approval_is_used_once(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        id_ = await approved(at)
        await at.approvals.consume(id_, bound(), ASKER)
        with pytest.raises(ActionRejected, match=f"^The approval {id_} was used already$") as failure:
            await at.approvals.consume(id_, bound(), ASKER)
        assert failure.value.details == {"approval": id_}

    run(tmp_path, story)


@pytest.mark.parametrize(
    "other",
    [
        bound({"type": "tap", "target": {"text": "Pay later"}}),
        bound({"type": "double_tap", "target": {"text": "Pay now"}}),
        bound(device="R58M"),
        bound(screen="zzzzzz"),
        "",
    ],
)
def test_an_approval_is_useless_for_anything_else(tmp_path: Path, other: str) -> None:
    async def story(at: Desk) -> None:
        id_ = await approved(at)
        with pytest.raises(ActionRejected, match="another action, device or screen"):
            await at.approvals.consume(id_, other, ASKER)
        await at.approvals.consume(id_, bound(), ASKER)

    run(tmp_path, story)


def test_only_a_yes_can_be_used(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        with pytest.raises(ActionRejected, match="is pending"):
            await at.approvals.consume(one.id, bound(), ASKER)
        await at.approvals.answer(one.id, False, "ada")
        await waiting
        with pytest.raises(ActionRejected, match="is denied"):
            await at.approvals.consume(one.id, bound(), ASKER)

    run(tmp_path, story)


@pytest.mark.parametrize(("answered_ms", "usable_ms"), [(0, 300_000), (270_000, 60_000)])
def test_an_old_yes_is_worth_nothing(tmp_path: Path, answered_ms: int, usable_ms: int) -> None:
    """It can be used until its question would have ended, and for a minute in any case."""
    clock = ManualClock()

    async def story(at: Desk) -> None:
        tasks = [await at.ask(question()) for _ in range(2)]
        await clock.advance(answered_ms)
        for waiting, one in tasks:
            await at.approvals.answer(one.id, True, "ada")
            assert (await waiting).approved
        (_, in_time), (_, too_late) = tasks
        await clock.advance(usable_ms - 1)
        await at.approvals.consume(in_time.id, bound(), ASKER)
        await clock.advance(1)
        with pytest.raises(ActionRejected, match="is too old"):
            await at.approvals.consume(too_late.id, bound(), ASKER)

    run(tmp_path, story, clock=clock)


def test_two_uses_at_once_are_one(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        id_ = await approved(at)
        done = await asyncio.gather(
            *(at.approvals.consume(id_, bound(), ASKER) for _ in range(5)), return_exceptions=True
        )
        assert done.count(None) == 1

    run(tmp_path, story)


def test_an_answer_is_remembered_no_longer_than_was_offered(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question(remember="session"))
        with pytest.raises(InvalidAction, match="'always': its rule says 'session'") as failure:
            await at.approvals.answer(one.id, True, "ada", remember="always")
        assert (failure.value.details["path"], failure.value.hint) == ("remember", "Use session.")
        await at.approvals.answer(one.id, True, "ada", remember="session")
        assert (await waiting).remember == "session"

    run(tmp_path, story)


def test_where_nothing_may_be_remembered_the_hint_says_so(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        with pytest.raises(InvalidAction, match="its rule says 'never'") as failure:
            await at.approvals.answer(one.id, True, "ada", remember="session")
        assert failure.value.hint.startswith("Answer without --remember")
        await at.approvals.answer(one.id, True, "ada", remember="never")
        assert (await waiting).approved

    run(tmp_path, story)


def test_a_password_that_is_asked_about_is_not_stored(tmp_path: Path) -> None:
    typed = {"type": "type_text", "text": "hunter2-correct-horse"}
    asked = question(typed, password=True)
    assert asked.digest == digest_of(action_from(typed), "emulator-5554", "k3x9qa", password=True)
    assert asked.digest != bound(typed)

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(asked)
        assert one.request.action["text"] == "••••"
        await at.approvals.answer(one.id, True, "ada")
        await at.approvals.consume((await waiting).id, asked.digest, ASKER)

    run(tmp_path, story)
    assert b"hunter2-correct-horse" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
