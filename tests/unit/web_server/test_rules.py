"""The door's rules without a door: hosts and origins, guesses, pace, names, the notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.desk.questions import permission_key
from handrail.safety.permissions import Permissions, agent_key
from handrail.web_server.approvals import agent_answer_reader, agent_answer_writer
from handrail.web_server.auth import (
    GUESS_WINDOW_MS,
    MOST_ADDRESSES,
    MOST_GUESSES,
    HostRules,
    Visitor,
    WrongGuesses,
    clean_agent_name,
    served_hosts,
)
from handrail.web_server.desk_file import DeskFile
from handrail.web_server.websocket import RateLimit
from handrail_sim.clock import ManualClock
from tests.cases import each

HOST = "127.0.0.1:8420"
LOCAL = HostRules(served_hosts("127.0.0.1", 8420))
PUBLIC = HostRules(served_hosts("0.0.0.0", 8420))


@each(
    ("headers", "status"),
    [
        ({"host": HOST}, None),
        ({"host": "localhost:8420"}, None),
        ({"host": "[::1]:8420", "origin": "http://[::1]:8420"}, None),
        ({"host": HOST, "origin": f"http://{HOST}"}, None),
        ({}, 421),
        ({"host": ""}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"host": "127.0.0.1:8421"}, 421),
        ({"host": "LOCALHOST:8420.evil"}, 421),
        ({"host": HOST, "origin": "http://localhost:8420"}, 403),
        ({"host": HOST, "origin": f"http://{HOST}/"}, 403),
        ({"host": HOST, "origin": f"http://{HOST}@evil"}, 403),
        ({"host": HOST, "origin": ""}, 403),
        ({"host": HOST, "origin": f"http://{HOST}", "sec-fetch-site": "same-site"}, 403),
    ],
)
def test_this_machine_serves_its_own_names_to_its_own_pages(
    headers: dict[str, str], status: int | None
) -> None:
    refusal = LOCAL.wrong_host(headers) or LOCAL.wrong_origin("POST", headers)
    assert (refusal.status if refusal else None) == status


def test_a_public_address_serves_any_name_to_pages_of_that_name() -> None:
    for host in ("desk.example", "desk.example:8420", "192.168.1.5:8420", "[2001:db8::1]:8420"):
        assert PUBLIC.wrong_host({"host": host}) is None
        assert PUBLIC.wrong_origin("POST", {"host": host, "origin": f"https://{host}"}) is None
    for host in ("", "a b", "x; script-src *", "x/y", "x@y", "x:999999", "x\ny"):
        assert PUBLIC.wrong_host({"host": host}) is not None, host
    refusal = PUBLIC.wrong_origin("POST", {"host": "desk.example", "origin": "https://evil.example"})
    assert refusal.status == 403


async def test_guesses_are_counted_by_address_and_forgotten_with_time() -> None:
    clock = ManualClock()
    guesses = WrongGuesses(clock)
    for _ in range(MOST_GUESSES):
        assert guesses.wait_ms("a") == 0
        guesses.add("a")
        await clock.advance(1_000)
    assert guesses.wait_ms("a") == GUESS_WINDOW_MS - MOST_GUESSES * 1_000
    assert guesses.wait_ms("b") == 0
    await clock.advance(guesses.wait_ms("a"))
    assert guesses.wait_ms("a") == 0
    guesses.add("a")
    assert guesses.wait_ms("a") > 0


def test_a_thousand_liars_do_not_fill_the_memory() -> None:
    guesses = WrongGuesses(ManualClock())
    for number in range(MOST_ADDRESSES + 50):
        guesses.add(f"10.0.{number // 256}.{number % 256}")
    assert len(guesses._wrong) == MOST_ADDRESSES


async def test_a_client_may_burst_and_then_keeps_the_pace() -> None:
    clock = ManualClock()
    pace = RateLimit(clock, rate=10, burst=5)
    assert [pace.allows() for _ in range(6)] == [True] * 5 + [False]
    await clock.advance(200)
    assert [pace.allows() for _ in range(3)] == [True, True, False]
    await clock.advance(60_000)
    assert [pace.allows() for _ in range(6)] == [True] * 5 + [False]


def test_a_name_of_a_program_can_not_steer_a_terminal() -> None:
    assert clean_agent_name("\x1b[31mevil\n") == "[31mevil"
    assert clean_agent_name("a" * 100) == "a" * 60
    assert clean_agent_name(" ") is clean_agent_name(None) is None


def test_people_and_programs_are_told_apart_in_the_journal() -> None:
    assert Visitor("program", "writer", is_remote=True).caller().to_dict() == {
        "id": "writer", "kind": "agent", "door": "http", "remote": True,
    }  # fmt: skip
    person = Visitor.person(is_remote=False).caller()
    assert (person.actor, person.door, person.terminal) == ("person", "desk", None)


def test_the_notice_is_its_owners_only_and_its_secrets_last(tmp_path: Path) -> None:
    path = tmp_path / "config" / "desk.json"
    first = DeskFile.renew(path, "127.0.0.1", 8420, None)
    first.write(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert DeskFile.read(path) == first
    again = DeskFile.renew(path, "0.0.0.0", 9000, None)
    assert (again.token, again.key, again.address) == (first.token, first.key, "http://127.0.0.1:9000")
    assert DeskFile.renew(path, "::1", 1, "another-token-0123").token == "another-token-0123"


@pytest.mark.parametrize("damage", ["{", "[]", '{"token": 5}', ""])
def test_a_notice_that_is_broken_or_was_open_to_others_counts_for_nothing(
    tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "desk.json"
    made = DeskFile.renew(path, "127.0.0.1", 8420, None)
    made.write(path)
    path.chmod(0o644)
    assert DeskFile.read(path) is None
    assert DeskFile.renew(path, "127.0.0.1", 8420, None).key != made.key
    path.write_text(damage)
    path.chmod(0o600)
    assert DeskFile.read(path) is None


def test_what_an_agent_has_remembered_is_kept_under_its_own_name(tmp_path: Path) -> None:
    permissions = Permissions(tmp_path / "permissions.json")
    remember, recall = agent_answer_writer(permissions), agent_answer_reader(permissions)
    for agent, tool, context in (("a:b%", "mail:send", "to: ada"), ("writer", "save", None)):
        key = permission_key(agent, {"toolName": tool, "context": context})
        remember(key, True)
        assert recall(key) is True
        assert permissions.all()[agent_key(agent, tool, context)] is True
    assert recall("agent:stranger:save") is None
