"""Rules that change while a session runs, and the journal that says which rules decided."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import PolicyUnusable
from handrail.runtime import Runtime
from tests.scenario.people import PAY_RULE, asked, at_checkout, command
from tests.scenario.world import World, live, play, until, world

ASYNC_RUNNER = play

DENY_ALL = "[[rule]]\nname = 'closed'\neffect = ['input', 'system', 'desk']\nverdict = 'deny'\n"
ALLOW_PAY = "[[rule]]\nlabel = 'Pay*'\nverdict = 'allow'\n"
SETTINGS = "com.android.settings"


def decided(w: World, action_id: str) -> list[str]:
    """Which rules the journal names for an action."""
    return [event["policy"] for event in w.events() if event["action_id"] == action_id and "policy" in event]


def digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


async def test_a_policy_tightened_while_a_session_runs_counts_at_once(tmp_path: Path) -> None:
    async with world(tmp_path, policy=ALLOW_PAY) as w:
        await at_checkout(w)
        first = await w.session.tap({"id": "gift"})
        assert first.success, first.to_json()
        before = len(w.inputs())
        w.runtime.config.policy.write_text(DENY_ALL)
        for action in (w.session.tap({"id": "pay"}), w.session.press_key("enter")):
            done = await action
            assert done.failure_code == "ACTION_REJECTED"
            assert decided(w, done.action_id) == [digest(DENY_ALL)]
        assert len(w.inputs()) == before
        assert decided(w, first.action_id) == [digest(ALLOW_PAY)]
        w.runtime.config.policy.write_text(ALLOW_PAY)

        async def taps() -> bool:
            return (await w.session.tap({"id": "gift"})).success

        async with asyncio.timeout(2):
            await until(taps)


async def test_a_policy_tightened_while_a_person_thinks_counts(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        task = asyncio.create_task(w.session.tap({"id": "pay"}))
        [one] = await asked(w)
        w.runtime.config.policy.write_text(DENY_ALL)
        await w.runtime.approvals.answer(one.id, True, "lena")
        done = await task
        assert done.failure_code == "ACTION_REJECTED", done.to_json()
        assert w.inputs() == []
        assert (await w.runtime.approvals.get(one.id)).state == "void"


async def test_the_journal_says_that_the_defaults_decided(w: World) -> None:
    done = await w.open(SETTINGS)
    assert decided(w, done.action_id) == ["defaults"]


def ruin(path: Path, how: str) -> None:
    path.unlink()
    match how:
        case "pipe":
            os.mkfifo(path)
        case "dangling link":
            path.symlink_to(path.with_name("nowhere"))
        case "home of others":
            path.write_text("")
            path.parents[1].chmod(0o777)


@live
@pytest.mark.parametrize("how", ["pipe", "dangling link", "gone", "home of others"])
async def test_an_unusable_policy_refuses_every_action_of_a_running_session_and_the_next_start(
    tmp_path: Path, how: str
) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w, asyncio.timeout(60):
        await at_checkout(w)
        ruin(w.runtime.config.policy, how)
        actions: list[Any] = [
            w.session.tap({"id": "pay"}),
            w.session.tap({"id": "gift"}),
            w.session.start_app(SETTINGS),
            w.session.get_ui_tree(),
        ]
        for action in actions:
            done = await action
            assert done.failure_code == "POLICY_UNUSABLE", done.to_json()
            assert (done.delivery, bool(done.hint)) == ("not_delivered", True)
        assert w.inputs() == []
        if how == "gone":
            return  # for the next process there never was one
        with pytest.raises(PolicyUnusable):
            async with Runtime.open(w.runtime.config, env=w.runtime.env):
                pass
        if how == "pipe":
            code, said = await command(tmp_path, "tap", "Pay", "--device", w.serial)
            assert code == 4, said
        assert w.inputs() == []
