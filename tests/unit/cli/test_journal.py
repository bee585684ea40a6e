"""`handrail journal`: lists, one action, the proof, and the export."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from rich.cells import cell_len

from handrail.cli.journal import moment_text, print_actions
from handrail.clock import SystemClock
from handrail.journal import Journal
from handrail.journal.query import ActionRow
from tests.unit.cli.command import Handrail
from tests.unit.journal.journalist import act, with_journal


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five actions of four events; the fourth one failed."""

    async def work(journal: Journal) -> None:
        for number in range(1, 6):
            await act(journal, number, failed=number == 4)

    with_journal(tmp_path, work)
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("home")
def test_the_list_is_newest_first_and_says_where_the_next_page_begins(handrail: Handrail) -> None:
    first = handrail("journal", "list", "--limit", "2")
    rows = [line.split("\t") for line in first.out.splitlines()]
    assert [row[0] for row in rows] == ["20", "16"]
    assert rows[0][2:] == [
        "tap_1710000000000_5", "verified", "emulator-5554", "agent tester", "why not", "Button 5",
    ]  # fmt: skip
    assert rows[1][3] == "failed ELEMENT_NOT_FOUND"
    assert first.err == "more: handrail journal list --before 16\n"
    assert [row["seq"] for row in handrail("journal", "list", "--before", "16", "--json").lines[0]] == [
        12,
        8,
        4,
    ]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_at_a_terminal_each_action_is_one_line_that_fits(
    home: Path, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    journal = Journal.open(home, SystemClock())
    print_actions(journal.actions(), width)
    asyncio.run(journal.close())
    head, *rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 5
    assert max(map(len, [head, *rows])) <= width
    for name, said in (("what", 'tap "Button 4"'), ("outcome", "ELEMENT_NOT_FOUND")):
        assert rows[1][head.index(name) :].startswith(said)
    assert rows[0][head.index("what") :].startswith('Tapped "Button 5"')
    assert {row[head.index("outcome") :].split()[0] for row in rows} == {"verified", "ELEMENT_NOT_FOUND"}
    assert ("tester" in rows[0]) is (width >= 72)
    assert ("why not" in rows[0]) is (width >= 100)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("label", ["设置" * 40, "הגדרות" * 20, "a\x1b[2Jb\nc" * 30, "e\u0301" * 90])
def test_long_and_foreign_labels_keep_to_their_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    width: int,
    label: str,
) -> None:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    action = {"type": "tap", "target": {"text": label}}
    row = ActionRow(
        1, SystemClock().now_ms(), "tap_1", "tap", "failed", "ELEMENT_NOT_FOUND", "d", "s", None, None, label,
        label, action,
    )  # fmt: skip
    print_actions([row, replace(row, seq=2, state="verified", failure_code=None)], width)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert max(map(cell_len, lines)) <= width
    assert "\x1b[2J" not in "".join(lines)


def test_times_are_as_people_read_them() -> None:
    now = datetime.now().replace(microsecond=0)
    assert moment_text(int(now.timestamp() * 1000)) == f"{now:%H:%M:%S}"
    assert moment_text(0)[:4] in ("1970", "1969")


def test_an_empty_list_says_so(home: Path, handrail: Handrail) -> None:
    done = handrail("journal", "list", "--type", "swipe")
    assert (done.code, done.out, done.err) == (0, "", "Nothing was done that fits.\n")
    assert handrail("journal", "list", "--type", "swipe", "--json").lines == [[]]
    assert home


@pytest.mark.usefixtures("home")
def test_the_list_is_filtered(handrail: Handrail) -> None:
    count = lambda *options: len(handrail("journal", "list", *options).out.splitlines())  # noqa: E731
    assert (count("--failed"), count("--succeeded"), count("--type", "swipe")) == (1, 4, 0)
    assert (count("--device", "emulator-5554"), count("--since", "2024-03-09T16:00:00")) == (5, 5)
    assert count("--since", "2024-03-10") == 0
    assert handrail("journal", "list", "--since", "yesterday").code == 2


@pytest.mark.usefixtures("home")
def test_one_action_is_told_as_a_story_and_as_data(handrail: Handrail) -> None:
    shown = handrail("journal", "show", "tap_1710000000000_4").out
    assert shown.splitlines()[0] == 'tap "Button 4"'
    assert "  outcome   ELEMENT_NOT_FOUND" in shown
    assert "  why       why not" in shown
    ways = [
        line.split()[-1] for line in shown.splitlines() if line.split()[:1] and line.split()[0].isdecimal()
    ]
    assert ways == ["accepted", "resolved", "dispatched", "failed"]
    assert handrail("journal", "show", "tap_1710000000000_5").out.startswith('Tapped "Button 5"\n')
    data = handrail("journal", "show", "14", "--json").lines[0]
    assert data["action_id"] == "tap_1710000000000_4"
    assert len(data["events"]) == 4


@pytest.mark.usefixtures("home")
def test_an_unknown_action_is_an_error_with_a_hint(handrail: Handrail) -> None:
    done = handrail("journal", "show", "tap_9_9")
    assert done.code == 2
    assert "handrail journal list" in done.err


@pytest.mark.usefixtures("home")
def test_the_proof_prints_a_head_that_can_be_kept_and_compared(handrail: Handrail) -> None:
    proved = handrail("journal", "verify")
    assert proved.code == 0
    assert proved.out.startswith("ok: 20 entries, head 20:")
    head = proved.out.split()[-1]
    assert handrail("journal", "verify", "--head", head, "--json").lines[0]["head"] == head
    assert handrail("journal", "verify", "--head", f"21:{'a' * 64}").code == 1
    assert handrail("journal", "verify", "--head", "nonsense").code == 2


def test_the_proof_fails_with_one_and_names_the_bad_entry(handrail: Handrail, home: Path) -> None:
    db = sqlite3.connect(home / "handrail.db")
    db.execute("UPDATE journal SET body = replace(body, 'Button 2', 'Button 3') WHERE seq = 5")
    db.commit()
    db.close()
    done = handrail("journal", "verify")
    assert done.code == 1
    assert done.out == "BROKEN at entry 5: entry 5 was changed: its content and its hash do not fit\n"
    assert handrail("journal", "verify", "--json").lines[0]["first_bad"] == 5


def test_the_export_is_one_event_a_line(handrail: Handrail, tmp_path: Path, home: Path) -> None:
    events = handrail("journal", "export").lines
    assert [event["seq"] for event in events] == list(range(1, 21))
    assert len(handrail("journal", "export", "--action", "tap_1710000000000_2").lines) == 4
    assert handrail("journal", "export", "--output", str(tmp_path / "out.jsonl")).code == 0
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == events


def test_where_there_is_no_journal_nothing_is_proved(
    handrail: Handrail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "typo"))
    done = handrail("journal", "verify")
    assert done.code == 2
    assert "no journal in" in done.err
    assert not (tmp_path / "typo").exists()


@pytest.mark.usefixtures("home")
def test_the_journal_can_be_read_while_it_is_written(handrail: Handrail, home: Path) -> None:
    async def work(journal: Journal) -> None:
        await act(journal, 6)
        done = await asyncio.to_thread(handrail, "journal", "list", "--limit", "1")
        assert "tap_1710000000000_6" in done.out

    with_journal(home, work)


def test_a_file_that_is_no_database_is_said_to_be_damaged(handrail: Handrail, home: Path) -> None:
    (home / "handrail.db").write_bytes(b"nothing of the kind" * 500)
    done = handrail("journal", "list")
    assert done.code == 3
    assert "is damaged" in done.err
