"""`handrail approvals`, `approve`, `reject`, and the prompt at the terminal of a running command."""

from __future__ import annotations

import asyncio
import json
import os
import pty
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from handrail.cli.approvals import TerminalPrompt, duration_text
from handrail.clock import SystemClock
from handrail.device_names import DeviceNames
from handrail.safety.approval_request import AuthorizationRequest, GrantScope
from tests.cases import each
from tests.unit.cli.command import Handrail
from tests.unit.safety.asking import Desk, Vault, human_auth, question, run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    return tmp_path


def asked(home: Path, request: AuthorizationRequest) -> str:
    """A question whose asker is gone, as after a crash: stored and open."""
    ids: list[str] = []

    async def story(at: Desk) -> None:
        task, one = await at.ask(request)
        ids.append(one.id)
        task.cancel()
        await asyncio.wait({task})
        await at.store.write(lambda db: db.execute("UPDATE approvals SET state = 'pending'"))

    run(home, story, clock=SystemClock())
    return ids[0]


def test_nothing_to_answer_is_said(handrail: Handrail) -> None:
    assert handrail("approvals").out == "Nothing waits for an answer.\n"
    assert handrail("approvals", "--all").out == "Nothing was asked yet.\n"
    assert json.loads(handrail("approvals", "--json").out) == []


def test_open_questions_are_listed_with_what_and_why(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, question(label="Pay now", why="it costs money"))
    row = handrail("approvals").out.strip().split("\t")
    assert (row[0], row[1], row[4], row[5], row[6]) == (
        id_,
        "pending",
        "emulator-5554",
        'tap "Pay now"',
        "it costs money",
    )
    [data] = json.loads(handrail("approvals", "--json").out)
    assert (data["id"], data["state"], data["label"]) == (id_, "pending", "Pay now")


def test_a_question_names_the_phone_as_people_do(handrail: Handrail, home: Path) -> None:
    DeviceNames(home).give("emulator-5554", "Mum's phone")
    asked(home, question(label="Pay now"))
    assert handrail("approvals").out.split("\t")[4] == "Mum's phone (emulator-5554)"


def test_a_beginning_of_the_id_is_enough_to_approve(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, question())
    done = handrail("approve", id_[:6], "--by", "ada")
    assert (done.code, done.out) == (0, f"Approved: {id_} tap\n")
    [data] = json.loads(handrail("approvals", "--all", "--json").out)
    assert (data["state"], data["answered_by"]) == ("approved", "ada")
    assert handrail("approvals").out == "Nothing waits for an answer.\n"


def test_a_rejection_carries_its_reason(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, question())
    assert handrail("reject", id_, "--reason", "not today").code == 0
    [data] = json.loads(handrail("approvals", "--all", "--json").out)
    assert (data["state"], data["note"]) == ("denied", "not today")


def test_a_second_answer_is_refused_with_exit_code_4(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, question())
    handrail("approve", id_, "--by", "ada")
    again = handrail("reject", id_)
    assert again.code == 4
    assert "approved by ada" in again.err


def test_a_wrong_id_is_answered_with_the_nearest(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, question())
    wrong = handrail("approve", id_[:-1] + ("0" if id_[-1] != "0" else "1"))
    assert wrong.code == 2
    assert id_ in wrong.err


def test_a_longer_memory_than_the_rule_offers_is_refused(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, question())
    assert handrail("approve", id_, "--remember", "always").code == 2
    assert handrail("approve", id_).code == 0


def test_plain_data_comes_from_standard_input(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, human_auth("location"))
    assert handrail("approve", id_, "--data", "-", stdin="Berlin\n").code == 0
    [data] = json.loads(handrail("approvals", "--all", "--json").out)
    assert data["data"] == "Berlin"


def test_a_secret_for_nobody_is_refused(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, human_auth("2fa"))
    assert handrail("approve", id_, "--data", "123456").code == 4


def test_a_strangers_text_can_not_steer_the_terminal(handrail: Handrail, home: Path) -> None:
    asked(home, question(label="\x1b[2J\x1b]0;evil\x07Pay\u202e now\r\nap_x approved", why="\x1b[31mno"))
    out = handrail("approvals").out
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(out)
    assert len(out.splitlines()) == 1


@each(
    ("ms", "text"),
    [(-5, "0s"), (45_000, "45s"), (119_000, "119s"), (180_000, "3m"), (7_300_000, "2h"), (2e8, "2d")],
)
def test_durations_are_short(ms: float, text: str) -> None:
    assert duration_text(int(ms)) == text


class Terminal:
    """A person at a terminal: types on `keys`, sees `screen`."""

    def __init__(self) -> None:
        self._keys, inner = pty.openpty()
        self.source: TextIO = os.fdopen(inner, "r")
        self.sink: TextIO = os.fdopen(os.dup(inner), "w")

    def type(self, text: str) -> None:
        os.write(self._keys, text.encode())

    async def see(self, wanted: str) -> str:
        """What is on the screen once `wanted` is there."""
        seen = ""
        os.set_blocking(self._keys, False)
        while wanted not in seen:
            try:
                seen += os.read(self._keys, 4096).decode(errors="replace")
            except BlockingIOError:
                await asyncio.sleep(0)
        return seen

    def close(self) -> None:
        self.source.close()
        self.sink.close()
        os.close(self._keys)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.close()


def at_terminal(at: Desk, terminal: Terminal) -> None:
    at.approvals.notify = TerminalPrompt(at.approvals, source=terminal.source, sink=terminal.sink)


@pytest.mark.parametrize(
    ("typed", "approved", "remember"), [("y", True, None), ("s", True, "session"), ("n", False, None)]
)
def test_an_answer_is_typed_where_the_command_runs(
    home: Path, terminal: Terminal, typed: str, approved: bool, remember: str | None
) -> None:
    async def story(at: Desk) -> None:
        at_terminal(at, terminal)
        waiting, _ = await at.ask(question(remember="session", label="Pay now"))
        shown = await terminal.see("[n] no:")
        assert '"Pay now"' in shown
        assert "always" not in shown
        terminal.type(f"{typed}\n")
        answer = await waiting
        assert (answer.approved, answer.remember) == (approved, remember)

    run(home, story)


def test_what_was_typed_before_the_question_is_no_answer(home: Path, terminal: Terminal) -> None:
    async def story(at: Desk) -> None:
        at_terminal(at, terminal)
        terminal.type("y\n")
        waiting, _ = await at.ask(question())
        await terminal.see("[n] no:")
        terminal.type("n\n")
        assert (await waiting).decision == "denied"

    run(home, story)


def test_a_slip_of_the_finger_is_asked_again(home: Path, terminal: Terminal) -> None:
    async def story(at: Desk) -> None:
        at_terminal(at, terminal)
        waiting, _ = await at.ask(question())
        await terminal.see("[n] no:")
        terminal.type("a\n")
        await terminal.see("one of the letters")
        terminal.type("n\n")
        assert (await waiting).decision == "denied"

    run(home, story)


def test_a_code_is_typed_without_being_shown(home: Path, terminal: Terminal) -> None:
    vault = Vault()

    async def story(at: Desk) -> None:
        at_terminal(at, terminal)
        waiting, _ = await at.ask(human_auth("2fa"))
        await terminal.see("[n] no:")
        terminal.type("y\n")
        await terminal.see("What was asked for")
        terminal.type("914273\n")
        answer = await waiting
        assert vault.open(answer.data) == "914273"
        assert "914273" not in await terminal.see("\n")

    run(home, story, keep_secret=vault.keep)


def test_an_answer_from_elsewhere_ends_the_prompt(home: Path, terminal: Terminal) -> None:
    async def story(at: Desk) -> None:
        at_terminal(at, terminal)
        waiting, one = await at.ask(question())
        await terminal.see("[n] no:")
        await at.approvals.answer(one.id, True, "desk")
        assert (await waiting).by == "desk"
        await terminal.see("answered elsewhere")

    run(home, story)


def test_without_a_terminal_it_is_said_how_to_answer_and_nobody_is_prompted(
    home: Path, tmp_path: Path
) -> None:
    async def story(at: Desk) -> None:
        with (tmp_path / "in").open("w+") as source, (tmp_path / "out").open("w+") as sink:
            at.approvals.notify = TerminalPrompt(at.approvals, source=source, sink=sink)
            waiting, one = await at.ask(question())
            await at.approvals.answer(one.id, True, "ada")
            await waiting
            sink.seek(0)
            said = sink.read()
            assert f"handrail approve {one.id}" in said
            assert "[y]" not in said

    run(home, story)


SEND = GrantScope("a class of acts", "tap 'Send' in com.example.mail")


def test_the_like_of_it_is_allowed_for_a_time_listed_and_revoked(handrail: Handrail, home: Path) -> None:
    id_ = asked(home, question(scope=SEND, remember="time", asked_by="mcp"))
    done = handrail("approve", id_, "--for", "2h", "--times", "4", "--by", "ada")
    given = id_.replace("ap_", "gr_")
    assert done.code == 0, done.err
    assert f"{given}: mcp may tap 'Send' in com.example.mail on emulator-5554 until " in done.out
    assert f", 4 of 4 times left\n`handrail policy revoke {given}` ends it.\n" in done.out
    [listed] = json.loads(handrail("policy", "grants", "--json").out)
    assert (listed["id"], listed["left"], listed["granted_by"]) == (given, 4, "ada")
    assert given in handrail("policy", "grants").out
    assert handrail("policy", "revoke", given[:8]).out.startswith(f"Revoked: {given} tap 'Send'")
    assert handrail("policy", "grants").out == "Nothing is allowed for a time.\n"
    assert given in handrail("journal", "export").out
    assert handrail("policy", "revoke", given).code == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--for", "tomorrow"), "is not a time such as 30m"),
        (("--for", "25h"), "at most 24 hours"),
        (("--times", "0"), "1 to 100 times"),
        (("--for", "1h", "--remember", "always"), "plain yes"),
    ],
)
def test_a_time_that_is_none_allows_nothing(
    handrail: Handrail, home: Path, words: tuple[str, ...], says: str
) -> None:
    id_ = asked(home, question(scope=SEND, remember="always"))
    done = handrail("approve", id_, *words)
    assert done.code == 2
    assert says in done.err
    assert [one["state"] for one in json.loads(handrail("approvals", "--json").out)] == ["pending"]
