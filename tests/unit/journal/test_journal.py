"""The journal: what is noted is kept in order, what is sealed is durable, and it can be read again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from handrail.errors import HandrailError, InvalidAction
from handrail.journal import Journal
from handrail.journal.query import canonical_json, entry_of
from handrail.safety.secrets import Secrets
from handrail_sim.clock import ManualClock
from tests.unit.journal.journalist import act, with_journal, write_actions


def test_a_sealed_event_and_every_note_before_it_can_be_read_by_another_connection(tmp_path: Path) -> None:
    async def work(journal: Journal) -> list[str]:
        journal.note({"kind": "note", "text": "before"})
        seq = await journal.seal({"kind": "note", "text": "sealed"})
        assert seq == 2
        with sqlite3.connect(tmp_path / "handrail.db") as other:
            rows = other.execute("SELECT body FROM journal ORDER BY seq").fetchall()
        other.close()
        return [json.loads(body)["text"] for (body,) in rows]

    assert with_journal(tmp_path, work) == ["before", "sealed"]


async def test_a_note_that_nobody_waits_for_is_written_all_the_same(journal: Journal) -> None:
    journal.note({"kind": "note", "text": "alone"})
    while not list(journal.export()):
        await asyncio.sleep(0)


def test_closing_writes_what_is_queued(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        for number in range(500):
            journal.note({"kind": "note", "number": number})

    with_journal(tmp_path, work)

    async def read(journal: Journal) -> list[int]:
        return [json.loads(line)["number"] for line in journal.export()]

    assert with_journal(tmp_path, read) == list(range(500))


async def test_concurrent_sessions_get_their_own_numbers(journal: Journal) -> None:
    seqs = await asyncio.gather(*(act(journal, number) for number in range(40)))
    assert len(set(seqs)) == 40
    for number, seq in enumerate(seqs):
        assert journal.show(seq).action_id == f"tap_1710000000000_{number}"
    assert journal.verify().ok


async def test_a_cancelled_caller_does_not_take_its_event_with_it(journal: Journal) -> None:
    sealing = asyncio.create_task(journal.seal({"kind": "note", "text": "cancelled"}))
    await asyncio.sleep(0)
    sealing.cancel()
    await journal.seal({"kind": "note", "text": "next"})
    assert [json.loads(line)["text"] for line in journal.export()] == ["cancelled", "next"]


async def test_an_event_that_changes_after_it_was_noted_is_kept_as_it_was(journal: Journal) -> None:
    event = {"kind": "note", "list": [1]}
    journal.note(event)
    event["list"].append(2)  # type: ignore[attr-defined]
    await journal.seal({"kind": "note"})
    assert json.loads(next(journal.export()))["list"] == [1]


async def test_the_list_is_newest_first_and_paged(journal: Journal) -> None:
    for number in range(1, 8):
        await act(journal, number)
    first = journal.actions(limit=3)
    assert [row.action_id[-1] for row in first] == ["7", "6", "5"]
    second = journal.actions(limit=3, before=first[-1].seq)
    assert [row.action_id[-1] for row in second] == ["4", "3", "2"]
    assert first[0].actor == {"kind": "agent", "id": "tester"}
    assert (first[0].door, first[0].reason, first[0].state) == ("cli", "why not", "verified")


async def test_the_list_is_filtered_by_device_type_time_and_outcome(journal: Journal) -> None:
    await act(journal, 1, at_ms=1000)
    await act(journal, 2, at_ms=2000, failed=True)
    await act(journal, 3, at_ms=3000, device="other")
    ids = lambda **wanted: [row.action_id[-1] for row in journal.actions(**wanted)]  # noqa: E731
    assert ids(device="other") == ["3"]
    assert ids(failed=True) == ["2"]
    assert ids(failed=False) == ["3", "1"]
    assert ids(since=2000) == ["3", "2"]
    assert ids(type="tap", limit=1) == ["3"]
    assert ids(type="swipe") == []
    assert journal.actions(failed=True)[0].failure_code == "ELEMENT_NOT_FOUND"


async def test_an_action_without_an_end_is_listed_as_unfinished(journal: Journal) -> None:
    await act(journal, 1)
    await journal.seal({"kind": "accepted", "action_id": "tap_1_2", "action": {"type": "tap"}})
    newest, older = journal.actions()
    assert (newest.action_id, newest.state) == ("tap_1_2", "unfinished")
    assert older.state == "verified"


async def test_an_action_is_shown_by_its_id_and_by_any_of_its_entries(journal: Journal) -> None:
    await act(journal, 1)
    last = await act(journal, 2)
    shown = journal.show("tap_1710000000000_2")
    assert [event["kind"] for event in shown.events] == ["accepted", "resolved", "dispatched", "verified"]
    assert shown.envelope["success"] is True
    assert journal.show(last - 2) == shown == journal.show(str(last))
    with pytest.raises(InvalidAction, match="no action or entry tap_9"):
        journal.show("tap_9")


def test_secrets_are_redacted_before_anything_is_hashed(tmp_path: Path) -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": 'swor"d fish'})

    async def work(journal: Journal) -> None:
        nested = json.dumps({"typed": 'swor"d fish'})
        await journal.seal(
            {
                "kind": "note",
                "plain": 'x swor"d fish y',
                "nested": [nested],
                'swor"d fish': {"url": "swor%22d%20fish"},
            }
        )
        assert journal.verify().ok
        event = json.loads(next(journal.export()))
        assert event["plain"] == "x ${secret:PIN} y"
        assert event["nested"] == ['{"typed": "${secret:PIN}"}']
        assert event["${secret:PIN}"] == {"url": "${secret:PIN}"}

    with_journal(tmp_path, work, redact=secrets.redact)
    assert all(b"fish" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_pin_that_occurs_in_what_the_engine_made_itself_does_not_tear_it(tmp_path: Path) -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": "1710"})

    async def work(journal: Journal) -> None:
        same = {"action_id": "type_text_1710000000000_1", "session": "s1710", "device": "127.0.0.1:1710"}
        journal.note({**same, "kind": "accepted", "action": {"type": "type_text", "text": "1710"}})
        envelope = {"action_id": same["action_id"], "ui_fingerprint_after": "ab1710", "message": "typed 1710"}
        await journal.seal({**same, "kind": "verified", "terminal": True, "envelope": envelope})
        shown = journal.show(same["action_id"])
        assert shown.events[0]["action"]["text"] == "${secret:PIN}"
        assert {key: shown.events[1][key] for key in same} == same
        assert shown.envelope == {**envelope, "message": "typed ${secret:PIN}"}
        assert journal.verify().ok

    with_journal(tmp_path, work, redact=secrets.redact)


def test_the_body_is_canonical() -> None:
    one = entry_of({"b": 1, "a": {"d": "é", "c": None}}, 5, str)
    two = entry_of({"a": {"c": None, "d": "é"}, "b": 1}, 5, str)
    assert one == two
    assert one.body == '{"a":{"c":null,"d":"é"},"b":1}'
    assert canonical_json("\ud800") == '"\\ud800"'


def test_nobody_else_can_read_the_journal(tmp_path: Path) -> None:
    write_actions(tmp_path / "home", 1)
    for path in (tmp_path / "home").rglob("*"):
        assert not path.stat().st_mode & 0o077, path


async def test_a_journal_that_can_not_be_written_says_so_and_catches_up_later(
    tmp_path: Path, journal: Journal
) -> None:
    await journal.seal({"kind": "note", "text": "first"})
    with sqlite3.connect(tmp_path / "handrail.db") as other:
        other.execute("ALTER TABLE journal RENAME TO hidden")
    with pytest.raises(HandrailError, match="can't be used"):
        await journal.seal({"kind": "note", "text": "second"})
    other.execute("ALTER TABLE hidden RENAME TO journal")
    other.close()
    await journal.seal({"kind": "note", "text": "third"})
    assert [json.loads(line)["text"] for line in journal.export()] == ["first", "second", "third"]
    assert journal.verify().ok


async def test_after_close_nothing_can_be_noted(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path, ManualClock())
    await journal.close()
    with pytest.raises(HandrailError, match="closed"):
        journal.note({"kind": "note"})
