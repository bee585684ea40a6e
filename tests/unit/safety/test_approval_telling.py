"""Telling people of a question, and the links that they answer with."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from pathlib import Path

import pytest

from handrail.errors import ActionRejected
from handrail.safety import approval_store as row
from handrail.safety.approval_store import AskedApproval, exact
from tests.unit.safety.asking import Desk, question, run


def test_nobody_is_told_before_the_question_is_stored(tmp_path: Path) -> None:
    stored: list[str] = []

    async def tell(one: AskedApproval, token: str | None) -> None:
        db = sqlite3.connect(tmp_path / "handrail.db")
        stored.extend(row[0] for row in db.execute("SELECT state FROM approvals WHERE id = ?", (one.id,)))
        db.close()

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        while not stored:
            await asyncio.sleep(0)
        await at.approvals.answer(one.id, True, "ada")
        await waiting

    run(tmp_path, story, notify=tell)
    assert stored == ["pending"]


def test_a_failure_to_tell_people_does_not_end_the_question(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def tell(one: AskedApproval, token: str | None) -> None:
        raise OSError("no bell")

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        while not caplog.records:
            await asyncio.sleep(0)
        await at.approvals.answer(one.id, True, "ada")
        assert (await waiting).approved

    run(tmp_path, story, notify=tell)


def test_the_telling_ends_with_the_answer(tmp_path: Path) -> None:
    ended = []

    async def tell(one: AskedApproval, token: str | None) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(one.id)

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        await at.approvals.answer(one.id, True, "ada")
        await waiting
        assert ended == [one.id]

    run(tmp_path, story, notify=tell)


def test_who_waits_does_not_keep_the_store_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def counted(db: sqlite3.Connection, id_: str) -> AskedApproval | None:
        looks.append(id_)
        return exact(db, id_)

    monkeypatch.setattr(row, "exact", counted)

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        for _ in range(20):
            await at.approvals.pending()
        assert len(looks) <= 1, "the clock stands still"
        await at.approvals.answer(one.id, True, "ada")
        assert (await waiting).approved
        assert len(looks) == 2

    run(tmp_path, story)


def test_a_link_answers_once_and_only_its_own_question(tmp_path: Path) -> None:
    tokens: dict[str, str] = {}

    async def tell(one: AskedApproval, token: str | None) -> None:
        assert token is not None
        tokens[one.id] = token

    async def story(at: Desk) -> None:
        first, one = await at.ask(question())
        second, two = await at.ask(question())
        while len(tokens) < 2:
            await asyncio.sleep(0)
        for wrong in (tokens[two.id], "", "x" * 43, tokens[one.id] + "x", "\ud800"):
            with pytest.raises(ActionRejected, match=f"This link does not fit the request {one.id}") as no:
                await at.approvals.answer(one.id, True, "link", token=wrong)
            assert no.value.details == {"approval": one.id}
        await at.approvals.answer(one.id, True, "link", token=tokens[one.id])
        with pytest.raises(ActionRejected):
            await at.approvals.answer(one.id, True, "link", token=tokens[one.id])
        assert (await first).approved
        await at.approvals.withdraw(two.id)
        await second

    run(tmp_path, story, notify=tell)
    assert {len(token) for token in tokens.values()} == {43}, "256 bits"
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [token for token in tokens.values() if token.encode() in stored]


@pytest.mark.parametrize("kind", ["one argument", "plain", "plain and broken", "wrong arguments"])
def test_notify_is_any_function_and_a_broken_one_fails_no_question(tmp_path: Path, kind: str) -> None:
    heard: list[str] = []

    async def one_argument(request: AskedApproval, *, bell: str = "") -> None:
        heard.append(request.id)

    def plain(request: AskedApproval) -> None:
        heard.append(request.id)

    def broken(request: AskedApproval) -> None:
        heard.append(request.id)
        raise OSError("no bell")

    def wrong(*, bell: str) -> None:
        raise AssertionError(bell)

    async def story(at: Desk) -> None:
        waiting, request = await at.ask(question())
        while not heard and kind != "wrong arguments":
            await asyncio.sleep(0)
        await at.approvals.answer(request.id, True, "ada")
        assert (await waiting).approved
        assert heard == ([] if kind == "wrong arguments" else [request.id])

    functions = {"one argument": one_argument, "plain": plain, "plain and broken": broken}
    run(tmp_path, story, notify=functions.get(kind, wrong))


def test_a_token_is_stored_as_its_hash_while_it_counts(tmp_path: Path) -> None:
    told: list[str] = []

    async def tell(one: AskedApproval, token: str | None) -> None:
        told.append(token or "")

    async def story(at: Desk) -> None:
        waiting, one = await at.ask(question())
        while not told:
            await asyncio.sleep(0)
        row = await at.store.read(lambda db: db.execute("SELECT token_hash FROM approvals").fetchone())
        assert row[0] == hashlib.sha256(told[0].encode()).hexdigest()
        await at.approvals.withdraw(one.id)
        await waiting

    run(tmp_path, story, notify=tell)
