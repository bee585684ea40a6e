"""What a person allows for a time: for one class of acts, one asker, one device, so often, and no longer."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import ActionRejected, InvalidAction
from handrail.safety.approval_request import GrantScope
from handrail.safety.approval_store import Grants, GrantTerms, grant_id
from handrail.safety.caller import Caller
from handrail.safety.subject import TouchedElement
from handrail.screen.node import Screen
from handrail.store import Store
from handrail_sim.clock import ManualClock
from tests.cases import each
from tests.unit.engine.scripted import still
from tests.unit.safety.authorizing import PAY, Office, play
from tests.unit.safety.policy_subjects import button, policy, subject
from tests.unit.screen.drawn import node, row, screen

ASKS = "[[rule]]\nname = 'letters'\nlabel = 'Send*'\nverdict = 'ask'\nremember = 'time'\n"
SEND = {"type": "tap", "target": {"id": "send"}}
HOUR = GrantTerms(3_600_000, 3)


def mail(label: str = "Send", *, id_: str = "app:id/send", package: str = "com.example.mail") -> Screen:
    return screen(
        node("TextView", box=row(0), text="To: Ada", resource_id="app:id/to", package=package),
        node("Button", box=row(1), text=label, resource_id=id_, flags="clickable", package=package),
    )


async def passes(o: Office, action: dict[str, Any] | None = None, caller: Caller | None = None) -> bool:
    """Whether it goes through without anybody being asked."""
    o.lock = asyncio.Lock()
    task = asyncio.ensure_future(o.guard.authorize_named(await o.stage(action or SEND, caller)))
    while not task.done():
        if await o.approvals.pending():
            task.cancel()
        await asyncio.wait({task}, timeout=0.01)
    return not task.cancelled() and task.exception() is None


async def granted(o: Office, allow: GrantTerms = HOUR, **more: Any) -> str:
    one = await o.answered(o.guard.authorize_named(await o.stage(SEND)), allow=allow, **more)
    return grant_id(one.id)


def tell(tmp_path: Path, story: Any, rules: str = ASKS) -> None:
    play(tmp_path, story, rules, drawn=mail())


def test_the_like_of_an_allowed_act_is_not_asked_about_as_often_as_was_said(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        given = await granted(o)
        assert o.book.events[0]["grant"] == given
        [one] = await o.approvals.grants.active()
        until = f"{datetime.fromtimestamp(o.clock.now_ms() / 1000 + 3_600):%H:%M}"
        may = "tester may tap 'Send' in com.example.mail on phone-1"
        assert str(one) == f"{may} until {until}, 3 of 3 times left"
        assert (one.to_dict()["sentence"], one.to_dict()["said"]) == (str(one), one.sentence)
        o.lock = asyncio.Lock()
        stage = await o.stage(SEND)
        await o.guard.authorize_named(stage)
        assert stage.run.approval is not None
        assert (stage.run.approval.id, stage.run.approval.by) == (given, "lena")
        noted = o.book.events[-1]
        assert (noted["kind"], noted["grant"], noted["left"]) == ("approval", given, 2)
        assert noted["actor"] == {"kind": "person", "id": "lena"}
        assert [await passes(o) for _ in range(4)] == [True, True, False, False]
        assert await o.approvals.grants.active() == []

    tell(tmp_path, story)


@pytest.mark.parametrize(
    "drawn",
    [
        mail("Ѕend"),
        mail("S e n d"),
        mail("Send\u3164"),
        mail("SEND"),
        mail("Send all"),
        mail(id_="other:id/send"),
        mail(package="com.example.bank"),
    ],
)
def test_another_element_or_app_is_another_class_however_alike_it_looks(
    tmp_path: Path, drawn: Screen
) -> None:
    async def story(o: Office) -> None:
        await granted(o)
        o.stand.driver.shows = still(drawn)
        assert not await passes(o)
        o.stand.driver.shows = still(mail())
        assert await passes(o)

    tell(tmp_path, story)


@pytest.mark.parametrize(
    "caller",
    [Caller("tester", asker="other"), Caller("tester", "person"), Caller("tester", is_remote=True)],
)
def test_another_asker_or_another_name_is_asked(tmp_path: Path, caller: Caller) -> None:
    async def story(o: Office) -> None:
        await granted(o)
        assert not await passes(o, caller=caller)
        other = o.session("another session")
        o.guard, kept = other, o.guard
        assert not await passes(o)
        o.guard = kept
        assert not await passes(o, caller=Caller("another name")), "agents of one token are told apart"
        assert await passes(o)

    tell(tmp_path, story)


def test_another_action_on_the_same_element_is_asked_about(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await granted(o)
        assert not await passes(o, {"type": "long_press", "target": {"id": "send"}})

    tell(tmp_path, story)


def test_another_device_is_asked_about(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await granted(o)
        scope = GrantScope.of(subject("tap", button("Send")))
        assert scope is not None
        [(key, asker)] = await o.store.read(
            lambda db: [tuple(one) for one in db.execute("SELECT scope, asker FROM grants")]
        )
        grants = o.approvals.grants
        assert await grants.use(key, "phone-2", asker, "tester") is None
        assert await grants.use(key, "phone-1", "", "tester") is None
        assert await grants.use("", "phone-1", asker, "tester") is None
        assert await grants.use(key, "phone-1", asker, "tester") is not None

    tell(tmp_path, story)


def test_a_grant_ends_with_its_time_and_no_clock_brings_it_back(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await granted(o)
        given_at = o.clock.now_ms()
        await o.clock.advance(3_599_999)
        assert await passes(o)
        await o.clock.advance(1)
        o.clock.set_wall(given_at)
        assert not await passes(o)

    tell(tmp_path, story)


def test_a_clock_that_was_set_forward_ends_a_grant_for_good(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await granted(o)
        now = o.clock.now_ms()
        o.clock.set_wall(now + 4_000_000)
        assert await o.approvals.grants.active() == []
        o.clock.set_wall(now)
        assert not await passes(o)

    tell(tmp_path, story)


def test_the_last_use_is_not_shared_by_many_at_once(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await granted(o, GrantTerms(3_600_000, 5))
        [(key, asker)] = await o.store.read(
            lambda db: [tuple(one) for one in db.execute("SELECT scope, asker FROM grants")]
        )
        stores = [Store(o.store.path) for _ in range(4)]
        try:
            desks = [Grants(store, o.clock) for store in stores]
            used = await asyncio.gather(*(desk.use(key, "phone-1", asker, "tester") for desk in desks * 5))
        finally:
            for store in stores:
                store.close()
        assert sorted(one.left for one in used if one is not None) == [0, 1, 2, 3, 4]

    tell(tmp_path, story)


def test_a_revoked_grant_counts_no_more(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        given = await granted(o)
        ended = await o.approvals.grants.revoke(given[:8])
        assert ended.id == given
        assert not await passes(o)
        with pytest.raises(InvalidAction, match="There is no"):
            await o.approvals.grants.revoke(given)

    tell(tmp_path, story)


def test_a_deny_always_wins_and_a_stricter_rule_ends_what_was_granted(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await granted(o)
        o.gate.policy = policy(ASKS.replace("'ask'\nremember = 'time'", "'deny'"))
        o.lock = asyncio.Lock()
        with pytest.raises(ActionRejected, match="denies"):
            await o.guard.authorize_named(await o.stage(SEND))
        o.gate.policy = policy(ASKS.replace("'time'", "'never'"))
        assert not await passes(o)
        o.gate.policy = policy(ASKS.replace("'time'", "'session'"))
        assert await passes(o)

    tell(tmp_path, story)


@pytest.mark.parametrize("remember", ["never", ""])
def test_a_rule_that_does_not_let_answers_count_again_lets_nobody_grant(
    tmp_path: Path, remember: str
) -> None:
    rules = ASKS.replace("remember = 'time'\n", f"remember = '{remember}'\n" if remember else "")

    async def story(o: Office) -> None:
        task = asyncio.ensure_future(o.guard.authorize_named(await o.stage(SEND)))
        one = await o.question(task)
        assert "may_allow" not in one.to_dict()
        with pytest.raises(InvalidAction, match="can't be allowed for a time"):
            await o.approvals.answer(one.id, True, "lena", allow=HOUR)
        assert (await o.approvals.get(one.id)).is_open
        task.cancel()
        await asyncio.wait({task})

    tell(tmp_path, story, rules)


def test_a_no_grants_nothing_and_a_late_yes_neither(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        task = asyncio.ensure_future(o.guard.authorize_named(await o.stage(SEND)))
        one = await o.question(task)
        for wrong in ({"approved": False}, {"approved": True, "remember": "time"}):
            with pytest.raises(InvalidAction, match="Only a plain yes"):
                await o.approvals.answer(one.id, by="lena", allow=HOUR, **wrong)
        o.clock.set_wall(o.clock.now_ms() + 300_000)
        with pytest.raises(ActionRejected, match="expired"):
            await o.approvals.answer(one.id, True, "lena", allow=HOUR)
        await o.approvals.withdraw(one.id)
        await asyncio.wait({task})
        assert await o.approvals.grants.active() == []

    tell(tmp_path, story)


@each(("for_ms", "times"), [(0, 5), (-1, 5), (86_400_001, 5), (1, 0), (1, 101), (1, -1)])
def test_an_allowance_is_bounded(for_ms: int, times: int) -> None:
    assert GrantTerms.read(1, 1) == GrantTerms(1, 1)
    assert GrantTerms.read(86_400_000, 100) == GrantTerms(86_400_000, 100)
    with pytest.raises(InvalidAction) as caught:
        GrantTerms.read(for_ms, times)
    assert caught.value.details["path"] in ("for", "times")


def test_an_allowance_that_says_half_gets_the_usual_rest() -> None:
    assert GrantTerms.read(None, None) is None
    assert GrantTerms.read(60_000, None) == GrantTerms(60_000, 5)
    assert GrantTerms.read(None, 2) == GrantTerms(3_600_000, 2)


def test_what_nobody_could_say_is_no_class() -> None:
    password = TouchedElement(package="a", label="Code", role="text_field", password=True)
    assert GrantScope.of(subject({"type": "type_text", "text": "x", "target": "Code"}, password)) is None
    assert GrantScope.of(subject("tap", password)) is not None
    name = TouchedElement(package="a", label="Name", role="text_field")
    assert GrantScope.of(subject({"type": "type_text", "text": "x", "target": "Name"}, name)) is not None
    assert GrantScope.of(subject("tap", TouchedElement(package="a"))) is None
    ok = {"one": ("Pay 1 EUR?",), "two": ("Pay 900 EUR?",)}
    keys = {name: GrantScope.of(subject("tap", button("OK", around=around))) for name, around in ok.items()}
    assert keys["one"] != keys["two"]
    ls, rm = (GrantScope.of(subject({"type": "shell", "command": one})) for one in ("ls", "rm -r /"))
    assert ls is not None
    assert ls != rm


def test_payments_of_the_net_are_asked_about_every_time(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        task = asyncio.ensure_future(o.guard.authorize_named(await o.stage(PAY)))
        one = await o.question(task)
        assert one.request.may_allow == ""
        task.cancel()
        await asyncio.wait({task})

    play(tmp_path, story, "")


def test_a_machine_that_was_started_anew_with_an_older_clock_uses_no_grant(tmp_path: Path) -> None:
    async def story(o: Office) -> None:
        await granted(o)
        [(key, asker)] = await o.store.read(
            lambda db: [tuple(one) for one in db.execute("SELECT scope, asker FROM grants")]
        )
        anew = Grants(o.store, ManualClock(o.clock.now_ms() - 1_000))
        assert await anew.use(key, "phone-1", asker, "tester") is None

    tell(tmp_path, story)
