"""Stored questions: found by a beginning of their id, paged, and told to every door as JSON."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from handrail.errors import InvalidAction
from handrail.protocol.read import action_from
from handrail.safety.approval_request import digest_of
from handrail_sim.clock import ManualClock
from tests.unit.safety.asking import ASKER, PAY, Desk, approved, bound, human_auth, question, run


def test_a_unique_beginning_names_a_question(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        tasks = [await at.ask(question()) for _ in range(3)]
        for _, one in tasks:
            assert (await at.approvals.get(one.id.removeprefix("ap_"))).id == one.id
            assert (await at.approvals.get(one.id[:-1])).id == one.id
        with pytest.raises(InvalidAction, match="ap_ is the prefix of 3 requests: ap_") as failure:
            await at.approvals.get("ap_")
        assert failure.value.details["path"] == "id"
        newest_first = ", ".join(one.id for _, one in reversed(tasks))
        assert failure.value.message.endswith(newest_first)
        for task, one in tasks[:2]:
            await at.approvals.withdraw(one.id)
            await task
        assert (await at.approvals.get("ap_")).id == tasks[2][1].id, "only one of them is still open"
        await at.approvals.withdraw(tasks[2][1].id)
        await tasks[2][0]

    run(tmp_path, story)


def test_of_many_with_one_beginning_five_that_are_open_are_named(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        closed = await approved(at)
        tasks = [await at.ask(question()) for _ in range(6)]
        with pytest.raises(InvalidAction, match="6 requests") as failure:
            await at.approvals.get("ap_")
        named = failure.value.message.partition(": ")[2].split(", ")
        assert named == [one.id for _, one in tasks[:0:-1]]
        assert (await at.approvals.get(f" {closed.upper()} ")).id == closed
        for task, one in tasks:
            await at.approvals.withdraw(one.id)
            await task

    run(tmp_path, story)


def test_a_wrong_id_is_answered_with_the_nearest(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        with pytest.raises(InvalidAction, match="There is no request 'ap_0'") as failure:
            await at.approvals.get("ap_0")
        assert (failure.value.details["path"], failure.value.hint) == (
            "id",
            "`handrail approvals` lists what is open.",
        )
        id_ = await approved(at)
        with pytest.raises(InvalidAction) as failure:
            await at.approvals.get(f"{id_}0")
        assert failure.value.hint == f"Did you mean {id_}?"

    run(tmp_path, story)


@pytest.mark.parametrize("given", ["ap_0000000000", "", "%", "'; drop table approvals", "é", "x" * 500])
def test_a_wrong_id_is_an_error(tmp_path: Path, given: str) -> None:
    async def story(at: Desk) -> None:
        with pytest.raises(InvalidAction):
            await at.approvals.answer(given, True, "ada")

    run(tmp_path, story)


def _many_more(db: sqlite3.Connection) -> None:
    """Fifty copies of the first question."""
    names = [row[1] for row in db.execute("PRAGMA table_info(approvals)") if row[1] not in ("seq", "id")]
    listed = ", ".join(names)
    for number in range(50):
        db.execute(
            f"INSERT INTO approvals (id, {listed}) SELECT 'ap_{number}', {listed} FROM approvals LIMIT 1"
        )


def test_the_history_is_paged_newest_first(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        ids = [await approved(at) for _ in range(5)]
        first = await at.approvals.history(limit=2)
        rest = await at.approvals.history(limit=10, before=first[-1].seq)
        assert [one.id for one in (*first, *rest)] == ids[::-1]
        await at.store.write(_many_more)
        assert len(await at.approvals.history()) == 50

    run(tmp_path, story)


MOMENT = 1_710_000_000_000
AT, LATER = "2024-03-09T16:00:00.000Z", "2024-03-09T16:05:00.000Z"


def test_a_question_is_json_for_every_door(tmp_path: Path) -> None:
    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        assert one.request == question()
        assert one.request.capability == "unknown"
        bare = {
            "id": one.id,
            "seq": 1,
            "state": "pending",
            "created": AT,
            "expires": LATER,
            "kind": "policy",
            "instruction": "Allow the tap?",
            "action": PAY,
            "digest": bound(),
            "device": "emulator-5554",
            "fingerprint": "k3x9qa",
            "may_remember": "never",
        }
        assert one.to_dict() == bare
        answered = await at.approvals.answer(one.id, True, "ada")
        given = {"state": "approved", "answered": AT, "answered_by": "ada"}
        assert answered.to_dict() == {**bare, **given}
        assert (await waiting).to_dict() == {"id": one.id, "decision": "approved", "by": "ada"}

    run(tmp_path, story, clock=ManualClock(MOMENT))


def test_everything_that_is_known_of_a_question_is_kept_and_told(tmp_path: Path) -> None:
    told = {"reason": "I sign in.", "why": "it asks", "label": "Code", "screenshot": "ab12"}
    more = {"door": "mcp", "asked_by": "agent-1", "remember": "always", "timeout_ms": 1000}
    asked = human_auth("location", **told, **more)

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(asked)
        assert one.request == asked
        assert (one.created_ms, one.expires_ms) == (MOMENT, MOMENT + 1000)
        assert one.action_type == "request_human_auth"
        await at.approvals.answer(
            one.id, True, "ada", data={"lat": 1}, readable=True, remember="session", note="there"
        )
        assert (await waiting).to_dict() == {
            "id": one.id,
            "decision": "approved",
            "by": "ada",
            "note": "there",
            "data": {"lat": 1},
            "remember": "session",
        }
        await at.approvals.consume(one.id, asked.digest, ASKER)
        data = (await at.approvals.get(one.id)).to_dict()
        assert data.items() >= told.items()
        assert (data["capability"], data["door"], data["asked_by"]) == ("location", "mcp", "agent-1")
        assert (data["may_remember"], data["remember"], data["note"]) == ("always", "session", "there")
        assert (data["data"], data["answered"], data["consumed"]) == ({"lat": 1}, AT, AT)

    run(tmp_path, story, clock=ManualClock(MOMENT))


def test_a_digest_is_the_same_in_every_process_and_version() -> None:
    assert bound() == "876f8678ec3e763a87be348e25c66c4a2b40b249df6037e859ffcf370f60cc4d"
    typed = action_from({"type": "type_text", "text": "1234"})
    assert (
        digest_of(typed, "emulator-5554", "k3x9qa", password=True)
        == "366299a48c04fd03aed6a8e25b361a99e991659933867cfdde9eacdf9ccf8b6b"
    )
