"""Questions of hosts are answered at the head, and orders of the head are obeyed only with its signature."""

import asyncio
from pathlib import Path

import pytest
from packages.fleet.tests.lab import Lab, lab, unit

from handrail.errors import ActionRejected, InvalidAction
from handrail.journal.signed_note import LOG, SigningKey
from handrail_fleet.orders import KEY_NAME, OrderedHost, head_key, read_order, signed_order, trusted_key
from tests.scenario.world import play

ASKING = """
name: Delete what is there
app: com.android.settings
steps:
  - request_human_auth: {capability: permission, instruction: May I go on?}
  - press_key: back
"""


async def asked(fleet: Lab) -> str:
    while not (pending := await fleet.runtime.approvals.pending()):
        await asyncio.sleep(0.02)
    return pending[0].id


async def answer_at_the_head(folder: Path, approve: bool) -> str:
    async with lab(folder) as fleet:
        await fleet.add("one", phones=1)
        await fleet.add("two", phones=1)
        run = await fleet.submit([unit(ASKING, folder)])
        id_ = await asked(fleet)
        one = await fleet.runtime.approvals.get(id_)
        [told] = await fleet.units(run)
        assert one.request.device == f"sim-1@{told['host']}"
        assert one.request.instruction == "May I go on?"
        await fleet.runtime.approvals.answer(id_, approve, "a person")
        await fleet.done(run)
        [told] = await fleet.units(run)
        return str(told["result"]["outcome"])


def test_a_question_of_a_host_is_answered_at_the_head(tmp_path: Path) -> None:
    assert play(answer_at_the_head(tmp_path, True)) == "passed"


def test_a_no_at_the_head_fails_the_flow_on_its_host(tmp_path: Path) -> None:
    assert play(answer_at_the_head(tmp_path, False)) == "failed"


async def stop_while_it_asks(folder: Path) -> None:
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        run = await fleet.submit([unit(ASKING, folder)])
        id_ = await asked(fleet)
        await fleet.head.stop(run)
        await fleet.done(run)
        [told] = await fleet.units(run)
        assert told["result"]["outcome"] == "stopped"
        assert host.phones.free(), "the phone is free again"
        while (await fleet.runtime.approvals.get(id_)).is_open:
            await asyncio.sleep(0.02)


def test_a_stop_ends_a_unit_that_waits_for_a_person(tmp_path: Path) -> None:
    play(stop_while_it_asks(tmp_path))


async def nobody_is_asked(folder: Path) -> None:
    async with lab(folder) as fleet:
        await fleet.add("one", phones=1)
        run = await fleet.submit([unit(ASKING, folder, refuse=True)])
        await fleet.done(run)
        [told] = await fleet.units(run)
        assert told["result"]["outcome"] == "failed"
        assert await fleet.runtime.approvals.history() == []


def test_a_run_that_refuses_questions_asks_nobody(tmp_path: Path) -> None:
    play(nobody_is_asked(tmp_path))


async def take_and_touch(folder: Path) -> None:
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        people, person = fleet.head.people, {"phone": "sim-1", "by": "ada", "page": "p1"}
        told = await people.order("one", "take", person)
        assert told["holder"]["holder"]["kind"] == "person"
        await people.order("one", "touch", {**person, "action": {"type": "press_key", "key": "home"}})
        picture = await people.order("one", "picture", person)
        assert picture["jpeg"].startswith("/9j/")
        told = await people.order("one", "hand_back", person)
        assert told["holder"] is None
        with pytest.raises(Exception, match="no phone"):
            await people.order("one", "picture", {"phone": "sim-9"})
        assert host.phones.free()


def test_people_at_the_head_take_over_touch_and_hand_back_a_phone_of_a_host(tmp_path: Path) -> None:
    play(take_and_touch(tmp_path))


def test_an_order_counts_only_with_the_heads_signature_for_this_process_and_once(tmp_path: Path) -> None:
    key, other = head_key(tmp_path), SigningKey.make(KEY_NAME, LOG)
    one, two, later = OrderedHost("one", "i1"), OrderedHost("two", "i1"), OrderedHost("one", "i2")
    good = signed_order(key, one, 7, "stop", {})
    assert read_order(good, key.verifier, one, 6)["kind"] == "stop"
    for text, host, after in (
        (signed_order(other, one, 7, "stop", {}), one, 6),
        (good, two, 6),
        (good, later, 6),
        (good, one, 7),
        (good.replace('"kind": "stop"', '"kind": "take"'), one, 6),
        ("nonsense", one, 0),
    ):
        with pytest.raises(ActionRejected):
            read_order(text, key.verifier, host, after)


def test_another_head_with_another_key_is_not_followed(tmp_path: Path) -> None:
    first = head_key(tmp_path / "head")
    trusted_key(tmp_path / "host", str(first.verifier))
    with pytest.raises(InvalidAction, match="another key"):
        trusted_key(tmp_path / "host", str(SigningKey.make(KEY_NAME, LOG).verifier))
