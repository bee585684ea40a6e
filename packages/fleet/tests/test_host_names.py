"""All hosts share one token: none of them speaks in another's name, and an order is not obeyed twice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from packages.fleet.tests.lab import Lab, lab, unit

from handrail.errors import ActionRejected, HandrailError, Timeout
from handrail.journal.signed_note import LOG, SigningKey
from handrail_fleet import head_people
from handrail_fleet.host_identity import signed_hello
from handrail_fleet.transport import versions
from tests.scenario.world import play

HOME = 3  # as the phone gets it
WAITING = "name: W\nsteps:\n  - wait_for: {condition: {visible: Never there}, timeout_ms: 60000}\n"


def hello(name: str, signer: SigningKey, word: str, **other: Any) -> dict[str, Any]:
    told = {"name": name, "incarnation": "f" * 32, "key": str(signer.verifier), "word": word}
    proof = signed_hello(signer, name, told["incarnation"], word)
    return {**told, "proof": proof, "about": versions(), "phones": [], **other}


async def word(fleet: Lab) -> str:
    return str((await fleet.head.answer("challenge", {}))["word"])


async def speak_as_another(folder: Path) -> None:
    """Host two knows everything that the fleet shares, and what a status tells of host one."""
    async with lab(folder) as fleet:
        one = await fleet.add("one", phones=1)
        two = await fleet.add("two", phones=1)
        run = await fleet.submit([unit(WAITING, folder)])
        while not (held := [name for name in ("one", "two") if await works(fleet, name)]):
            await asyncio.sleep(0.02)
        victim, thief = (one, two) if held == ["one"] else (two, one)
        report = {"unit": f"{run}.1", "attempt": 1, "ended": "accepted", "result": {"outcome": "passed"}}
        calls: dict[str, dict[str, Any]] = {
            "report": {"reports": [{"report": report, "proof": None}], "files": {}},
            "claim": {"ask": "a", "free": [{"serial": "sim-1"}], "limit": 1},
            "beat": {"held": [], "phones": []},
            "orders": {"after": 0},
            "obeyed": {"number": 1, "told": {}},
            "asked": {"question": {}},
            "closed": {"id": "x"},
            "have": {"files": []},
        }
        for name, data in calls.items():
            for incarnation in (thief.agent.incarnation, "", "0" * 32):
                told = {"name": victim.agent.name, "incarnation": incarnation, **data}
                assert "stale" in await fleet.head.answer(name, told), name
        assert set(calls) | {"challenge", "hello"} == set(fleet.head.calls), "each call of a host was tried"
        [told] = await fleet.units(run)
        assert told["state"] == "running"
        await fleet.head.stop(run)


async def works(fleet: Lab, name: str) -> bool:
    return any(
        one["held"] for one in await fleet.head.do(lambda ledger: ledger.hosts()) if one["name"] == name
    )


def test_a_host_can_not_speak_in_the_name_of_another(tmp_path: Path) -> None:
    play(speak_as_another(tmp_path))


async def begin_as_another(folder: Path) -> None:
    async with lab(folder) as fleet:
        one = await fleet.add("one", phones=1)
        known = {host["name"]: host["key"] for host in await fleet.head.do(lambda ledger: ledger.hosts())}
        mine = SigningKey.make("handrail/another", LOG)
        used = await word(fleet)
        with pytest.raises(ActionRejected):
            await fleet.head.answer("hello", hello("one", mine, used, key=known["one"]))
        with pytest.raises(Timeout):
            await fleet.head.answer("hello", hello("three", mine, used))
        signed = signed_hello(mine, "four", "f" * 32, fresh := await word(fleet))
        with pytest.raises(ActionRejected):
            await fleet.head.answer("hello", hello("three", mine, fresh, proof=signed))
        with pytest.raises(HandrailError, match="another machine is known as one"):
            await fleet.head.answer("hello", hello("one", mine, await word(fleet)))
        told = await fleet.head.answer("beat", {
            "name": "one", "incarnation": one.agent.incarnation, "held": [], "phones": [],
        })  # fmt: skip
        assert told == {"held": []}, "the right one is still believed"


def test_nobody_says_hello_without_the_key_that_the_host_joined_with(tmp_path: Path) -> None:
    play(begin_as_another(tmp_path))


async def give_up_an_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The phone's own log of input is the judge."""
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        phone = host.phones.phones["sim-1"].simulated
        assert phone is not None
        people, person = fleet.head.people, {"phone": "sim-1", "by": "ada", "page": "p1"}

        def touch(key: str) -> dict[str, Any]:
            return {**person, "action": {"type": "press_key", "key": key}}

        await people.order("one", "take", person)
        monkeypatch.setattr(head_people, "ANSWER_S", 0.5)
        host.line.is_cut = True
        with pytest.raises(Timeout):
            await people.order("one", "touch", touch("back"))
        host.line.is_cut = False
        monkeypatch.setattr(head_people, "ANSWER_S", 8.0)
        await people.order("one", "touch", touch("home"))
        while not phone.input_log:
            await asyncio.sleep(0.02)
        await people.order("one", "hand_back", person)
        keys = [one["code"] for one in phone.input_log]
        assert keys == [HOME], "what a person was told has failed is not done later"


def test_an_order_that_was_given_up_is_not_obeyed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(give_up_an_order(tmp_path, monkeypatch))


async def next_process(folder: Path) -> None:
    async with lab(folder) as fleet:
        people = fleet.head.people
        people.heard("one", "i1")
        giving = asyncio.create_task(people.order("one", "touch", {"phone": "sim-1"}))
        assert len(await people.wait_for_orders("one", "i1", 0, 2_000)) == 1
        assert await people.wait_for_orders("one", "i2", 0, 0) == [], "it was for the process that died"
        giving.cancel()
        await asyncio.wait({giving})


def test_the_next_process_of_a_host_is_not_given_what_was_for_the_one_before(tmp_path: Path) -> None:
    play(next_process(tmp_path))
