"""Reading the journal: what a list, one action and an export say, also of events that leave things out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.journal import Journal
from handrail.journal.query import columns_of, entry_of
from handrail.safety.secrets import Secrets
from tests.cases import each
from tests.unit.journal.journalist import act, with_journal

ACCEPTED: dict[str, Any] = {
    "kind": "accepted", "action_id": "tap_1_1", "session": "s1", "device": "emulator-5554",
    "actor": {"kind": "agent", "id": "ada"}, "door": "mcp", "reason": "why not", "action": {"type": "tap"},
}  # fmt: skip


def listed(home: Path, *events: dict[str, Any]) -> list[dict[str, Any]]:
    """The list of actions after these events."""

    async def work(journal: Journal) -> list[dict[str, Any]]:
        for event in events:
            await journal.seal(event)
        return [row.to_dict() for row in journal.actions()]

    return with_journal(home, work)


def test_a_row_says_what_was_asked_and_what_came_of_it(tmp_path: Path) -> None:
    envelope = {"action_type": "tap", "failure_code": "TIMEOUT", "reason": "another", "success": False}
    end = {"kind": "failed", "action_id": "tap_1_1", "terminal": True, "at_ms": 7, "envelope": envelope}
    [row] = listed(tmp_path, ACCEPTED, end)
    assert row == {
        "seq": 2, "at_ms": 7, "action_id": "tap_1_1", "type": "tap", "state": "failed",
        "failure_code": "TIMEOUT", "device": "emulator-5554", "session": "s1",
        "actor": {"kind": "agent", "id": "ada"}, "door": "mcp", "reason": "why not",
    }  # fmt: skip


def test_where_the_beginning_is_missing_the_envelope_says_what_it_was(tmp_path: Path) -> None:
    envelope = {"action_type": "swipe", "reason": "I look for it", "success": True}
    end = {"kind": "verified", "action_id": "swipe_1_1", "terminal": True, "at_ms": 7, "envelope": envelope}
    [row] = listed(tmp_path, {"kind": "note"}, end, {"kind": "swept", "names": [], "terminal": True})
    assert row == {
        "seq": 2, "at_ms": 7, "action_id": "swipe_1_1", "type": "swipe", "state": "verified",
        "reason": "I look for it",
    }  # fmt: skip


def test_an_action_of_which_nothing_but_its_beginning_is_known_is_listed(tmp_path: Path) -> None:
    [row] = listed(tmp_path, {"kind": "accepted", "action_id": 17, "device": 5554, "at_ms": 9})
    assert row == {"seq": 1, "at_ms": 9, "action_id": "17", "state": "unfinished", "device": "5554"}


def test_an_action_that_has_begun_is_listed_with_what_it_is(tmp_path: Path) -> None:
    [row] = listed(tmp_path, ACCEPTED)
    assert (row["type"], row["state"], row["door"]) == ("tap", "unfinished", "mcp")


async def test_fifty_actions_are_listed_unless_more_are_asked_for(journal: Journal) -> None:
    for number in range(51):
        await journal.seal({**ACCEPTED, "action_id": f"tap_1_{number}"})
    assert len(journal.actions()) == 50
    assert len(journal.actions(limit=51)) == 51


async def test_an_entry_of_no_action_is_shown_alone(journal: Journal) -> None:
    await act(journal, 1)
    seq = await journal.seal({"kind": "note", "text": "by itself", "at_ms": 3})
    shown = journal.show(seq)
    assert (shown.action_id, shown.envelope) == (None, None)
    [event] = shown.events
    assert len(event.pop("hash")) == 64
    assert event == {"seq": 5, "at_ms": 3, "kind": "note", "text": "by itself"}


async def test_the_last_envelope_of_an_action_is_the_one_that_is_shown(journal: Journal) -> None:
    for number in (1, 2):
        await journal.seal({"kind": "note", "action_id": "a", "envelope": {"number": number}})
    await journal.seal({"kind": "note", "action_id": "a"})
    assert journal.show("a").envelope == {"number": 2}


@pytest.mark.parametrize("wanted", ["tap_9", 17, "17"])
async def test_what_is_not_there_is_an_error_that_names_it(wanted: str | int, journal: Journal) -> None:
    with pytest.raises(InvalidAction, match=f"no action or entry {wanted}$") as failure:
        journal.show(wanted)
    assert failure.value.details["path"] == "action"


async def test_the_export_is_filtered_by_device_time_and_action(journal: Journal) -> None:
    await act(journal, 1, at_ms=1000)
    await act(journal, 2, at_ms=2000, device="other")
    seqs = lambda **wanted: [json.loads(line)["seq"] for line in journal.export(**wanted)]  # noqa: E731
    assert seqs(device="other") == seqs(since=2000) == seqs(action_id="tap_1710000000000_2") == [5, 6, 7, 8]
    assert seqs(since=2001) == seqs(device="other", action_id="tap_1710000000000_1") == []
    assert seqs() == list(range(1, 9))


async def test_an_export_is_one_compact_line_an_event(journal: Journal) -> None:
    await journal.seal({"kind": "note", "text": "é", "at_ms": 3})
    [line] = journal.export()
    assert line.startswith('{"seq":1,"at_ms":3,"kind":"note","text":"é","hash":"')


@each(
    ("event", "columns"),
    [
        ({}, ("note", None, None, None, None, 0, 0)),
        ({"kind": "failed", "terminal": True}, ("failed", None, None, None, None, 1, 1)),
        ({"kind": "x", "terminal": 1, "envelope": {"success": False}}, ("x", None, None, None, None, 0, 1)),
        ({"envelope": {"success": None, "action_type": "tap"}}, ("note", None, None, None, "tap", 0, 0)),
        ({"envelope": "cut", "action": "cut"}, ("note", None, None, None, None, 0, 0)),
        (
            {
                "action_id": 1,
                "session": 2,
                "device": 3,
                "action": {"type": 4},
                "envelope": {"action_type": 5},
            },
            ("note", "1", "2", "3", "4", 0, 0),
        ),
    ],
)
def test_the_columns_say_what_the_body_says(event: dict[str, Any], columns: tuple[Any, ...]) -> None:
    assert columns_of(event) == columns


def test_an_event_is_of_the_moment_that_it_names_or_of_now() -> None:
    assert entry_of({"at_ms": 5}, 9, str).at_ms == 5
    assert entry_of({"at_ms": "five"}, 9, str).at_ms == entry_of({}, 9, str).at_ms == 9


def test_what_json_can_not_say_is_said_as_text() -> None:
    assert entry_of({"path": Path("/x")}, 1, str).body == '{"path":"/x"}'


OURS = ("kind", "action_id", "session", "device", "actor", "door", "blobs", "approval")
OURS_IN_ENVELOPE = (
    "action_id", "timestamp", "action_type", "semantic", "device", "lifecycle_state", "source_module",
    "failure_code", "delivery", "ui_fingerprint_before", "ui_fingerprint_after",
    "revision_before", "revision_after", "timings_ms", "approval",
)  # fmt: skip


def test_a_secret_is_redacted_everywhere_but_in_what_the_engine_made_itself() -> None:
    redact = Secrets({"HANDRAIL_SECRET_PIN": "1710"}).redact
    event = {
        **dict.fromkeys((*OURS, "text"), "x1710"),
        "envelope": dict.fromkeys((*OURS_IN_ENVELOPE, "message"), "x1710"),
        "action": {"kind": "1710"},
    }
    body = json.loads(entry_of(event, 1, redact).body)
    assert {key: body[key] for key in OURS} == dict.fromkeys(OURS, "x1710")
    assert body["envelope"] == {**dict.fromkeys(OURS_IN_ENVELOPE, "x1710"), "message": "x${secret:PIN}"}
    assert (body["text"], body["action"]) == ("x${secret:PIN}", {"kind": "${secret:PIN}"})
    odd = json.loads(entry_of({"envelope": ["1710"]}, 1, redact).body)
    assert odd == {"envelope": ["${secret:PIN}"]}
    assert json.loads(entry_of({"text": "1710"}, 1, redact).body) == {"text": "${secret:PIN}"}
